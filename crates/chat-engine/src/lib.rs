//! Natter's built-in engine: llama.cpp behind OpenAI's protocol on a Unix socket, in a program of
//! its own, so that a crash in C++ ends a reply and never the window.

pub mod api;
pub mod failure;
pub mod output;
pub mod prompt;
