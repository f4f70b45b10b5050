//! Defines the small dropdowns: the agent, the thinking level, and what tools may do without
//! asking.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use chat_core::definitions::Color;
use chat_core::manager::AgentKind;
use chat_core::message::Thinking;
use chat_core::permission::Mode;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;
use relm4::gtk::prelude::*;

use crate::agent_color::AgentDot;
use crate::{accessible, popover};

/// A choice up to this length is never cut off; longer ones show at least this many letters.
const NARROWEST: usize = 14;
/// Titles with more letters take several lines of the open list.
const WIDEST: usize = 40;

/// An entry of a dropdown.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    title: String,
    /// What the closed dropdown shows.
    closed: String,
    icon: Option<&'static str>,
    /// The color of an agent, where its author chose one.
    color: Option<Color>,
    /// A line that says what it does.
    description: String,
    /// Whether it is shown as a warning.
    warns: bool,
}

/// The visible rows.
type Rows = Rc<RefCell<Vec<gtk::ListItem>>>;

/// A dropdown for values of one type that can be changed.
#[derive(Debug)]
pub(crate) struct Choices<T> {
    dropdown: gtk::DropDown,
    values: Rc<RefCell<Vec<T>>>,
    entries: RefCell<Vec<Entry>>,
    showing: Rc<Cell<bool>>,
}

impl<T: Clone + PartialEq + 'static> Choices<T> {
    fn new(name: &str, output: impl Fn(T) + 'static) -> Self {
        let dropdown =
            gtk::DropDown::builder().factory(&title_factory()).css_classes(["flat"]).build();
        let rows = Rows::default();
        dropdown.set_list_factory(Some(&entry_factory(&dropdown, &rows)));
        focus_the_chosen(&dropdown, &rows);
        accessible::set_label(&dropdown, name);
        // The button inside has the keyboard focus.
        if let Some(button) = dropdown.first_child() {
            accessible::set_label(&button, name);
        }
        dropdown.set_tooltip_text(Some(name));
        popover::silence_tooltip(&dropdown);
        let values: Rc<RefCell<Vec<T>>> = Rc::default();
        let showing = Rc::new(Cell::new(false));
        dropdown.connect_selected_notify({
            let values = Rc::clone(&values);
            let showing = Rc::clone(&showing);
            move |dropdown| {
                if showing.get() {
                    return;
                }
                let value = values.borrow().get(dropdown.selected() as usize).cloned();
                if let Some(value) = value {
                    output(value);
                }
            }
        });
        Self { dropdown, values, entries: RefCell::default(), showing }
    }

    pub(crate) fn widget(&self) -> &gtk::DropDown {
        &self.dropdown
    }

    /// Opens the list, as when a chat needs another choice.
    pub(crate) fn open(&self) {
        self.dropdown.activate();
    }

    fn set(&self, choices: Vec<(T, Entry)>) {
        let (values, entries): (Vec<T>, Vec<Entry>) = choices.into_iter().unzip();
        if *self.entries.borrow() == entries && *self.values.borrow() == values {
            return;
        }
        self.showing.set(true);
        let model = gtk::gio::ListStore::new::<glib::BoxedAnyObject>();
        for entry in &entries {
            model.append(&glib::BoxedAnyObject::new(entry.clone()));
        }
        self.values.replace(values);
        self.entries.replace(entries);
        self.dropdown.set_model(Some(&model));
        self.showing.set(false);
    }

    /// Offers these, each by its title.
    pub(crate) fn set_plain(&self, choices: Vec<(T, String)>) {
        let entry = |(value, title): (T, String)| {
            let (closed, description) = (title.clone(), String::new());
            (value, Entry { title, closed, icon: None, color: None, description, warns: false })
        };
        self.set(choices.into_iter().map(entry).collect());
    }

    /// Shows a value as selected, without reporting it.
    pub(crate) fn show(&self, value: &T) {
        let position = self.values.borrow().iter().position(|other| other == value);
        self.showing.set(true);
        self.dropdown
            .set_selected(position.map_or(gtk::INVALID_LIST_POSITION, |position| position as u32));
        self.showing.set(false);
    }
}

/// The agent dropdown.
pub(crate) fn agents(output: impl Fn(String) + 'static) -> Choices<String> {
    Choices::new(&gettext("Agent"), output)
}

/// Offers these agents. If a stored chat names an agent that no longer exists, it is offered too,
/// so that the dropdown shows the truth.
pub(crate) fn set_agents(choices: &Choices<String>, agents: &[AgentKind], chosen: &str) {
    let mut entries: Vec<(String, Entry)> = agents
        .iter()
        .map(|agent| {
            let title = words::agent_title(agent);
            let description = words::agent_description(agent);
            let closed = title.clone();
            let color = agent.color;
            let entry = Entry { closed, title, icon: None, color, description, warns: false };
            (agent.name.clone(), entry)
        })
        .collect();
    if !chosen.is_empty() && !agents.iter().any(|agent| agent.name == chosen) {
        let description = gettext("This agent is no longer available");
        let (title, closed) = (chosen.to_owned(), chosen.to_owned());
        entries.push((
            chosen.to_owned(),
            Entry { title, closed, icon: None, color: None, description, warns: false },
        ));
    }
    choices.set(entries);
    choices.show(&chosen.to_owned());
}

/// A dropdown of titles alone, which looks as a field of a form does.
pub(crate) fn plain<T: Clone + PartialEq + 'static>(
    name: &str,
    output: impl Fn(T) + 'static,
) -> Choices<T> {
    let choices = Choices::new(name, output);
    choices.widget().remove_css_class("flat");
    choices
}

/// The thinking dropdown.
pub(crate) fn thinking(output: impl Fn(Thinking) + 'static) -> Choices<Thinking> {
    let choices = Choices::new(&gettext("Thinking"), output);
    let describe = |level| match level {
        Thinking::Default => gettext("Uses the model’s own default"),
        Thinking::Off => gettext("Answers right away"),
        Thinking::On => gettext("Thinks before answering"),
        Thinking::Low | Thinking::Medium | Thinking::High | Thinking::Max => String::new(),
    };
    // The line below the message is short: a default needs no text.
    let closed = |level| match level {
        Thinking::Default => String::new(),
        level => words::thinking(level),
    };
    let entry = |level| Entry {
        title: words::thinking(level),
        closed: closed(level),
        icon: Some("natter-thinking-symbolic"),
        color: None,
        description: describe(level),
        warns: false,
    };
    choices.set(words::thinking_levels().into_iter().map(|l| (l, entry(l))).collect());
    choices
}

/// The dropdown of what tools may do without asking.
pub(crate) fn modes(output: impl Fn(Mode) + 'static) -> Choices<Mode> {
    let choices = Choices::new(&gettext("Permissions"), output);
    let icon = |mode| match mode {
        Mode::Ask => "security-high-symbolic",
        Mode::Edits => "document-edit-symbolic",
        Mode::Auto => "system-run-symbolic",
        Mode::Plan => "view-list-bullet-symbolic",
        Mode::Unattended => "dialog-warning-symbolic",
    };
    let entry = |mode| Entry {
        title: words::mode_choice(mode),
        closed: words::mode_title(mode),
        icon: Some(icon(mode)),
        color: None,
        description: words::mode_meaning(mode),
        warns: mode == Mode::Unattended,
    };
    choices.set(Mode::ALL.into_iter().map(|mode| (mode, entry(mode))).collect());
    choices
}

/// Builds what the closed dropdown shows.
fn title_factory() -> gtk::SignalListItemFactory {
    factory(|entry| {
        let line = gtk::Box::new(gtk::Orientation::Horizontal, 6);
        if let Some(icon) = entry.icon {
            line.append(&gtk::Image::from_icon_name(icon));
        }
        if entry.color.is_some() {
            line.append(AgentDot::new(entry.color).widget());
        }
        if !entry.closed.is_empty() {
            line.append(&closed_label(&entry.closed));
        }
        if entry.warns {
            line.add_css_class("warning");
        }
        line.upcast()
    })
}

fn closed_label(words: &str) -> gtk::Label {
    let label = gtk::Label::new(Some(words));
    // Otherwise a long title next to it could shrink the label to nothing.
    if words.chars().count() > NARROWEST {
        label.set_ellipsize(gtk::pango::EllipsizeMode::End);
        label.set_width_chars(NARROWEST as i32);
        // Without this, a label that may be cut off asks only for its minimum width.
        label.set_max_width_chars(i32::try_from(words.chars().count()).unwrap_or(i32::MAX));
    }
    label
}

/// Builds the rows of the open list: the title, below it what it does, and a mark on the selected
/// one.
fn entry_factory(dropdown: &gtk::DropDown, rows: &Rows) -> gtk::SignalListItemFactory {
    let factory = factory(|entry| {
        let lines = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .margin_top(2)
            .margin_bottom(2)
            .hexpand(true)
            .valign(gtk::Align::Center)
            .build();
        let title = gtk::Label::builder().label(&entry.title).xalign(0.0).build();
        if entry.title.chars().count() > WIDEST {
            title.set_wrap(true);
            title.set_max_width_chars(WIDEST as i32);
        }
        match entry.color {
            Some(_) => {
                let line = gtk::Box::builder().spacing(8).build();
                line.append(AgentDot::new(entry.color).widget());
                line.append(&title);
                lines.append(&line);
            }
            None => lines.append(&title),
        }
        if !entry.description.is_empty() {
            let description = gtk::Label::builder()
                .label(&entry.description)
                .xalign(0.0)
                .css_classes(["choice-description"])
                .build();
            lines.append(&description);
        }
        let line = gtk::Box::new(gtk::Orientation::Horizontal, 12);
        if entry.warns {
            title.add_css_class("warning");
            let icon = entry.icon.map(gtk::Image::from_icon_name).unwrap_or_default();
            icon.add_css_class("warning");
            line.append(&icon);
        }
        line.append(&lines);
        line.append(&gtk::Image::from_icon_name("object-select-symbolic"));
        line.upcast()
    });
    // The mark moves to another row while the list is open.
    let items = Rc::clone(rows);
    let weak = dropdown.downgrade();
    factory.connect_bind(move |_, item| {
        let (Some(item), Some(dropdown)) = (item.downcast_ref::<gtk::ListItem>(), weak.upgrade())
        else {
            return;
        };
        mark(item, dropdown.selected());
        items.borrow_mut().push(item.clone());
    });
    let items = Rc::clone(rows);
    factory.connect_unbind(move |_, item| {
        items.borrow_mut().retain(|other| other.upcast_ref::<glib::Object>() != item);
    });
    let items = Rc::clone(rows);
    dropdown.connect_selected_notify(move |dropdown| {
        for item in items.borrow().iter() {
            mark(item, dropdown.selected());
        }
    });
    factory
}

/// Starts at the selected row whenever the list opens. GTK starts at the row that had the focus
/// last, which may have been selected for another chat.
fn focus_the_chosen(dropdown: &gtk::DropDown, rows: &Rows) {
    let mut child = dropdown.first_child();
    while let Some(widget) = child {
        child = widget.next_sibling();
        let Some(popover) = widget.downcast_ref::<gtk::Popover>() else { continue };
        let (weak, rows) = (dropdown.downgrade(), Rc::clone(rows));
        popover.connect_map(move |popover| {
            let (weak, popover, rows) = (weak.clone(), popover.downgrade(), Rc::clone(&rows));
            let grab = move || {
                let (Some(dropdown), Some(popover)) = (weak.upgrade(), popover.upgrade()) else {
                    return;
                };
                let chosen = dropdown.selected();
                let row = rows.borrow().iter().find(|row| row.position() == chosen).cloned();
                let row = row.and_then(|row| row.child()).and_then(|line| line.parent());
                if let Some(row) = row.filter(|_| popover.is_mapped()) {
                    row.grab_focus();
                }
            };
            grab();
            // The rows of a list that was never open are created with its first frame, and GTK sets
            // the focus after this.
            glib::idle_add_local_full(glib::Priority::HIGH, move || {
                grab();
                glib::ControlFlow::Break
            });
        });
    }
}

/// Shows the mark on the selected row; the other rows keep the space for it.
fn mark(item: &gtk::ListItem, selected: u32) {
    if let Some(mark) = item.child().and_then(|line| line.last_child()) {
        mark.set_opacity(if item.position() == selected { 1.0 } else { 0.0 });
    }
}

fn factory(make: impl Fn(&Entry) -> gtk::Widget + 'static) -> gtk::SignalListItemFactory {
    let factory = gtk::SignalListItemFactory::new();
    factory.connect_bind(move |_, item| {
        let Some(item) = item.downcast_ref::<gtk::ListItem>() else { return };
        if let Some(object) = item.item().and_downcast::<glib::BoxedAnyObject>() {
            item.set_child(Some(&make(&object.borrow::<Entry>())));
        }
    });
    factory
}

#[cfg(test)]
mod tests;
