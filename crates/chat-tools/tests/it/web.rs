//! Tests the web tools.

mod bounds;
mod fetch;
mod given;
mod internet;
mod search;
