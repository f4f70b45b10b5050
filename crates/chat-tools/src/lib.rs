//! Defines what a model may do: each tool in its own file, with its name, schema, description, code
//! and tests.
//!
//! Every path passes through `tool_path`, which resolves it and asks for permission before anything
//! is returned or done. What a tool says to the model is plain English that helps it fix its call.

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod agents;
mod aliases;
mod ask_agent;
mod ask_user;
mod close_agent;
mod command;
mod contents;
mod delete_file;
mod diff;
mod edit;
mod edit_file;
mod fetch_output;
mod file_versions;
mod find_files;
mod finish_worktree;
mod lines;
mod list_agents;
mod list_files;
mod message_agent;
mod move_file;
mod outline;
mod outputs;
mod part;
mod read_file;
mod read_output;
mod run_command;
mod search_files;
mod spawn_agent;
mod spawn_worktree;
mod spec;
mod stop_command;
mod tool_path;
mod trash;
mod update_todos;
mod use_skill;
mod wait_agents;
mod walk;
pub mod web;
mod web_fetch;
mod web_search;
mod write_file;

use std::sync::Arc;

use chat_core::tool::{Tool, ToolServices};
use chat_sandbox::Preference;

pub use edit::{Applied, Edit, Near, Note, Reason, Refusal, Tolerance, apply as apply_edits};
pub use trash::Trash;
pub use web::long::head as beginning_of;
pub use web_fetch::{Pages, WebFetch};
pub use web_search::WebSearch;

/// What tools use of the user's machine.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// Where deleted files go.
    pub trash: Trash,
    /// How commands are confined.
    pub sandbox: Preference,
}

/// All existing tools.
pub fn all() -> Vec<Arc<dyn Tool>> {
    all_on(Machine { trash: Trash::of_person(), sandbox: Preference::Best })
}

/// The same on another machine.
pub fn all_on(machine: Machine) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(ask_agent::AskAgent::default()),
        Arc::new(ask_user::AskUser::default()),
        Arc::new(close_agent::CloseAgent::default()),
        Arc::new(delete_file::DeleteFile::new(machine.trash)),
        Arc::new(edit_file::EditFile::default()),
        Arc::new(fetch_output::FetchOutput::default()),
        Arc::new(find_files::FindFiles::default()),
        Arc::new(finish_worktree::FinishWorktree::default()),
        Arc::new(list_agents::ListAgents::default()),
        Arc::new(list_files::ListFiles::default()),
        Arc::new(message_agent::MessageAgent::default()),
        Arc::new(move_file::MoveFile::default()),
        Arc::new(outline::Outline::default()),
        Arc::new(read_file::ReadFile::default()),
        Arc::new(read_output::ReadOutput::default()),
        Arc::new(run_command::RunCommand::new(machine.sandbox)),
        Arc::new(search_files::SearchFiles::default()),
        Arc::new(spawn_agent::SpawnAgent::default()),
        Arc::new(spawn_worktree::SpawnWorktree::default()),
        Arc::new(stop_command::StopCommand::default()),
        Arc::new(update_todos::UpdateTodos::default()),
        Arc::new(use_skill::UseSkill::default()),
        Arc::new(wait_agents::WaitAgents::default()),
        Arc::new(WebFetch::default()),
        Arc::new(WebSearch::default()),
        Arc::new(write_file::WriteFile::default()),
    ]
}

/// The services for the user rather than for a model.
pub fn services() -> ToolServices {
    ToolServices {
        pages: Some(Arc::new(Pages::default())),
        bounds: Some(Arc::new(command::CommandBounds(Preference::Best))),
        left_overs: Some(Arc::new(command::CommandLeftOvers)),
        ..ToolServices::default()
    }
}
