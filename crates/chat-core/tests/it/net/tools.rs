//! The tools of the recorded conversations: one that reads a file, one that writes one, one that
//! keeps the plan.

use std::sync::Arc;

use async_trait::async_trait;
use chat_core::message::{Preview, Todo, TodoState, ToolSpec, ToolView};
use chat_core::permission::Request;
use chat_core::tool::{
    Alias, Registry, Tool, ToolContext, ToolFailure, ToolInfo, ToolKind, ToolOutput,
};
use serde_json::{Value, json};

/// Reads a file of the project.
struct Look(ToolInfo);

/// Writes a file of the project.
struct Put(ToolInfo);

/// Sets the plan.
struct Plan(ToolInfo);

pub fn tools() -> Registry {
    let text = json!({ "type": "string" });
    let look = spec(
        "look",
        "Reads a file.",
        &json!({ "path": text, "lines": { "type": "integer" } }),
        &["path"],
    );
    let put =
        spec("put", "Writes a file.", &json!({ "path": text, "text": text }), &["path", "text"]);
    let steps = json!({ "type": "array", "items": text });
    let plan = spec("plan", "Sets the plan.", &json!({ "steps": steps }), &["steps"]);
    let look = ToolInfo {
        kind: ToolKind::Reads,
        needs_project: true,
        aliases: const { &[Alias::name("file", "path")] },
        ..ToolInfo::foreign(look)
    };
    let put = ToolInfo { needs_project: true, ..ToolInfo::foreign(put) };
    let tools: [Arc<dyn Tool>; 3] =
        [Arc::new(Look(look)), Arc::new(Put(put)), Arc::new(Plan(ToolInfo::foreign(plan)))];
    tools.into_iter().collect()
}

fn spec(name: &str, description: &str, properties: &Value, required: &[&str]) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: json!({
            "type": "object", "properties": properties, "required": required,
            "additionalProperties": false,
        }),
    }
}

#[async_trait]
impl Tool for Look {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let path = given["path"].as_str().unwrap();
        let lines = given["lines"].as_u64().unwrap_or(u64::MAX);
        let text = std::fs::read_to_string(context.project()?.root().join(path))
            .map_err(|_| ToolFailure::new(format!("There is no file {path}.")))?;
        let shown: Vec<_> = text.lines().take(lines.try_into().unwrap_or(usize::MAX)).collect();
        let view =
            ToolView::Read { path: path.to_owned(), from: Some(1), to: Some(shown.len() as u64) };
        Ok(ToolOutput::text(shown.join("\n")).view(view))
    }
}

#[async_trait]
impl Tool for Put {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let (path, text) = (given["path"].as_str().unwrap(), given["text"].as_str().unwrap());
        let target = context.project()?.resolve(path).unwrap();
        context.permit(Request::Write { path: target.clone() }, Preview::Target).await?;
        let (changes, text) = (context.changes.clone(), text.to_owned());
        let write = move || {
            changes.around(&target, || {
                std::fs::write(target.real(), &text).unwrap();
                Ok(())
            })
        };
        tokio::task::spawn_blocking(write).await.unwrap()?;
        Ok(ToolOutput::text(format!("Wrote {path}.")))
    }
}

#[async_trait]
impl Tool for Plan {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let steps = given["steps"].as_array().unwrap().iter();
        let todos: Vec<_> = steps
            .map(|step| Todo { text: step.as_str().unwrap().to_owned(), state: TodoState::Open })
            .collect();
        context.host.on_todos(todos.clone());
        Ok(ToolOutput::text("The plan is set.").view(ToolView::Todos { todos }))
    }
}
