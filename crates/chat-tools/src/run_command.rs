//! `run_command`: runs a shell command in the project, in the sandbox.

mod report;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chat_core::message::{Preview, ToolView};
use chat_core::tool::{
    Audience, CallData, Denied, Hint, HintText, Label, Labels, N_, OutputForm, PermissionGrant,
    Tense, Tool, ToolContext, ToolFailure, ToolGroup, ToolIcon, ToolInfo, ToolKind, ToolOutput,
};
use chat_permission::{Action, Request, ResolvedPath, Run, Why};
use chat_sandbox::{
    Command, Enforcement, Exit, Follow, Keep, Limits, Preference, Running, Sandbox, Secrets, Spool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use crate::aliases;
use crate::command::{Background, Commands, Tail, exit_of, git_access, quarantined};
use crate::outputs;
use crate::spec::{arguments, on_disk, spec};
use crate::tool_path::ToolPath;

use report::say;
pub use report::{background, report};

/// The longest time limit in seconds that a call may request. Longer commands belong in the
/// background.
const LONGEST: u64 = 3600;
/// How many bytes of an output are kept on disk.
const SPOOL_LIMIT: u64 = 64 << 20;
/// The time between two updates of a running command's output: as often as the eye can follow.
const FRAME: Duration = Duration::from_millis(50);

/// Runs commands.
pub struct RunCommand {
    info: ToolInfo,
    preference: Preference,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: String,
    /// Where to run it; default: the project
    #[serde(default)]
    folder: Option<String>,
    /// Time limit in seconds
    #[serde(default)]
    seconds: Option<u64>,
    /// Return at once; continue with `read_output` and `stop_command`
    #[serde(default)]
    background: bool,
    /// Whether it needs the network
    #[serde(default)]
    network: bool,
    /// Ask the user to run it outside the sandbox; only if the sandbox made it fail
    #[serde(default)]
    outside_sandbox: bool,
}

impl RunCommand {
    /// Creates the tool with this sandbox preference.
    pub fn new(preference: Preference) -> Self {
        Self { info: info(), preference }
    }
}

fn info() -> ToolInfo {
    ToolInfo {
        spec: spec::<Arguments>(
            "run_command",
            "Run a shell command in the project, in a sandbox that can write only there. \
             It cannot ask questions. The exit status comes first.",
        ),
        title: N_("Run Commands").into(),
        summary: N_("Runs shell commands, in a sandbox if this computer supports it").into(),
        group: ToolGroup::Commands,
        kind: ToolKind::Runs,
        icon: ToolIcon::Terminal,
        labels: Labels::Own(label),
        target: |_| None,
        permissions: &[Action::Run, Action::Read],
        needs_project: true,
        audience: Audience::Everyone,
        output: OutputForm::Terminal,
        aliases: aliases::RUN,
        hints: &[
            Hint {
                order: 50,
                tells: HintText::Line(
                    "Use run_command for builds, tests and git, never for anything that waits for \
                     input. Run servers and other programs that do not exit on their own with \
                     `background`.",
                ),
            },
            Hint {
                order: 60,
                tells: HintText::Line(
                    "Commands run in a sandbox. They can see the project, the system and its \
                     tools, but no secrets and little else in the home folder; they can write only \
                     to the project and temporary folders. Package caches work. There is no \
                     network access unless you set `network`.",
                ),
            },
        ],
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let what = match call.view {
        Some(ToolView::Ran { command, .. }) => command.clone(),
        _ => call.text("command"),
    };
    let sentence = match tense {
        Tense::ToDo => N_("Run {what}"),
        Tense::Doing => N_("Running {what}"),
        Tense::Done => N_("Ran {what}"),
        Tense::Failed => N_("Couldn’t run {what}"),
    };
    Label::what(sentence, what)
}

#[async_trait]
impl Tool for RunCommand {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { command: text, folder, seconds, background, network, outside_sandbox } =
            arguments(given)?;
        if text.trim().is_empty() {
            return Err(ToolFailure::new("The command is empty."));
        }
        let place = ToolPath::new(&context, folder.as_deref().unwrap_or("."))?;
        if !place.path.is_inside() {
            let root = place.project.root().display();
            return Err(ToolFailure::new(format!(
                "Commands can run only in a folder of the project, {root}."
            )));
        }
        place.must_be_folder()?;
        let sandbox = Sandbox::probe(self.preference).await;
        let is_sandboxed = sandbox.enforcement() != Enforcement::None && !outside_sandbox;
        // Outside the sandbox it always has the network, so what denies the network denies this.
        let reaches = network || !is_sandboxed;
        let run = Run::new(&place.project, &text, place.path.clone(), is_sandboxed, reaches)
            .in_background(background);
        // The user may set more than a model may request.
        let set = context.settings.command_seconds.max(1);
        let asked = seconds.map(|seconds| seconds.clamp(1, LONGEST.max(set)));
        let limit = asked.or((!background).then_some(set)).map(Duration::from_secs);
        let leaves = is_sandboxed.then(|| SandboxEscape::new(&place, &run));
        let preview = Preview::Command {
            text: text.clone(),
            folder: place.path.real().to_owned(),
            network,
            sandboxed: is_sandboxed,
            background,
            limit,
            stays_inside: leaves.as_ref().and_then(|leaves| leaves.refused(&context)),
        };
        let named = run.secrets(&place.project);
        let reads = named.iter().map(|path| Request::Read { path: path.clone() });
        let requests = [Request::Run(run)].into_iter().chain(reads).collect();
        let grant = context.permit_command(requests, preview).await?;
        if let Some(leaves) = leaves.as_ref().filter(|_| grant == PermissionGrant::OutsideSandbox) {
            leaves.must_be_allowed(&context)?;
        }
        let is_sandboxed = is_sandboxed && grant != PermissionGrant::OutsideSandbox;
        let sandbox = if is_sandboxed { sandbox } else { Sandbox::probe(Preference::None).await };
        let commands = context.memory.get::<Commands>();
        if background {
            commands.has_room()?;
        }
        let git = if is_sandboxed { git_access(&context).await? } else { None };
        let memory = context.settings.command_memory_mb.saturating_mul(1 << 20);
        let command = Command {
            folder: place.path.real().to_owned(),
            network,
            secrets: Some(secrets(&context, &place, named)),
            git,
            limit,
            limits: Limits { memory: memory.min(Limits::default().memory), ..Limits::default() },
            // Both streams are joined, so that their output stays in order.
            ..Command::new(format!("exec 2>&1; {text}"), place.project.root())
        };
        let (id, spool) = spool(&context)?;
        let kept = spool.path();
        let changes = context.changes.clone();
        let looked = on_disk(move |_| changes.start_recording()).await?;
        let started = sandbox.spawn_followed(command, spool).await;
        let (running, follow) = started.map_err(|error| {
            let _ = std::fs::remove_file(&kept);
            ToolFailure::new(format!("The command did not run: {error}."))
        })?;
        let view = |exit: Option<&Exit>, output| ToolView::Ran {
            command: text.clone(),
            exit: exit.map(exit_of),
            output,
            sandboxed: is_sandboxed,
            quarantined: exit.map(quarantined).unwrap_or_default(),
        };
        if background {
            drop(follow);
            let view = view(None, Some(id.clone()));
            let said = format!(
                "Running in the background as {id}. Use read_output to see its output and stop_command to stop it."
            );
            let command = Background::new(&context, &id, text, is_sandboxed, running, looked);
            let command = Arc::new(command);
            commands.put(Arc::clone(&command));
            context.memory.add_background(command);
            return Ok(ToolOutput::text(said).view(view));
        }
        let exit = watch(&context, &running, follow).await;
        // It is recorded even if the call was given up.
        let _ = tokio::task::spawn_blocking(move || drop(looked)).await;
        let (said, is_cut) = say(&running, &exit, &id);
        if !is_cut {
            // All of it was returned.
            let _ = std::fs::remove_file(&kept);
        }
        let view = view(Some(&exit), is_cut.then_some(id));
        Ok(ToolOutput::text(said).view(view))
    }
}

/// A command that should run in the sandbox, but may leave it.
struct SandboxEscape {
    inside: Request,
    /// The request to run it outside, where it always has the network.
    outside: Request,
}

impl SandboxEscape {
    fn new(place: &ToolPath, run: &Run) -> Self {
        let outside = Run::new(&place.project, run.command(), run.folder().clone(), false, true)
            .in_background(run.is_in_background());
        Self { inside: Request::Run(run.clone()), outside: Request::Run(outside) }
    }

    /// Why it may not leave, with the current rules and mode.
    fn refused(&self, context: &ToolContext) -> Option<Why> {
        context.host.refusal(&self.outside)
    }

    /// The same after the user allowed it: the prompt may be older than the rules, or the answer
    /// may not have been offered.
    fn must_be_allowed(&self, context: &ToolContext) -> Result<(), ToolFailure> {
        let Some(why) = self.refused(context) else { return Ok(()) };
        match (context.host.refusal(&self.inside), why) {
            (None, Why::Denied(rule)) => Err(ToolFailure::new(format!(
                "The command did not run: outside the sandbox it could use the network, and the rule {rule} denies that."
            ))),
            // The network is not involved.
            (inside, why) => {
                Err(Denied::ByRule { why: inside.unwrap_or(why), allowed_by: Vec::new() }.into())
            }
        }
    }
}

/// The project's secrets. A command sees those that it names, with permission, and those that may
/// be read without asking.
fn secrets(context: &ToolContext, place: &ToolPath, named: Vec<ResolvedPath>) -> Secrets {
    let (names, project) = (place.project.secrets().clone(), Arc::clone(&place.project));
    let host = Arc::clone(&context.host);
    Secrets {
        are_secret: Arc::new(move |path| names.contains(path)),
        are_granted: Arc::new(move |path| {
            let Ok(path) = project.entry(path) else { return false };
            named.contains(&path) || host.passes(&Request::Read { path })
        }),
    }
}

/// A file for an output, and its id.
fn spool(context: &ToolContext) -> Result<(String, Spool), ToolFailure> {
    let keep = Keep { excerpt: excerpt(context), disk: SPOOL_LIMIT };
    let made = outputs::create(&context.outputs, |path| Spool::create(path, keep));
    made.map_err(|error| {
        ToolFailure::new(format!("The command did not run: its output cannot be stored: {error}."))
    })
}

/// How many bytes of an output the model gets: the user's limit, as far as the context window has
/// space.
fn excerpt(context: &ToolContext) -> usize {
    let set = context.settings.output_kb.saturating_mul(1000);
    usize::try_from(set).unwrap_or(usize::MAX).min(context.most)
}

/// Shows a command's output until it ends. It is stopped together with the request.
async fn watch(context: &ToolContext, running: &Running, mut follow: Follow) -> Exit {
    let mut tail = Tail::default();
    let (mut next, mut is_new) = (Instant::now(), false);
    loop {
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => {
                running.stop();
                break;
            }
            () = sleep_until(next), if is_new => {
                context.host.on_output(&tail.text(), tail.total());
                is_new = false;
                next = Instant::now() + FRAME;
            }
            chunk = follow.next() => match chunk {
                Some(chunk) => {
                    tail.push(&chunk.bytes);
                    is_new = true;
                }
                None => break,
            },
        }
    }
    drop(follow);
    let exit = running.wait().await;
    if is_new {
        context.host.on_output(&tail.text(), tail.total());
    }
    exit
}
