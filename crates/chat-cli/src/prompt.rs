//! Shows a tool's question in the terminal, and parses the typed answer.

mod form;
mod question;
#[cfg(test)]
mod tests;

use chat_core::message::{Answer, ApprovalKind, ApprovalRequest, PermissionRequest, Question};
use chat_core::permission::{Effect, InvalidRule, Rule, Scope};
use chat_presentation::words;

use crate::say;
use crate::terminal::Terminal;
use form::FormPrompt;

/// A question with its possible answers.
#[derive(Clone, Debug)]
pub struct Prompt {
    answers: Answers,
    /// The prompt before the typed answer.
    line: String,
}

#[derive(Clone, Debug)]
enum Answers {
    /// Choose by a letter or a word; anything else is a message to the model.
    Permission(Vec<Choice>),
    /// Choose by a letter or a word; anything else is not an answer.
    GoOn(Vec<Choice>),
    /// Choose by number; anything else is the user's own answer.
    Question(Vec<String>),
    /// Fill in one field after the other.
    Form(Box<FormPrompt>),
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
    pub fn new(ask: &ApprovalRequest, in_project: bool) -> Self {
        match &ask.kind {
            ApprovalKind::Permission(asked) => {
                let choices = choices(asked, in_project);
                let labels: Vec<_> = choices.iter().map(|choice| choice.label.as_str()).collect();
                let line = say::or_a_word(&labels.join(", "));
                Self { answers: Answers::Permission(choices), line }
            }
            ApprovalKind::GoOn { .. } => {
                let choices = vec![
                    Choice { label: say::allow_once(), english: 'y', answer: Answer::Allow(None) },
                    Choice {
                        label: say::deny_once(),
                        english: 'n',
                        answer: Answer::Deny { scope: None, message: None },
                    },
                ];
                let labels: Vec<_> = choices.iter().map(|choice| choice.label.as_str()).collect();
                let line = format!("{}: ", labels.join(", "));
                Self { answers: Answers::GoOn(choices), line }
            }
            ApprovalKind::Question(Question { choices, .. }) => {
                let line =
                    if choices.is_empty() { say::own_words() } else { say::number_or_words() };
                Self { answers: Answers::Question(choices.clone()), line }
            }
            ApprovalKind::Form(form) => {
                let form = FormPrompt::new(form);
                let line = form.line();
                Self { answers: Answers::Form(Box::new(form)), line }
            }
        }
    }

    /// The whole question as lines, without the possible answers.
    pub fn question(ask: &ApprovalRequest, in_project: bool, terminal: Terminal) -> String {
        let lines = match &ask.kind {
            ApprovalKind::Permission(asked) => question::permission(asked, in_project, terminal),
            ApprovalKind::Question(question) => question::question(question, terminal),
            ApprovalKind::Form(form) => question::form(form, terminal),
            ApprovalKind::GoOn { rounds } => vec![terminal.strong(&words::go_on_question(*rounds))],
        };
        lines.iter().flat_map(|line| [line, "\n"]).collect()
    }

    /// The possible answers. The cursor stays after them.
    pub fn choices(&self) -> &str {
        &self.line
    }

    /// What follows a lasting answer in a typed line, if that should be a rule and is none.
    pub fn broken_rule<'a>(&self, line: &'a str) -> Option<&'a str> {
        let Answers::Permission(choices) = &self.answers else { return None };
        with_rule(choices, line.trim())?.err()
    }

    /// Parses a typed line as an answer; none if it is not one. The next field of a form may be asked for then.
    pub fn read(&mut self, line: &str) -> Option<Answer> {
        let line = line.trim();
        if let Answers::Form(form) = &mut self.answers {
            let read = form.read(line);
            let problem = read.as_ref().err().map(|problem| format!("{problem}\n"));
            self.line = problem.unwrap_or_default() + &form.line();
            return read.ok().flatten();
        }
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
            Answers::Form(_) => None,
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
/// is no such answer; what is no rule if that follows.
fn with_rule<'a>(choices: &[Choice], line: &'a str) -> Option<Result<Answer, &'a str>> {
    let (chosen, rule) = line.split_once(char::is_whitespace)?;
    let rule = rule.trim_start();
    let (effect, scope) = match self::chosen(choices, chosen)? {
        Answer::Allow(Some(scope)) => (Effect::Allow, scope),
        Answer::Deny { scope: Some(scope), .. } => (Effect::Deny, scope),
        _ => return None,
    };
    // “s please: use make” is no rule.
    let is_text = |(action, what): (&str, &str)| {
        action.contains(char::is_whitespace) || what.starts_with(char::is_whitespace)
    };
    if rule.split_once(':').is_none_or(is_text) {
        return Some(Err(rule));
    }
    let remember = |rule| Answer::Remember { effect, scope, rules: vec![rule], message: None };
    Some(rule.parse().map(remember).map_err(|_: InvalidRule| rule))
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
