//! Asks for the arguments of a prompt of an MCP server: a dialog with an entry for each.

mod values;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::tool::{PromptArgument, TypedArgument};
use chat_presentation::slash_commands::ServerPrompt;
use chat_presentation::words::{fill, line_within};
use gettextrs::gettext;

pub(super) use values::Completing;
use values::Values;

/// The response that takes the values.
const ADD: &str = "add";
/// The longest text of a server in the dialog, in characters.
const LONGEST: usize = 400;
/// The height up to which the entries are all seen, in pixels.
const HIGHEST: i32 = 400;

/// Asks for values, beginning with these. `complete` gives the values that the server knows for one. `done` is told
/// them, or none if the user thinks better of it.
pub(super) fn ask(
    parent: Option<&gtk::Window>,
    prompt: &ServerPrompt,
    values: &BTreeMap<String, String>,
    complete: impl Fn(TypedArgument) -> Completing + 'static,
    done: impl Fn(Option<BTreeMap<String, String>>) + 'static,
) {
    let dialog = adw::MessageDialog::builder()
        .heading(prompt.title())
        .body(line_within(&prompt.prompt.description, LONGEST))
        .modal(true)
        .build();
    dialog.set_transient_for(parent);
    dialog.add_response("cancel", &gettext("_Cancel"));
    dialog.add_response(ADD, &gettext("_Add to Message"));
    dialog.set_response_appearance(ADD, adw::ResponseAppearance::Suggested);
    dialog.set_default_response(Some(ADD));
    dialog.set_close_response("cancel");
    let list = gtk::ListBox::builder()
        .selection_mode(gtk::SelectionMode::None)
        .css_classes(["boxed-list"])
        .build();
    let entries: Rc<[Entry]> =
        prompt.prompt.arguments.iter().map(|argument| Entry::new(argument, values)).collect();
    let known = Values::new(complete);
    let offered = known.widget().clone();
    let of = (prompt.server.clone(), prompt.prompt.name.clone());
    let look_for = Rc::new(move |entry: &Entry, entries: &[Entry]| {
        let typed = TypedArgument {
            server: of.0.clone(),
            prompt: of.1.clone(),
            argument: entry.name.clone(),
            value: entry.row.text().into(),
            others: entries
                .iter()
                .filter(|it| it.name != entry.name)
                .filter_map(Entry::value)
                .collect(),
        };
        known.look_for(&entry.row, typed);
    });
    for (at, entry) in entries.iter().enumerate() {
        list.append(&entry.row);
        let (weak, all) = (dialog.downgrade(), Rc::downgrade(&entries));
        let looks = Rc::clone(&look_for);
        entry.row.connect_changed(move |_| {
            if let (Some(dialog), Some(all)) = (weak.upgrade(), all.upgrade()) {
                dialog.set_response_enabled(ADD, is_complete(&all));
                looks(&all[at], &all);
            }
        });
        let (all, looks) = (Rc::downgrade(&entries), Rc::clone(&look_for));
        let focus = gtk::EventControllerFocus::new();
        focus.connect_enter(move |_| {
            if let Some(all) = all.upgrade() {
                looks(&all[at], &all);
            }
        });
        entry.row.add_controller(focus);
    }
    dialog.set_response_enabled(ADD, is_complete(&entries));
    let column = gtk::Box::new(gtk::Orientation::Vertical, 12);
    column.append(&list);
    column.append(&offered);
    let scroller = gtk::ScrolledWindow::builder()
        .child(&column)
        .hscrollbar_policy(gtk::PolicyType::Never)
        .propagate_natural_height(true)
        .max_content_height(HIGHEST)
        .build();
    dialog.set_extra_child(Some(&scroller));
    let first = entries.iter().find(|entry| entry.row.text().is_empty()).or(entries.first());
    let first = first.map(|entry| entry.row.clone());
    let done = Cell::new(Some(done));
    dialog.connect_response(None, move |_, response| {
        let Some(done) = done.take() else { return };
        done((response == ADD).then(|| entries.iter().filter_map(Entry::value).collect()));
    });
    dialog.present();
    if let Some(first) = first {
        first.grab_focus();
    }
}

/// An argument that is typed.
struct Entry {
    name: String,
    is_required: bool,
    row: adw::EntryRow,
}

impl Entry {
    fn new(argument: &PromptArgument, values: &BTreeMap<String, String>) -> Self {
        let PromptArgument { name, title, description, is_required } = argument;
        let called = line_within(if title.is_empty() { name } else { title }, LONGEST);
        let title = if *is_required {
            fill(&gettext("{name} (required)"), &[("name", &called)])
        } else {
            called
        };
        let row =
            adw::EntryRow::builder().use_markup(false).title(title).activates_default(true).build();
        if !description.is_empty() {
            row.set_tooltip_text(Some(&line_within(description, LONGEST)));
        }
        if let Some(value) = values.get(name) {
            row.set_text(value);
        }
        Self { name: name.clone(), is_required: *is_required, row }
    }

    fn value(&self) -> Option<(String, String)> {
        let value = self.row.text();
        (!value.trim().is_empty()).then(|| (self.name.clone(), value.into()))
    }
}

/// Whether all is given that is needed.
fn is_complete(entries: &[Entry]) -> bool {
    entries.iter().all(|entry| !entry.is_required || entry.value().is_some())
}

#[cfg(test)]
mod tests {
    use chat_core::tool::PromptEntry;

    use super::*;
    use crate::main_loop::until;

    fn argument(name: &str, is_required: bool) -> PromptArgument {
        PromptArgument { name: name.to_owned(), is_required, ..PromptArgument::default() }
    }

    fn dialog() -> adw::MessageDialog {
        let mut windows = gtk::Window::list_toplevels().into_iter();
        windows.find_map(|window| window.downcast().ok()).expect("a dialog")
    }

    fn find<W: IsA<gtk::Widget>>(widget: &gtk::Widget, found: &mut Vec<W>) {
        if let Some(wanted) = widget.downcast_ref::<W>() {
            found.push(wanted.clone());
        }
        let mut next = widget.first_child();
        while let Some(child) = next {
            find(&child, found);
            next = child.next_sibling();
        }
    }

    #[gtk::test]
    fn what_is_needed_must_be_given_and_what_is_empty_is_not() {
        crate::init();
        let arguments = vec![argument("<b>code", true), argument("tone", false)];
        let prompt = PromptEntry { name: "review".to_owned(), arguments, ..PromptEntry::default() };
        let prompt = ServerPrompt { server: "team".to_owned(), prompt };
        let told = Rc::new(Cell::new(None));
        let hears = Rc::clone(&told);
        let values = BTreeMap::from([("tone".to_owned(), "kind".to_owned())]);
        let complete = |typed: TypedArgument| {
            Box::pin(async move { vec![format!("{} kind", typed.value)] }) as Completing
        };
        ask(None, &prompt, &values, complete, move |values| hears.set(Some(values)));
        let dialog = dialog();
        let mut found = Vec::new();
        find::<adw::EntryRow>(dialog.upcast_ref(), &mut found);
        assert_eq!(found[0].title(), "<b>code (required)");
        assert_eq!(found[1].text(), "kind");
        assert!(!dialog.is_response_enabled(ADD));
        found[0].set_text("a.rs");
        found[1].set_text("very");
        // Its server knows a value.
        let value = || {
            let mut buttons = Vec::<gtk::Button>::new();
            find(dialog.upcast_ref(), &mut buttons);
            buttons.into_iter().find(|it| it.label().is_some_and(|label| label == "very kind"))
        };
        until("the value", || value().is_some());
        value().unwrap().emit_clicked();
        assert_eq!(found[1].text(), "very kind");
        found[1].set_text(" ");
        assert!(dialog.is_response_enabled(ADD));
        dialog.response(ADD);
        let expected = BTreeMap::from([("<b>code".to_owned(), "a.rs".to_owned())]);
        assert_eq!(told.take(), Some(Some(expected)));
        dialog.destroy();
    }
}
