//! Words each kind of error in one English sentence for models. They get facts only: the advice for
//! people is in the front ends.

use super::{BudgetLimit, Error, Feature, FileFault, Kind, NoReview, PageFault, WorktreeFault};

impl Error {
    /// What happened, in English, as the models that tools report to read it: a sentence, followed by
    /// the server's or the system's own words where there are any.
    pub fn for_model(&self) -> String {
        let server = match &self.connection {
            Some(connection) => format!("The server “{connection}”"),
            None => "The server".to_owned(),
        };
        let sentence = sentence(&self.kind, &server);
        match self.detail.as_deref().map(str::trim).filter(|detail| !detail.is_empty()) {
            Some(detail) => format!("{sentence} Details: {detail}"),
            None => sentence,
        }
    }
}

fn sentence(kind: &Kind, server: &str) -> String {
    let fixed = match kind {
        Kind::Unreachable => return format!("{server} could not be reached."),
        Kind::UnknownHost { host } => return format!("The server “{host}” could not be found."),
        Kind::ConnectTimeout => return format!("{server} did not respond in time."),
        Kind::Tls => return format!("{server} could not be reached over a secure connection."),
        Kind::WrongUrl => return format!("{server} is not a model server."),
        Kind::InvalidUrl => "The address of the server is not valid.",
        Kind::InvalidProxy => "The proxy of the server’s connection is not valid.",
        Kind::InvalidHeader { name } => {
            return format!("The header “{name}” of the server’s connection is not valid.");
        }
        Kind::CertificateFile { path } => {
            let path = path.display();
            return format!("The certificates for the server in “{path}” could not be read.");
        }
        Kind::Unauthorized { signin_url: Some(_), .. } => {
            return format!("{server} requires the user to sign in.");
        }
        Kind::Unauthorized { keyless: true, .. } => return format!("{server} needs a key."),
        Kind::Unauthorized { .. } => return format!("{server} refused the key."),
        Kind::Forbidden => return format!("{server} does not allow this with the user’s key."),
        Kind::ModelNotFound { model } => return format!("{server} has no model “{model}”."),
        Kind::InputTooLong { window, largest } => {
            return match largest.or(*window) {
                Some(tokens) => format!(
                    "The conversation is too long for the model’s context window of {tokens} tokens."
                ),
                None => "The conversation is too long for the model.".to_owned(),
            };
        }
        Kind::Unsupported { feature } => match feature {
            Feature::Chat => "The model cannot chat.",
            Feature::Tools => "The model cannot use tools.",
            Feature::Thinking => "The model does not support thinking.",
            Feature::Images => "The model cannot read images.",
            Feature::Models => "The models of this server cannot be managed.",
        },
        Kind::BadRequest => return format!("{server} rejected the request."),
        Kind::ContentFiltered => return format!("{server} blocked this with its content filter."),
        Kind::Busy => return format!("{server} is too busy."),
        Kind::RateLimited { retry_after } => {
            return match retry_after {
                Some(wait) => {
                    let wait = count(wait.as_secs().max(1), "second");
                    format!("{server} received too many requests. It accepts the next in {wait}.")
                }
                None => format!("{server} received too many requests."),
            };
        }
        Kind::NoCredit => return format!("{server} has no credit left for the user’s account."),
        Kind::ServerFailed => return format!("{server} had an internal error."),
        Kind::InvalidResponse => {
            return format!("{server} sent a response that could not be read.");
        }
        Kind::LineTooLong => return format!("{server} sent a line that was too long."),
        Kind::Cut => "The connection was lost before the reply was complete.",
        Kind::Stalled => return format!("{server} stopped responding in the middle of the reply."),
        Kind::EmptyReply => "The reply was empty.",
        Kind::RoundLimit { rounds } => {
            let rounds = count(u64::from(*rounds), "round");
            return format!("The limit of {rounds} of tool calls was reached.");
        }
        Kind::Repetition { .. } => "The model started repeating itself, so the reply was stopped.",
        Kind::RepeatedCalls { tool, times } => {
            let times = count(u64::from(*times), "time");
            return format!(
                "The model called “{tool}” {times} in the same way with the same result, so it was stopped."
            );
        }
        Kind::ContextFull { window } => {
            return format!(
                "The conversation does not fit in the model’s context window of {window} tokens, even compacted."
            );
        }
        Kind::AgentBudget { limit } => return budget(*limit),
        Kind::PageNotFetched { url, why } => return page(url, why),
        Kind::ServerContext { failure } => return failure.for_model(),
        Kind::Internal => "An internal error occurred.",
        Kind::DiskFull => "The disk is full.",
        Kind::ReadOnly { path } => return format!("“{}” cannot be written to.", path.display()),
        Kind::DatabaseDamaged { .. } | Kind::DatabaseRepaired { .. } => {
            "The stored chats were damaged."
        }
        Kind::DatabaseInUse => "Another program is using the stored chats.",
        Kind::MessageDamaged => "A message is missing because part of the disk is damaged.",
        Kind::DatabaseNewer { .. } => "The chats were stored by a newer version of the program.",
        Kind::Storage => "The chats could not be read or stored.",
        Kind::ConfigInvalid { path } | Kind::ConfigLocked { path } => {
            return format!("The settings in “{}” cannot be read.", path.display());
        }
        Kind::ConfigUnknown { path } => {
            return format!("Some settings in “{}” have no effect.", path.display());
        }
        Kind::SessionNotFound { fid } => return format!("There is no chat “{fid}”."),
        Kind::SessionInUse => "Another program is writing in this chat.",
        Kind::AgentAtWork { name } => return format!("The agent “{name}” is still working."),
        Kind::SessionAtWork => "A reply is still being written in this chat.",
        Kind::AgentMissing { name, why } => return why.for_model(name),
        Kind::OutsideParent { path } => {
            return format!("“{}” is not a folder in the project.", path.display());
        }
        Kind::Worktree { fault: WorktreeFault::Removed { merged_into: Some(branch), .. } } => {
            return format!("Its worktree was merged into {branch} and removed.");
        }
        Kind::Worktree { fault: WorktreeFault::Removed { merged_into: None, .. } } => {
            "Its worktree was removed."
        }
        Kind::Worktree { .. } => "That was not possible with the worktree.",
        Kind::SkillUnreadable { name } => {
            return format!("The skill “{name}” could not be read.");
        }
        Kind::ProjectMissing { path } => {
            return format!("The project folder “{}” cannot be opened.", path.display());
        }
        Kind::ProjectRefused { path } => {
            return format!(
                "No tool may work in “{}”, because it contains the program’s own files.",
                path.display()
            );
        }
        Kind::NoReview { why } => match why {
            NoReview::NoProject => "The chat has no project, so there are no changes to review.",
            NoReview::Home => "Changes in the home folder cannot be reviewed.",
            NoReview::NoGit => "Changes cannot be reviewed, because Git is not installed.",
        },
        Kind::ReviewFailed => "The changes could not be read or undone.",
        Kind::ImportFile { path, .. } => {
            return format!("The chats in “{}” could not be read.", path.display());
        }
        Kind::ImportChat { .. } => "The chat could not be imported.",
        Kind::NothingChanged => "No files have changed since then.",
        Kind::ConnectionMissing { name } => return format!("There is no connection “{name}”."),
        Kind::NoModel => "There is no model to use.",
        Kind::NothingToSend => "There is nothing to send.",
        Kind::NameTaken { name } => return format!("The name “{name}” is already in use."),
        Kind::FormMismatch => "The answer does not fit the form.",
        Kind::RuleMismatch => "The rule does not cover what was asked.",
        Kind::KeyUnavailable => "The key for the server could not be found.",
        Kind::EngineMissing => "The built-in engine is not installed.",
        Kind::EngineFailed => "The built-in engine did not start.",
        Kind::ProcessorTooOld { lacks } => {
            return format!("The processor lacks {lacks}, which the built-in engine needs.");
        }
        Kind::ModelTooLarge { needed, available } => {
            return format!(
                "The model needs {needed} bytes of memory, and only {available} are available."
            );
        }
        Kind::ModelNotLoaded => "The built-in engine cannot load the model.",
        Kind::TemplateFailed => "The model’s chat template failed for this conversation.",
        Kind::Attachment { name, .. } => {
            return format!("The file “{name}” could not be attached.");
        }
        Kind::ModelFile { path, fault } => {
            return format!("The file “{}” {}.", path.display(), file_fault(*fault));
        }
        Kind::FileNotFound { path } => return format!("There is no file “{}”.", path.display()),
        Kind::ModelFileMissing { path } => {
            return format!("The model’s file “{}” no longer exists.", path.display());
        }
        Kind::ModelStorage => "The folder of models could not be read or written.",
        Kind::HubUnreachable => "The download site could not be reached.",
        Kind::HubFailed => "The download site had an error.",
        Kind::HubTokenRefused => "The download site refused the token.",
        Kind::RepositoryNotFound { repository } => {
            return format!("There is no repository “{repository}”.");
        }
        Kind::RepositoryClosed { repository } => {
            return format!("The terms of the repository “{repository}” were not accepted.");
        }
        Kind::RepositoryFileNotFound { repository, file } => {
            return format!("The repository “{repository}” has no file “{file}”.");
        }
        Kind::DiskTooSmall { needed, free } => {
            return format!(
                "The download needs {needed} bytes, and only {free} are free on the disk."
            );
        }
        Kind::DownloadInterrupted => "The download was interrupted.",
        Kind::DownloadDiffers { file } => {
            return format!("The download of “{file}” is not that file.");
        }
        Kind::DownloadElsewhere { file } => {
            return format!("Another program is downloading “{file}”.");
        }
    };
    fixed.to_owned()
}

fn file_fault(fault: FileFault) -> &'static str {
    match fault {
        FileFault::NotGguf => "is not a GGUF file",
        FileFault::Truncated { .. } => "is incomplete",
        FileFault::HeaderTooLarge => "has a header that is too large",
        FileFault::Corrupt => "is damaged",
        FileFault::Version => "has a version of GGUF that cannot be read",
        FileFault::Alone => "is one of several files whose others are missing",
        FileFault::Name => "has a name that is not valid Unicode",
        FileFault::NoModel => "belongs to a model, but is not one itself",
    }
}

fn budget(limit: BudgetLimit) -> String {
    match limit {
        BudgetLimit::Tokens(tokens) => {
            format!("The agents have used up their limit of {}.", count(tokens, "token"))
        }
        BudgetLimit::Turns(turns) => {
            format!("The agents have used up their limit of {}.", count(u64::from(turns), "turn"))
        }
        BudgetLimit::Minutes(minutes) => {
            let minutes = count(u64::from(minutes), "minute");
            format!("The agents have worked for {minutes}, which is their limit.")
        }
    }
}

fn page(url: &str, why: &PageFault) -> String {
    match why {
        PageFault::Address => format!("“{url}” is not a web address."),
        PageFault::Unreachable { host } => format!("{host} could not be reached."),
        PageFault::TooLate { host, seconds } => {
            format!("{host} did not respond within {}.", count(*seconds, "second"))
        }
        PageFault::Refused { host, status } => {
            format!("{host} returned an error for this page: {status}.")
        }
        PageFault::Elsewhere => format!("The page that “{url}” leads to cannot be fetched."),
        PageFault::NoText => format!("The page at “{url}” is not text."),
    }
}

/// A number of things: `1 turn`, `2 turns`.
fn count(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn numbers_servers_and_details_are_in_the_sentence() {
        let limit = |limit| Error::from(Kind::AgentBudget { limit }).for_model();
        assert_eq!(limit(BudgetLimit::Turns(1)), "The agents have used up their limit of 1 turn.");
        assert_eq!(
            limit(BudgetLimit::Minutes(30)),
            "The agents have worked for 30 minutes, which is their limit."
        );
        let wait = Kind::RateLimited { retry_after: Some(Duration::from_millis(200)) };
        assert_eq!(
            Error::from(wait).on("Workshop").for_model(),
            "The server “Workshop” received too many requests. It accepts the next in 1 second."
        );
        assert_eq!(
            Error::from(Kind::ServerFailed).with_detail("out of memory").for_model(),
            "The server had an internal error. Details: out of memory"
        );
    }
}
