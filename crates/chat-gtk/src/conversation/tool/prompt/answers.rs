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

    /// What its button says.
    pub fn title(self) -> String {
        match self {
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
    // Without a project it would hold everywhere.
    let fits = |longer: &Longer| has_project || *longer != Longer::Allow(Scope::Project);
    for longer in Longer::ALL.into_iter().filter(fits) {
        let title = longer.title();
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
        let all = Longer::ALL.map(|longer| (longer.title(), longer.answer(Some("no".to_owned()))));
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
    fn the_rules_are_written_out() {
        let always: Vec<Rule> =
            ["run:cargo test *", "write:src/**"].map(|rule| rule.parse().unwrap()).into();
        assert_eq!(rules(&always), "run:cargo test *\nwrite:src/**");
    }
}
