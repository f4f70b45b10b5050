//! Defines what can go wrong, as kinds. Front ends word it for people, `for_model` for models.

mod agent;
mod attachment;
mod budget;
mod feature;
mod for_model;
mod import;
mod missing;
mod model;
mod page;
mod review;
mod server;
mod worktree;

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

pub use self::agent::{BrokenAgent, NoAgent};
pub use self::attachment::AttachmentFault;
pub use self::budget::BudgetLimit;
pub use self::feature::Feature;
pub use self::import::{ChatImportFault, ImportFault};
pub use self::missing::MissingMessages;
pub use self::model::FileFault;
pub use self::page::PageFault;
pub use self::review::NoReview;
pub use self::server::{ServerFailure, ServerFault, ServerItem};
pub use self::worktree::WorktreeFault;

/// The engine's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Something that went wrong: a kind to decide by, and details to show folded.
///
/// Stored with a failed message, so that a chat opened later still says what happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{kind:?}{}", .detail.as_deref().map(|d| format!(": {d}")).unwrap_or_default())]
pub struct Error {
    /// What happened.
    pub kind: Kind,
    /// The server's or the system's own words, shortened; never a key, never the person's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The name of the connection it happened on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
}

/// The longest detail kept, in bytes: a server's error page is no use to anybody.
const DETAIL_LIMIT: usize = 2_000;

impl Error {
    /// An error of this kind without details.
    pub fn new(kind: Kind) -> Self {
        Self { kind, detail: None, connection: None }
    }

    /// Adds the server's or system's words, cut at 2,000 bytes.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        let mut detail = detail.into();
        if detail.len() > DETAIL_LIMIT {
            detail.truncate(detail.floor_char_boundary(DETAIL_LIMIT));
            detail.push('…');
        }
        self.detail = Some(detail);
        self
    }

    /// Names the connection it happened on.
    #[must_use]
    pub fn on(mut self, connection: impl Into<String>) -> Self {
        self.connection = Some(connection.into());
        self
    }
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Self {
        Self::new(kind)
    }
}

/// The kinds of errors. A closed list: front ends have a sentence for each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[strum(serialize_all = "snake_case")]
pub enum Kind {
    /// Nothing answers at the address: refused, no route.
    Unreachable,
    /// The address names a server that cannot be found.
    UnknownHost {
        /// The server's name.
        host: String,
    },
    /// Connecting took longer than the connect time-out.
    ConnectTimeout,
    /// The TLS handshake failed (a certificate, or plain HTTP on a TLS port).
    Tls,
    /// Something answers, but it is no model server of this kind.
    WrongUrl,
    /// The address itself cannot be read as a URL of http or https.
    InvalidUrl,
    /// The connection's proxy is no address of http, https or socks5.
    InvalidProxy,
    /// A header of the connection cannot be sent: its name or its value has characters that no header has.
    InvalidHeader {
        /// Its name.
        name: String,
    },
    /// The file with the connection's own certificates cannot be read, or has none.
    CertificateFile {
        /// The file.
        path: PathBuf,
    },
    /// 401: the key is missing or wrong.
    Unauthorized {
        /// Where one can sign in, when the server says so.
        #[serde(default)]
        signin_url: Option<String>,
        /// Whether no key was sent: the server wants one.
        #[serde(default)]
        keyless: bool,
    },
    /// 403: the key is known and not allowed to do this.
    Forbidden,
    /// 404 for a model: the server does not have it.
    ModelNotFound {
        /// The model asked for.
        model: String,
    },
    /// The model's window is smaller than what was to be sent.
    InputTooLong {
        /// The window that the request asked for, in tokens, where it is known.
        #[serde(default)]
        window: Option<u32>,
        /// The largest window that the model has, in tokens, where it is known.
        #[serde(default)]
        largest: Option<u32>,
    },
    /// The model cannot do what was asked of it.
    Unsupported {
        /// What it cannot do.
        feature: Feature,
    },
    /// 400 and other refusals without a kind of their own.
    BadRequest,
    /// The server's content filter refused the request or ended the reply.
    ContentFiltered,
    /// 503: the server has too many requests waiting.
    Busy,
    /// 429: too many requests; the server may say when to try again.
    RateLimited {
        /// How long to wait, when the server says so.
        #[serde(default)]
        retry_after: Option<Duration>,
    },
    /// 402 or the like: the account has no credit left.
    NoCredit,
    /// 500, 502 and other failures inside the server, also in mid-stream.
    ServerFailed,
    /// The server's answer is not what the protocol says (invalid JSON or UTF-8).
    InvalidResponse,
    /// One line or event of the answer is longer than the cap of 8 MiB.
    LineTooLong,
    /// The stream ended before the reply did.
    Cut,
    /// The server said nothing in mid-stream for longer than the silence time-out.
    Stalled,
    /// The reply ended and held nothing.
    EmptyReply,

    /// The disk has no room left.
    DiskFull,
    /// The folder or database cannot be written to.
    ReadOnly {
        /// What cannot be written to.
        path: PathBuf,
    },
    /// The database was damaged and nothing of it could be saved; it is kept under another name and
    /// a new one was begun.
    DatabaseDamaged {
        /// Where the damaged file lies now.
        kept_as: PathBuf,
    },
    /// The database was damaged; all that could be read stands in a new one.
    DatabaseRepaired {
        /// Where the damaged file lies now.
        kept_as: PathBuf,
        /// The chats that lack messages.
        missing: Vec<MissingMessages>,
        /// Whether a backup gave back some of what could not be read.
        from_backup: bool,
    },
    /// The database is damaged and must be repaired, or exchanged for a backup, but another process
    /// works with it.
    DatabaseInUse,
    /// A message stood on a part of the disk or file that is damaged.
    MessageDamaged,
    /// The database was written by a newer version of the program; it is untouched.
    DatabaseNewer {
        /// The version that it says.
        version: u32,
    },
    /// The store failed in another way.
    Storage,
    /// The configuration file cannot be read; it is kept and never overwritten.
    ConfigInvalid {
        /// The file.
        path: PathBuf,
    },
    /// The configuration file has keys that no setting has, or values that cannot be used, which the detail names; the
    /// rest counts.
    ConfigUnknown {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be attached to a message.
    Attachment {
        /// Its name, without folders.
        name: String,
        /// Why not.
        fault: AttachmentFault,
    },
    /// The configuration cannot be written because the file on disk cannot be read.
    ConfigLocked {
        /// The file.
        path: PathBuf,
    },

    /// A file is no model that can be used.
    ModelFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: FileFault,
    },
    /// There is no such file.
    FileNotFound {
        /// The file.
        path: PathBuf,
    },
    /// The file of a model is not there any more.
    ModelFileMissing {
        /// The file.
        path: PathBuf,
    },
    /// The folder of models, or its list, could not be read or written.
    ModelStorage,
    /// The site that models come from cannot be reached.
    HubUnreachable,
    /// The site that models come from answered with a failure, or with something unreadable.
    HubFailed,
    /// The site does not know the token that it was sent: it is wrong, or no longer valid.
    HubTokenRefused,
    /// The site has no such repository, or it is private.
    RepositoryNotFound {
        /// Its name, `owner/name`.
        repository: String,
    },
    /// The repository is there and wants its terms to be accepted first.
    RepositoryClosed {
        /// Its name.
        repository: String,
    },
    /// The repository has no such file.
    RepositoryFileNotFound {
        /// Its name.
        repository: String,
        /// The file, or the pattern of one.
        file: String,
    },
    /// The disk has too little room for a download.
    DiskTooSmall {
        /// How many bytes are still to come.
        needed: u64,
        /// How many bytes are free.
        free: u64,
    },
    /// A download broke off; what had arrived is kept.
    DownloadInterrupted,
    /// What came is not the file that was meant. It is no part of what is kept.
    DownloadDiffers {
        /// The file.
        file: String,
    },
    /// Another program is downloading this file.
    DownloadElsewhere {
        /// The file.
        file: String,
    },

    /// There is no such session.
    SessionNotFound {
        /// The id asked for.
        fid: String,
    },
    /// Another program is writing this session now.
    SessionInUse,
    /// A reply of this session runs or waits: what was asked has to wait until it is done.
    SessionAtWork,
    /// An agent works for this session: what was asked has to wait until it is done.
    AgentAtWork {
        /// What it is called.
        name: String,
    },
    /// The session's agent is not there, or cannot be used.
    AgentMissing {
        /// Its name.
        name: String,
        /// Why.
        #[serde(default, skip_serializing_if = "NoAgent::is_plain")]
        why: NoAgent,
    },
    /// The text of a skill is gone, or is not what the user trusted.
    SkillUnreadable {
        /// Its name.
        name: String,
    },
    /// The agents of a tree have used up what they may since the user last wrote.
    AgentBudget {
        /// Of what.
        limit: BudgetLimit,
    },
    /// An agent's folder is not in the one that its parent works in, or is no folder.
    OutsideParent {
        /// The folder.
        path: PathBuf,
    },
    /// Something could not be done with a worktree.
    Worktree {
        /// Why.
        fault: WorktreeFault,
    },
    /// The folder that the session works in cannot be worked in.
    ProjectMissing {
        /// Where it is, or was.
        path: PathBuf,
    },
    /// The folder holds Natter's own files: no tool may reach these.
    ProjectRefused {
        /// Which.
        path: PathBuf,
    },
    /// What tools change is not kept here, so that it can be neither reviewed nor taken back.
    NoReview {
        /// Why.
        why: NoReview,
    },
    /// What tools changed could not be read, or not be taken back.
    ReviewFailed,
    /// Nothing was changed since: there is nothing to take back.
    NothingChanged,
    /// An export of chats cannot be read, or not to its end.
    ImportFile {
        /// The file, archive or folder.
        path: PathBuf,
        /// Why.
        fault: ImportFault,
    },
    /// A chat of an export cannot be imported.
    ImportChat {
        /// Why.
        fault: ChatImportFault,
    },
    /// A page of the web that the person named could not be had.
    PageNotFetched {
        /// Its address.
        url: String,
        /// Why.
        why: PageFault,
    },
    /// An MCP server did not give what the person asked it for.
    ServerContext {
        /// Which, what and why.
        failure: Box<ServerFailure>,
    },
    /// The session's connection is not configured.
    ConnectionMissing {
        /// Its name.
        name: String,
    },
    /// No model was chosen, and there is none to choose.
    NoModel,
    /// The program of the built-in engine is not installed.
    EngineMissing,
    /// The built-in engine did not start.
    EngineFailed,
    /// The processor lacks what the built-in engine needs.
    ProcessorTooOld {
        /// What it lacks, by the makers' names: `AVX2`.
        lacks: String,
    },
    /// A model needs more memory than there is.
    ModelTooLarge {
        /// What it needs, in bytes.
        needed: u64,
        /// What there is, in bytes.
        available: u64,
    },
    /// llama.cpp cannot load the model: an unknown architecture, say.
    ModelNotLoaded,
    /// The model's chat template refuses the conversation, or fails.
    TemplateFailed,
    /// There was nothing to send.
    NothingToSend,
    /// A connection of this name exists already, or it is the name of the built-in engine.
    NameTaken {
        /// The name.
        name: String,
    },
    /// A rule of an answer is not about what was asked.
    RuleMismatch,
    /// An answer is not what the form asks for.
    FormMismatch,
    /// The key cannot be had from where the settings say (keyring, environment, command).
    KeyUnavailable,
    /// The tool rounds of one request reached their limit.
    RoundLimit {
        /// How many rounds were run.
        rounds: u32,
    },
    /// The model went round in circles, and was ended.
    Repetition {
        /// How many bytes of the reply's text were new; none where it was not the text.
        #[serde(default)]
        fresh: Option<usize>,
    },
    /// The model made the same calls again and again, each with the same result.
    RepeatedCalls {
        /// The tool.
        tool: String,
        /// How often.
        times: u32,
    },
    /// What must go out does not fit the model's window, even in short.
    ContextFull {
        /// The window, in tokens.
        window: u32,
    },
    /// A bug in the engine: a task of its own ended unexpectedly.
    Internal,
}

impl Kind {
    /// A short stable name, for `--json` and logs: `model_not_found`.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}
