//! What is asked of the engine, and how it answers.

pub mod request;
