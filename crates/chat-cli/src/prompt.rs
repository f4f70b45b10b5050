//! Shows a tool's question in the terminal, and parses the typed answer.

use chat_core::message::{Answer, Ask, Asked, PermissionRequest, Preview, Question};
use chat_core::permission::{Effect, InvalidRule, Rule, Scope};
use chat_presentation::words::{self, visible};

use crate::say;
use crate::terminal::{Colour, Terminal};

/// A question with its possible answers.
#[derive(Clone, Debug)]
pub struct Prompt {
    answers: Answers,
    /// The prompt before the typed answer.
    place: String,
}

#[derive(Clone, Debug)]
enum Answers {
    /// Choose by a letter or a word; anything else is a message to the model.
    Permission(Vec<Choice>),
    /// Choose by a letter or a word; anything else is not an answer.
    GoOn(Vec<Choice>),
    /// Choose by number; anything else is the user's own answer.
    Question(Vec<String>),
}

/// An answer to a permission request.
#[derive(Clone, Debug)]
struct Choice {
    /// The label with the answer's letter in brackets.
    label: String,
    /// The English letter of the answer. It also works in other languages if the answer is for once
    /// only and no other answer uses the letter.
    english: char,
    answer: Answer,
}

impl Prompt {
    /// Creates the prompt of a session with or without a project.
    pub fn new(ask: &Ask, in_project: bool) -> Self {
        match &ask.what {
            Asked::Permission(asked) => {
                let choices = choices(asked, in_project);
                let labels: Vec<_> = choices.iter().map(|choice| choice.label.as_str()).collect();
                let place = say::or_a_word(&labels.join(", "));
                Self { answers: Answers::Permission(choices), place }
            }
            Asked::GoOn { .. } => {
                let choices = vec![
                    Choice { label: say::allow_once(), english: 'y', answer: Answer::Allow(None) },
                    Choice {
                        label: say::deny_once(),
                        english: 'n',
                        answer: Answer::Deny { scope: None, message: None },
                    },
                ];
                let labels: Vec<_> = choices.iter().map(|choice| choice.label.as_str()).collect();
                let place = format!("{}: ", labels.join(", "));
                Self { answers: Answers::GoOn(choices), place }
            }
            Asked::Question(Question { choices, .. }) => {
                let place =
                    if choices.is_empty() { say::own_words() } else { say::number_or_words() };
                Self { answers: Answers::Question(choices.clone()), place }
            }
        }
    }

    /// The whole question as lines, without the possible answers.
    pub fn question(ask: &Ask, in_project: bool, terminal: Terminal) -> String {
        let lines = match &ask.what {
            Asked::Permission(asked) => permission(asked, in_project, terminal),
            Asked::Question(question) => self::question(question, terminal),
            Asked::GoOn { rounds } => vec![terminal.strong(&words::go_on_question(*rounds))],
        };
        lines.iter().flat_map(|line| [line, "\n"]).collect()
    }

    /// The possible answers. The cursor stays after them.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Parses a typed line as an answer; none if it is not one.
    pub fn read(&self, line: &str) -> Option<Answer> {
        let line = line.trim();
        if line.is_empty() {
            return None;
        }
        match &self.answers {
            Answers::Permission(choices) => {
                // A letter without a meaning is a typo, not a message to the model.
                let is_word = line.chars().nth(1).is_some();
                let message = || Answer::Deny { scope: None, message: Some(line.to_owned()) };
                match with_rule(choices, line) {
                    Some(answer) => answer.ok(),
                    None => chosen(choices, line).or_else(|| is_word.then(message)),
                }
            }
            Answers::GoOn(choices) => chosen(choices, line),
            Answers::Question(choices) => {
                let number = line.parse().ok().and_then(|number: usize| number.checked_sub(1));
                let chosen = number.and_then(|at| choices.get(at)).cloned();
                Some(Answer::Text(chosen.unwrap_or_else(|| line.to_owned())))
            }
        }
    }
}

/// The answer for a letter or a word.
fn chosen(choices: &[Choice], line: &str) -> Option<Answer> {
    let said = line.to_lowercase();
    let one = |meant: &dyn Fn(&Choice) -> bool| {
        choices.iter().find(|choice| meant(choice)).map(|choice| choice.answer.clone())
    };
    let mut letters = said.chars();
    match letters.next().filter(|_| letters.next().is_none()) {
        // Lasting answers must not be chosen by a typo.
        Some(letter) => one(&|choice| choice.letter() == letter)
            .or_else(|| one(&|choice| choice.english == letter && choice.is_for_once())),
        None => one(&|choice| choice.word() == said),
    }
}

/// A lasting answer followed by the user's own rule, as in `s run:cargo test *`. None if the line
/// is no such answer; an error if the rule is invalid.
fn with_rule(choices: &[Choice], line: &str) -> Option<Result<Answer, InvalidRule>> {
    let (chosen, rule) = line.split_once(char::is_whitespace)?;
    let rule = rule.trim_start();
    let (action, what) = rule.split_once(':')?;
    let longer = match self::chosen(choices, chosen)? {
        Answer::Allow(Some(scope)) => (Effect::Allow, scope),
        Answer::Deny { scope: Some(scope), .. } => (Effect::Deny, scope),
        _ => return None,
    };
    // “s please: use make” is a message to the model.
    if action.contains(char::is_whitespace) || what.starts_with(char::is_whitespace) {
        return None;
    }
    let (effect, scope) = longer;
    let remember = |rule| Answer::Remember { effect, scope, rules: vec![rule], message: None };
    Some(rule.parse().map(remember))
}

impl Choice {
    fn is_for_once(&self) -> bool {
        matches!(self.answer, Answer::Allow(None) | Answer::Deny { scope: None, .. })
    }

    fn letter(&self) -> char {
        let inside = self.label.split_once('[').and_then(|(_, rest)| rest.chars().next());
        inside.and_then(|letter| letter.to_lowercase().next()).unwrap_or(self.english)
    }

    fn word(&self) -> String {
        self.label.replace(['[', ']'], "").to_lowercase()
    }
}

/// The answers to a request. If no rule would allow it, there are no lasting answers.
fn choices(asked: &PermissionRequest, in_project: bool) -> Vec<Choice> {
    let allow = |scope| Answer::Allow(scope);
    let deny = |scope| Answer::Deny { scope, message: None };
    // It names files relative to the project folder, so it can apply nowhere else.
    let is_local = in_project && asked.always.iter().all(Rule::is_of_project);
    let can_leave = asked.preview.can_leave_sandbox();
    let all = [
        (say::allow_once(), 'y', allow(None), true),
        (say::allow_in_session(), 's', allow(Some(Scope::Session)), false),
        (say::allow_in_project(), 'p', allow(Some(Scope::Project)), false),
        (say::allow_always(), 'a', allow(Some(Scope::Everywhere)), false),
        (say::allow_outside_sandbox(), 'o', Answer::AllowOutsideSandbox, can_leave),
        (say::deny_once(), 'n', deny(None), true),
        (say::deny_always(is_local), 'd', deny(Some(Scope::Everywhere)), false),
    ];
    let fits = |answer: &Answer, once: bool| {
        once || match answer {
            Answer::AllowOutsideSandbox => false,
            Answer::Allow(Some(Scope::Project)) => in_project && !asked.always.is_empty(),
            Answer::Allow(Some(Scope::Everywhere)) => !asked.always.is_empty() && !is_local,
            // With several rules it would be unclear which one is meant.
            Answer::Deny { .. } => asked.always.len() == 1,
            _ => !asked.always.is_empty(),
        }
    };
    all.into_iter()
        .filter(|(_, _, answer, once)| fits(answer, *once))
        .map(|(label, english, answer, _)| Choice { label, english, answer })
        .collect()
}

/// The lines of the rules that a lasting answer stores. Those that even “always” stores only for the
/// project say so, unless all are.
fn rules(always: &[Rule], in_project: bool) -> Vec<String> {
    let is_mixed = in_project && !always.iter().all(Rule::is_of_project);
    let line = |rule: &Rule| {
        let text = visible(&rule.to_string()).into_owned();
        let text =
            if is_mixed && rule.is_of_project() { words::rule_of_project(&text) } else { text };
        format!("  {text}")
    };
    always.iter().map(line).collect()
}

fn permission(asked: &PermissionRequest, in_project: bool, terminal: Terminal) -> Vec<String> {
    let mut lines = vec![terminal.strong(&words::permission_question(asked))];
    match &asked.preview {
        Preview::Command { text, folder, network, sandboxed, .. } => {
            lines.extend(visible(text).lines().map(|line| format!("  {line}")));
            lines.push(terminal.dim(&say::bounds(folder, *sandboxed, *network)));
        }
        Preview::Change { diff, added, removed, .. } => {
            lines.push(format!("  {}", visible(&asked.target)));
            lines.extend(
                visible(diff).lines().map(|line| format!("  {}", coloured(line, terminal))),
            );
            lines.push(terminal.dim(&words::changed(*added, *removed)));
        }
        // The question may have shortened the paths.
        Preview::Move { to } => {
            lines.push(format!("  {}", visible(&asked.target)));
            lines.push(format!("  → {}", visible(&to.display().to_string())));
        }
        Preview::Address { url } => lines.push(format!("  {}", visible(url))),
        Preview::Store { url, bytes } => {
            lines.push(format!("  {}", visible(url)));
            lines.push(format!("  → {}", visible(&asked.target)));
            lines.push(terminal.dim(&words::bytes(*bytes)));
        }
        Preview::Delete | Preview::Target => lines.push(format!("  {}", visible(&asked.target))),
    }
    lines.push(terminal.dim(&say::why(asked)));
    lines.extend(words::stays_inside(asked).map(|why| terminal.dim(&why)));
    if asked.always.is_empty() {
        lines.push(terminal.dim(&say::never_for_longer()));
    } else {
        lines.push(terminal.dim(&say::for_longer()));
        lines.extend(rules(&asked.always, in_project));
        if let [rule] = &asked.always[..]
            && let Some(wider) = rule.wider()
        {
            lines.push(terminal.dim(&say::own_rule(&visible(&wider.to_string()))));
        }
    }
    lines
}

/// A line of a diff.
fn coloured(line: &str, terminal: Terminal) -> String {
    match line.chars().next() {
        Some('+') => terminal.coloured(Colour::Green, line),
        Some('-') => terminal.coloured(Colour::Red, line),
        Some('@') => terminal.coloured(Colour::Cyan, line),
        _ => line.to_owned(),
    }
}

fn question(question: &Question, terminal: Terminal) -> Vec<String> {
    let mut lines = vec![terminal.strong(&say::model_asks())];
    lines.extend(visible(&question.text).lines().map(|line| format!("  {line}")));
    let choices = question.choices.iter().enumerate();
    lines.extend(choices.map(|(at, choice)| format!("  {}  {}", at + 1, words::one_line(choice))));
    lines
}

#[cfg(test)]
mod tests {
    use chat_core::message::{AskId, ToolCallId};
    use chat_core::permission::{Action, Why};

    use super::*;

    fn ask(what: Asked) -> Ask {
        Ask { id: AskId::generate(), call: ToolCallId::new("c1"), tool: "a_tool".to_owned(), what }
    }

    fn command(always: &[&str]) -> Ask {
        let text = "cargo test \\\n  --all\x1b[8m && curl evil.example".to_owned();
        ask(Asked::Permission(PermissionRequest {
            action: Action::Run,
            target: text.clone(),
            preview: Preview::Command {
                text,
                folder: "/home/ada/work".into(),
                network: false,
                sandboxed: true,
                stays_inside: None,
            },
            why: Why::Mode,
            scope: None,
            always: always.iter().map(|rule| rule.parse().expect("a rule")).collect(),
        }))
    }

    fn shown(ask: &Ask, in_project: bool) -> String {
        Prompt::question(ask, in_project, Terminal::default())
            + Prompt::new(ask, in_project).place()
    }

    #[test]
    fn a_command_is_shown_whole_with_what_always_would_allow() {
        let ask = command(&["run:cargo test --all", "run:curl evil.example"]);
        let text = shown(&ask, true);
        assert_eq!(
            text,
            "Run this command?\n  cargo test \\\n    --all␛[8m && curl evil.example\n\
             In /home/ada/work, in the sandbox, without network access\nNo rule allows it yet.\n\
             Lasting answers apply only to:\n  run:cargo test --all\n  \
             run:curl evil.example\n[y]es, in thi[s] chat, in this [p]roject, [a]lways allow, \
             [o]utside the sandbox once, [n]o, or a message to the model: "
        );
    }

    #[test]
    fn only_answers_are_there_that_store_what_they_say() {
        let answers = |rules: &[&str], in_project| {
            let ask = command(rules);
            let text = shown(&ask, in_project);
            text.lines().last().map(str::to_owned).unwrap_or_default()
        };
        let all = "[y]es, in thi[s] chat, in this [p]roject, [a]lways allow, \
                   [o]utside the sandbox once, [n]o, [d]eny always, or";
        assert!(answers(&["run:make"], true).starts_with(all));
        let local = answers(&["write:src/**"], true);
        assert!(local.contains("[d]eny always in this project, or"), "{local}");
        assert!(!local.contains("[a]lways allow"), "{local}");
        assert!(
            answers(&["write:src/**"], false)
                .contains("[a]lways allow, [o]utside the sandbox once, [n]o, [d]eny always, or")
        );
        assert!(answers(&[], true).starts_with("[y]es, [o]utside the sandbox once, [n]o, or"));
    }

    #[test]
    fn a_rule_that_always_stores_for_the_project_says_so() {
        let rules = &["run:cat .env", "read:./.env"];
        let told = "\n  run:cat .env\n  read:./.env (only in this project)\n";
        let text = shown(&command(rules), true);
        assert!(text.contains(told) && text.contains("[a]lways allow"), "{text}");
        assert!(!shown(&command(rules), false).contains("only in this project"));
        let local = shown(&command(&["read:./.env"]), true);
        assert!(local.contains("\n  read:./.env\n"), "{local}");
    }

    #[test]
    fn leaving_the_sandbox_is_no_answer_where_a_rule_denies_the_network() {
        let mut ask = command(&["run:make"]);
        let Asked::Permission(asked) = &mut ask.what else { panic!() };
        let Preview::Command { stays_inside, .. } = &mut asked.preview else { panic!() };
        *stays_inside = Some(Why::Denied("network:*".to_owned()));
        let text = shown(&ask, true);
        assert!(
            text.contains(
                "\nNo rule allows it yet.\nIt can’t run outside the sandbox, because it could use the network there. \
                 The rule network:* denies that.\n"
            ),
            "{text}"
        );
        assert!(text.contains("[a]lways allow, [n]o, [d]eny always, or a message"), "{text}");
        let prompt = Prompt::new(&ask, true);
        assert_eq!(prompt.read("o"), None);
        let words = "outside the sandbox once".to_owned();
        let told = Answer::Deny { scope: None, message: Some(words.clone()) };
        assert_eq!(prompt.read(&words), Some(told));
    }

    #[test]
    fn where_the_rule_holds_that_may_deny_it_is_told() {
        for (scope, told) in [
            (Scope::Session, "This rule applies to this chat."),
            (Scope::Project, "This rule applies to this project."),
            (Scope::Everywhere, "This rule applies everywhere."),
        ] {
            let mut ask = command(&[]);
            let Asked::Permission(asked) = &mut ask.what else { panic!() };
            (asked.why, asked.scope) = (Why::PerhapsDenied("run:rm *".to_owned()), Some(scope));
            let text = shown(&ask, true);
            assert!(
                text.contains(&format!(
                    "The rule run:rm * may deny it. That only becomes clear when the command runs. {told}\n"
                )),
                "{text}"
            );
            let nobody = say::nobody(&ask);
            assert!(nobody.ends_with(told), "{nobody}");
        }
        let nobody = say::nobody(&command(&["run:cargo test"]));
        assert!(
            nobody.ends_with("To allow it in this chat, use: --allow 'run:cargo test'"),
            "{nobody}"
        );
    }

    #[test]
    fn a_whole_diff_is_shown() {
        let diff: String =
            (0..500).flat_map(|n| ["+line ".to_owned(), n.to_string(), "\n".to_owned()]).collect();
        let ask = ask(Asked::Permission(PermissionRequest {
            action: Action::Write,
            target: "src/lib.rs".to_owned(),
            preview: Preview::Change { is_new: false, diff, added: 500, removed: 0 },
            why: Why::Mode,
            scope: None,
            always: vec!["write:src/lib.rs".parse().expect("a rule")],
        }));
        let text = shown(&ask, true);
        assert!(text.starts_with("Edit “src/lib.rs”?\n  src/lib.rs\n  +line 0\n"), "{text}");
        assert!(text.contains("\n  +line 499\n+500\n"), "{text}");
    }

    #[test]
    fn letters_and_words_are_answers_and_all_else_is_a_word_to_the_model() {
        let prompt = Prompt::new(&command(&["run:cargo test --all"]), true);
        let allow = |scope| Some(Answer::Allow(scope));
        let deny = |scope, message: Option<&str>| {
            Some(Answer::Deny { scope, message: message.map(str::to_owned) })
        };
        for (line, answer) in [
            ("y", allow(None)),
            (" YES ", allow(None)),
            ("s", allow(Some(Scope::Session))),
            ("p", allow(Some(Scope::Project))),
            ("a", allow(Some(Scope::Everywhere))),
            ("always allow", allow(Some(Scope::Everywhere))),
            ("n", deny(None, None)),
            ("no", deny(None, None)),
            ("d", deny(Some(Scope::Everywhere), None)),
            ("o", Some(Answer::AllowOutsideSandbox)),
            ("no, use make", deny(None, Some("no, use make"))),
            ("yes please", deny(None, Some("yes please"))),
            ("x", None),
            ("", None),
            ("  ", None),
        ] {
            assert_eq!(prompt.read(line), answer, "{line:?}");
        }
    }

    #[test]
    fn a_rule_behind_the_letter_is_stored_instead() {
        let ask = command(&["run:cargo test --all"]);
        let text = shown(&ask, true);
        assert!(
            text.contains(
                "\nTo allow more, type a rule after the letter, such as: s run:cargo test *\n"
            ),
            "{text}"
        );
        let prompt = Prompt::new(&ask, true);
        let remember = |effect, scope, rule: &str| {
            let rules = vec![rule.parse().expect("a rule")];
            Some(Answer::Remember { effect, scope, rules, message: None })
        };
        for (line, answer) in [
            ("s run:cargo test *", remember(Effect::Allow, Scope::Session, "run:cargo test *")),
            ("p  run:cargo *", remember(Effect::Allow, Scope::Project, "run:cargo *")),
            ("a run:ls", remember(Effect::Allow, Scope::Everywhere, "run:ls")),
            ("d run:cargo *", remember(Effect::Deny, Scope::Everywhere, "run:cargo *")),
            ("s run:cargo te*", None),
            ("s walk:cargo", None),
        ] {
            assert_eq!(prompt.read(line), answer, "{line:?}");
        }
        for line in ["y run:ls", "s please: use make", "make: no", "a good idea: no"] {
            let told = matches!(prompt.read(line), Some(Answer::Deny { message: Some(_), .. }));
            assert!(told, "{line:?}");
        }
        assert_eq!(
            Prompt::new(&command(&[]), true).read("s run:ls"),
            Some(Answer::Deny { scope: None, message: Some("s run:ls".to_owned()) })
        );
    }

    #[test]
    fn an_answer_for_longer_is_there_only_where_it_is_possible() {
        let never = Prompt::new(&command(&[]), true);
        let place = "[y]es, [o]utside the sandbox once, [n]o, or a message to the model: ";
        assert_eq!(never.place(), place);
        for letter in ["s", "p", "a", "d"] {
            assert_eq!(never.read(letter), None, "{letter}");
        }
        let anywhere = Prompt::new(&command(&["run:cargo test --all"]), false);
        assert_eq!(anywhere.read("p"), None);
        assert_eq!(anywhere.read("s"), Some(Answer::Allow(Some(Scope::Session))));
    }

    #[test]
    fn a_question_is_answered_by_number_or_in_words() {
        let choices = vec!["red\x1b[2J".to_owned(), "blue".to_owned()];
        let ask = ask(Asked::Question(Question { text: "Which?".to_owned(), choices }));
        let prompt = Prompt::new(&ask, true);
        let text = shown(&ask, true);
        assert_eq!(
            text,
            "The model asks:\n  Which?\n  1  red␛[2J\n  2  blue\nEnter a number or your own answer: "
        );
        let said = |text: &str| Some(Answer::Text(text.to_owned()));
        assert_eq!(prompt.read("2"), said("blue"));
        assert_eq!(prompt.read("3"), said("3"));
        assert_eq!(prompt.read("0"), said("0"));
        assert_eq!(prompt.read(" a dark red "), said("a dark red"));
        assert_eq!(prompt.read(""), None);
    }

    #[test]
    fn no_two_answers_share_a_letter_in_any_language() {
        let ids = [
            "[y]es",
            "in thi[s] chat",
            "in this [p]roject",
            "[a]lways allow",
            "[o]utside the sandbox once",
            "[n]o",
            "[d]eny always",
        ];
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../po");
        let read =
            |name: &str| std::fs::read_to_string(format!("{folder}/{name}")).expect("a file");
        for language in
            read("LINGUAS").lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            let translations = read(&format!("{language}.po"));
            let mut letters = Vec::new();
            for id in ids {
                let entry = format!("msgid \"{id}\"\nmsgstr \"");
                let rest = translations.split(&entry).nth(1).expect("a translation");
                let label = rest.split('"').next().unwrap_or_default().to_owned();
                assert!(label.contains('[') && label.contains(']'), "{language}: {label}");
                let choice = Choice { label, english: '?', answer: Answer::Nobody };
                assert!(!letters.contains(&choice.letter()), "{language}: {choice:?}");
                letters.push(choice.letter());
            }
        }
    }
}
