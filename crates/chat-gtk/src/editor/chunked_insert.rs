//! Inserts a long text into a buffer piece by piece, so that no frame has to wait for it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use gtk::glib;
use relm4::gtk::prelude::*;

/// How much is inserted at once, in bytes: less than a millisecond's work.
const CHUNK: usize = 16 * 1024;
/// How long one iteration may take: half of a frame.
const TURN: Duration = Duration::from_millis(7);

/// An insertion in progress. Dropping it stops it.
pub(super) struct ChunkedInsert {
    source: Rc<RefCell<Option<glib::SourceId>>>,
}

impl Drop for ChunkedInsert {
    fn drop(&mut self) {
        if let Some(source) = self.source.take() {
            source.remove();
        }
    }
}

/// Appends the text to a buffer; `done` is called once all of it is there, which for a short text
/// is before this returns. It cannot be undone.
pub(super) fn insert_in_chunks(
    buffer: &sourceview5::Buffer,
    text: String,
    done: impl FnOnce() + 'static,
) -> ChunkedInsert {
    let source = Rc::new(RefCell::new(None));
    let at = Cell::new(0);
    let turn = {
        let buffer = buffer.clone();
        move || {
            let begun = Instant::now();
            while at.get() < text.len() && begun.elapsed() < TURN {
                let chunk = &text[at.get()..];
                let mut end = chunk.floor_char_boundary(CHUNK.min(chunk.len()));
                // A line ending of two characters stays whole.
                if chunk[..end].ends_with('\r') && end < chunk.len() {
                    end += 1;
                    end = chunk.ceil_char_boundary(end);
                }
                buffer.begin_irreversible_action();
                buffer.insert(&mut buffer.end_iter(), &chunk[..end]);
                buffer.end_irreversible_action();
                at.set(at.get() + end);
            }
            at.get() >= text.len()
        }
    };
    if turn() {
        done();
        return ChunkedInsert { source };
    }
    let (slot, mut done) = (Rc::clone(&source), Some(done));
    let id = glib::idle_add_local(move || {
        if !turn() {
            return glib::ControlFlow::Continue;
        }
        slot.take();
        if let Some(done) = done.take() {
            done();
        }
        glib::ControlFlow::Break
    });
    source.replace(Some(id));
    ChunkedInsert { source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::main_loop::until;

    #[gtk::test]
    fn a_long_text_comes_whole_and_in_pieces() {
        crate::init();
        let buffer = sourceview5::Buffer::new(None);
        let text = "Zeile für Zeile\r\n".repeat(300_000);
        let whole = text.clone();
        let is_done = Rc::new(Cell::new(false));
        let told = Rc::clone(&is_done);
        let insert = insert_in_chunks(&buffer, text, move || told.set(true));
        assert!(!is_done.get(), "so much takes longer than a turn");
        until("the whole text", || is_done.get());
        let (start, end) = buffer.bounds();
        assert!(buffer.text(&start, &end, true) == whole);
        assert!(!buffer.can_undo());
        drop(insert);
    }

    #[gtk::test]
    fn what_is_dropped_ends() {
        crate::init();
        let buffer = sourceview5::Buffer::new(None);
        drop(insert_in_chunks(&buffer, "line\n".repeat(1_000_000), || panic!("it goes on")));
        let there = buffer.char_count();
        while glib::MainContext::default().iteration(false) {}
        assert_eq!(buffer.char_count(), there);
    }
}
