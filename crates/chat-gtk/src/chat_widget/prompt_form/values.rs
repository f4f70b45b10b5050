//! Offers the values that a server knows for an argument, below the entries.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use adw::prelude::*;
use chat_core::tool::TypedArgument;
use chat_presentation::words::line_within;
use gettextrs::gettext;
use gtk::glib;

use crate::accessible;

/// How long typing must rest before the server is asked.
const REST: Duration = Duration::from_millis(200);
/// So many values are offered: another letter narrows them down.
const MOST: usize = 12;
/// The longest value that is shown whole, in characters.
const LONGEST: usize = 40;

/// Values on their way.
pub(in super::super) type Completing = Pin<Box<dyn Future<Output = Vec<String>>>>;

/// The values, as buttons.
pub(super) struct Values {
    buttons: gtk::FlowBox,
    complete: Box<dyn Fn(TypedArgument) -> Completing>,
    /// Counts what was asked, so that a late answer finds out that it is one.
    asked: Cell<u64>,
    /// The row that the values are for. It holds this, in turn.
    row: glib::WeakRef<adw::EntryRow>,
}

impl Values {
    pub(super) fn new(complete: impl Fn(TypedArgument) -> Completing + 'static) -> Rc<Self> {
        let buttons = gtk::FlowBox::builder()
            .selection_mode(gtk::SelectionMode::None)
            .max_children_per_line(4)
            .column_spacing(6)
            .row_spacing(6)
            .visible(false)
            .build();
        accessible::set_label(&buttons, &gettext("Suggestions"));
        Rc::new(Self {
            buttons,
            complete: Box::new(complete),
            asked: Cell::new(0),
            row: glib::WeakRef::new(),
        })
    }

    pub(super) fn widget(&self) -> &gtk::FlowBox {
        &self.buttons
    }

    /// Offers values for what is typed in a row.
    pub(super) fn look_for(self: &Rc<Self>, row: &adw::EntryRow, typed: TypedArgument) {
        let number = self.asked.get() + 1;
        self.asked.set(number);
        if self.row.upgrade().as_ref() != Some(row) {
            self.row.set(Some(row));
            self.show(Vec::new());
        }
        let weak = Rc::downgrade(self);
        glib::spawn_future_local(async move {
            glib::timeout_future(REST).await;
            let newest = || weak.upgrade().filter(|this| this.asked.get() == number);
            let Some(completing) = newest().map(|this| (this.complete)(typed)) else { return };
            let values = completing.await;
            if let Some(this) = newest() {
                this.show(values);
            }
        });
    }

    /// Replaces the buttons.
    fn show(&self, values: Vec<String>) {
        let Some(row) = self.row.upgrade() else { return };
        while let Some(child) = self.buttons.first_child() {
            self.buttons.remove(&child);
        }
        let typed = row.text();
        let values = values.into_iter().filter(|value| *value != typed).take(MOST);
        for value in values {
            let button = gtk::Button::builder().label(line_within(&value, LONGEST)).build();
            button.set_tooltip_text(Some(&line_within(&value, 10 * LONGEST)));
            let row = row.downgrade();
            button.connect_clicked(move |_| {
                if let Some(row) = row.upgrade() {
                    row.set_text(&value);
                    row.grab_focus();
                    row.set_position(-1);
                }
            });
            let child = gtk::FlowBoxChild::builder().child(&button).focusable(false).build();
            self.buttons.insert(&child, -1);
        }
        self.buttons.set_visible(self.buttons.first_child().is_some());
    }
}
