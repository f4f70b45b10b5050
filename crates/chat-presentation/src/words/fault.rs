//! Words each kind of error in one plain sentence: what happened, and what to do about it.

mod abilities;
mod import;
mod repair;

use std::path::Path;

use chat_core::error::{BudgetLimit, Error, Kind, NoReview};
use chat_core::models::CONNECTION;
use gettextrs::{gettext, ngettext};

use super::model::is_engine_name;
use super::{attachment, fill, grouped, page, seconds, server_content, worktree};
use abilities::{too_long, unsupported};
use repair::repaired;

/// Says what happened and what to do, in the language of the person.
pub fn sentence(error: &Error) -> String {
    let connection = error.connection.as_deref();
    match &error.kind {
        Kind::Unreachable => on(
            connection,
            &gettext("Couldn’t connect to “{connection}”. Make sure the server is running."),
            &gettext("Couldn’t connect to this address. Make sure the server is running."),
        ),
        Kind::UnknownHost { host } => on_with(
            connection,
            ("host", host),
            &gettext(
                "Couldn’t find the server “{host}” of “{connection}”. Check the address and your network.",
            ),
            &gettext("Couldn’t find the server “{host}”. Check the address and your network."),
        ),
        Kind::ContentFiltered => on(
            connection,
            &gettext(
                "The content filter of “{connection}” blocked this. Rephrase your message, or choose another model.",
            ),
            &gettext(
                "The server’s content filter blocked this. Rephrase your message, or choose another model.",
            ),
        ),
        Kind::ConnectTimeout => on(
            connection,
            &gettext("“{connection}” didn’t respond in time. Check its address and your network."),
            &gettext("The server didn’t respond in time. Check its address and your network."),
        ),
        Kind::Tls => on(
            connection,
            &gettext(
                "Couldn’t make a secure connection to “{connection}”. Check its address and certificate.",
            ),
            &gettext("Couldn’t make a secure connection. Check the address and the certificate."),
        ),
        Kind::WrongUrl => on(
            connection,
            &gettext("The server at “{connection}” isn’t a model server. Check its address."),
            &gettext("The server at this address isn’t a model server. Check the address."),
        ),
        Kind::InvalidUrl => on(
            connection,
            &gettext(
                "The address of “{connection}” isn’t valid. It should look like http://127.0.0.1:11434.",
            ),
            &gettext("This address isn’t valid. It should look like http://127.0.0.1:11434."),
        ),
        Kind::InvalidProxy => on(
            connection,
            &gettext(
                "The proxy of “{connection}” isn’t valid. It should look like http://proxy:3128 or socks5://127.0.0.1:1080, or be none.",
            ),
            &gettext(
                "This proxy isn’t valid. It should look like http://proxy:3128 or socks5://127.0.0.1:1080, or be none.",
            ),
        ),
        Kind::InvalidHeader { name } => fill(
            &gettext("The header “{name}” isn’t valid. Check its name and its value."),
            &[("name", name)],
        ),
        Kind::CertificateFile { path } => fill(
            &gettext("“{path}” has no certificates that can be read. Choose a PEM file."),
            &[("path", &path.display().to_string())],
        ),
        Kind::Attachment { name, fault } => attachment::sentence(name, *fault),
        Kind::Unauthorized { signin_url: Some(_), .. } => on(
            connection,
            &gettext("“{connection}” requires you to sign in. Sign in, then try again."),
            &gettext("The server requires you to sign in. Sign in, then try again."),
        ),
        Kind::Unauthorized { signin_url: None, keyless: true } => on(
            connection,
            &gettext("“{connection}” needs a key. Add one to this connection, then try again."),
            &gettext("The server needs a key. Add one, then try again."),
        ),
        Kind::Unauthorized { signin_url: None, keyless: false } => on(
            connection,
            &gettext("“{connection}” refused the key. Check the key of this connection."),
            &gettext("The server refused the key. Check it, then try again."),
        ),
        Kind::Forbidden => on(
            connection,
            &gettext(
                "“{connection}” doesn’t allow this with your key. Choose another model or key.",
            ),
            &gettext("The server doesn’t allow this with your key. Choose another model or key."),
        ),
        Kind::ModelNotFound { model } => on_with(
            connection,
            // Its id and not what people read of it: that is what can be typed.
            ("model", model),
            &gettext("“{connection}” doesn’t have the model “{model}”. Choose another one."),
            &gettext("Couldn’t find the model “{model}”. Choose another one."),
        ),
        Kind::InputTooLong { window, largest } => too_long(*window, *largest),
        Kind::Unsupported { feature } => unsupported(*feature),
        Kind::BadRequest => on(
            connection,
            &gettext("“{connection}” rejected the request. See the details, or try another model."),
            &gettext("The server rejected the request. See the details, or try another model."),
        ),
        Kind::Busy => on(
            connection,
            &gettext("“{connection}” is busy. Try again in a moment."),
            &gettext("The server is busy. Try again in a moment."),
        ),
        Kind::RateLimited { retry_after: Some(wait) } => on_with(
            connection,
            ("time", &seconds(*wait)),
            &gettext("“{connection}” received too many requests. Try again in {time}."),
            &gettext("The server received too many requests. Try again in {time}."),
        ),
        Kind::RateLimited { retry_after: None } => on(
            connection,
            &gettext("“{connection}” received too many requests. Wait a while, then try again."),
            &gettext("The server received too many requests. Wait a while, then try again."),
        ),
        Kind::NoCredit => on(
            connection,
            &gettext(
                "Your account at “{connection}” is out of credit. Add credit there, or choose another model.",
            ),
            &gettext(
                "Your account is out of credit. Add credit with the provider, or choose another model.",
            ),
        ),
        Kind::ServerFailed => on(
            connection,
            &gettext("“{connection}” had an internal error. Try again, or check the server’s log."),
            &gettext("The server had an internal error. Try again, or check the server’s log."),
        ),
        Kind::InvalidResponse => on(
            connection,
            &gettext(
                "“{connection}” sent a response that Natter can’t read. Try again, or check its address and protocol.",
            ),
            &gettext(
                "The server sent a response that Natter can’t read. Try again, or check its address and protocol.",
            ),
        ),
        Kind::LineTooLong => on(
            connection,
            &gettext(
                "“{connection}” sent a line that was too long, so the reply was stopped. Try again.",
            ),
            &gettext(
                "The server sent a line that was too long, so the reply was stopped. Try again.",
            ),
        ),
        Kind::Cut if connection == Some(CONNECTION) => gettext(
            "The engine on this computer stopped before the reply was complete. Try again to restart it.",
        ),
        Kind::Cut => on(
            connection,
            &gettext(
                "The connection to “{connection}” was lost before the reply was complete. Try again.",
            ),
            &gettext("The connection was lost before the reply was complete. Try again."),
        ),
        Kind::Stalled => on(
            connection,
            &gettext("“{connection}” stopped responding in the middle of the reply. Try again."),
            &gettext("The server stopped responding in the middle of the reply. Try again."),
        ),
        Kind::EmptyReply => gettext("The reply was empty. Try again, or rephrase your message."),
        Kind::DiskFull => gettext(
            "The disk is full, so this couldn’t be saved. Free up some space, then try again.",
        ),
        Kind::ReadOnly { path } => in_file(
            path,
            &gettext("Couldn’t write to “{path}”. Check its permissions, then try again."),
        ),
        Kind::DatabaseDamaged { kept_as } => in_file(
            kept_as,
            &gettext(
                "Your stored chats were damaged. They are kept as “{path}”, and Natter started with an empty list.",
            ),
        ),
        Kind::DatabaseRepaired { kept_as, missing, from_backup } => {
            repaired(kept_as, missing, *from_backup)
        }
        Kind::DatabaseInUse => gettext(
            "Another Natter window or terminal is using the chats. Close it, then try again.",
        ),
        Kind::MessageDamaged => gettext(
            "A message is missing here because part of the disk is damaged. A backup in Preferences may still have it.",
        ),
        Kind::DatabaseNewer { .. } => gettext(
            "Your chats were saved by a newer version of Natter and haven’t been changed. Update Natter to open them.",
        ),
        Kind::Storage => gettext("Couldn’t read or save the chats. Try again, or see the details."),
        Kind::ConfigInvalid { path } => in_file(
            path,
            &gettext(
                "Couldn’t read the settings in “{path}”, so Natter is using the defaults. Correct the file. Natter won’t overwrite it.",
            ),
        ),
        Kind::ConfigUnknown { path } => in_file(
            path,
            &gettext(
                "Some settings in “{path}” have no effect, so Natter is using their defaults. Correct the file.",
            ),
        ),
        Kind::ConfigLocked { path } => in_file(
            path,
            &gettext(
                "This wasn’t saved because the settings in “{path}” can’t be read. Correct the file first.",
            ),
        ),
        Kind::EngineMissing
        | Kind::EngineFailed
        | Kind::ProcessorTooOld { .. }
        | Kind::ModelTooLarge { .. }
        | Kind::ModelNotLoaded
        | Kind::TemplateFailed
        | Kind::ModelFile { .. }
        | Kind::FileNotFound { .. }
        | Kind::ModelFileMissing { .. }
        | Kind::ModelStorage
        | Kind::HubUnreachable
        | Kind::HubFailed
        | Kind::HubTokenRefused
        | Kind::RepositoryNotFound { .. }
        | Kind::RepositoryClosed { .. }
        | Kind::RepositoryFileNotFound { .. }
        | Kind::DiskTooSmall { .. }
        | Kind::DownloadInterrupted
        | Kind::DownloadDiffers { .. }
        | Kind::DownloadElsewhere { .. } => super::model::sentence(&error.kind),
        Kind::SessionNotFound { fid } => fill(
            &gettext(
                "Couldn’t find the chat “{fid}”. It may have been deleted. Check the list of chats.",
            ),
            &[("fid", fid)],
        ),
        Kind::SessionInUse => gettext(
            "Another Natter window or terminal is writing in this chat. Wait until it’s done, then try again.",
        ),
        Kind::SessionAtWork => gettext(
            "The model is still replying in this chat. Wait until it’s done or stop it, then try again.",
        ),
        Kind::AgentAtWork { name } => fill(
            &gettext(
                "The agent “{name}” is still working here. Wait until it’s done or stop it, then try again.",
            ),
            &[("name", name)],
        ),
        Kind::AgentMissing { name, why } => super::no_agent(name, why),
        Kind::SkillUnreadable { name } => fill(
            &gettext("Couldn’t read the skill “{name}”, or it has changed. Try again."),
            &[("name", name)],
        ),
        Kind::AgentBudget { limit } => match limit {
            BudgetLimit::Tokens(tokens) => fill(
                &gettext(
                    "The next request could take the agents over their limit of {tokens} tokens. Send a message to let them go on, or raise “Agent token limit” in Preferences.",
                ),
                &[("tokens", &grouped(*tokens))],
            ),
            BudgetLimit::Turns(turns) => fill(
                &ngettext(
                    "The agents have reached their limit of {turns} turn (a task or a message, with everything an agent does for it). Send a message to let them go on, or raise “Agent turn limit” in Preferences.",
                    "The agents have reached their limit of {turns} turns (a task or a message, with everything an agent does for it). Send a message to let them go on, or raise “Agent turn limit” in Preferences.",
                    *turns,
                ),
                &[("turns", &turns.to_string())],
            ),
            BudgetLimit::Minutes(minutes) => fill(
                &ngettext(
                    "The agents have worked for {minutes} minute, which is their limit. Send a message to let them go on, or raise “Agent time limit” in Preferences.",
                    "The agents have worked for {minutes} minutes, which is their limit. Send a message to let them go on, or raise “Agent time limit” in Preferences.",
                    *minutes,
                ),
                &[("minutes", &minutes.to_string())],
            ),
        },
        Kind::OutsideParent { path } => in_file(
            path,
            &gettext(
                "“{path}” is not a folder in the one that this chat works in. Choose another one.",
            ),
        ),
        Kind::Worktree { fault } => worktree::fault(fault),
        Kind::ProjectMissing { path } => in_file(
            path,
            &gettext(
                "Couldn’t open the folder “{path}”. Restore it or choose another one, then try again.",
            ),
        ),
        Kind::ProjectRefused { path } => in_file(
            path,
            &gettext(
                "Models can’t work in the folder “{path}” because it contains Natter’s own files. Choose another one.",
            ),
        ),
        Kind::NoReview { why: NoReview::NoProject } => {
            gettext("This chat has no project, so there are no changes to review.")
        }
        Kind::NoReview { why: NoReview::Home } => gettext(
            "Changes in your home folder can’t be reviewed. Choose a folder inside it instead.",
        ),
        Kind::NoReview { why: NoReview::NoGit } => {
            gettext("Natter needs Git to keep changes for review. Install Git, then try again.")
        }
        Kind::ReviewFailed => {
            gettext("Couldn’t read or undo the changes, so nothing was changed. Try again.")
        }
        Kind::NothingChanged => {
            gettext("No files have changed since then, so there is nothing to undo.")
        }
        Kind::ImportFile { path, fault } => in_file(path, &import::file(*fault)),
        Kind::ImportChat { fault } => import::chat(*fault),
        Kind::PageNotFetched { url, why } => page::fault(url, why),
        Kind::ServerContext { failure } => server_content::fault(failure),
        Kind::ConnectionMissing { name } => fill(
            &gettext(
                "There is no connection named “{name}”. Choose another model, or add the connection again.",
            ),
            &[("name", name)],
        ),
        Kind::NoModel => gettext("There are no models yet. Download one, or add a connection."),
        Kind::FormMismatch => {
            gettext("The answers don’t fit the form. Check them and send it again.")
        }
        Kind::RuleMismatch => gettext("This rule doesn’t cover what was asked."),
        Kind::NothingToSend => gettext("There is nothing to send. Write a message first."),
        Kind::NameTaken { name } if is_engine_name(name) => fill(
            &gettext("“{name}” is the name of Natter’s built-in engine. Choose another name."),
            &[("name", name)],
        ),
        Kind::NameTaken { name } => fill(
            &gettext("A connection named “{name}” already exists. Choose another name."),
            &[("name", name)],
        ),
        Kind::KeyUnavailable => on(
            connection,
            &gettext("Couldn’t find the key for “{connection}”. Enter it again."),
            &gettext("Couldn’t find the key. Enter it again."),
        ),
        Kind::RoundLimit { rounds } => fill(
            &ngettext(
                "The model reached its limit of {rounds} round of tool calls. Send a message to let it continue.",
                "The model reached its limit of {rounds} rounds of tool calls. Send a message to let it continue.",
                *rounds,
            ),
            &[("rounds", &rounds.to_string())],
        ),
        Kind::Repetition { .. } => gettext(
            "The model started repeating itself, so the reply was stopped. You can continue from here.",
        ),
        Kind::RepeatedCalls { tool, times } => fill(
            &gettext(
                "The model called “{tool}” {times} times in the same way with the same result, so it was stopped. Tell it what to do differently.",
            ),
            &[("tool", tool), ("times", &times.to_string())],
        ),
        Kind::ContextFull { window } => fill(
            &gettext(
                "This doesn’t fit in the model’s context window of {window} tokens, even with the earlier messages compacted. Send less, or choose a model with a larger context window.",
            ),
            &[("window", &window.to_string())],
        ),
        Kind::Internal => gettext(
            "Something went wrong in Natter. Everything received so far is kept. Try again.",
        ),
    }
}

/// The first sentence with the name in it, or the second where there is no name.
fn on(connection: Option<&str>, named: &str, unnamed: &str) -> String {
    match connection {
        Some(name) => fill(named, &[("connection", name)]),
        None => unnamed.to_owned(),
    }
}

/// The same with another value in both.
fn on_with(connection: Option<&str>, value: (&str, &str), named: &str, unnamed: &str) -> String {
    match connection {
        Some(name) => fill(named, &[("connection", name), value]),
        None => fill(unnamed, &[value]),
    }
}

fn in_file(path: &Path, sentence: &str) -> String {
    fill(sentence, &[("path", &path.display().to_string())])
}
