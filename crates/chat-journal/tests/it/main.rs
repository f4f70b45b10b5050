//! Tests the journal as its callers use it: with real files and the real git.

mod checkpoint;
mod person;
mod restore;
mod review;
mod sequences;
mod store;
mod undo;
mod world;
