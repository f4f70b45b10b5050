//! The list inside the model dropdown: made for hundreds of models.

use chat_core::message::ModelRef;
use gettextrs::gettext;
use gtk::{gio, glib};
use relm4::gtk::prelude::*;

use super::rows::{Choice, Row};
use crate::accessible;

/// The list of models.
#[derive(Debug)]
pub(super) struct ModelList {
    scroller: gtk::ScrolledWindow,
    view: gtk::ListView,
    store: gio::ListStore,
    selection: gtk::SingleSelection,
}

/// A row as the store holds it.
struct Entry {
    row: Row,
    /// Whether it is the chat's model.
    chosen: bool,
    /// Whether the keyboard begins here.
    first: bool,
}

impl ModelList {
    pub(super) fn new() -> Self {
        let store = gio::ListStore::new::<glib::BoxedAnyObject>();
        let selection = gtk::SingleSelection::builder().autoselect(false).model(&store).build();
        let view = gtk::ListView::builder()
            .model(&selection)
            .factory(&factory())
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
        Self { scroller, view, store, selection }
    }

    pub(super) fn widget(&self) -> &gtk::ScrolledWindow {
        &self.scroller
    }

    /// Shows these rows and marks the chosen model.
    pub(super) fn fill(&self, rows: Vec<Row>, chosen: Option<&ModelRef>) {
        let is_chosen = |row: &Row| matches!(row, Row::Model(c) if Some(&c.model) == chosen);
        let marked = rows.iter().position(is_chosen);
        let first = rows.iter().position(|row| matches!(row, Row::Model(_)));
        let entries: Vec<glib::BoxedAnyObject> = rows
            .into_iter()
            .enumerate()
            .map(|(at, row)| {
                let (chosen, first) = (is_chosen(&row), marked.or(first) == Some(at));
                glib::BoxedAnyObject::new(Entry { row, chosen, first })
            })
            .collect();
        self.store.splice(0, self.store.n_items(), &entries);
        let at = marked.or(first).map_or(gtk::INVALID_LIST_POSITION, |at| at as u32);
        self.selection.set_selected(at);
    }

    /// Goes to the chosen model, or to the first. The row may not be there before the next idle.
    pub(super) fn focus(&self) {
        self.view.grab_focus();
        let position = self.selection.selected().to_variant();
        let _ = self.view.activate_action("list.scroll-to-item", Some(&position));
        let view = self.view.clone();
        glib::idle_add_local_once(move || {
            let mut rows = std::iter::successors(view.first_child(), WidgetExt::next_sibling);
            let is_chosen = |row: &gtk::Widget| {
                row.first_child().is_some_and(|model| model.has_css_class("chosen"))
            };
            // GTK puts the focus on a row of one's choice only since 4.12.
            if let Some(row) = rows.find(is_chosen) {
                row.grab_focus();
            }
        });
    }

    pub(super) fn activate_selected(&self) {
        self.view.emit_by_name::<()>("activate", &[&self.selection.selected()]);
    }

    pub(super) fn connect_chosen(&self, chosen: impl Fn(ModelRef) + 'static) {
        let chosen = std::rc::Rc::new(chosen);
        let store = self.store.clone();
        let choose = move |position: u32| {
            let model =
                store.item(position).and_downcast::<glib::BoxedAnyObject>().and_then(|object| {
                    match &object.borrow::<Entry>().row {
                        Row::Model(choice) => Some(choice.model.clone()),
                        Row::Connection(_) => None,
                    }
                });
            if let Some(model) = model {
                chosen(model);
            }
        };
        self.view.set_single_click_activate(true);
        self.view.connect_activate(move |_, position| choose(position));
    }
}

fn factory() -> gtk::SignalListItemFactory {
    let factory = gtk::SignalListItemFactory::new();
    factory.connect_bind(|_, item| {
        let Some(item) = item.downcast_ref::<gtk::ListItem>() else { return };
        let Some(object) = item.item().and_downcast::<glib::BoxedAnyObject>() else { return };
        let entry = object.borrow::<Entry>();
        let is_model = matches!(entry.row, Row::Model(_));
        item.set_activatable(is_model);
        item.set_selectable(is_model);
        match &entry.row {
            Row::Connection(name) => item.set_child(Some(&heading(name))),
            Row::Model(choice) => {
                let row = model_row(choice, entry.chosen);
                if entry.first {
                    row.add_css_class("chosen");
                }
                item.set_child(Some(&row));
            }
        }
    });
    factory.connect_unbind(|_, item| {
        if let Some(item) = item.downcast_ref::<gtk::ListItem>() {
            item.set_child(gtk::Widget::NONE);
        }
    });
    factory
}

fn heading(name: &str) -> gtk::Label {
    gtk::Label::builder().label(name).xalign(0.0).css_classes(["model-heading"]).build()
}

fn model_row(choice: &Choice, chosen: bool) -> gtk::Box {
    let row = gtk::Box::builder().spacing(8).css_classes(["model-row"]).build();
    let name = gtk::Label::builder()
        .label(&choice.model.model)
        .xalign(0.0)
        .hexpand(true)
        .ellipsize(gtk::pango::EllipsizeMode::Middle)
        .tooltip_text(choice.model.to_string())
        .build();
    row.append(&name);
    let marks = gtk::Box::builder().spacing(4).css_classes(["marks"]).build();
    let mut spoken = vec![choice.model.model.clone()];
    for (has, icon, words) in [
        (choice.tools, "natter-tools-symbolic", gettext("Can use tools")),
        (choice.vision, "natter-vision-symbolic", gettext("Can look at pictures")),
        (choice.thinking, "natter-thinking-symbolic", gettext("Can think before it answers")),
    ] {
        if has {
            let mark = gtk::Image::builder().icon_name(icon).tooltip_text(&words).build();
            marks.append(&mark);
            spoken.push(words);
        }
    }
    row.append(&marks);
    if !choice.size.is_empty() {
        let size = gtk::Label::builder()
            .label(&choice.size)
            .css_classes(["dim-label", "caption", "numeric"])
            .build();
        row.append(&size);
        spoken.push(choice.size.clone());
    }
    let check = gtk::Image::from_icon_name("object-select-symbolic");
    check.set_opacity(if chosen { 1.0 } else { 0.0 });
    row.append(&check);
    accessible::set_label(&row, &spoken.join(", "));
    row
}
