//! The tools as a session runs them.

mod room;
mod server;
mod web;
