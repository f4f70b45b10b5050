//! What the crate does, seen from outside: commands that may, and commands that try what they
//! may not.

mod runs;
mod support;
