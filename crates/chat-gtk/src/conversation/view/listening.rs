//! Listens to the reader and the theme: scrolling, pointing, keys and colours.

use std::cell::Cell;
use std::rc::Rc;

use gtk::prelude::*;
use gtk::{gdk, glib};

use super::{Inner, State};
use crate::conversation::widgets::context::Output;

impl Inner {
    /// Connects the widgets.
    pub fn listen(self: &Rc<Self>) {
        let weak = Rc::downgrade(self);
        self.column.connect_moved(move || {
            if let Some(inner) = weak.upgrade() {
                inner.moved();
            }
        });
        let weak = Rc::downgrade(self);
        self.column.connect_beyond(move |behind| {
            let Some(inner) = weak.upgrade() else { return false };
            let Ok(mut state) = inner.state.try_borrow_mut() else { return false };
            let State { transcript, rows, .. } = &mut *state;
            rows.make_beyond(behind, &transcript.entries, transcript.last())
        });
        let weak = Rc::downgrade(self);
        self.jump.connect_clicked(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.column.follow();
            }
        });
        let weak = Rc::downgrade(self);
        let restyle = move || {
            let weak = weak.clone();
            // The theme's colours are there once the style was computed again.
            glib::idle_add_local_once(move || {
                if let Some(inner) = weak.upgrade() {
                    inner.restyle();
                }
            });
        };
        let style = adw::StyleManager::default();
        let changed = restyle.clone();
        style.connect_dark_notify(move |_| changed());
        let changed = restyle.clone();
        style.connect_high_contrast_notify(move |_| changed());
        if let Some(settings) = gtk::Settings::default() {
            let changed = restyle.clone();
            settings.connect_gtk_font_name_notify(move |_| changed());
            settings.connect_gtk_xft_dpi_notify(move |_| restyle());
        }
        let weak = Rc::downgrade(self);
        self.column.connect_realize(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.restyle();
            }
        });
        self.listen_to_pointer();
        self.listen_to_keys();
        self.listen_for_menu();
    }

    /// The line below a reply is seen while the pointer is over the reply.
    fn listen_to_pointer(self: &Rc<Self>) {
        let motion = gtk::EventControllerMotion::new();
        let weak = Rc::downgrade(self);
        motion.connect_motion(move |_, _, y| {
            if let Some(inner) = weak.upgrade() {
                inner.hover(Some(y));
            }
        });
        let weak = Rc::downgrade(self);
        motion.connect_leave(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.hover(None);
            }
        });
        self.column.add_controller(motion);
    }

    /// Keys that a text would keep for itself.
    fn listen_to_keys(self: &Rc<Self>) {
        let keys = gtk::EventControllerKey::new();
        keys.set_propagation_phase(gtk::PropagationPhase::Capture);
        let weak = Rc::downgrade(self);
        keys.connect_key_pressed(move |_, key, _, modifiers| {
            let Some(inner) = weak.upgrade() else { return glib::Propagation::Proceed };
            let control = modifiers.contains(gdk::ModifierType::CONTROL_MASK);
            // With Alt, the window goes from message to message.
            if modifiers.intersects(gdk::ModifierType::SHIFT_MASK | gdk::ModifierType::ALT_MASK) {
                return glib::Propagation::Proceed;
            }
            let held = modifiers & gtk::accelerator_get_default_mod_mask();
            if key == gdk::Key::Return && held.is_empty() && inner.edit_at_focus() {
                return glib::Propagation::Stop;
            }
            match key {
                gdk::Key::Page_Up | gdk::Key::KP_Page_Up => inner.column.scroll_pages(-1.0),
                gdk::Key::Page_Down | gdk::Key::KP_Page_Down => inner.column.scroll_pages(1.0),
                gdk::Key::Home | gdk::Key::KP_Home if control => inner.column.go_to(0),
                gdk::Key::End | gdk::Key::KP_End if control => inner.column.follow(),
                _ => return glib::Propagation::Proceed,
            }
            glib::Propagation::Stop
        });
        self.root.add_controller(keys);
    }

    /// The reader moved, or rows got another height.
    fn moved(self: &Rc<Self>) {
        let follows = self.column.follows();
        if follows && self.unseen.replace(false) && self.root.is_mapped() {
            let output = Rc::clone(&self.output);
            glib::idle_add_local_once(move || output(Output::Seen));
        }
        let (shown, unseen) = (!follows, self.unseen.get());
        let (jump, label) = (self.jump.clone(), self.jump_label.clone());
        if jump.is_visible() != shown || label.is_visible() != unseen {
            // Widgets must not change their size while sizes are being given out.
            glib::idle_add_local_once(move || {
                label.set_visible(unseen);
                jump.set_visible(shown);
            });
        }
        let (above, page, below) = self.column.extent();
        self.ask_again(follows, above);
        let Ok(state) = self.state.try_borrow() else { return };
        let unread = state.transcript.unread() > 0;
        let wanted = unread || (state.transcript.more && state.asked.is_none());
        let needs_earlier = above < page * 1.5 && wanted;
        if needs_earlier || !state.rows.is_settled(above, page, below) {
            drop(state);
            self.schedule();
        }
    }

    fn hover(&self, y: Option<f64>) {
        let Ok(state) = self.state.try_borrow() else { return };
        let row = y.and_then(|y| state.rows.at_height(y));
        let mut start = 0;
        let mut shown = 0..0;
        for entry in &state.transcript.entries {
            let rows = start..start + entry.rows;
            start = rows.end;
            if row.is_some_and(|row| rows.contains(&row)) {
                shown = rows;
                break;
            }
        }
        state.rows.show_footer(&shown);
    }

    /// Takes the measures of texts of another size, once their style has been computed again: that is in
    /// the next frame.
    pub fn restyle_soon(self: &Rc<Self>) {
        let weak = Rc::downgrade(self);
        let is_computed = Cell::new(false);
        self.column.add_tick_callback(move |_, _| {
            if !is_computed.replace(true) {
                return glib::ControlFlow::Continue;
            }
            if let Some(inner) = weak.upgrade() {
                inner.restyle();
            }
            glib::ControlFlow::Break
        });
    }

    /// Takes colours and measures from the theme.
    fn restyle(&self) {
        self.tags.recolour(self.column.upcast_ref());
        self.style_tags.recolour(self.column.upcast_ref());
        self.tail.recolour(&self.tags);
        if let Ok(mut state) = self.state.try_borrow_mut() {
            state.rows.recolour();
            if state.finder.is_some() {
                state.highlight_matches();
            }
        }
        self.column.style_changed();
    }
}
