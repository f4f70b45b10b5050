//! Defines how a running tool reaches its session, its project and the user; never a client.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use chat_definitions::Skill;
use chat_permission::path::Project;
use chat_permission::{Request, Rule, Why};
use chat_worktree::WorktreeAccess;
use tokio_util::sync::CancellationToken;

use super::{Changes, Memory, Team};
use crate::message::{Form, FormAnswer, FormRecord, Preview, Question, Todo, ToolCallId, Verdict};
use crate::settings::ToolSettings;

/// What is around a running tool.
#[derive(Clone)]
pub struct ToolContext {
    /// Fires when the person stops the request.
    pub cancel: CancellationToken,
    /// The call that runs.
    pub call: ToolCallId,
    /// The session's project, where it has one.
    pub project: Option<Arc<Project>>,
    /// What the session's tools remember from one call to the next.
    pub memory: Arc<Memory>,
    /// Where long outputs of this session are kept.
    pub outputs: PathBuf,
    /// The settings of tools as they were when the round began.
    pub settings: Arc<ToolSettings>,
    /// Whether the model sees pictures.
    pub sees: bool,
    /// How many bytes one result may have, so that some of them fit the model's window.
    pub most: usize,
    /// The session.
    pub host: Arc<dyn ToolHost>,
    /// The other agents of the session's tree, where it may have some.
    pub team: Option<Arc<dyn Team>>,
    /// The skills that the model may load.
    pub skills: Vec<Arc<Skill>>,
    /// Keeps what the call does to the project's files.
    pub changes: Changes,
    /// What the person was asked for this call.
    pub asked: Arc<Mutex<CallApproval>>,
}

/// What the person was asked for one call.
#[derive(Clone, Debug, Default)]
pub struct CallApproval {
    /// How long their answers took.
    pub(crate) waited: Duration,
    /// What they answered to the last permission request.
    pub(crate) verdict: Option<Verdict>,
    /// The rules with which it would have passed, where nobody is asked and it was refused.
    pub(crate) needs: Vec<Rule>,
    /// What became of the forms that its server asked them to fill in.
    pub(crate) forms: Vec<FormRecord>,
}

impl ToolContext {
    /// Asks for permission, and waits for it.
    ///
    /// # Errors
    /// It is not given.
    pub async fn permit(&self, request: Request, preview: Preview) -> Result<(), Denied> {
        self.permit_all(vec![request], preview).await
    }

    /// The same for several requests that are one thing to the person, who is asked once. The first
    /// names what is done, and to what.
    ///
    /// # Errors
    /// It is not given for all of them.
    pub async fn permit_all(&self, requests: Vec<Request>, preview: Preview) -> Result<(), Denied> {
        self.judge(requests, preview).await.map(drop)
    }

    /// The same for a command, with all that it needs; says whether it is to run outside the sandbox.
    ///
    /// # Errors
    /// It is not given for all of it.
    pub async fn permit_command(
        &self,
        requests: Vec<Request>,
        preview: Preview,
    ) -> Result<PermissionGrant, Denied> {
        self.judge(requests, preview).await
    }

    async fn judge(
        &self,
        requests: Vec<Request>,
        preview: Preview,
    ) -> Result<PermissionGrant, Denied> {
        let began = Instant::now();
        let grant = self.host.permit(PermissionCheck { requests, preview }).await;
        let verdict = match &grant {
            Ok(PermissionGrant::ByPerson | PermissionGrant::OutsideSandbox) => {
                Some(Verdict::Allowed)
            }
            Err(Denied::ByPerson { message }) => Some(Verdict::Denied { message: message.clone() }),
            Ok(PermissionGrant::ByRule) | Err(_) => None,
        };
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.waited += began.elapsed();
        asked.verdict = verdict.or(asked.verdict.take());
        if let Err(Denied::ByRule { allowed_by, .. }) = &grant {
            asked.needs.clone_from(allowed_by);
        }
        grant
    }

    /// Asks the person a question of the model's.
    ///
    /// # Errors
    /// They do not answer it.
    pub async fn ask(&self, question: Question) -> Result<String, Denied> {
        let began = Instant::now();
        let answer = self.host.ask(question).await;
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).waited += began.elapsed();
        answer
    }

    /// Asks the user to fill in a form of a server. Of several forms of one call, one waits at a time.
    ///
    /// # Errors
    /// They neither send nor decline it: nobody is there to be asked, or the request was stopped.
    pub async fn fill(&self, form: Form) -> Result<FormAnswer, Denied> {
        let began = Instant::now();
        let answer = self.host.fill(form.clone()).await;
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.waited += began.elapsed();
        asked.forms.extend(answer.as_ref().ok().map(|answer| form.record(answer)));
        answer
    }

    /// What the person was asked so far.
    pub(crate) fn answered(&self) -> CallApproval {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The other agents.
    ///
    /// # Errors
    /// The session can have none.
    pub fn team(&self) -> Result<&Arc<dyn Team>, super::ToolFailure> {
        self.team
            .as_ref()
            .ok_or_else(|| super::ToolFailure::new("This conversation cannot have agents."))
    }

    /// The project.
    ///
    /// # Errors
    /// The session has none.
    pub fn project(&self) -> Result<&Arc<Project>, super::ToolFailure> {
        self.project.as_ref().ok_or_else(|| {
            super::ToolFailure::new(
                "This conversation has no project folder, so there are no files.",
            )
        })
    }
}

impl std::fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolContext").field("call", &self.call).finish_non_exhaustive()
    }
}

/// What a tool wants to do: what is judged, and what the person is shown.
#[derive(Clone, Debug)]
pub struct PermissionCheck {
    /// What is judged, all of it together; the first names what is done, and to what.
    pub requests: Vec<Request>,
    /// The whole of what would be done.
    pub preview: Preview,
}

/// What a tool may ask of its session for one call; implemented above, by the session.
#[async_trait]
pub trait ToolHost: Send + Sync {
    /// Judges it by rules and mode, and asks the user where these do not decide. Ends with the
    /// request.
    async fn permit(&self, check: PermissionCheck) -> Result<PermissionGrant, Denied>;

    /// Why rules or the mode forbid something; none where they do not. Nobody is asked, and what would be asked is
    /// not forbidden.
    fn refusal(&self, request: &Request) -> Option<Why>;

    /// Whether rules or the mode forbid something. For parts of what is already permitted: whoever lets a folder be
    /// searched may still keep a file of it.
    fn refuses(&self, request: &Request) -> bool {
        self.refusal(request).is_some()
    }

    /// Whether rules and the mode let something pass with nobody asked.
    fn passes(&self, request: &Request) -> bool;

    /// What commands may touch of the project's repository, if the project is a worktree of Natter's.
    /// Blocks.
    ///
    /// # Errors
    /// Why that is not known: then no command may run.
    fn worktree_access(&self) -> Result<Option<WorktreeAccess>, String> {
        Ok(None)
    }

    /// Asks the person a question of the model's. Ends with the request.
    async fn ask(&self, question: Question) -> Result<String, Denied>;

    /// Asks the user to fill in a form of a server: what they send fits it. Ends with the request. Where
    /// nothing else is said, nobody is there to be asked.
    async fn fill(&self, form: Form) -> Result<FormAnswer, Denied> {
        let _ = form;
        Err(Denied::Nobody)
    }

    /// Shows the end of what a running command wrote, and how many bytes it wrote in all.
    /// To be called some twenty times a second at most.
    fn on_output(&self, tail: &str, bytes: u64);

    /// The session's plan is this now.
    fn on_todos(&self, todos: Vec<Todo>);
}

/// Where a permission comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionGrant {
    /// A rule or the mode gives it.
    ByRule,
    /// The person gave it.
    ByPerson,
    /// The person gave it, and has the command run outside the sandbox this once.
    OutsideSandbox,
}

/// Why a permission was not given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denied {
    /// The person said no, perhaps with a word to the model.
    ByPerson {
        /// The word.
        message: Option<String>,
    },
    /// A rule or the mode forbids it.
    ByRule {
        /// Why.
        why: Why,
        /// The rules with which it would pass, where only a mode that asks nobody refuses it.
        allowed_by: Vec<Rule>,
    },
    /// It would have to be asked, and there is nobody to ask.
    Nobody,
    /// The request was stopped while it waited.
    Stopped,
}

impl Denied {
    /// The text for the model, in English.
    pub fn for_model(&self) -> String {
        match self {
            Self::ByPerson { message: None } => {
                "The user denied this. Do not try to do the same thing another way.".to_owned()
            }
            Self::ByPerson { message: Some(message) } => {
                format!("The user denied this and said: {message}")
            }
            Self::ByRule { why, allowed_by } if allowed_by.is_empty() => {
                format!("This is not allowed here: {}.", reason(why))
            }
            Self::ByRule { why, allowed_by } => {
                let rules: Vec<_> = allowed_by.iter().map(|rule| format!("`{rule}`")).collect();
                format!(
                    "This is not allowed here: {}. The user can allow it in advance with the rule {}.",
                    reason(why),
                    rules.join(" and "),
                )
            }
            Self::Nobody => "This needs the user's permission, and the user cannot be asked here. \
                             Do without it, or say what is needed."
                .to_owned(),
            Self::Stopped => "The user stopped this call.".to_owned(),
        }
    }
}

/// Why something is not allowed, for the model.
fn reason(why: &Why) -> String {
    match why {
        Why::Own => "the path contains the program's own files".to_owned(),
        Why::Protected => "tools are not allowed to write to this path".to_owned(),
        Why::Denied(rule) => format!("the rule {rule} denies it"),
        Why::PerhapsDenied(rule) => format!("the rule {rule} may deny it"),
        Why::HoldsDenied(rule) => {
            format!("this folder contains, or may contain, something that the rule {rule} denies")
        }
        Why::Unsandboxed => "the command would run outside a sandbox".to_owned(),
        Why::Merges(branch) => {
            format!("work is merged into {branch} only with the user's permission")
        }
        Why::Discards(name) => {
            format!("the work of {name} is discarded only with the user's permission")
        }
        Why::Unparsable(why) => why.to_string(),
        Why::NotLiteral(word) => format!("the value of {word} is unknown until the command runs"),
        Why::Assignment(name) => format!("it sets the variable {name}"),
        Why::HandsOver(name) => format!("{name} runs another command"),
        Why::RunsInput(name) => format!("{name} runs its input as a program"),
        Why::UnknownFile(word) => format!("the file that {word} stands for is unknown"),
        Why::Outside => "it is outside the project".to_owned(),
        Why::SeveralLinks => "the file has other hard links elsewhere".to_owned(),
        Why::Secret(path) => format!("{path} may contain secrets"),
        Why::PrivateAddress => "the address belongs to this computer or its network".to_owned(),
        Why::NoHost => "there is no such host".to_owned(),
        Why::ChangedTool => "the server has changed the tool since it was allowed".to_owned(),
        Why::NewTool => "the user must allow the tool once before rules count for it".to_owned(),
        Why::CommandNetwork => "the command needs the network".to_owned(),
        Why::Background => "the command would run in the background".to_owned(),
        Why::Mode => "the permission mode of this conversation does not allow it".to_owned(),
    }
}
