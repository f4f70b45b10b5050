//! Advises on an error: which buttons make sense, the best one first.

use chat_core::error::{Error, Feature, Kind};
use gettextrs::gettext;

/// What a person can do, the most promising first. Empty where there is nothing to press.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    /// The actions; the first may be the suggested one.
    pub actions: Vec<Action>,
}

/// Something that a person can do about an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send the same request again.
    Retry,
    /// Let the model go on where it was cut off. Makes sense only where something had arrived.
    Continue,
    /// Open the settings of the connection that the error names.
    ConnectionSettings,
    /// Open the list of connections.
    Connections,
    /// Choose another model.
    ChooseModel,
    /// Choose another agent.
    ChooseAgent,
    /// Try again with a window of this many tokens.
    LargerWindow(u32),
    /// Try again without saying anything about thinking.
    ThinkingAsModel,
    /// Begin a new chat.
    NewChat,
    /// Open the page to sign in at.
    SignIn(String),
}

impl Action {
    /// The words for its button.
    pub fn label(&self) -> String {
        match self {
            Self::Retry => gettext("Retry"),
            Self::Continue => gettext("Continue"),
            Self::ConnectionSettings => gettext("Connection Settings"),
            Self::Connections => gettext("Connections"),
            Self::ChooseModel => gettext("Choose Another Model"),
            Self::ChooseAgent => gettext("Choose Another Agent"),
            Self::LargerWindow(_) => gettext("Use a Larger Context Window"),
            Self::ThinkingAsModel => gettext("Use Default Thinking"),
            Self::NewChat => gettext("New Chat"),
            Self::SignIn(_) => gettext("Sign In"),
        }
    }
}

/// What makes sense after this error.
pub fn advice(error: &Error) -> Advice {
    use Action::{
        ChooseAgent, ChooseModel, ConnectionSettings, Connections, Continue, NewChat, Retry,
        SignIn, ThinkingAsModel,
    };
    let actions = match &error.kind {
        Kind::Unreachable | Kind::ConnectTimeout | Kind::Tls => vec![Retry, ConnectionSettings],
        Kind::Unauthorized { signin_url: Some(url), .. } if is_web(url) => {
            vec![SignIn(url.clone()), Retry, ConnectionSettings]
        }
        Kind::UnknownHost { .. }
        | Kind::WrongUrl
        | Kind::InvalidUrl
        | Kind::InvalidProxy
        | Kind::InvalidHeader { .. }
        | Kind::CertificateFile { .. }
        | Kind::KeyUnavailable
        | Kind::Unauthorized { .. } => vec![ConnectionSettings, Retry],
        Kind::Forbidden | Kind::NoCredit => vec![ChooseModel, ConnectionSettings, Retry],
        Kind::ModelNotFound { .. }
        | Kind::BadRequest
        | Kind::ContentFiltered
        | Kind::EngineMissing
        | Kind::ProcessorTooOld { .. }
        | Kind::ModelTooLarge { .. }
        | Kind::ModelNotLoaded
        | Kind::TemplateFailed => vec![ChooseModel, Retry],
        Kind::InputTooLong { window, largest } => match larger_window(*window, *largest) {
            Some(action) => vec![action, NewChat],
            None => vec![NewChat, ChooseModel],
        },
        Kind::Unsupported { feature: Feature::Tools } => vec![ChooseModel, ChooseAgent],
        Kind::Unsupported { feature: Feature::Thinking } => vec![ThinkingAsModel, ChooseModel],
        Kind::Unsupported { .. } | Kind::ModelFile { .. } | Kind::ModelFileMissing { .. } => {
            vec![ChooseModel]
        }
        Kind::Busy
        | Kind::ProjectMissing { .. }
        | Kind::ProjectRefused { .. }
        | Kind::ReviewFailed
        | Kind::EngineFailed
        | Kind::RateLimited { .. }
        | Kind::EmptyReply
        | Kind::DiskFull
        | Kind::ReadOnly { .. }
        | Kind::Storage
        | Kind::SessionInUse
        | Kind::DatabaseInUse
        | Kind::FileNotFound { .. }
        | Kind::ModelStorage
        | Kind::HubUnreachable
        | Kind::HubFailed
        | Kind::HubTokenRefused
        | Kind::DiskTooSmall { .. }
        | Kind::DownloadInterrupted
        | Kind::DownloadDiffers { .. }
        | Kind::DownloadElsewhere { .. } => vec![Retry],
        Kind::ServerFailed
        | Kind::InvalidResponse
        | Kind::LineTooLong
        | Kind::Cut
        | Kind::Stalled
        | Kind::Internal => vec![Retry, Continue],
        Kind::Repetition { .. } | Kind::RepeatedCalls { .. } => vec![Continue, ChooseModel],
        Kind::ContextFull { .. } => vec![NewChat, ChooseModel],
        Kind::RoundLimit { .. } | Kind::AgentBudget { .. } => vec![Continue],
        Kind::AgentMissing { .. } => vec![ChooseAgent],
        Kind::ConnectionMissing { .. } | Kind::NoModel => vec![ChooseModel, Connections],
        Kind::DatabaseDamaged { .. }
        | Kind::DatabaseRepaired { .. }
        | Kind::MessageDamaged
        | Kind::DatabaseNewer { .. }
        | Kind::ConfigInvalid { .. }
        | Kind::ConfigLocked { .. }
        | Kind::Attachment { .. }
        | Kind::ConfigUnknown { .. }
        | Kind::SessionNotFound { .. }
        | Kind::NothingToSend
        | Kind::RuleMismatch
        | Kind::FormMismatch
        | Kind::OutsideParent { .. }
        | Kind::Worktree { .. }
        | Kind::NoReview { .. }
        | Kind::NothingChanged
        | Kind::ImportFile { .. }
        | Kind::ImportChat { .. }
        | Kind::SessionAtWork
        | Kind::AgentAtWork { .. }
        | Kind::SkillUnreadable { .. }
        | Kind::PageNotFetched { .. }
        | Kind::ServerContext { .. }
        | Kind::NameTaken { .. }
        | Kind::RepositoryNotFound { .. }
        | Kind::RepositoryClosed { .. }
        | Kind::RepositoryFileNotFound { .. } => Vec::new(),
    };
    Advice { actions }
}

/// A server names the page to sign in at: only a web page may be opened for it.
fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// Twice the window that was too small, at least 16,384 tokens, at most what the model has.
fn larger_window(window: Option<u32>, largest: Option<u32>) -> Option<Action> {
    const SECOND_WINDOW: u32 = 16_384;
    let window = window?;
    let wanted = window.saturating_mul(2).max(SECOND_WINDOW);
    let next = largest.map_or(wanted, |largest| largest.min(wanted));
    (next > window).then_some(Action::LargerWindow(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(kind: Kind) -> Option<Action> {
        advice(&Error::new(kind)).actions.into_iter().next()
    }

    #[test]
    fn a_larger_window_is_offered_only_where_there_is_one() {
        let kind = |window, largest| Kind::InputTooLong { window, largest };
        assert_eq!(first(kind(Some(8192), Some(40_960))), Some(Action::LargerWindow(16_384)));
        assert_eq!(first(kind(Some(32_768), Some(40_960))), Some(Action::LargerWindow(40_960)));
        assert_eq!(first(kind(Some(40_960), Some(40_960))), Some(Action::NewChat));
        assert_eq!(first(kind(Some(32_768), None)), Some(Action::LargerWindow(65_536)));
        assert_eq!(first(kind(None, None)), Some(Action::NewChat));
    }

    #[test]
    fn only_a_web_page_is_offered_to_sign_in_at() {
        let kind =
            |url: &str| Kind::Unauthorized { signin_url: Some(url.to_owned()), keyless: true };
        let page = "https://ollama.com/connect";
        assert_eq!(first(kind(page)), Some(Action::SignIn(page.to_owned())));
        assert_eq!(first(kind("file:///etc/passwd")), Some(Action::ConnectionSettings));
    }
}
