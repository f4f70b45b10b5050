//! What the engine gives and tells, as JSON that does not depend on the names of Rust types.

use chat_core::event::{Event, SessionEvent, SessionPlaceholder, Snapshot, TextKind};
use chat_core::message::{ApprovalKind, ApprovalRequest, Fid, Queued};
use serde_json::{Value, json};

pub fn row(row: &SessionPlaceholder) -> Value {
    json!({
        "fid": row.fid,
        "title": row.title,
        "agent": row.agent,
        "model": row.model,
        "thinking": row.thinking,
        "options": row.options,
        "project": row.project,
        "mode": row.mode,
        "status": format!("{:?}", row.status),
        "unread": row.unread,
        "trouble": row.trouble.map(|trouble| format!("{trouble:?}")),
        "created": row.created,
        "updated": row.updated,
        "in_use": row.in_use,
    })
}

pub fn snapshot(snapshot: &Snapshot) -> Value {
    json!({
        "session": row(&snapshot.session),
        "messages": snapshot.messages,
        "more": snapshot.more,
        "queue": snapshot.queue.iter().map(queued).collect::<Vec<_>>(),
        "stage": format!("{:?}", snapshot.stage),
        "asks": snapshot.asks.iter().map(|it| ask(it)).collect::<Vec<_>>(),
        "calls": snapshot.calls.len(),
        "commands": snapshot.commands.len(),
        "todos": snapshot.todos,
    })
}

fn queued(queued: &Queued) -> Value {
    json!({ "id": queued.id, "content": queued.content, "context": queued.context })
}

fn ask(ask: &ApprovalRequest) -> Value {
    let what = match &ask.kind {
        ApprovalKind::Permission(asked) => {
            json!({ "permission": asked.target, "always": asked.always })
        }
        ApprovalKind::Question(question) => json!({ "question": question.text }),
        ApprovalKind::Form(form) => json!({ "form": form.message }),
        ApprovalKind::GoOn { rounds } => json!({ "go_on": rounds }),
    };
    json!({ "id": ask.id, "call": ask.call, "tool": ask.tool, "what": what })
}

/// An event; its number in the session's order is left out, since events are merged.
pub fn event(event: &Event) -> Value {
    match event {
        Event::SessionAdded(added) => json!({ "session_added": row(added) }),
        Event::SessionChanged(changed) => json!({ "session_changed": row(changed) }),
        Event::SessionRemoved { fid } => json!({ "session_removed": fid }),
        Event::Session { fid, event, .. } => in_session(fid, event),
        Event::ApprovalsChanged { asks } => {
            json!({ "all_asks_changed": asks.iter().map(|it| ask(&it.ask)).collect::<Vec<_>>() })
        }
        Event::RequestFinished { reason, usage, error, .. } => json!({ "request_finished": {
            "reason": format!("{reason:?}"), "usage": usage, "error": error,
        } }),
        Event::ModelsChanged => json!("models_changed"),
        Event::DownloadsChanged => json!("downloads_changed"),
        Event::ConnectionsChanged => json!("connections_changed"),
        Event::ShowRequested { fid } => json!({ "show_requested": fid }),
        Event::AgentKindsChanged => json!("agents_changed"),
        Event::DefinitionsChanged { .. } => json!("definitions_changed"),
        Event::SettingsChanged => json!("settings_changed"),
        Event::ToolsChanged => json!("tools_changed"),
        Event::Notice(failure) => json!({ "notice": failure.error, "session": failure.session }),
    }
}

fn in_session(fid: &Fid, event: &SessionEvent) -> Value {
    match event {
        SessionEvent::MessageAdded { message } => json!({ "message_added": message }),
        SessionEvent::TextAdded { message, part, kind, range, text } => {
            let thinking = *kind == TextKind::Thinking;
            let range = [range.start, range.end];
            json!({ "text_added": {
                "message": message, "part": part, "thinking": thinking, "range": range, "text": text,
            } })
        }
        SessionEvent::MessageChanged { message } => json!({ "message_changed": message }),
        SessionEvent::Reset => json!({ "session_reset": fid }),
        SessionEvent::ToolCallChanged { message, call, running, result } => {
            json!({ "tool_call_changed": {
                "message": message, "call": call, "running": running, "result": result,
            } })
        }
        SessionEvent::ToolCallPermitted { message, call, action } => {
            json!({ "tool_call_permitted": { "message": message, "call": call, "action": action } })
        }
        SessionEvent::ToolOutput { message, call, tail, bytes } => json!({ "tool_output": {
            "message": message, "call": call, "tail": &**tail, "bytes": bytes,
        } }),
        SessionEvent::AgentsAtWork { message, call, agents } => json!({ "agents_at_work": {
            "message": message, "call": call, "agents": agents.len(),
        } }),
        SessionEvent::CommandsChanged { commands } => json!({ "commands_changed": commands.len() }),
        SessionEvent::ApprovalsChanged { asks } => {
            json!({ "asks_changed": asks.iter().map(|it| ask(it)).collect::<Vec<_>>() })
        }
        SessionEvent::TodosChanged { todos } => json!({ "todos_changed": todos }),
        SessionEvent::FilesChanged => json!("files_changed"),
        // How many tokens there are depends on how long the project's path is.
        SessionEvent::ContextUsageChanged { usage } => json!({ "meter_changed": {
            "window": usage.window, "limit": usage.limit, "measured": usage.measured,
            "shortened": usage.shortened,
        } }),
        SessionEvent::QueueChanged { queue } => {
            json!({ "queue_changed": queue.iter().map(queued).collect::<Vec<_>>() })
        }
        SessionEvent::StageChanged { stage } => json!({ "stage_changed": format!("{stage:?}") }),
    }
}
