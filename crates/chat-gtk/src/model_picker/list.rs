//! Shows the list in the model dropdown, which stays fast with hundreds of models.

use std::cell::Cell;
use std::rc::Rc;

use chat_core::message::ModelRef;
use gettextrs::gettext;
use gtk::{gdk, gio, glib};
use relm4::gtk::prelude::*;

use super::row;
use super::rows::Row;
use crate::accessible;

/// Messages of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ModelListOutput {
    /// The user chose this model.
    Chosen(ModelRef),
    /// Make this model a favourite, or no longer one.
    Favourite(ModelRef, bool),
    /// The up arrow was pressed in the first row.
    Above,
    /// Esc was pressed.
    Dismissed,
}

/// The list of models.
#[derive(Debug)]
pub(super) struct ModelList {
    scroller: gtk::ScrolledWindow,
    view: gtk::ListView,
    store: gio::ListStore,
    selection: gtk::SingleSelection,
}

/// A row in the list store.
struct Entry {
    row: Row,
    /// Whether it is the chat's model.
    chosen: bool,
}

type Output = Rc<dyn Fn(ModelListOutput)>;

impl ModelList {
    pub(super) fn new(output: impl Fn(ModelListOutput) + 'static) -> Self {
        let output: Output = Rc::new(output);
        let store = gio::ListStore::new::<glib::BoxedAnyObject>();
        let selection = gtk::SingleSelection::builder().autoselect(false).model(&store).build();
        let view = gtk::ListView::builder()
            .model(&selection)
            .factory(&factory(&output))
            .single_click_activate(true)
            .css_classes(["models"])
            .build();
        accessible::set_label(&view, &gettext("Models"));
        let scroller = gtk::ScrolledWindow::builder()
            .child(&view)
            .hscrollbar_policy(gtk::PolicyType::Never)
            .propagate_natural_height(true)
            .max_content_height(380)
            .min_content_width(300)
            .build();
        connect(&view, &selection, output);
        Self { scroller, view, store, selection }
    }

    pub(super) fn widget(&self) -> &gtk::ScrolledWindow {
        &self.scroller
    }

    /// Says what choosing does, for who does not see it.
    pub(super) fn describe(&self, words: &str) {
        accessible::set_description(&self.view, words);
    }

    /// Shows these rows and marks the chosen model. The focus begins at this one, or at the first.
    pub(super) fn fill(&self, rows: Vec<Row>, chosen: Option<&ModelRef>, at: Option<&ModelRef>) {
        let had_focus = self.view.state_flags().contains(gtk::StateFlags::FOCUS_WITHIN);
        let at = rows.iter().position(|row| Some(&row.model) == at).unwrap_or(0);
        let entries: Vec<glib::BoxedAnyObject> = rows
            .into_iter()
            .map(|row| {
                let chosen = Some(&row.model) == chosen;
                glib::BoxedAnyObject::new(Entry { row, chosen })
            })
            .collect();
        self.store.splice(0, self.store.n_items(), &entries);
        self.selection.set_selected(at as u32);
        if had_focus {
            self.focus();
        }
    }

    /// The model with the focus.
    pub(super) fn current(&self) -> Option<ModelRef> {
        current(&self.selection).map(|(model, _)| model)
    }

    /// Focuses the selected row, immediately if it exists, so that the next key continues from it.
    pub(super) fn focus(&self) {
        self.view.grab_focus();
        let selected = self.selection.selected();
        let _ = self.view.activate_action("list.scroll-to-item", Some(&selected.to_variant()));
        if focus_row(&self.view, selected) {
            return;
        }
        let (view, selection) = (self.view.clone(), self.selection.clone());
        glib::idle_add_local_once(move || {
            // Another key was faster, and moved on from there.
            if selection.selected() == selected {
                focus_row(&view, selected);
            }
        });
    }

    /// Scrolls to the selected row once the new rows are laid out: before that, GTK does not know
    /// where a row is.
    pub(super) fn reveal_selected(&self) {
        let (selection, laid_out) = (self.selection.clone(), Cell::new(false));
        self.view.add_tick_callback(move |view, _| {
            if !laid_out.replace(view.height() > 0) || view.height() == 0 {
                return glib::ControlFlow::Continue;
            }
            let selected = selection.selected().to_variant();
            let _ = view.activate_action("list.scroll-to-item", Some(&selected));
            glib::ControlFlow::Break
        });
    }

    pub(super) fn activate_selected(&self) {
        self.view.emit_by_name::<()>("activate", &[&self.selection.selected()]);
    }

    /// Toggles whether the selected model is a favourite.
    pub(super) fn toggle_favourite(&self) -> Option<ModelListOutput> {
        toggled(&self.selection)
    }
}

/// Focuses the row at a position, if it exists. GTK can do this itself since 4.12.
fn focus_row(view: &gtk::ListView, position: u32) -> bool {
    let mut rows = std::iter::successors(view.first_child(), WidgetExt::next_sibling);
    let name = row_name(position);
    let is_it =
        |row: &gtk::Widget| row.first_child().is_some_and(|model| model.widget_name() == name);
    rows.find(is_it).is_some_and(|row| row.grab_focus())
}

/// The name by which the row at a position can be found.
fn row_name(position: u32) -> String {
    format!("model-{position}")
}

fn connect(view: &gtk::ListView, selection: &gtk::SingleSelection, output: Output) {
    let choose = Rc::clone(&output);
    let choosing = selection.clone();
    view.connect_activate(move |_, position| {
        if let Some((model, _)) = item(&choosing, position) {
            choose(ModelListOutput::Chosen(model));
        }
    });
    let keys = gtk::EventControllerKey::new();
    keys.set_propagation_phase(gtk::PropagationPhase::Capture);
    let selection = selection.clone();
    keys.connect_key_pressed(move |_, key, _, modifiers| {
        let control = modifiers.contains(gdk::ModifierType::CONTROL_MASK);
        let meant = match key {
            gdk::Key::d if control => toggled(&selection),
            gdk::Key::Escape => Some(ModelListOutput::Dismissed),
            gdk::Key::Up | gdk::Key::KP_Up if selection.selected() == 0 => {
                Some(ModelListOutput::Above)
            }
            _ => None,
        };
        match meant {
            Some(meant) => {
                output(meant);
                glib::Propagation::Stop
            }
            None => glib::Propagation::Proceed,
        }
    });
    view.add_controller(keys);
}

/// The model at a position, and whether it is a favourite.
fn item(selection: &gtk::SingleSelection, position: u32) -> Option<(ModelRef, bool)> {
    let object = selection.item(position).and_downcast::<glib::BoxedAnyObject>()?;
    let entry = object.borrow::<Entry>();
    Some((entry.row.model.clone(), entry.row.favourite))
}

fn current(selection: &gtk::SingleSelection) -> Option<(ModelRef, bool)> {
    item(selection, selection.selected())
}

fn toggled(selection: &gtk::SingleSelection) -> Option<ModelListOutput> {
    current(selection).map(|(model, favourite)| ModelListOutput::Favourite(model, !favourite))
}

fn factory(output: &Output) -> gtk::SignalListItemFactory {
    let factory = gtk::SignalListItemFactory::new();
    let output = Rc::clone(output);
    factory.connect_bind(move |_, item| {
        let Some(item) = item.downcast_ref::<gtk::ListItem>() else { return };
        let Some(object) = item.item().and_downcast::<glib::BoxedAnyObject>() else { return };
        let entry = object.borrow::<Entry>();
        let (output, model) = (Rc::clone(&output), entry.row.model.clone());
        let line = row::build(&entry.row, entry.chosen, move |favourite| {
            output(ModelListOutput::Favourite(model.clone(), favourite));
        });
        line.set_widget_name(&row_name(item.position()));
        item.set_child(Some(&line));
        // GTK's own row has the focus, but no accessible name.
        if let Some(own) = line.parent() {
            accessible::set_label(&own, &row::spoken(&entry.row));
        }
    });
    factory.connect_unbind(|_, item| {
        if let Some(item) = item.downcast_ref::<gtk::ListItem>() {
            item.set_child(gtk::Widget::NONE);
        }
    });
    factory
}
