//! What tests and benchmarks need: scripted model servers, recorded replies, a real small server,
//! and a driver for real windows. No program that is installed depends on this.

pub mod fixtures;
pub mod real;
pub mod server;
pub mod ui;
