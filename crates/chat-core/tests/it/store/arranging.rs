//! Pinned, archived, deleted and copied sessions, and the search among them.

use std::sync::Arc;
use std::time::Duration;

use chat_core::message::{Compaction, Fid, Message, ModelRef, Part, Role, SessionMeta};
use chat_core::store::{NewSession, SearchFilter, SessionPatch, Store};

use super::{open, reply, texts, titled, user};

const DAY: Duration = Duration::from_hours(24);

async fn chat(store: &Store, title: &str, text: &str) -> Fid {
    let created = store.create(titled(title), vec![user(None, text)]).await.unwrap();
    store.release(&created.fid).await.unwrap();
    created.meta.fid
}

fn pinned(pinned: bool) -> SessionPatch {
    SessionPatch { pinned: Some(pinned), ..SessionPatch::default() }
}

fn archived(archived: bool) -> SessionPatch {
    SessionPatch { archived: Some(archived), ..SessionPatch::default() }
}

#[tokio::test]
async fn what_is_pinned_first_stays_first() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let fid = chat(&store, "One", "apples").await;
    let first = store.patch(&fid, pinned(true)).await.unwrap().pinned.unwrap();
    assert_eq!(store.patch(&fid, pinned(true)).await.unwrap().pinned, Some(first));
    store.patch(&fid, archived(true)).await.unwrap();
    let back = store.patch(&fid, archived(false)).await.unwrap();
    assert_eq!((back.pinned, back.archived), (Some(first), None), "it is pinned as before");
    drop(store);
    let store = open(folder.path());
    assert_eq!(store.session(&fid).await.unwrap().pinned, Some(first));
    assert_eq!(store.patch(&fid, pinned(false)).await.unwrap().pinned, None);
}

#[tokio::test]
async fn the_trash_holds_a_tree_as_one_and_gives_it_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let top = chat(&store, "Top", "apples").await;
    let meta =
        SessionMeta { parent: Some(top.clone()), name: Some("a".into()), ..titled("a").meta };
    let below = NewSession { meta, ..NewSession::default() };
    let below = store.create(below, Vec::new()).await.unwrap().meta.fid;
    store.release(&below).await.unwrap();
    let other = chat(&store, "Other", "pears").await;
    store.delete(&other).await.unwrap();
    store.delete(&top).await.unwrap();
    let trash = store.trash().await.unwrap();
    let shown: Vec<_> = trash.iter().map(|it| (it.meta.fid.clone(), it.agents)).collect();
    assert_eq!(shown, [(top.clone(), 1), (other.clone(), 0)]);
    for wanted in [vec![top.clone()], vec![top.clone(), below.clone(), top.clone()]] {
        let trees = store.trees_in_trash(wanted).await.unwrap();
        assert_eq!(trees, [(top.clone(), None), (below.clone(), None)], "each once");
    }
    store.restore(&top).await.unwrap();
    assert!(store.trees_in_trash(vec![top]).await.is_err());
    assert_eq!(store.trash().await.unwrap().len(), 1);
    let gone = store.trees_in_trash(vec![other.clone()]).await.unwrap();
    assert_eq!(store.remove(gone).await.unwrap(), [other]);
    assert!(store.trash().await.unwrap().is_empty());
}

#[tokio::test]
async fn after_thirty_days_a_chat_goes_with_its_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let data: Arc<[u8]> = b"a picture"[..].into();
    let mut message = Message::text(Role::User, None, "look");
    message.parts.push(Part::Image { mime: "image/png".to_owned(), data });
    let fid = store.create(titled("Picture"), vec![Arc::new(message)]).await.unwrap().meta.fid;
    store.release(&fid).await.unwrap();
    let pictures = || {
        let folders = chat_core::settings::Folders::below(folder.path());
        std::fs::read_dir(folders.data.join("attachments")).unwrap().count()
    };
    store.delete(&fid).await.unwrap();
    let raw =
        rusqlite::Connection::open(chat_core::settings::Folders::below(folder.path()).database());
    let age = |days: u32| {
        let before =
            jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24 * i64::from(days));
        let nanoseconds = i64::try_from(before.as_nanosecond()).unwrap();
        raw.as_ref().unwrap().execute("UPDATE sessions SET deleted = ?1", [nanoseconds]).unwrap();
    };
    for (days, left) in [(29, 1), (31, 0)] {
        age(days);
        store.purge(chat_core::manager::TRASH_AGE).await.unwrap();
        assert_eq!((store.trash().await.unwrap().len(), pictures()), (left, left), "{days}");
    }
    assert!(store.restore(&fid).await.is_err());
    assert_eq!(chat_core::manager::TRASH_AGE, 30 * DAY);
}

#[tokio::test]
async fn a_copy_has_all_branches_and_goes_its_own_way() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let asked = user(None, "which ferry");
    let [mut first, mut second] = [reply(&asked), reply(&asked)];
    for (reply, text) in [(&mut first, "the red one"), (&mut second, "the blue one")] {
        reply.parts = vec![Part::Text(text.to_owned())];
        reply.ended = Some(chat_core::message::Ending::Complete);
    }
    let mut shortened = Message::text(Role::Ui, Some(second.id), "");
    let upto = asked.id;
    shortened.parts =
        vec![Part::Compaction(Compaction { upto, summary: None, keep: 1, undone: false })];
    let head = shortened.id;
    let fid = store.create(titled("Ferries"), vec![asked]).await.unwrap().meta.fid;
    let rest = [first, second, shortened].map(Arc::new).to_vec();
    store.append(&fid, rest, head).await.unwrap();
    store.patch(&fid, pinned(true)).await.unwrap();

    let copy = store.duplicate(&fid, "Ferries (copy)".to_owned()).await.unwrap();
    assert_eq!((copy.title.as_str(), copy.pinned, copy.in_use), ("Ferries (copy)", None, false));
    assert!(copy.titled_by_person && copy.fid != fid);
    assert_eq!(texts(&store, &copy.fid).await, texts(&store, &fid).await);
    let branches = store.siblings(&copy.fid).await.unwrap();
    assert_eq!(branches.iter().map(Vec::len).collect::<Vec<_>>(), [2]);
    let page = store.page(&copy.fid, None, 10).await.unwrap();
    let Some(Part::Compaction(compaction)) = page.messages[2].parts.first() else {
        panic!("{page:?}")
    };
    assert_eq!(compaction.upto, page.messages[0].id, "it is about the copy");
    // What becomes of one is nothing to the other.
    store.delete(&fid).await.unwrap();
    let hits = store.search("ferry", 10).await.unwrap().hits;
    assert_eq!(hits.iter().map(|hit| &hit.session.fid).collect::<Vec<_>>(), [&copy.fid]);
}

#[tokio::test]
async fn a_filter_leaves_other_chats_out_with_and_without_a_text() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut fids = Vec::new();
    for (title, project, model) in [
        ("One", Some("/home/ferry"), "smol"),
        ("Two", Some("/home/road"), "qwen"),
        ("Three", None, "qwen"),
    ] {
        let mut new = titled(title);
        new.meta.project = project.map(Into::into);
        new.meta.model = Some(ModelRef::new("local", model));
        let words = vec![user(None, "the same apples")];
        fids.push(store.create(new, words).await.unwrap().meta.fid);
    }
    store.patch(&fids[1], pinned(true)).await.unwrap();
    store.patch(&fids[2], archived(true)).await.unwrap();
    let none = SearchFilter::default();
    let filters = [
        (SearchFilter { project: Some("ferry".into()), ..none.clone() }, vec![0]),
        (SearchFilter { model: Some("qwen".into()), ..none.clone() }, vec![2, 1]),
        (SearchFilter { pinned: true, ..none.clone() }, vec![1]),
        (SearchFilter { archived: true, ..none.clone() }, vec![2]),
        (SearchFilter { before: Some(jiff::Timestamp::UNIX_EPOCH), ..none.clone() }, vec![]),
        (SearchFilter { after: Some(jiff::Timestamp::UNIX_EPOCH), ..none }, vec![2, 1, 0]),
    ];
    for (filter, expected) in filters {
        for text in ["", "apples", "ap", "the same"] {
            let found = store.search_filtered(text, filter.clone(), 10).await.unwrap().hits;
            let mut found: Vec<_> = found.into_iter().map(|hit| hit.session.meta.fid).collect();
            let mut wanted: Vec<_> = expected.iter().map(|at: &usize| fids[*at].clone()).collect();
            found.sort();
            wanted.sort();
            assert_eq!(found, wanted, "{filter:?} {text}");
        }
    }
    assert!(store.search("", 10).await.unwrap().hits.is_empty(), "nothing is looked for");
}
