//! The engine as a front end has it: a Manager, its events, and a scripted server.

mod agent_trees;
mod agents;
mod assistant;
mod context;
mod conversation;
mod definitions;
mod faults;
mod folders;
mod full_disk;
mod keys;
mod many;
mod meetings;
mod permissions;
mod provider_data;
mod queue;
mod remembered;
mod review;
mod rounds;
mod sessions;
mod silence;
mod slots;
mod steering;
mod stop;
mod titles;
mod tools;
mod two_programs;
pub mod world;
