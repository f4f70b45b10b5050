//! Links a footnote and its mark in the text with each other, by addresses that lead nowhere else.

use std::rc::Rc;

use super::{Run, Style};

/// Where a link within a reply leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotePlace<'a> {
    /// To the footnote with this label.
    Note(&'a str),
    /// To the first mark of the footnote with this label.
    Reference(&'a str),
}

impl<'a> NotePlace<'a> {
    /// Reads an address; none if it is that of something else.
    pub fn of_address(address: &'a str) -> Option<Self> {
        let note = address.strip_prefix("#note-").map(Self::Note);
        note.or_else(|| address.strip_prefix("#reference-").map(Self::Reference))
    }

    /// Its address.
    pub fn address(self) -> Rc<str> {
        match self {
            Self::Note(label) => format!("#note-{label}").into(),
            Self::Reference(label) => format!("#reference-{label}").into(),
        }
    }

    /// The place that has the link back from here.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Note(label) => Self::Reference(label),
            Self::Reference(label) => Self::Note(label),
        }
    }
}

/// The link from a footnote back to the text, and the space before it.
pub fn back(label: &str) -> [Run; 2] {
    let run = |text: &str, link| Run { text: text.to_owned(), style: Style::default(), link };
    [run(" ", None), run("↩", Some(NotePlace::Reference(label).address()))]
}
