//! Tracks which texts the user edited after a deletion: there Ctrl+Z undoes the edit.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gtk::glib;
use gtk::prelude::*;

/// The texts that had the focus since the first deletion that can be undone.
#[derive(Debug, Default)]
pub(super) struct EditedTexts {
    /// The number of the last deletion.
    last: Rc<Cell<u64>>,
    texts: RefCell<Vec<WatchedText>>,
}

/// A text, and after which deletion it was last edited.
#[derive(Debug)]
struct WatchedText {
    widget: glib::WeakRef<gtk::Widget>,
    /// What emits changes: the text itself, or its buffer.
    source: glib::WeakRef<glib::Object>,
    handler: Option<glib::SignalHandlerId>,
    edited: Rc<Cell<Option<u64>>>,
}

impl EditedTexts {
    /// Edits from now on come after the deletion of this number.
    pub(super) fn note_deletion(&self, number: u64) {
        self.last.set(number);
    }

    /// Watches for edits in the focused widget, if it is a text.
    pub(super) fn watch(&self, focus: Option<gtk::Widget>) {
        let mut texts = self.texts.borrow_mut();
        texts.retain(|text| text.widget.upgrade().is_some());
        let Some(focus) = focus else { return };
        if texts.iter().all(|text| !text.is(&focus)) {
            texts.extend(WatchedText::of(&focus, &self.last));
        }
    }

    /// Whether the user edited this text since the deletion of this number, and can undo that.
    pub(super) fn is_edited_since(&self, focus: &gtk::Widget, number: u64) -> bool {
        let texts = self.texts.borrow();
        texts.iter().any(|text| text.is(focus) && text.has_undo_since(number))
    }

    /// There is nothing left that edits could come after.
    pub(super) fn clear(&self) {
        self.texts.take();
    }
}

impl WatchedText {
    /// Watches a widget; none if it is not an editable text.
    fn of(widget: &gtk::Widget, last: &Rc<Cell<u64>>) -> Option<Self> {
        let edited = Rc::new(Cell::new(None));
        // What changes in a text without the focus was not typed.
        let (weak, changed, last) = (widget.downgrade(), Rc::clone(&edited), Rc::clone(last));
        let mark = move || {
            if weak.upgrade().is_some_and(|text| text.is_focus()) {
                changed.set(Some(last.get()));
            }
        };
        let (source, handler) = if let Some(text) = widget.downcast_ref::<gtk::Text>() {
            (text.upcast_ref::<glib::Object>().downgrade(), text.connect_changed(move |_| mark()))
        } else {
            let view = widget.downcast_ref::<gtk::TextView>().filter(|view| view.is_editable())?;
            let buffer = view.buffer();
            let handler = buffer.connect_changed(move |_| mark());
            (buffer.upcast_ref::<glib::Object>().downgrade(), handler)
        };
        Some(Self { widget: widget.downgrade(), source, handler: Some(handler), edited })
    }

    fn is(&self, widget: &gtk::Widget) -> bool {
        self.widget.upgrade().as_ref() == Some(widget)
    }

    fn has_undo_since(&self, number: u64) -> bool {
        let source = self.source.upgrade();
        let buffer = source.as_ref().and_then(|source| source.downcast_ref::<gtk::TextBuffer>());
        self.edited.get().is_some_and(|edited| edited >= number)
            && buffer.is_none_or(gtk::TextBuffer::can_undo)
    }
}

impl Drop for WatchedText {
    fn drop(&mut self) {
        if let (Some(source), Some(handler)) = (self.source.upgrade(), self.handler.take()) {
            source.disconnect(handler);
        }
    }
}
