//! Words what is wrong with a server that a person fills in.

use chat_mcp::config::WriteError;
use chat_mcp::draft::DraftProblem;
use gettextrs::gettext;

use super::{mcp_problem_sentence, mcp_write_error};

/// What is wrong with a part of a form, and what to do. None where something is only not filled in yet.
pub fn mcp_draft_problem(problem: &DraftProblem) -> Option<String> {
    match problem {
        DraftProblem::Missing => None,
        DraftProblem::OpenQuote => Some(gettext("A quotation mark isn’t closed. Close it.")),
        DraftProblem::Unnamed => Some(gettext("A value has no name. Enter one, or remove it.")),
        DraftProblem::NameTaken { name } => {
            Some(mcp_write_error(&WriteError::NameTaken { name: name.clone() }))
        }
        DraftProblem::Invalid(kind) => Some(mcp_problem_sentence(kind)),
    }
}
