//! Records what the engine sends, stores and tells, so that a change of its insides shows what it
//! changes of that. `docs/dev/testing.md` says how a snapshot that changed is read and accepted.

mod config;
mod events;
mod fixture;
mod killed;
mod rows;
mod talk;
mod talks;
mod telling;
mod tools;
mod wires;
