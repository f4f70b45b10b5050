//! The behaviour of the library as a whole, with real files.

mod loading;
mod trusting;
mod watching;
mod world;
