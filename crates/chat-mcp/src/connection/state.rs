//! Defines how a server is, and why it does not run.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::watch;

use crate::client::{Client, Fault, ToolList};
use crate::config::ExpandError;

/// How a server is at some time.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Whether it runs.
    pub state: State,
    /// Why it last failed, also while it is started again; none once it runs or was stopped.
    pub trouble: Option<StartFault>,
    /// How often it could not be started.
    pub failed_starts: u64,
    /// What speaks with it while it runs.
    pub client: Option<Client>,
    /// The challenge with which the user can sign in, if the server wants that: it does not run without, or a request
    /// came to nothing.
    pub challenge: Option<String>,
    /// Its tools, once they are known. They stay known while it does not run.
    pub tools: Option<Arc<ToolList>>,
}

/// Whether a server runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Nobody has needed it yet, or it was stopped.
    #[default]
    Stopped,
    /// It is being started.
    Starting,
    /// It runs.
    Running,
    /// It does not run.
    Failed {
        /// Why.
        why: StartFault,
        /// Whether it is started again by itself.
        is_retried: bool,
    },
}

/// Why a server does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartFault {
    /// What its references stand for is not there.
    Expand(ExpandError),
    /// It is to run in the sandbox, and this computer has none.
    NoSandbox,
    /// There is no such program.
    NoProgram(String),
    /// The sandbox hides the program: its folder must be granted.
    HiddenProgram(PathBuf),
    /// A folder that it may use, or in which it starts, cannot be used.
    Folder(PathBuf),
    /// A link in the project leads out of it, to a folder that nobody was asked about.
    LeadsOut(PathBuf),
    /// A granted folder would show too much: the home folder, or data of Natter's.
    TooWide(PathBuf),
    /// The system did not start it; its words.
    NotStarted(String),
    /// It ended by itself. Its log may say why.
    Ended,
    /// It ended or did not answer, and is a program such as `npx`, which downloads the server, without the network.
    NoNetwork,
    /// The connection did not come about, or broke.
    Client(Fault),
}

impl State {
    fn challenge(&self) -> Option<&str> {
        match self {
            Self::Failed { why: StartFault::Client(fault), .. } => fault.challenge(),
            _ => None,
        }
    }
}

impl StartFault {
    /// Whether it may be gone the next time, without anybody changing anything.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            Self::Ended | Self::NoNetwork | Self::NotStarted(_) => true,
            Self::Client(Fault::Http(fault)) => fault.is_passing(),
            Self::Client(fault) => !matches!(fault, Fault::Unauthorized(_) | Fault::Stopped),
            Self::Expand(_)
            | Self::NoSandbox
            | Self::NoProgram(_)
            | Self::HiddenProgram(_)
            | Self::Folder(_)
            | Self::LeadsOut(_)
            | Self::TooWide(_) => false,
        }
    }
}

/// Tells how a server is.
pub(super) struct Publisher {
    sender: watch::Sender<Snapshot>,
    changed: Arc<dyn Fn() + Send + Sync>,
}

impl Publisher {
    pub(super) fn new(
        sender: watch::Sender<Snapshot>,
        changed: Arc<dyn Fn() + Send + Sync>,
    ) -> Self {
        Self { sender, changed }
    }

    /// It could not be started.
    pub(super) fn failed_start(&self, state: State) {
        self.sender.send_modify(|snapshot| snapshot.failed_starts += 1);
        self.state(state);
    }

    /// It does not run.
    pub(super) fn state(&self, state: State) {
        self.sender.send_modify(|snapshot| {
            snapshot.challenge = state.challenge().map(str::to_owned);
            match &state {
                State::Failed { why, .. } => snapshot.trouble = Some(why.clone()),
                State::Stopped => snapshot.trouble = None,
                State::Starting | State::Running => {}
            }
            snapshot.state = state;
            snapshot.client = None;
        });
        (self.changed)();
    }

    /// It runs on, and wants the user to sign in.
    pub(super) fn challenged(&self, challenge: Option<String>) {
        self.sender.send_modify(|snapshot| snapshot.challenge = challenge);
        (self.changed)();
    }

    /// It runs, and has these tools.
    pub(super) fn running(&self, client: &Client, tools: ToolList) {
        self.sender.send_modify(|snapshot| {
            snapshot.state = State::Running;
            snapshot.trouble = None;
            snapshot.client = Some(client.clone());
            snapshot.tools = Some(Arc::new(tools));
        });
        (self.changed)();
    }
}
