//! The behaviour of the crate as a whole, with real files.

mod loading;
mod trusting;
mod watching;
mod world;
