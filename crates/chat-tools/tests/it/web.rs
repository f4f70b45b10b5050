//! The tools of the web.

mod bounds;
mod fetch;
mod internet;
mod search;
