//! Defines what the web tools share: which addresses may be reached and how, and what a model gets
//! of a page.

pub(crate) mod answer;
mod charset;
pub(crate) mod content;
pub(crate) mod destination;
mod dom;
pub(crate) mod error;
pub(crate) mod file_name;
pub(crate) mod long;
pub mod network;
pub(crate) mod page;
pub(crate) mod search;
