//! Shows suggestions for an `@` or a `/` in a list above the cursor. The keyboard focus stays in the text.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gettextrs::gettext;
use gtk::{gdk, glib};
use relm4::gtk::prelude::*;

use super::written::Pin;
use crate::{accessible, found_row};

/// The maximum number of suggestions: typing another letter narrows them down.
pub(crate) const MOST: usize = 24;
/// The list's maximum height, in pixels.
const HIGHEST: i32 = 320;
/// The list's width, if the composer is that wide.
const WIDTH: i32 = 420;

/// A possible meaning of the typed name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suggestion {
    pub(crate) icon: &'static str,
    /// Its name, as markup.
    pub(crate) name: String,
    /// What distinguishes it from others of the same name, as markup; may be empty.
    pub(crate) detail: String,
    /// The full text, for screen readers and tooltips.
    pub(crate) description: String,
    /// The heading that it stands under, if any.
    pub(crate) section: Option<String>,
    pub(crate) choice: Choice,
}

/// What a suggestion becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Pin(Pin),
    /// A command.
    Command {
        name: String,
        /// Whether arguments are typed before it is sent.
        waits: bool,
    },
    /// A prompt of a server that takes arguments, by its name.
    Prompt(String),
    /// The beginning of a name, with its `@` or `/`: the rest is chosen or typed next.
    Begin(String),
}

/// Messages of the list.
#[derive(Clone, Debug)]
pub(super) enum SuggestionsOutput {
    /// The user chose this one; with Tab, to write on.
    Picked { choice: Choice, to_write_on: bool },
    /// This key was held back for the results, but there was nothing to choose.
    NotNeeded(gdk::Key),
}

/// The list.
pub(super) struct Suggestions {
    popover: gtk::Popover,
    list: gtk::ListBox,
    /// The text with the focus: it announces the selected suggestion to screen readers.
    text: gtk::TextView,
    listed: RefCell<Vec<Suggestion>>,
    output: Rc<dyn Fn(SuggestionsOutput)>,
    /// Whether an earlier word's results are still shown, because the results for this one have not
    /// arrived.
    is_old: Cell<bool>,
    /// The key that was pressed in the meantime to choose the first suggestion.
    deferred_key: Cell<Option<gdk::Key>>,
    /// After Esc, the list is not shown again for the same word.
    dismissed: Cell<bool>,
}

impl std::fmt::Debug for Suggestions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Suggestions").finish_non_exhaustive()
    }
}

impl Suggestions {
    /// Creates an empty list above a box, for what is typed into a text.
    pub(super) fn new(
        above: &gtk::Box,
        text: &gtk::TextView,
        output: impl Fn(SuggestionsOutput) + 'static,
    ) -> Rc<Self> {
        let list = gtk::ListBox::builder().css_classes(["files-found"]).build();
        accessible::set_label(&list, &gettext("Suggestions"));
        for _ in 0..MOST {
            list.append(&found_row::row(true));
        }
        let scroller = gtk::ScrolledWindow::builder()
            .child(&list)
            .hscrollbar_policy(gtk::PolicyType::Never)
            .propagate_natural_height(true)
            .max_content_height(HIGHEST)
            .build();
        let popover = gtk::Popover::builder()
            .child(&scroller)
            .autohide(false)
            .has_arrow(false)
            .position(gtk::PositionType::Top)
            .halign(gtk::Align::Start)
            .can_focus(false)
            .css_classes(["suggestions"])
            .build();
        popover.set_parent(above);
        // GTK does not destroy a popover together with its parent.
        let weak = popover.downgrade();
        above.connect_destroy(move |_| {
            if let Some(popover) = weak.upgrade() {
                popover.unparent();
            }
        });
        let this = Rc::new(Self {
            popover,
            list,
            text: text.clone(),
            listed: RefCell::default(),
            output: Rc::new(output),
            is_old: Cell::new(false),
            deferred_key: Cell::default(),
            dismissed: Cell::new(false),
        });
        let weak = Rc::downgrade(&this);
        this.list.connect_row_activated(move |_, row| {
            if let Some(this) = weak.upgrade() {
                this.pick(row.index(), false);
            }
        });
        this.connect_presses();
        let weak = Rc::downgrade(&this);
        this.list.set_header_func(move |row, before| {
            let Some(this) = weak.upgrade() else { return };
            let section = |row: &gtk::ListBoxRow| this.section_of(row.index());
            let own = section(row).filter(|own| before.and_then(section).as_ref() != Some(own));
            row.set_header(own.map(|own| heading(&own)).as_ref());
        });
        this
    }

    /// Picks the row that is pressed with the mouse: in GTK 4.8, clicks do not reach the list's own gesture in a popover
    /// that grabs nothing.
    fn connect_presses(self: &Rc<Self>) {
        let presses = gtk::EventControllerLegacy::new();
        presses.set_propagation_phase(gtk::PropagationPhase::Capture);
        let weak = Rc::downgrade(self);
        presses.connect_event(move |_, event| {
            let button = event.downcast_ref::<gdk::ButtonEvent>().map(gdk::ButtonEvent::button);
            let is_press = event.event_type() == gdk::EventType::ButtonPress
                && button == Some(gdk::BUTTON_PRIMARY);
            let Some(this) = weak.upgrade().filter(|_| is_press) else {
                return glib::Propagation::Proceed;
            };
            let Some(at) = this.pointed_at() else { return glib::Propagation::Proceed };
            this.pick(at, false);
            glib::Propagation::Stop
        });
        self.popover.add_controller(presses);
    }

    /// The row under the mouse.
    fn pointed_at(&self) -> Option<i32> {
        let mut rows = (0..).map_while(|at| self.list.row_at_index(at));
        let is_it = |row: &gtk::ListBoxRow| {
            row.is_visible() && row.state_flags().contains(gtk::StateFlags::PRELIGHT)
        };
        rows.find(is_it).map(|row| row.index())
    }

    /// Shows these where the word begins, with this one selected; none closes the list.
    pub(super) fn show(
        &self,
        suggestions: Vec<Suggestion>,
        selected: i32,
        word: &gdk::Rectangle,
        room: i32,
    ) {
        let is_other_word = self.is_old.replace(false);
        if suggestions.is_empty() || self.dismissed.get() {
            let deferred_key = self.deferred_key.get();
            self.hide();
            if let Some(key) = deferred_key {
                (self.output)(SuggestionsOutput::NotNeeded(key));
            }
            return;
        }
        let same_first = self.listed.borrow().first() == suggestions.first();
        while self.list.row_at_index(suggestions.len() as i32 - 1).is_none() {
            self.list.append(&found_row::row(true));
        }
        for at in 0.. {
            let Some(row) = self.list.row_at_index(at as i32) else { break };
            row.set_visible(at < suggestions.len());
            if let Some(suggestion) = suggestions.get(at) {
                let Suggestion { icon, name, detail, description, .. } = suggestion;
                found_row::describe(&row, name, detail, description);
                found_row::set_icon(&row, icon);
                found_row::set_prose(&row, suggestion.section.is_some());
            }
        }
        self.listed.replace(suggestions);
        self.list.invalidate_headers();
        if let Some(key) = self.deferred_key.get() {
            self.pick(selected, key == gdk::Key::Tab);
            return;
        }
        // Later results for the same word are appended, so the user's selection stays.
        if is_other_word
            || !same_first
            || self.list.selected_row().is_none_or(|row| !row.is_visible())
        {
            self.select(selected);
        }
        // The list stays above the composer even if the word is near its end. Before the list is
        // shown, its own width is unknown, but the width of its content is known.
        let wanted = |widget: &gtk::Widget| widget.measure(gtk::Orientation::Horizontal, -1).1;
        let whole = self.popover.first_child().map_or(0, |contents| wanted(&contents));
        let frame = whole - wanted(self.list.upcast_ref());
        let width = WIDTH.min(room - frame);
        self.list.set_width_request(width);
        let left = word.x().min(room - frame - width).max(0);
        let place = gdk::Rectangle::new(left, word.y(), word.width(), word.height());
        self.popover.set_pointing_to(Some(&place));
        self.popover.popup();
    }

    /// Another word is being typed; `is_first` says that there was none before.
    pub(super) fn begin(&self, is_first: bool) {
        if is_first {
            self.dismissed.set(false);
        }
        self.is_old.set(true);
        self.deferred_key.set(None);
    }

    pub(super) fn hide(&self) {
        self.popover.popdown();
        if !self.listed.take().is_empty() {
            accessible::set_description(&self.text, "");
        }
        self.is_old.set(false);
        self.deferred_key.set(None);
    }

    /// Handles a key that was pressed in the text. Returns whether the list used it.
    pub(super) fn press(&self, key: gdk::Key, modifiers: gdk::ModifierType) -> bool {
        let held = gdk::ModifierType::SHIFT_MASK
            | gdk::ModifierType::CONTROL_MASK
            | gdk::ModifierType::ALT_MASK;
        if modifiers.intersects(held) || self.dismissed.get() {
            return false;
        }
        let takes = matches!(
            key,
            gdk::Key::Return | gdk::Key::KP_Enter | gdk::Key::ISO_Enter | gdk::Key::Tab
        );
        if takes && self.is_old.get() {
            // It is for the results that arrive in a moment.
            self.deferred_key.set(Some(key));
            return true;
        }
        if self.listed.borrow().is_empty() {
            return false;
        }
        match key {
            _ if takes => {
                let at = self.list.selected_row().map_or(0, |row| row.index());
                self.pick(at, key == gdk::Key::Tab);
            }
            gdk::Key::Down | gdk::Key::KP_Down => self.step(1),
            gdk::Key::Up | gdk::Key::KP_Up => self.step(-1),
            gdk::Key::Escape => {
                self.dismissed.set(true);
                self.hide();
            }
            _ => return false,
        }
        true
    }

    fn section_of(&self, at: i32) -> Option<String> {
        self.listed.borrow().get(usize::try_from(at).ok()?)?.section.clone()
    }

    fn pick(&self, at: i32, to_write_on: bool) {
        let chosen = usize::try_from(at).ok();
        let chosen = chosen.and_then(|at| self.listed.borrow().get(at).cloned());
        self.hide();
        if let Some(Suggestion { choice, .. }) = chosen {
            (self.output)(SuggestionsOutput::Picked { choice, to_write_on });
        }
    }

    fn step(&self, by: i32) {
        let count = self.listed.borrow().len() as i32;
        let at = self.list.selected_row().map_or(0, |row| row.index());
        // Down from the last one wraps to the first.
        self.select((at + by).rem_euclid(count.max(1)));
    }

    fn select(&self, at: i32) {
        let Some(row) = self.list.row_at_index(at) else { return };
        found_row::select(&self.list, &row);
        // The heading of the first one is seen, too.
        if let Some(adjustment) = self.list.adjustment().filter(|_| at == 0) {
            adjustment.set_value(0.0);
        }
        if let Some(suggestion) = self.listed.borrow().get(at as usize) {
            accessible::set_description(&self.text, &suggestion.description);
        }
    }

    /// The list's horizontal extent, in the coordinates of the widget below it.
    #[cfg(test)]
    pub(super) fn extent(&self) -> (i32, i32) {
        let left = self.popover.pointing_to().1.x();
        let contents = self.popover.first_child();
        let wide = |contents: gtk::Widget| contents.measure(gtk::Orientation::Horizontal, -1).1;
        (left, left + contents.map_or(0, wide))
    }
}

fn heading(section: &str) -> gtk::Label {
    gtk::Label::builder()
        .label(section)
        .xalign(0.0)
        .css_classes(["caption-heading", "dim-label", "found-section"])
        .build()
}
