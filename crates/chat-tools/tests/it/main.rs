//! Tests the tools as a model uses them, on real files, under the real policy.

mod agents;
mod aliases;
mod asking;
mod background;
mod command;
mod definitions;
mod delete;
mod edit;
mod edit_corpus;
mod move_file;
mod outline;
mod outside;
mod processes;
mod prompt;
mod read;
mod room;
mod search;
mod server;
mod specs;
mod walk;
mod web;
mod worktrees;
mod world;
mod write;
