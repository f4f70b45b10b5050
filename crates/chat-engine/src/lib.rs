//! Runs Natter's built-in engine: llama.cpp behind OpenAI's protocol on a Unix socket, in a program
//! of its own, so that a crash in C++ ends a reply and never the window.

#[cfg(feature = "llama")]
pub mod answer;
#[cfg(feature = "llama")]
pub mod api;
pub mod cpu;
pub mod draft;
pub mod failure;
#[cfg(feature = "llama")]
pub mod inference;
pub mod life;
pub mod memory;
#[cfg(feature = "llama")]
pub mod models;
pub mod output;
pub mod prompt;
pub mod prompt_cache;
pub mod request;
#[cfg(feature = "llama")]
pub mod run;
pub mod socket;
