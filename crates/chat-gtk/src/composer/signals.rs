//! Connects the field and its buttons.

use std::rc::Rc;

use relm4::gtk::prelude::*;

use super::{Inner, Output, keys, room};

impl Inner {
    /// Connects everything; `placeholder` is shown while nothing is written.
    pub(super) fn connect(self: &Rc<Self>, placeholder: &gtk::Label) {
        let weak = Rc::downgrade(self);
        self.stop.connect_clicked(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.tell(Output::Stop);
            }
        });
        let weak = Rc::downgrade(self);
        self.attach.connect_clicked(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.tell(Output::ChooseFiles);
            }
        });
        let weak = Rc::downgrade(self);
        let submit = move |other| {
            if let Some(inner) = weak.upgrade() {
                inner.submit(other);
            }
        };
        let pressed = submit.clone();
        self.send.connect_clicked(move |_| pressed(false));
        let weak = Rc::downgrade(self);
        let enter_sends = move || weak.upgrade().is_some_and(|inner| inner.enter_sends.get());
        let weak = Rc::downgrade(self);
        let first = move |key, modifiers| {
            let Some(inner) = weak.upgrade() else { return false };
            let list = inner.suggestions.borrow().clone();
            list.is_some_and(|list| list.press(key, modifiers))
                || keys::scroll(&inner, key, modifiers)
        };
        keys::connect(&self.text, enter_sends, first, submit);
        room::connect(&self.scroller, &self.text);
        self.connect_chips();
        self.connect_suggestions();
        self.connect_pasting();

        let weak = Rc::downgrade(self);
        let hint = placeholder.clone();
        self.text.buffer().connect_changed(move |buffer| {
            hint.set_visible(buffer.char_count() == 0);
            if let Some(inner) = weak.upgrade().filter(|inner| !inner.setting_text.get()) {
                inner.pins_changed();
            }
        });
        // Text that an input method is still composing counts, too.
        let hint = placeholder.clone();
        self.text.connect_preedit_changed(move |text, preedit| {
            hint.set_visible(preedit.is_empty() && text.buffer().char_count() == 0);
        });
    }
}
