//! Behaviour of the engine across its modules, in one binary.

mod another;
mod attachments;
mod engine;
mod models;
mod net;
mod repetition;
mod settings;
mod store;
mod transfer;
mod wire;
mod wire_anthropic;
mod wire_cut;
mod wire_faults;
mod wire_fixtures;
mod wire_models;
mod wire_options;
mod wire_provider_data;
mod wire_real;
mod wire_requests;
mod wire_route;
