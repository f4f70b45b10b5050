//! What the crate does, seen from outside: commands that may, and commands that try what they
//! may not.

mod builds;
mod caches;
mod escapes;
mod etc;
mod runs;
mod support;
mod unprivileged;
