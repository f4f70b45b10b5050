//! Compares labels of link definitions as the parser does.

use unicase::UniCase;

/// A label: two are equal if they differ only in case. The parser has already collapsed white
/// space.
pub type Label = UniCase<String>;

/// The target of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The address.
    pub address: String,
    /// The title.
    pub title: String,
}
