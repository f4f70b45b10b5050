//! The tools of the web.

mod bounds;
mod fetch;
mod given;
mod internet;
mod search;
