//! Loads the languages for syntax highlighting: quickly, and only once.
//!
//! `GtkSourceView` loads a language on the main thread when a text first uses it, and drops it with
//! the last such text. Half of the time is spent validating the description against its schema,
//! which its authors have already done. The library takes that schema from the first folder that
//! has one.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::Path;

use gtk::glib;
use sourceview5::prelude::*;

use crate::atomic_file::write_atomically;

/// The folder of the schema in the window's state.
const FOLDER: &str = "languages";
/// The file name of the schema in the library.
const NAME: &str = "language2.rng";
/// A schema that accepts any description.
const GRAMMAR: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<grammar xmlns="http://relaxng.org/ns/structure/1.0">
  <start><ref name="any"/></start>
  <define name="any">
    <element>
      <anyName/>
      <zeroOrMore>
        <choice><attribute><anyName/></attribute><text/><ref name="any"/></choice>
      </zeroOrMore>
    </element>
  </define>
</grammar>
"#;

/// How many languages stay in memory: some take two megabytes.
const MOST: usize = 12;

thread_local! {
    /// A text of each recently used language, the latest at the end: it keeps the language in
    /// memory.
    static KEPT: RefCell<VecDeque<sourceview5::Buffer>> = RefCell::default();
}

/// Makes the library load language descriptions without validating them. Must be called before the
/// first one is loaded; without it, loading works too, but takes twice the time.
pub(crate) fn set_up(state: &Path) {
    let folder = state.join(FOLDER);
    let file = folder.join(NAME);
    let is_there = std::fs::read(&file).is_ok_and(|there| there == GRAMMAR.as_bytes());
    if !is_there && let Err(error) = write_atomically(&file, GRAMMAR.as_bytes()) {
        tracing::warn!(%error, "the grammar of languages could not be written");
        return;
    }
    let Some(folder) = folder.to_str() else { return };
    let manager = sourceview5::LanguageManager::default();
    let known = manager.search_path();
    let path: Vec<&str> =
        std::iter::once(folder).chain(known.iter().map(glib::GString::as_str)).collect();
    manager.set_search_path(&path);
}

/// Sets a text's language, which stays in memory for some time.
pub(crate) fn give(buffer: &sourceview5::Buffer, language: Option<&sourceview5::Language>) {
    buffer.set_language(language);
    let Some(language) = language else { return };
    KEPT.with_borrow_mut(|kept| {
        let keeper = place(kept, language)
            .and_then(|at| kept.remove(at))
            .unwrap_or_else(|| sourceview5::Buffer::with_language(language));
        kept.push_back(keeper);
        if kept.len() > MOST {
            kept.pop_front();
        }
    });
}

/// Whether a language is in memory, so that setting it takes no time.
pub(crate) fn is_read(language: &sourceview5::Language) -> bool {
    KEPT.with_borrow(|kept| place(kept, language).is_some())
}

fn place(kept: &VecDeque<sourceview5::Buffer>, language: &sourceview5::Language) -> Option<usize> {
    kept.iter().position(|buffer| buffer.language().as_ref() == Some(language))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[gtk::test]
    fn any_language_is_read_with_the_grammar_that_any_fits() {
        crate::init();
        let state = tempfile::tempdir().unwrap();
        set_up(state.path());
        let manager = sourceview5::LanguageManager::default();
        assert!(manager.search_path()[0].starts_with(state.path().to_str().unwrap()));
        let rust = manager.language("rust").expect("the language");
        let buffer = sourceview5::Buffer::new(None);
        give(&buffer, Some(&rust));
        buffer.set_text("// a comment");
        let (start, end) = buffer.bounds();
        buffer.ensure_highlight(&start, &end);
        assert!(buffer.iter_has_context_class(&start, "comment"), "it was not read");
    }
}
