//! The engine as a front end has it: a Manager, its events, and a scripted server.

mod conversation;
mod faults;
mod queue;
mod sessions;
mod titles;
mod tools;
mod two_programs;
mod world;
