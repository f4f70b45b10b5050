//! Selects text across the blocks of replies and across messages, and gives it for the clipboard.

mod keyboard;
mod pointer;
mod primary;

pub(super) use pointer::Press;

use std::rc::Rc;

use gtk::gdk;
use gtk::prelude::*;

use super::{Inner, State};
use crate::conversation::model::selected_text::{selected_source, selected_text};
use crate::conversation::model::selection::{Selection, Span};

/// How strongly selected text is coloured, in the accent colour.
const STRENGTH: f32 = 0.3;
/// The same in high contrast.
const STRONG: f32 = 0.55;
/// The same in the colour of the text, where the keyboard is elsewhere.
const UNFOCUSED: f32 = 0.16;

impl State {
    /// What is selected; none where nothing is.
    pub(super) fn selected(&self) -> Option<Span> {
        self.selection.as_ref()?.span(&self.transcript.entries)
    }

    /// The selected text.
    pub(super) fn selected_text(&self) -> Option<String> {
        let span = self.selected()?;
        let text = selected_text(&self.transcript.entries, &span);
        (!text.is_empty()).then_some(text)
    }

    /// Selects nothing where what is selected is not what was: while a reply comes, its last block may change.
    pub(super) fn drop_changed_selection(&mut self) {
        if let Some(selection) = &self.selection
            && selection.stamp(&self.transcript.entries) != self.selection_stamp
        {
            self.selection = None;
        }
    }

    /// The selected text as Markdown.
    pub(super) fn selected_markdown(&self) -> Option<String> {
        let span = self.selected()?;
        let text = selected_source(&self.transcript.entries, &span);
        (!text.is_empty()).then_some(text)
    }
}

impl Inner {
    /// Selects by pointer and keyboard, and paints what is selected.
    pub fn listen_for_selection(self: &Rc<Self>) {
        // The text of a label with the focus is not selected by that: it is selected across labels.
        gtk::Settings::for_display(&self.column.display()).set_gtk_label_select_on_focus(false);
        self.listen_to_selecting_pointer();
        self.listen_to_selecting_keys();
        // The colour says whether the keyboard is here.
        self.column.connect_state_flags_changed(|column, _| column.queue_draw());
        let weak = Rc::downgrade(self);
        self.column.connect_background(move |snapshot| {
            let Some(inner) = weak.upgrade() else { return };
            let Ok(state) = inner.state.try_borrow() else { return };
            let Some(span) = state.selected() else { return };
            let colour = inner.selection_colour();
            state.rows.paint_selection(snapshot, &state.transcript.entries, &span, &colour);
        });
    }

    /// The colour of selected text, from the theme.
    fn selection_colour(&self) -> gdk::RGBA {
        let context = self.column.style_context();
        let flags = self.column.state_flags();
        let is_focused = flags.contains(gtk::StateFlags::FOCUS_WITHIN)
            && !flags.contains(gtk::StateFlags::BACKDROP);
        let is_strong = adw::StyleManager::default().is_high_contrast();
        let accent = context.lookup_color("accent_bg_color").filter(|_| is_focused || is_strong);
        match accent {
            Some(accent) => accent.with_alpha(if is_strong { STRONG } else { STRENGTH }),
            None => context.color().with_alpha(UNFOCUSED),
        }
    }

    /// Selects this, or nothing.
    pub(super) fn select(self: &Rc<Self>, selection: Option<Selection>) {
        let Ok(mut state) = self.state.try_borrow_mut() else { return };
        if state.selection != selection {
            let stamp = selection.and_then(|it| it.stamp(&state.transcript.entries));
            (state.selection, state.selection_stamp) = (selection, stamp);
            drop(state);
            self.column.queue_draw();
            if selection.is_none() {
                self.withdraw_selected_text();
            }
        }
    }

    /// The selected text.
    pub fn selected_text(&self) -> Option<String> {
        self.state.try_borrow().ok()?.selected_text()
    }

    /// The selected text as Markdown.
    pub fn selected_markdown(&self) -> Option<String> {
        self.state.try_borrow().ok()?.selected_markdown()
    }
}
