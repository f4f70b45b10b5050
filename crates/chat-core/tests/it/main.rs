//! Behaviour of the engine across its modules, in one binary.

mod engine;
mod store;
mod wire;
mod wire_faults;
mod wire_real;
