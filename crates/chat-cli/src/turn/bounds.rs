//! Warns once, when a command runs, if this computer confines commands less than it should.

use std::iter::once;
use std::sync::atomic::{AtomicBool, Ordering};

use chat_presentation::words;

use crate::engine::Program;
use crate::terminal;

/// Prints the warning the first time that it is called.
pub(super) async fn warn_once(program: &Program) {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if WARNED.swap(true, Ordering::Relaxed) {
        return;
    }
    let Ok(Some(bounds)) = program.manager.commands().bounds().await else { return };
    if bounds.are_full() {
        return;
    }
    for line in once(words::enforcement(&bounds)).chain(words::bounds(&bounds)) {
        let line = program.terminal.dim(&terminal::clean(&line));
        terminal::say(&format!("{line}\n"));
    }
}
