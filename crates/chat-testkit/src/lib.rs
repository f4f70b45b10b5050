//! Helps tests and benchmarks: scripted model servers, an imitated hub, recorded replies, files to attach, a small
//! real server, MCP servers, processes, and a driver for real windows. No installed program depends on this crate.

mod fetched;
pub mod files;
pub mod fixtures;
pub mod hub;
pub mod mcp;
pub mod processes;
pub mod real;
pub mod recording;
pub mod server;
pub mod ui;
