//! Draws the answers to a permission request that hold for longer, each with the rules that it stores.

mod row;

use std::rc::Rc;

use chat_core::message::Answer;
use chat_core::permission::{Effect, InvalidRule, Rule, Scope};
use chat_presentation::words::{self, visible};
use gettextrs::gettext;
use gtk::pango;
use gtk::prelude::*;

use super::Answered;
use crate::accessible;
use row::Row;

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

/// The rules that an answer for longer stores, as they are written: one a line. Those that it stores only for the project, though it is for
/// everywhere, say so.
fn rules(longer: Longer, always: &[Rule], has_project: bool) -> String {
    let is_everywhere = longer == Longer::Allow(Scope::Everywhere);
    let lines = always.iter().map(|rule| {
        let stored = if longer == Longer::Deny { rule.denying() } else { rule.clone() };
        let text = visible(&stored.to_string()).into_owned();
        if is_everywhere && has_project && rule.is_of_project() {
            words::rule_of_project(&text)
        } else {
            text
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What an answer for longer stores: the rules that were asked about, or as they were edited.
#[derive(Debug)]
struct Stored {
    asked: Vec<Rule>,
    fields: Vec<gtk::Entry>,
}

impl Stored {
    fn new(asked: &[Rule]) -> Self {
        let field = |rule: &Rule| {
            let field = gtk::Entry::builder()
                .text(visible(&rule.to_string()).as_ref())
                .width_chars(30)
                .css_classes(["rule"])
                .build();
            accessible::set_label(&field, &gettext("Rule"));
            field
        };
        Self { fields: asked.iter().map(field).collect(), asked: asked.to_vec() }
    }

    /// The rules as they stand there.
    fn rules(&self) -> Result<Vec<Rule>, InvalidRule> {
        let all = self.asked.iter().zip(&self.fields);
        all.map(|(asked, field)| {
            let text = field.text();
            // What cannot be shown as it is was not edited where it is still shown so.
            if text == visible(&asked.to_string()).as_ref() {
                Ok(asked.clone())
            } else {
                text.trim().parse()
            }
        })
        .collect()
    }

    /// The answer that stores them. None where they cannot be read.
    fn answer(&self, longer: Longer, message: Option<String>) -> Option<Answer> {
        let rules = self.rules().ok()?;
        if rules == self.asked {
            return Some(longer.answer(message));
        }
        let (effect, scope) = match longer {
            Longer::Allow(scope) => (Effect::Allow, scope),
            Longer::Deny => (Effect::Deny, Scope::Everywhere),
        };
        Some(Answer::Remember { effect, scope, rules, message })
    }
}

/// A list of the further answers: those for longer, one for the project only where there is one, and to leave the sandbox
/// where a command `can_leave` it. `message` gives the word to the model.
pub fn popover(
    always: &[Rule],
    has_project: bool,
    can_leave: bool,
    answered: &Answered,
    message: impl Fn() -> Option<String> + Clone + 'static,
) -> gtk::Popover {
    let list = gtk::Box::new(gtk::Orientation::Vertical, 2);
    let popover = gtk::Popover::builder().child(&list).css_classes(["answers"]).build();
    let give = {
        let (answered, shown) = (answered.clone(), popover.downgrade());
        move |answer| {
            if let Some(popover) = shown.upgrade() {
                popover.popdown();
            }
            answered(answer);
        }
    };
    if !always.is_empty() {
        add_longer(&list, always, has_project, &give, message);
    }
    if can_leave {
        if !always.is_empty() {
            list.append(&gtk::Separator::new(gtk::Orientation::Horizontal));
        }
        let title = gettext("Run Outside the Sandbox Once");
        let row = Row::new(&title, &gettext("The command can do anything you can do"));
        row.below.remove_css_class("answer-rules");
        row.below.add_css_class("answer-warning");
        row.button.connect_clicked(move |_| give(Answer::AllowOutsideSandbox));
        list.append(&row.button);
    }
    popover
}

/// The answers for longer, and below them the rules that they store, to be edited.
fn add_longer(
    list: &gtk::Box,
    always: &[Rule],
    has_project: bool,
    give: &(impl Fn(Answer) + Clone + 'static),
    message: impl Fn() -> Option<String> + Clone + 'static,
) {
    let stored = Rc::new(Stored::new(always));
    let before_deny = gtk::Separator::new(gtk::Orientation::Horizontal);
    // Whatever is written there: without a project there is no answer for it.
    let all = Longer::ALL
        .into_iter()
        .filter(|longer| has_project || *longer != Longer::Allow(Scope::Project));
    let rows: Vec<(Longer, Row)> = all
        .map(|longer| {
            let row = Row::new("", "");
            let (give, message, stored) = (give.clone(), message.clone(), Rc::clone(&stored));
            row.button.connect_clicked(move |_| {
                // What was typed goes along with no leave.
                let message = if longer == Longer::Deny { message() } else { None };
                if let Some(answer) = stored.answer(longer, message) {
                    give(answer);
                }
            });
            if longer == Longer::Deny {
                list.append(&before_deny);
            }
            list.append(&row.button);
            (longer, row)
        })
        .collect();
    let wrong = gtk::Label::builder()
        .xalign(0.0)
        .wrap(true)
        .max_width_chars(38)
        .visible(false)
        .css_classes(["error", "caption"])
        .build();
    list.append(&gtk::Separator::new(gtk::Orientation::Horizontal));
    let heading = gettext("Rules to Save");
    list.append(&gtk::Label::builder().label(heading).xalign(0.0).css_classes(["caption"]).build());
    for (rule, field) in always.iter().zip(&stored.fields) {
        list.append(field);
        if let Some(wider) = rule.wider() {
            list.append(&wider_button(&wider, field));
        }
    }
    list.append(&wrong);
    // A button of the rows keeps the fields, and these keep what follows: it may keep none of them.
    let rows: Vec<_> = rows.into_iter().map(|(longer, row)| (longer, row.downgrade())).collect();
    let show = {
        let (stored, wrong) = (Rc::downgrade(&stored), wrong.downgrade());
        let before_deny = before_deny.downgrade();
        move || {
            let (Some(stored), Some(wrong), Some(before_deny)) =
                (stored.upgrade(), wrong.upgrade(), before_deny.upgrade())
            else {
                return;
            };
            let found = stored.rules();
            wrong.set_visible(found.is_err());
            if let Err(bad) = &found {
                wrong.set_label(&words::bad_rule(bad));
            }
            for (longer, row) in &rows {
                let Some(row) = row.upgrade() else { continue };
                row.button.set_sensitive(found.is_ok());
                let Ok(rules) = &found else { continue };
                let fits = longer.fits(rules, has_project);
                row.button.set_visible(fits);
                row.set(
                    &longer.title(is_local(rules, has_project)),
                    &self::rules(*longer, rules, has_project),
                );
                if *longer == Longer::Deny {
                    before_deny.set_visible(fits);
                }
            }
        }
    };
    show();
    let show = Rc::new(show);
    for field in &stored.fields {
        let show = Rc::clone(&show);
        field.connect_changed(move |_| show());
    }
}

/// A button that puts a wider rule into a field.
fn wider_button(wider: &Rule, field: &gtk::Entry) -> gtk::Button {
    let text = visible(&wider.to_string()).into_owned();
    let label = words::fill(&gettext("Use {rule}"), &[("rule", &text)]);
    let name = gtk::Label::builder()
        .label(&label)
        .use_markup(false)
        .xalign(0.0)
        .ellipsize(pango::EllipsizeMode::End)
        .max_width_chars(38)
        .build();
    let button = gtk::Button::builder().child(&name).css_classes(["flat", "answer"]).build();
    accessible::set_label(&button, &label);
    let field = field.downgrade();
    button.connect_clicked(move |_| {
        if let Some(field) = field.upgrade() {
            field.set_text(&text);
        }
    });
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

    #[gtk::test]
    fn a_list_of_answers_is_gone_once_nobody_keeps_it() {
        crate::init();
        let always: Vec<Rule> =
            ["run:cargo test *", "write:src/**"].map(|rule| rule.parse().unwrap()).into();
        let answered: Answered = Rc::new(|_| {});
        let popover = popover(&always, true, true, &answered, || None);
        let button = gtk::MenuButton::builder().popover(&popover).build();
        let window = gtk::Window::builder().child(&button).build();
        let list = popover.child().unwrap();
        let children = std::iter::successors(list.first_child(), gtk::Widget::next_sibling);
        let parts: Vec<_> = children.map(|child| child.downgrade()).collect();
        assert!(parts.len() > 8, "answers, fields and lines: {}", parts.len());
        let whole = popover.downgrade();
        drop((popover, list));
        window.set_child(gtk::Widget::NONE);
        drop(button);
        assert!(whole.upgrade().is_none());
        assert!(parts.iter().all(|part| part.upgrade().is_none()));
        window.destroy();
    }

    #[test]
    fn the_rules_are_written_out() {
        let always: Vec<Rule> =
            ["run:cargo test *", "write:src/**"].map(|rule| rule.parse().unwrap()).into();
        let written = |scope, has_project| rules(Longer::Allow(scope), &always, has_project);
        let plain = "run:cargo test *\nwrite:src/**";
        assert_eq!(written(Scope::Session, true), plain);
        assert_eq!(written(Scope::Everywhere, false), plain);
        let mixed = "run:cargo test *\nwrite:src/** (only in this project)";
        assert_eq!(written(Scope::Everywhere, true), mixed);
    }

    #[test]
    fn a_denial_of_a_tool_is_shown_as_it_is_stored() {
        let always = ["mcp+read-only:github/get_issue".parse().unwrap()];
        assert_eq!(rules(Longer::Deny, &always, true), "mcp:github/get_issue");
        let allowed = rules(Longer::Allow(Scope::Session), &always, true);
        assert_eq!(allowed, "mcp+read-only:github/get_issue");
    }
}
