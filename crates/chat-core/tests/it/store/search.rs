//! Search: what a person types is looked for as it stands, whatever it is.

use std::sync::Arc;

use chat_core::message::{Message, Part, Role};
use chat_core::store::{Hit, SearchGap, Store};
use proptest::prelude::*;

use super::{open, titled, user};

const TEXTS: [(&str, &str); 8] = [
    ("Sorting", "Call `sort_unstable_by_key` on the Vec, it says \"fast\" AND means it."),
    ("天气", "请告诉我本地模型怎么用，谢谢你的帮助。"),
    ("Häuser", "Die STRASSE ist lang; 100% sure_thing 'quoted' NEAR(a b) col:umn -x ^y z*"),
    ("Empty", ""),
    ("50% of_it", "nothing to see"),
    ("Two words", "alpha in the beginning, and beta at the end"),
    ("Café", "Le café de la gare ouvre à 7 h. Go!"),
    ("Signs", "p->next; i++ | why?? 🙂"),
];

async fn filled(folder: &std::path::Path) -> Store {
    let store = open(folder);
    for (title, text) in TEXTS {
        store.create(titled(title), vec![user(None, text)]).await.unwrap();
    }
    store
}

fn titles(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.session.title.as_str()).collect()
}

#[rstest::rstest]
#[case::part_of_an_identifier("unstable_by", &["Sorting"])]
#[case::in_any_case("SORT_UNSTABLE", &["Sorting"])]
#[case::umlauts_in_any_case("häUSER", &["Häuser"])]
#[case::chinese_text("本地模型", &["天气"])]
#[case::two_characters_of_a_title("天气", &["天气"])]
#[case::two_characters_of_a_text("模型", &["天气"])]
#[case::one_character_of_a_text("怎", &["天气"])]
#[case::the_last_character_before_a_mark("用", &["天气"])]
#[case::one_character("ß", &[])]
#[case::part_of_a_title("äu", &["Häuser"])]
#[case::a_short_word("go", &["Café"])]
#[case::a_digit("7", &["Café"])]
#[case::two_letters_that_begin_a_word("be", &["Two words"])]
#[case::two_letters_that_begin_a_word_without_its_accent("CA", &["Café", "Sorting"])]
#[case::two_letters_that_begin_a_title("sî", &["Signs"])]
#[case::two_letters_within_a_word("ep", &[])]
#[case::a_letter_that_begins_words("q", &[])]
#[case::without_its_accent("CAFE", &["Café"])]
#[case::the_beginning_of_a_word_without_its_accent("caf ouv", &["Café"])]
#[case::with_an_accent_that_is_not_there("théré", &[])]
#[case::accents_typed_for_plain_letters("séé nóthing", &["50% of_it"])]
#[case::short_and_accented("à 7", &["Café"])]
#[case::short_words_apart("7 la go", &["Café"])]
#[case::a_short_word_and_a_sign("go!", &["Café"])]
#[case::quotes("\"fast\"", &["Sorting"])]
#[case::an_operator_is_a_word("fast AND means", &["Sorting"])]
#[case::an_operator_alone("AND", &["Sorting", "Two words"])]
#[case::near("NEAR(a b)", &["Häuser"])]
#[case::a_column("col:umn", &["Häuser"])]
#[case::a_minus("-x ^y z*", &["Häuser"])]
#[case::single_quotes("'quoted'", &["Häuser"])]
#[case::percent_is_no_wildcard("%", &["50% of_it", "Häuser"])]
#[case::two_signs_of_a_text("->", &["Signs"])]
#[case::two_signs_within_three("?? ", &["Signs"])]
#[case::one_sign_of_a_text("|", &["Signs"])]
#[case::short_signs_apart("++ ->", &["Signs"])]
#[case::a_picture("🙂", &["Signs"])]
#[case::signs_that_nobody_wrote("-- ->", &[])]
#[case::underscore_is_no_wildcard("f_", &["50% of_it"])]
#[case::percent_in_a_text("100%", &["Häuser"])]
#[case::words_apart("beta alpha", &["Two words"])]
#[case::a_short_word_among_long_ones("alpha at", &["Two words"])]
#[case::words_of_two_messages("alpha nothing", &[])]
#[case::title("two words", &["Two words"])]
#[case::nothing("  \t ", &[])]
#[case::nul("alpha\0beta", &["Two words"])]
#[case::unknown("does not exist", &[])]
#[tokio::test]
async fn finds(#[case] query: &str, #[case] expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path()).await;
    let hits = store.search(query, 9).await.unwrap().hits;
    let mut found = titles(&hits);
    found.sort_unstable();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_hit_says_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path()).await;
    let hits = store.search("模型怎么", 9).await.unwrap().hits;
    assert_eq!(hits[0].excerpt.as_deref(), Some("请告诉我本地模型怎么用，谢谢你的帮助。"));
    let page = store.page(&hits[0].session.fid, None, 9).await.unwrap();
    assert_eq!(hits[0].message, Some(page.messages[0].id));
    let titled = &store.search("Sorting", 9).await.unwrap().hits[0];
    assert_eq!((&titled.excerpt, titled.message), (&None, None));
}

#[tokio::test]
async fn titles_come_first_and_each_session_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let first = user(None, "kangaroo kangaroo");
    let second = user(Some(first.id), "kangaroo again");
    store.create(titled("a text"), vec![first, second]).await.unwrap();
    let elsewhere = user(None, "and a kangaroo far behind in a long text");
    store.create(titled("Kangaroo"), vec![elsewhere]).await.unwrap();
    let hits = store.search("kangaroo", 9).await.unwrap().hits;
    assert_eq!(titles(&hits), ["Kangaroo", "a text"]);
    assert!(hits.iter().all(|hit| hit.excerpt.is_some()), "{hits:?}");
    assert_eq!(titles(&store.search("kangaroo", 1).await.unwrap().hits), ["Kangaroo"]);
}

#[tokio::test]
async fn only_what_was_said_is_searched() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let system = Message::text(Role::System, None, "secretword");
    let question = Message {
        parts: vec![
            Part::Text("shown".to_owned()),
            Part::Context { text: "secretword".to_owned() },
            Part::Thinking { text: "secretword".to_owned(), took: None, provider: None },
        ],
        ..Message::text(Role::User, Some(system.id), "")
    };
    store.create(titled("t"), vec![Arc::new(system), Arc::new(question)]).await.unwrap();
    assert_eq!(store.search("secretword", 9).await.unwrap().hits, []);
    assert_eq!(store.search("shown", 9).await.unwrap().hits.len(), 1);
}

#[test]
fn no_query_is_an_error() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = runtime.block_on(filled(folder.path()));
    let odd = prop_oneof![
        any::<String>(),
        "[\"'*^():+{}.,%_\\\\ -]{0,12}",
        "(AND|OR|NOT|NEAR| |\"|[a-z]){0,8}",
    ];
    proptest!(ProptestConfig::with_cases(300), |(query in odd)| {
        runtime.block_on(store.search(&query, 9)).unwrap();
    });
    // Whatever stands in a text is found by any piece of it that is long enough.
    let pieces = (0..TEXTS.len(), any::<prop::sample::Index>(), 3_usize..12);
    proptest!(ProptestConfig::with_cases(300), |((which, start, length) in pieces)| {
        let (title, text) = TEXTS[which];
        prop_assume!(!text.is_empty());
        let start = start.index(text.chars().count());
        let piece: String = text.chars().skip(start).take(length).collect();
        prop_assume!(piece.split_whitespace().any(|word| word.chars().count() >= 3));
        let hits = runtime.block_on(store.search(&piece, 9)).unwrap().hits;
        prop_assert!(titles(&hits).contains(&title), "{piece:?} finds {:?}", titles(&hits));
    });
}

#[tokio::test]
async fn a_chat_is_found_behind_any_number_of_better_hits_in_another() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    // Short texts are better hits.
    let mut many: Vec<Arc<Message>> = Vec::new();
    for _ in 0..1_900 {
        many.push(user(many.last().map(|message| message.id), "needle"));
    }
    store.create(titled("Many"), many).await.unwrap();
    let long = format!("{} needle {}", "before ".repeat(200), "after ".repeat(200));
    store.create(titled("One"), vec![user(None, &long)]).await.unwrap();
    let hits = store.search("needle", 10).await.unwrap().hits;
    assert_eq!(titles(&hits), ["Many", "One"]);
}

/// Where thousands of messages have a word, the newest chats come first, and one that is talked in
/// much hides none of the others.
#[tokio::test]
async fn a_common_word_loses_no_chat() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store.create(titled("old"), vec![user(None, "the common word")]).await.unwrap();
    let name = store.create(titled("Common"), vec![user(None, "nothing here")]).await.unwrap();
    let busy = store.create(titled("busy"), vec![user(None, "begins")]).await.unwrap();
    let many: Vec<_> = (0..2_100).map(|n| user(None, &format!("common {n}"))).collect();
    let newest = many[many.len() - 1].id;
    store.append(&busy.fid, many, newest).await.unwrap();
    // A title's chat is told with its place, wherever its messages lie among the others.
    store.append(&name.fid, vec![user(None, "so common")], newest).await.unwrap();

    let hits = store.search("COMMON", 9).await.unwrap().hits;
    assert_eq!(titles(&hits), ["Common", "busy", "old"]);
    let excerpts: Vec<_> = hits.iter().map(|hit| hit.excerpt.as_deref()).collect();
    assert_eq!(excerpts, [Some("so common"), Some("common 2099"), Some("the common word")]);
    assert_eq!(hits[1].message, Some(newest));
    assert_eq!(titles(&store.search("common", 2).await.unwrap().hits), ["Common", "busy"]);
    store.delete(&busy.fid).await.unwrap();
    assert_eq!(titles(&store.search("common", 9).await.unwrap().hits), ["Common", "old"]);
    assert_eq!(titles(&store.search("common wor", 9).await.unwrap().hits), ["old"]);
}

/// Parts of words and signs too short for the index are looked for in the texts, which takes long where very
/// many have the others: older ones are found only where they have the words as they were typed.
#[tokio::test]
async fn no_more_texts_are_read_in_vain_than_a_person_waits_for() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store.create(titled("far"), vec![user(None, "x7z -> before the end")]).await.unwrap();
    store.create(titled("typed"), vec![user(None, "what the -> says")]).await.unwrap();
    store.create(titled("begun"), vec![user(None, "what 7zip says of the end")]).await.unwrap();
    let mut many: Vec<_> = (0..10_000).map(|_| user(None, "the")).collect();
    let newest = many.split_off(9_900);
    let store_many = async |title: &str, many: Vec<Arc<Message>>| {
        store.create(titled(title), many).await.unwrap();
    };
    store_many("many", many).await;
    store_many("near", vec![user(None, "x7z -> before the end")]).await;
    store_many("newest", newest).await;
    let hits = store.search("the 7z", 9).await.unwrap().hits;
    assert_eq!(titles(&hits), ["begun", "near"]);
    let hits = store.search("the ->", 9).await.unwrap().hits;
    assert_eq!(titles(&hits), ["near", "typed"]);
    assert_eq!(hits[1].excerpt.as_deref(), Some("what the -> says"));
    // As a word of its own it is in the index, however far away.
    store.create(titled("word"), vec![user(None, "7z, the end")]).await.unwrap();
    store_many("others", (0..10_000).map(|_| user(None, "the")).collect()).await;
    let hits = store.search("the 7z", 9).await.unwrap().hits;
    assert_eq!(titles(&hits)[0], "word");
}

/// No index has one or two signs, so that texts must be read: only so many, which is told.
#[tokio::test]
async fn signs_are_looked_for_in_the_newest_messages() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let system = Message::text(Role::System, None, "<-");
    store.create(titled("hidden"), vec![Arc::new(system)]).await.unwrap();
    store.create(titled("far"), vec![user(None, "a <- b")]).await.unwrap();
    let deleted = store.create(titled("deleted"), vec![user(None, "c <- d")]).await.unwrap();
    store.delete(&deleted.fid).await.unwrap();
    let many = |count| (0..count).map(|_| user(None, "nothing")).collect();
    store.create(titled("many"), many(9_999)).await.unwrap();
    let found = store.search("<-", 9).await.unwrap();
    assert_eq!((titles(&found.hits), found.gaps), (vec!["far"], vec![]));
    assert_eq!(found.hits[0].excerpt.as_deref(), Some("a <- b"));
    store.create(titled("one more"), many(1)).await.unwrap();
    let found = store.search("<-", 9).await.unwrap();
    assert_eq!((titles(&found.hits), found.gaps), (vec![], vec![SearchGap::NewestOnly]));
    // What an index has is found however far it is.
    let found = store.search("a <-", 9).await.unwrap();
    assert_eq!((titles(&found.hits), found.gaps), (vec!["far"], vec![]));
}

#[tokio::test]
async fn a_text_is_found_over_the_picture_between_its_parts() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let picture = Part::Image { mime: "image/png".into(), data: vec![7; 9].into() };
    let said = Message {
        parts: vec![Part::Text("look at ".into()), picture, Part::Text("this gnu".into())],
        ..Message::text(Role::User, None, "")
    };
    store.create(titled("t"), vec![Arc::new(said)]).await.unwrap();
    let hits = store.search("at this", 9).await.unwrap().hits;
    assert_eq!(hits[0].excerpt.as_deref(), Some("look at this gnu"));
}

#[tokio::test]
async fn a_short_word_comes_before_longer_ones_that_have_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for (title, text) in [
        ("Old", "We wrote it in Go."),
        ("Mongo", "a database"),
        ("Begun", "ago, göod, cargo"),
        ("Goodbye", "then"),
        ("Never", "ago, cargo"),
        ("Go on", "please"),
    ] {
        store.create(titled(title), vec![user(None, text)]).await.unwrap();
    }
    let hits = store.search("go", 9).await.unwrap().hits;
    assert_eq!(titles(&hits), ["Go on", "Old", "Goodbye", "Begun", "Mongo"]);
    assert_eq!(hits[1].excerpt.as_deref(), Some("We wrote it in Go."));
    assert_eq!(hits[3].excerpt.as_deref(), Some("ago, göod, cargo"));
    assert_eq!(&hits[3].excerpt.as_ref().unwrap()[hits[3].highlights[0].clone()], "gö");
    assert_eq!(hits[3].highlights.len(), 1, "what has it within a word is not marked");
}

#[tokio::test]
async fn a_single_letter_says_that_more_are_needed() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store.create(titled("one"), vec![user(None, "Plan C")]).await.unwrap();
    store.create(titled("two"), vec![user(None, "carrots")]).await.unwrap();
    let found = store.search("c", 9).await.unwrap();
    assert_eq!((titles(&found.hits), found.gaps), (vec!["one"], vec![SearchGap::OneLetter]));
    assert_eq!(store.search("ca", 9).await.unwrap().gaps, []);
    assert_eq!(store.search("7", 9).await.unwrap().gaps, []);
}

/// Where the index is damaged, titles are searched, and that messages are not is told.
#[rstest::rstest]
#[case::parts("text_index", "kangaroo")]
#[case::words("word_index", "at")]
#[tokio::test]
async fn a_damaged_index_is_told(#[case] index: &str, #[case] query: &str) {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store.create(titled("Kangaroo at home"), vec![user(None, "hello")]).await.unwrap();
    store.create(titled("messages"), vec![user(None, "kangaroo at work")]).await.unwrap();
    let found = store.search(query, 9).await.unwrap();
    assert_eq!((found.hits.len(), found.gaps), (2, vec![]));
    let raw = rusqlite::Connection::open(folder.path().join("data/natter.db")).unwrap();
    raw.execute(&format!("UPDATE {index}_data SET block = x'00ff00ff00ff' WHERE id > 10"), [])
        .unwrap();
    drop(store);
    let store = open(folder.path());
    let found = store.search(query, 9).await.unwrap();
    assert_eq!(titles(&found.hits), ["Kangaroo at home"]);
    assert_eq!(found.gaps, [SearchGap::Damaged]);
}

#[tokio::test]
async fn a_long_text_is_looked_for_by_its_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let words: Vec<String> = (0..100).map(|n| format!("word{n}")).collect();
    store.create(titled("pasted from"), vec![user(None, &words[..40].join(" "))]).await.unwrap();
    let found = store.search(&words.join("\n"), 9).await.unwrap();
    assert_eq!((titles(&found.hits), found.gaps), (vec!["pasted from"], vec![SearchGap::Cut]));
    assert_eq!(store.search(&words[..32].join(" "), 9).await.unwrap().gaps, []);
    let hits = store.search(&words[9..].join(" "), 9).await.unwrap().hits;
    assert_eq!(hits, [], "word 40 is among the first 32");
}

#[tokio::test]
async fn what_was_found_is_marked_in_the_excerpt() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let text = "Ago we met at the Café,\n\nin 東京: Go, cafes!";
    store.create(titled("t"), vec![user(None, text)]).await.unwrap();
    let marked = async |query: &str| {
        let hit = store.search(query, 9).await.unwrap().hits.remove(0);
        let excerpt = hit.excerpt.unwrap();
        hit.highlights.into_iter().map(|mark| excerpt[mark].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(marked("cafe").await, ["Café", "cafe"]);
    assert_eq!(marked("go 東京").await, ["東京", "Go"]);
    assert_eq!(marked("京").await, ["京"]);
    assert_eq!(marked("ca\u{301}fé go").await, ["Café", "Go", "cafe"]);
}

#[tokio::test]
async fn what_a_message_no_longer_says_does_not_find_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let question = user(None, "?");
    let fid = store.create(titled("t"), vec![Arc::clone(&question)]).await.unwrap().meta.fid;
    let begun = super::reply(&question);
    store.append(&fid, vec![Arc::new(begun.clone())], begun.id).await.unwrap();
    for (now, before) in [("Go", "No"), ("No", "Go")] {
        let ended = Some(chat_core::message::Ending::Complete);
        let said = Message { parts: vec![Part::Text(now.to_owned())], ended, ..begun.clone() };
        store.fold(&fid, Arc::new(said)).await.unwrap();
        assert_eq!(store.search(now, 9).await.unwrap().hits.len(), 1);
        assert_eq!(store.search(before, 9).await.unwrap().hits, []);
    }
}

#[test]
fn every_word_of_a_text_finds_it() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let word = prop_oneof![
        "[a-zA-Zéüß]{1,6}",
        "[東京都大阪がき한국]{1,5}",
        "[0-9a-f]{1,50}",
        "[a-z]{1,3}[-_'.#+][a-zé]{0,3}",
        "\\pL{1,6}",
    ];
    let texts = prop::collection::vec(prop::collection::vec(word, 1..12), 1..6);
    proptest!(ProptestConfig::with_cases(40), |(texts in texts)| {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path());
        let fids = runtime.block_on(async {
            let mut fids = Vec::new();
            for words in &texts {
                let said = vec![user(None, &words.join(" "))];
                fids.push(store.create(titled(""), said).await.unwrap().meta.fid);
            }
            fids
        });
        for (words, fid) in texts.iter().zip(&fids) {
            let words = words.iter().flat_map(|word| word.split_whitespace());
            for word in words.filter(|word| word.contains(char::is_alphanumeric)) {
                let hits = runtime.block_on(store.search(word, 99)).unwrap().hits;
                prop_assert!(hits.iter().any(|hit| &hit.session.fid == fid), "{word:?}");
            }
        }
    });
}
