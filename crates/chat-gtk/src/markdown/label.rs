//! Compares labels of link definitions as the parser does.

use unicase::UniCase;

/// A label: two are equal when they differ only in case. The parser has already made runs of white
/// space one space.
pub type Label = UniCase<String>;

/// Where a label leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The address.
    pub address: String,
    /// The title.
    pub title: String,
}
