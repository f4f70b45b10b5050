//! Selects with the keyboard: Shift with the arrow keys, Page Up and Down, Home and End, Ctrl+A; copies with Ctrl+C;
//! Esc selects nothing.

use std::rc::Rc;

use gtk::prelude::*;
use gtk::{gdk, glib};

use super::pointer::is_own_text;
use crate::conversation::model::row_text::paragraph_at;
use crate::conversation::model::selection::{
    Selection, Stride, TextPlace, letters_of, step, turn_of,
};
use crate::conversation::rows::Rows;
use crate::conversation::view::{Inner, State};

/// How far the next line is looked for at a time, in pixels, and how often.
const LINE_STEP: f64 = 6.0;
const LINE_STEPS: usize = 120;
/// How much of a page a page key goes.
const PAGE: f64 = 0.9;

/// Where the keyboard moves the end of a selection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Letter,
    Word,
    /// To the line below or above.
    Line,
    /// To the end of the paragraph.
    Paragraph,
    /// To the line a page below or above.
    Page,
    /// To the end of the line.
    Edge,
    /// To the end of the conversation.
    End,
}

impl Way {
    /// Whether it leads to the left or the right: which of these is forward depends on the script.
    fn is_across(self) -> bool {
        matches!(self, Self::Letter | Self::Word)
    }
}

impl Inner {
    pub(super) fn listen_to_selecting_keys(self: &Rc<Self>) {
        let keys = gtk::EventControllerKey::new();
        // Before the texts, each of which would select within itself.
        keys.set_propagation_phase(gtk::PropagationPhase::Capture);
        let weak = Rc::downgrade(self);
        keys.connect_key_pressed(move |keys, key, _, modifiers| {
            // A keyboard without Latin letters copies too.
            let event = keys.current_event().and_then(|it| it.downcast::<gdk::KeyEvent>().ok());
            let control = gdk::ModifierType::CONTROL_MASK;
            let meant = [gdk::Key::a, gdk::Key::c].into_iter().find(|latin| {
                event.as_ref().is_some_and(|it| it.matches(*latin, control) != gdk::KeyMatch::None)
            });
            let key = meant.unwrap_or(key);
            let taken = weak.upgrade().is_some_and(|inner| inner.press_key(key, modifiers));
            if taken { glib::Propagation::Stop } else { glib::Propagation::Proceed }
        });
        self.column.add_controller(keys);
    }

    /// Whether a key is for the selection.
    fn press_key(self: &Rc<Self>, key: gdk::Key, modifiers: gdk::ModifierType) -> bool {
        let held = modifiers & gtk::accelerator_get_default_mod_mask();
        let control = held.contains(gdk::ModifierType::CONTROL_MASK);
        let shift = held.contains(gdk::ModifierType::SHIFT_MASK);
        if held.contains(gdk::ModifierType::ALT_MASK) {
            return false;
        }
        let Some(focus) = self.column.root().and_then(|root| root.focus()) else { return false };
        let (row, has_selection) = {
            let Ok(state) = self.state.try_borrow() else { return false };
            if is_own_text(&focus) && !state.rows.is_text(&focus) {
                return false;
            }
            let row = state.rows.index_of(&focus).filter(|_| state.rows.is_in_text(&focus));
            (row, state.selected().is_some())
        };
        if let Some((way, forward)) = way_of(key, control) {
            if shift {
                return row.is_some_and(|row| self.extend_by_key(row, &focus, way, forward));
            }
            // The caret goes on from where it is; pages are scrolled.
            if has_selection && way != Way::Page {
                self.select(None);
            }
            return false;
        }
        match key.to_lower() {
            gdk::Key::Escape if held.is_empty() && has_selection => self.select(None),
            gdk::Key::c | gdk::Key::Insert if control && !shift && has_selection => {
                if let Some(text) = self.selected_text() {
                    self.column.clipboard().set_text(&text);
                }
            }
            gdk::Key::a | gdk::Key::slash if control && !shift => {
                return row.is_some_and(|row| self.select_all(row));
            }
            _ => return false,
        }
        true
    }

    /// Selects the reply or message of a row; pressed again, the whole conversation.
    fn select_all(self: &Rc<Self>, row: usize) -> bool {
        let Ok(state) = self.state.try_borrow() else { return false };
        let entries = &state.transcript.entries;
        let turn = turn_of(entries, Rows::entry_of(row, entries));
        let turn = Selection::all(entries, turn);
        let selection = if turn.is_some() && turn == state.selection {
            Selection::all(entries, 0..entries.len())
        } else {
            turn
        };
        drop(state);
        self.select(selection);
        self.offer_selected_text();
        selection.is_some()
    }

    fn extend_by_key(
        self: &Rc<Self>,
        row: usize,
        focus: &gtk::Widget,
        way: Way,
        forward: bool,
    ) -> bool {
        let Ok(state) = self.state.try_borrow() else { return false };
        let entries = &state.transcript.entries;
        let current = state.selection.filter(|_| state.selected().is_some());
        let clicked = state
            .selection
            .filter(|selection| Rows::row_of_place(selection.focus(), entries) == Some(row));
        let caret = state.rows.caret_place(row, focus, entries);
        let Some(mut selection) = current.map(Selection::by_letters).or_else(|| {
            // A label has no caret that could be asked.
            let place = caret.filter(|place| place.letter > 0);
            let place = place.or(clicked.map(|clicked| clicked.focus())).or(caret)?;
            Some(Selection::between(place, place))
        }) else {
            return false;
        };
        let goes_forward = forward != (way.is_across() && state.is_mirrored(selection.focus()));
        let to = state.place_from(selection.focus(), way, goes_forward, self.goal_x.get());
        self.goal_x.set(match way {
            Way::Line | Way::Page => self.goal_x.get().or_else(|| state.x_of(selection.focus())),
            _ => None,
        });
        selection.extend(entries, to);
        state.rows.focus_place(to, entries);
        state.rows.scroll_block_to(to, entries);
        if way == Way::End {
            drop(state);
            if forward { self.column.follow() } else { self.go_to_start() }
        } else {
            state.rows.reveal_place(to, entries, state.transcript.is_live());
            drop(state);
        }
        self.select(Some(selection));
        self.offer_selected_text();
        true
    }
}

impl State {
    fn x_of(&self, place: TextPlace) -> Option<f64> {
        let area = self.rows.caret_area(place, &self.transcript.entries)?;
        Some(f64::from(area.x()))
    }

    /// Whether the paragraph at a place is written from right to left.
    fn is_mirrored(&self, place: TextPlace) -> bool {
        let entries = &self.transcript.entries;
        let Some(entry) = entries.iter().find(|entry| entry.id() == place.message) else {
            return false;
        };
        let letters = letters_of(entry, place.row);
        let line: String = letters[paragraph_at(&letters, place.letter, false)].iter().collect();
        gtk::pango::find_base_dir(&line) == gtk::pango::Direction::Rtl
    }

    /// Where a key leads from a place. `goal_x`: where lines are gone up and down, in pixels from the left.
    fn place_from(
        &self,
        from: TextPlace,
        way: Way,
        forward: bool,
        goal_x: Option<f64>,
    ) -> TextPlace {
        let entries = &self.transcript.entries;
        match way {
            Way::Letter => step(entries, from, Stride::Letter, forward),
            Way::Word => step(entries, from, Stride::Word, forward),
            Way::Paragraph => step(entries, from, Stride::Paragraph, forward),
            Way::End => {
                let all = Selection::all(entries, 0..entries.len());
                all.map_or(from, |all| if forward { all.focus() } else { all.start() })
            }
            Way::Edge => self.rows.edge_of_line(from, forward, entries).unwrap_or(from),
            Way::Line | Way::Page => {
                let least = if way == Way::Page { self.rows.page() * PAGE } else { 0.0 };
                self.next_line(from, forward, (goal_x, least))
                    .or_else(|| self.rows.edge_of_line(from, forward, entries))
                    .unwrap_or(from)
            }
        }
    }

    /// The place above or below, on the nearest line that is another one. `goal`: where on the line, in pixels from
    /// the left, and how far away at least, in pixels.
    fn next_line(
        &self,
        from: TextPlace,
        forward: bool,
        (goal_x, least): (Option<f64>, f64),
    ) -> Option<TextPlace> {
        let entries = &self.transcript.entries;
        let area = self.rows.caret_area(from, entries)?;
        let x = goal_x.unwrap_or(f64::from(area.x()));
        let (top, height) = (f64::from(area.y()), f64::from(area.height()));
        let is_other = |place: &TextPlace| {
            let there = self.rows.caret_area(*place, entries).map(|area| f64::from(area.y()));
            there.is_some_and(|there| {
                if forward { there > top + height / 2.0 } else { there < top - height / 2.0 }
            })
        };
        let found = (0..LINE_STEPS).find_map(|count| {
            let way = least + LINE_STEP * count as f64 + 1.0;
            let y = if forward { top + height + way } else { top - way };
            self.rows.place_at((x, y), entries).filter(is_other)
        })?;
        // Beside the lines of a block, as in what is above code, that is one of its ends.
        let line = self.rows.caret_area(found, entries)?;
        let middle = f64::from(line.y() + line.height() / 2.0);
        self.rows.place_at((x, middle), entries).filter(is_other).or(Some(found))
    }
}

/// Where a key leads, and whether forward.
fn way_of(key: gdk::Key, control: bool) -> Option<(Way, bool)> {
    let across = if control { Way::Word } else { Way::Letter };
    let along = if control { Way::Paragraph } else { Way::Line };
    let edge = if control { Way::End } else { Way::Edge };
    match key {
        gdk::Key::Left | gdk::Key::KP_Left => Some((across, false)),
        gdk::Key::Right | gdk::Key::KP_Right => Some((across, true)),
        gdk::Key::Up | gdk::Key::KP_Up => Some((along, false)),
        gdk::Key::Down | gdk::Key::KP_Down => Some((along, true)),
        gdk::Key::Page_Up | gdk::Key::KP_Page_Up if !control => Some((Way::Page, false)),
        gdk::Key::Page_Down | gdk::Key::KP_Page_Down if !control => Some((Way::Page, true)),
        gdk::Key::Home | gdk::Key::KP_Home => Some((edge, false)),
        gdk::Key::End | gdk::Key::KP_End => Some((edge, true)),
        _ => None,
    }
}
