//! Decodes attached files: pictures, PDF, documents, tables and pages become pictures that a model
//! takes, or text. Files are made by strangers and their decoders are large, so `natter-decoder` decodes
//! one file in a process that may compute and nothing else. What it is asked and answers is in
//! [`protocol`], which needs no decoder.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod protocol;

#[cfg(feature = "decode")]
pub mod confinement;
#[cfg(feature = "decode")]
mod decode;
#[cfg(feature = "decode")]
mod encoding;
#[cfg(feature = "decode")]
mod html;
#[cfg(feature = "decode")]
mod office;
#[cfg(feature = "decode")]
mod pdf;
#[cfg(feature = "decode")]
mod picture;
#[cfg(feature = "decode")]
mod table;

#[cfg(feature = "decode")]
pub use decode::decode;
