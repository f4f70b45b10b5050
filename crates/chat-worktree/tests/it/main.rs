//! The behaviour of worktrees as a whole, with the real git.

mod access;
mod create;
mod escapes;
mod inspect;
mod merge;
mod remove;
mod sandboxed;
mod sequences;
mod world;
