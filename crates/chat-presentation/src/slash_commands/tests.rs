use std::fs;

use chat_core::definitions::{Sources, load};
use chat_core::message::{Attachment, CommandText, Content};
use tempfile::TempDir;

use super::*;

/// The commands with these files in the config folder.
fn with(files: &[(&str, &str)]) -> (TempDir, SlashCommands) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let config = Some(folder.path().to_owned());
    let definitions = load(&Sources { config, ..Sources::default() });
    let commands = SlashCommands::new(&definitions, FrontEnd::Window);
    (folder, commands)
}

fn some() -> (TempDir, SlashCommands) {
    with(&[
        ("commands/fix.md", "---\ndescription: Fix an issue\nargument-hint: NUMBER\n---\nFix #$1."),
        ("commands/tidy.md", "Tidy up."),
        ("commands/review.md", "Another review."),
        ("commands/pdf.md", "Make a PDF of:\n$ARGUMENTS"),
        ("skills/pdf/SKILL.md", "---\nname: pdf\ndescription: PDF files\n---\nUse pypdf."),
        ("skills/tables/SKILL.md", "---\nname: tables\ndescription: Tables\n---\nCount."),
    ])
}

fn names<'a>(commands: impl IntoIterator<Item = &'a SlashCommand>) -> Vec<&'a str> {
    commands.into_iter().map(|command| command.name.as_str()).collect()
}

#[test]
fn built_in_commands_win_and_files_win_over_skills() {
    let (_folder, commands) = some();
    let built_in = BuiltIn::ALL.iter().map(|command| command.name());
    let all: Vec<_> = built_in.chain(["fix", "pdf", "tidy", "tables"]).collect();
    assert_eq!(names(commands.all()), all);
    assert_eq!(commands.shadowed(), ["review", "pdf"]);
    assert!(matches!(commands.read("/review"), Typed::BuiltIn(BuiltIn::Review, "")));
}

#[test]
fn letters_narrow_the_list_and_the_best_one_is_known() {
    let (_folder, commands) = some();
    let found = |query: &str| {
        let (found, best) = commands.matching(query);
        (names(found.iter().copied()).join(" "), found.get(best).map(|one| one.name.clone()))
    };
    assert_eq!(found("mo"), ("mode model".to_owned(), Some("mode".to_owned())));
    assert_eq!(found("fx"), ("fix".to_owned(), Some("fix".to_owned())));
    // Skills stand below the commands, also the one that is meant.
    assert_eq!(found("tables").1.as_deref(), Some("tables"));
    assert_eq!(found("new"), ("clear".to_owned(), Some("clear".to_owned())));
    assert_eq!(found("zzz"), (String::new(), None));
    assert_eq!(found("").1.as_deref(), Some("clear"));
    assert_eq!(commands.matching("").0.len(), commands.all().len());
}

#[test]
fn only_a_plain_word_behind_a_slash_is_meant_as_a_command() {
    let (_folder, commands) = some();
    let messages = [
        "hello /fix",
        " /fix",
        "/etc/hosts is wrong",
        "/Users is full",
        "/2",
        "/",
        "/ x",
        "// why",
        "//",
        "/fix: it",
        "//etc/hosts",
        "/ähm",
    ];
    for text in messages {
        assert_eq!(commands.read(text), Typed::Message(text.into()), "{text}");
    }
    assert_eq!(commands.read("//fix it"), Typed::Message("/fix it".into()));
    assert_eq!(commands.read("//tmp"), Typed::Message("/tmp".into()));
    assert_eq!(commands.read("/model  a/b "), Typed::BuiltIn(BuiltIn::Model, "a/b"));
    assert_eq!(commands.read("/models"), Typed::BuiltIn(BuiltIn::Model, ""));
    assert_eq!(commands.read("/new\n"), Typed::BuiltIn(BuiltIn::Clear, ""));
    assert_eq!(commands.read("/help me"), Typed::Unexpected(BuiltIn::Help));
    let Typed::Command(command, arguments) = commands.read("/fix 12\nand more") else { panic!() };
    assert_eq!((command.name.as_str(), arguments), ("fix", "12\nand more"));
}

#[test]
fn an_unknown_name_is_not_sent_and_the_nearest_is_named() {
    let (_folder, commands) = some();
    let nearest = |text: &str| match commands.read(text) {
        Typed::Unknown(_, nearest) => nearest.map(str::to_owned),
        other => panic!("{other:?}"),
    };
    assert_eq!(nearest("/modle x").as_deref(), Some("model"));
    assert_eq!(nearest("/fxi").as_deref(), Some("fix"));
    assert_eq!(nearest("/comp").as_deref(), Some("compact"));
    assert_eq!(nearest("/tmp is full"), None);
    let words = unknown_words("modle", Some("model"));
    assert!(words.contains("/modle") && words.contains("/model?"), "{words}");
}

#[test]
fn a_command_with_a_broken_file_says_where_it_is_wrong() {
    let (_folder, commands) = with(&[("commands/ship.md", "---\nagent: ../x\n---\nx")]);
    let Typed::Unusable(words) = commands.read("/ship it") else { panic!("it is not in use") };
    assert!(words.starts_with("The command /ship can’t be used. "), "{words}");
    assert!(words.contains("ship.md, line 2: "), "{words}");
}

#[test]
fn what_takes_arguments_waits_for_them() {
    let (_folder, commands) = some();
    let waits = |name: &str| {
        commands.all().iter().find(|one| one.name == name).unwrap().waits_for_arguments()
    };
    assert!(waits("fix") && waits("pdf") && waits("tables"));
    assert!(!waits("tidy") && !waits("model"));
}

#[test]
fn what_was_sent_as_text_is_typed_with_two_slashes_again() {
    let text = |text: &str| as_typed(&Content::text(text));
    assert_eq!(text("/tmp is full"), "//tmp is full");
    assert_eq!(text("/etc/hosts is wrong"), "/etc/hosts is wrong");
    assert_eq!(text("hello"), "hello");
    let command = CommandText { name: "fix".to_owned(), text: "Fix #12.".to_owned() };
    let attachments = vec![Attachment::Command(command)];
    assert_eq!(as_typed(&Content { attachments, ..Content::text("/fix 12") }), "/fix 12");
}
