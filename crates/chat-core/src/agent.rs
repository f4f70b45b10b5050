//! How to work.
