//! What tests and benchmarks need: scripted model servers, a site that models come from, recorded
//! replies, a real small server, and a driver for real windows. No program that is installed
//! depends on this.

pub mod fixtures;
pub mod hub;
pub mod real;
pub mod recording;
pub mod server;
pub mod ui;
