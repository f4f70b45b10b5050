//! Words what the engine reports: errors, stages, endings, levels, agents, tools.
//!
//! Every message is a plain literal on one line, so that `xgettext`, which reads Rust as C, finds
//! it; for the same reason no apostrophe stands alone in these files, neither lifetimes nor
//! characters.

mod advice;
mod agents;
mod attachment;
mod bounds;
mod context;
mod definitions;
mod fault;
mod fill;
mod form;
mod import;
mod level;
mod mcp;
mod model;
mod number;
mod options;
mod page;
mod permission;
mod protocol;
mod server_content;
mod state;
mod title;
mod tools;
mod trust;
mod visible;
mod worktree;

pub use advice::{Action, Advice, advice};
pub use agents::{agent_line, agent_state, from_agent, work_time};
pub use bounds::{bounds, enforcement, why_not_full};
pub use context::{compaction, context_lines, cost, fullness, grouped, prompt_size, share};
pub use definitions::{
    definition_problem, no_agent, problem_sentence, problems_to_show, project_item,
    trust_explanation, unusable_agent, unusable_command,
};
pub use fault::sentence;
pub use fill::fill;
pub use form::{
    field_description, field_problem, field_title, form_note, form_question, form_record,
};
pub use import::{
    already_here, found_chats, imported, importing, missing_parts, not_imported, one_already_here,
    time_of_chats,
};
pub use level::{OLD_DEFAULT_THINKING, thinking_from_name, thinking_levels, thinking_name};
pub use mcp::{
    mcp_add_error, mcp_adding_lines, mcp_command_line, mcp_context_share, mcp_draft_problem,
    mcp_expand_error, mcp_http_fault, mcp_oauth_fault, mcp_problem, mcp_problem_sentence,
    mcp_project_notice, mcp_sign_in_wanted, mcp_start_fault, mcp_start_lines, mcp_state,
    mcp_tool_count, mcp_trust_not_saved, mcp_write_error,
};
pub use model::{bytes, download_stage, good_for, is_engine_name};
pub use number::tenths;
pub use options::{bad_option, option_hint, option_title};
pub use permission::{
    REASONS_SHOWN, bad_rule, command_text, effect, go_on_question, mode_choice, mode_meaning,
    mode_title, more_reasons, permission_question, reason_asked, reasons_asked, rule_of_project,
    run_time, runs_command, server_tool_change, stays_inside, why, why_asked,
};
pub use protocol::{protocol, speaks};
pub use state::{
    agent_description, agent_title, ending, health, key_storage, notice, role, search_gap, seconds,
    short_time, stage, stop_reason, thinking,
};
pub use title::{messages_of, title_of_copy};
pub use tools::{
    Progress, changed, command_exit, tool_description, tool_group, tool_heading, tool_line,
    tool_reason, tool_subject, tool_title,
};
pub use trust::{
    project_item_diff, project_item_files, project_item_problems, project_item_state,
    project_item_text, project_notice,
};
pub use visible::{hides, line_within, one_line, visible, visible_line};
pub use worktree::{
    commit_count, file_count, left_over, merge_blocked, merge_conflicts, merged,
    merged_worktree_stays, work_summary, worktree_state,
};

#[cfg(test)]
mod tests;
