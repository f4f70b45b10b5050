//! The answers to a question of leave that hold for longer, each with the rules that it stores.

use chat_core::message::Answer;
use chat_core::permission::{Rule, Scope};
use chat_edge::words::visible;
use gettextrs::gettext;
use gtk::pango;
use gtk::prelude::*;

use super::Answered;
use crate::accessible;

/// An answer that holds for longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Longer {
    /// It may be done, as long as this.
    Allow(Scope),
    /// It may never be done.
    Deny,
}

impl Longer {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Allow(Scope::Session),
        Self::Allow(Scope::Project),
        Self::Allow(Scope::Everywhere),
        Self::Deny,
    ];

    /// Whether it can be given: a rule that names files of the project from its folder on can hold
    /// nowhere else, for the project an answer needs one, and of several rules it would not be known which
    /// one is meant to deny.
    fn fits(self, always: &[Rule], has_project: bool) -> bool {
        match self {
            Self::Allow(Scope::Session) => true,
            Self::Allow(Scope::Project) => has_project,
            Self::Allow(Scope::Everywhere) => !is_local(always, has_project),
            Self::Deny => always.len() == 1,
        }
    }

    /// What its button says.
    pub fn title(self, is_local: bool) -> String {
        match self {
            Self::Deny if is_local => gettext("Always Deny in This Project"),
            Self::Allow(Scope::Session) => gettext("Allow for This Chat"),
            Self::Allow(Scope::Project) => gettext("Allow in This Project"),
            Self::Allow(Scope::Everywhere) => gettext("Always Allow"),
            Self::Deny => gettext("Always Deny"),
        }
    }

    /// What is answered, with a word to the model where it is denied.
    pub fn answer(self, message: Option<String>) -> Answer {
        match self {
            Self::Allow(scope) => Answer::Allow(Some(scope)),
            Self::Deny => Answer::Deny { scope: Some(Scope::Everywhere), message },
        }
    }
}

/// Whether all that would be stored is of the project alone.
fn is_local(always: &[Rule], has_project: bool) -> bool {
    has_project && always.iter().all(Rule::is_of_project)
}

/// The rules that an answer for longer stores, as they are written: one a line.
pub fn rules(always: &[Rule]) -> String {
    let lines: Vec<_> = always.iter().map(|rule| visible(&rule.to_string()).into_owned()).collect();
    lines.join("\n")
}

/// A list of these answers; one for the project is there only where there is one. `message` gives the word to the model.
pub fn popover(
    always: &[Rule],
    has_project: bool,
    answered: &Answered,
    message: impl Fn() -> Option<String> + Clone + 'static,
) -> gtk::Popover {
    let list = gtk::Box::new(gtk::Orientation::Vertical, 2);
    let popover = gtk::Popover::builder().child(&list).css_classes(["answers"]).build();
    let rules = rules(always);
    let is_local = is_local(always, has_project);
    for longer in Longer::ALL.into_iter().filter(|longer| longer.fits(always, has_project)) {
        let title = longer.title(is_local);
        let button = button(&title, &rules);
        let (answered, message) = (answered.clone(), message.clone());
        let shown = popover.downgrade();
        button.connect_clicked(move |_| {
            if let Some(popover) = shown.upgrade() {
                popover.popdown();
            }
            // What was typed goes along with no leave.
            let message = if longer == Longer::Deny { message() } else { None };
            answered(longer.answer(message));
        });
        if longer == Longer::Deny {
            list.append(&gtk::Separator::new(gtk::Orientation::Horizontal));
        }
        list.append(&button);
    }
    popover
}

/// A button that says what it does, and below that the rules that it stores.
fn button(title: &str, rules: &str) -> gtk::Button {
    let name = gtk::Label::builder().label(title).use_markup(false).xalign(0.0).build();
    let below = gtk::Label::builder()
        .label(rules)
        .use_markup(false)
        .xalign(0.0)
        .wrap(true)
        .wrap_mode(pango::WrapMode::Char)
        .max_width_chars(38)
        .css_classes(["answer-rules"])
        .build();
    let both = gtk::Box::new(gtk::Orientation::Vertical, 1);
    both.append(&name);
    both.append(&below);
    let button = gtk::Button::builder().child(&both).css_classes(["flat", "answer"]).build();
    accessible::set_label(&button, title);
    accessible::set_description(&button, rules);
    button
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_is_what_its_button_says() {
        let all =
            Longer::ALL.map(|longer| (longer.title(false), longer.answer(Some("no".to_owned()))));
        let allow = |scope| Answer::Allow(Some(scope));
        let deny = Answer::Deny { scope: Some(Scope::Everywhere), message: Some("no".to_owned()) };
        let expected = [
            ("Allow for This Chat", allow(Scope::Session)),
            ("Allow in This Project", allow(Scope::Project)),
            ("Always Allow", allow(Scope::Everywhere)),
            ("Always Deny", deny),
        ];
        assert_eq!(all, expected.map(|(title, answer)| (title.to_owned(), answer)));
    }

    #[test]
    fn only_answers_are_there_that_store_what_they_say() {
        let given = |rules: &[&str], has_project| {
            let always: Vec<Rule> = rules.iter().map(|rule| rule.parse().unwrap()).collect();
            let is_local = is_local(&always, has_project);
            let fit = Longer::ALL.into_iter().filter(|longer| longer.fits(&always, has_project));
            fit.map(|longer| longer.title(is_local)).collect::<Vec<_>>()
        };
        let all = ["Allow for This Chat", "Allow in This Project", "Always Allow", "Always Deny"];
        assert_eq!(given(&["run:make"], true), all);
        assert_eq!(given(&["run:make"], false), [all[0], all[2], all[3]]);
        assert_eq!(given(&["run:make", "run:ls"], true), all[..3]);
        assert_eq!(given(&["write:/tmp/a"], true), all);
        let local = [all[0], all[1], "Always Deny in This Project"];
        assert_eq!(given(&["write:src/**"], true), local);
        assert_eq!(given(&["read:a", "write:/tmp/a"], true), all[..3]);
    }

    #[test]
    fn the_rules_are_written_out() {
        let always: Vec<Rule> =
            ["run:cargo test *", "write:src/**"].map(|rule| rule.parse().unwrap()).into();
        assert_eq!(rules(&always), "run:cargo test *\nwrite:src/**");
    }
}
