use chat_core::tool::PromptArgument;

use super::super::{FrontEnd, Typed};
use super::*;

fn argument(name: &str, is_required: bool) -> PromptArgument {
    PromptArgument { name: name.to_owned(), is_required, ..PromptArgument::default() }
}

fn prompt(name: &str, arguments: Vec<PromptArgument>) -> PromptEntry {
    PromptEntry { name: name.to_owned(), arguments, ..PromptEntry::default() }
}

fn review() -> ServerPrompt {
    let arguments = vec![argument("code", true), argument("tone", false)];
    ServerPrompt { server: "team".to_owned(), prompt: prompt("review", arguments) }
}

fn commands(prompts: Option<Vec<PromptEntry>>) -> SlashCommands {
    let offer = ServerOffer { server: "Team.1".to_owned(), prompts, ..ServerOffer::default() };
    SlashCommands::default().with_servers(&[Arc::new(offer)])
}

fn values(typed: &str) -> Vec<(String, String)> {
    review().values(typed).into_iter().collect()
}

#[test]
fn values_are_read_as_they_are_typed() {
    let is = |typed: &str, expected: &[(&str, &str)]| {
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        assert_eq!(values(typed), expected, "{typed}");
    };
    is("code=a.rs tone=kind", &[("code", "a.rs"), ("tone", "kind")]);
    is(r#"tone="very \"kind\"" code="a b""#, &[("code", "a b"), ("tone", "very \"kind\"")]);
    // Words without a name are the value that is needed.
    is("fn main() {}", &[("code", "fn main() {}")]);
    is("tone=kind x = 1", &[("code", "x = 1"), ("tone", "kind")]);
    is("code=a and now", &[("code", "a")]);
    is("code= tone=\"open", &[("tone", "\"open")]);
    is("", &[]);
}

#[test]
fn what_is_written_is_read_again() {
    let prompt = review();
    for value in ["plain", "two words", "a \"quote\"", "\"", "back\\slash", "line\nbreak", "ä=b"] {
        let given = BTreeMap::from([("code".to_owned(), value.to_owned())]);
        assert_eq!(prompt.values(&prompt.typed(&given)), given, "{value}");
    }
}

#[test]
fn a_value_that_is_needed_is_missed() {
    let prompt = review();
    assert_eq!(prompt.missing(&prompt.values("tone=kind")), Some("code"));
    assert_eq!(prompt.missing(&prompt.values("code=a")), None);
}

#[test]
fn prompts_are_commands_of_their_server() {
    let names = vec![prompt("re view", Vec::new()), prompt("re_view", Vec::new())];
    let commands = commands(Some(names));
    let found = |text: &str| match commands.read(text) {
        Typed::Command(command, arguments) => {
            let CommandKind::Prompt(prompt) = &command.kind else { panic!("a prompt") };
            Some((prompt.prompt.name.clone(), arguments.to_owned()))
        }
        _ => None,
    };
    assert_eq!(found("/Team.1:re_view"), Some(("re view".to_owned(), String::new())));
    assert_eq!(found("/Team.1:re_view_2 a b"), Some(("re_view".to_owned(), "a b".to_owned())));
    assert_eq!(commands.read("/Team.1:no"), Typed::Unknown("Team.1:no", None));
    // What names no server is text.
    for text in ["/etc:a is wrong", "/Team.1", "/Team.1 :re_view"] {
        assert!(matches!(commands.read(text), Typed::Message(_)), "{text}");
    }
    assert_eq!(commands.read("//Team.1:x"), Typed::Message("/Team.1:x".into()));
    assert_eq!(commands.unasked("/Team.1:re_view"), None);
    assert_eq!(commands.of_server("/Team.1: ").map(|(_, prompts)| prompts.len()), Some(2));
    assert!(commands.of_server("/Team.1:re_view").is_none() && commands.of_server("/x:").is_none());
}

#[test]
fn a_server_that_was_not_asked_is_offered_by_its_name() {
    let unasked = commands(None);
    assert_eq!(unasked.all().last().map(|command| command.name.as_str()), Some("Team.1:"));
    assert_eq!(unasked.unasked("/Team.1:review a"), Some("Team.1"));
    assert_eq!(unasked.unasked("/other:review"), None);
    assert!(matches!(unasked.read("/Team.1:"), Typed::Unknown(..)));
    let names = |query: &str| unasked.matching(query).0.len();
    assert_eq!((names("Team"), names("Team.1:")), (1, 0));
    for (name, may_begin) in [("Te", true), ("Team.1:re", true), ("Xe", false), ("fix", true)] {
        assert_eq!(unasked.may_begin(name), may_begin, "{name}");
    }
    let none = SlashCommands::new(&unasked.definitions, FrontEnd::Window);
    assert_eq!(unasked.with_servers(&[]), none);
}

#[test]
fn what_a_server_says_stays_in_a_line_and_hides_nothing() {
    let mut entry = prompt("a\u{202e}b", vec![argument("c\nd", true)]);
    entry.description = "one\ntwo ".repeat(100);
    let commands = commands(Some(vec![entry]));
    let command = commands.all().last().unwrap();
    assert_eq!((command.name.as_str(), command.arguments.as_str()), ("Team.1:a_b", "c⏎d=…"));
    assert!(command.description.starts_with("one⏎two"), "{}", command.description);
    assert_eq!(command.description.chars().count(), DESCRIPTION + 1);
}
