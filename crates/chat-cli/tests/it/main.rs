//! Tests `natter-cli` as people, scripts and signals use it, against scripted servers.

mod agents;
mod answers;
mod ask;
mod by_itself;
mod chat;
mod commands;
mod connections;
mod definitions;
mod disk;
mod faults;
mod home;
mod import;
mod kill;
mod manage;
mod messages;
mod models;
mod net;
mod pipes;
mod prompts;
mod real;
mod stop;
mod together;
mod tools;
mod typed_ahead;
mod waiting;
mod worktrees;
