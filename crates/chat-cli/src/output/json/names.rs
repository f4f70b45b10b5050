//! Defines the words for answers and ends, which never change.

use chat_core::event::StopReason;
use chat_core::message::{Answer, FormAnswer};
use chat_core::permission::{Effect, Scope};

/// The name of an answer to a permission request.
pub(super) fn answer_name(answer: Option<&Answer>) -> &'static str {
    let allow = |scope: &Scope| match scope {
        Scope::Session => "allow_session",
        Scope::Project => "allow_project",
        Scope::Everywhere => "allow_always",
    };
    match answer {
        Some(Answer::Allow(None)) => "allow",
        Some(Answer::AllowOutsideSandbox) => "allow_outside_sandbox",
        Some(
            Answer::Allow(Some(scope)) | Answer::Remember { effect: Effect::Allow, scope, .. },
        ) => allow(scope),
        Some(Answer::Deny { scope: None, .. }) => "deny",
        Some(Answer::Deny { scope: Some(_), .. } | Answer::Remember { .. }) => "deny_always",
        Some(Answer::Nobody | Answer::Text(_) | Answer::Form(_)) => "nobody",
        // A rule, another mode or the end of the request settled it.
        None => "settled",
    }
}

/// The name of an answer to a form.
pub(super) fn form_answer_name(answer: Option<&Answer>) -> &'static str {
    match answer {
        Some(Answer::Form(FormAnswer::Filled(_))) => "sent",
        Some(Answer::Form(FormAnswer::Declined) | Answer::Deny { .. }) => "declined",
        Some(_) => "nobody",
        None => "settled",
    }
}

/// The word for why a request ended.
pub(super) fn reason(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Complete => "complete",
        StopReason::Stopped => "stopped",
        StopReason::Error => "error",
        StopReason::Limit => "limit",
        StopReason::Interrupted => "interrupted",
    }
}
