//! Natter in real windows, as a person uses it: see `docs/testing.md`.

mod chats;
mod conversation;
mod faults;
mod find;
mod first_run;
mod real_model;
mod sessions;
mod stage;
