//! Natter in real windows, as a person uses it: see `docs/testing.md`.

mod allowances;
mod chats;
mod choices;
mod connections;
mod conversation;
mod editor;
mod ends;
mod faults;
mod find;
mod first_run;
mod keyboard;
mod long_list;
mod mentions;
mod meter;
mod models;
mod narrow;
mod notifications;
mod opening;
mod projects;
mod real_model;
mod review;
mod sessions;
mod stage;
mod together;
mod tools;
mod typing;
