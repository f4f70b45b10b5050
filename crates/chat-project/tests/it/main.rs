//! The behaviour of a project's files as a whole.

mod as_git;
mod large;
mod watching;
mod world;
