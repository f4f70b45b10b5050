//! Tests the crate from outside: commands that do what they may, and commands that try what they
//! may not.

mod builds;
mod caches;
mod escapes;
mod etc;
mod programs;
mod runs;
mod support;
mod unprivileged;
