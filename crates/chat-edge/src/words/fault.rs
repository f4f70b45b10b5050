//! Words each kind of error in one plain sentence: what happened, and what to do about it.

use std::path::Path;

use chat_core::error::{Error, Feature, Kind, MissingMessages, NoReview};
use chat_core::models::CONNECTION;
use gettextrs::{gettext, ngettext};

use super::{fill, page, seconds};

/// Says what happened and what to do, in the language of the person.
pub fn sentence(error: &Error) -> String {
    let connection = error.connection.as_deref();
    match &error.kind {
        Kind::Unreachable => on(
            connection,
            &gettext("Nothing answers at “{connection}”. Is the server running?"),
            &gettext("Nothing answers at this address. Is the server running?"),
        ),
        Kind::UnknownHost { host } => on_with(
            connection,
            ("host", host),
            &gettext(
                "The server “{host}” of “{connection}” could not be found. Check the address and your network.",
            ),
            &gettext("The server “{host}” could not be found. Check the address and your network."),
        ),
        Kind::ContentFiltered => on(
            connection,
            &gettext(
                "The content filter of “{connection}” stopped this. Rephrase your message, or choose another model.",
            ),
            &gettext(
                "The server’s content filter stopped this. Rephrase your message, or choose another model.",
            ),
        ),
        Kind::ConnectTimeout => on(
            connection,
            &gettext("“{connection}” did not answer in time. Check its address and the network."),
            &gettext("The server did not answer in time. Check its address and the network."),
        ),
        Kind::Tls => on(
            connection,
            &gettext(
                "A safe connection to “{connection}” could not be made. Check its address and certificate.",
            ),
            &gettext("A safe connection could not be made. Check the address and the certificate."),
        ),
        Kind::WrongUrl => on(
            connection,
            &gettext(
                "Something answers at “{connection}”, but it is no model server. Check its address.",
            ),
            &gettext("Something answers there, but it is no model server. Check the address."),
        ),
        Kind::InvalidUrl => on(
            connection,
            &gettext(
                "The address of “{connection}” is not valid. It should look like http://127.0.0.1:11434.",
            ),
            &gettext("This address is not valid. It should look like http://127.0.0.1:11434."),
        ),
        Kind::Unauthorized { signin_url: Some(_), .. } => on(
            connection,
            &gettext("“{connection}” wants you to sign in first. Follow its link, then try again."),
            &gettext("The server wants you to sign in first. Follow its link, then try again."),
        ),
        Kind::Unauthorized { signin_url: None, keyless: true } => on(
            connection,
            &gettext("“{connection}” wants a key. Add one to this connection, then try again."),
            &gettext("The server wants a key. Add one, then try again."),
        ),
        Kind::Unauthorized { signin_url: None, keyless: false } => on(
            connection,
            &gettext("“{connection}” does not accept the key. Check the key of this connection."),
            &gettext("The server does not accept the key. Check it."),
        ),
        Kind::Forbidden => on(
            connection,
            &gettext(
                "“{connection}” does not allow this with your key. Choose another model or key.",
            ),
            &gettext("The server does not allow this with your key. Choose another model or key."),
        ),
        Kind::ModelNotFound { model } => on_with(
            connection,
            // Its id and not what people read of it: that is what can be typed.
            ("model", model),
            &gettext(
                "“{connection}” has no model “{model}”. Look at the models that it has and choose another.",
            ),
            &gettext(
                "There is no model “{model}”. Look at the models that there are and choose another.",
            ),
        ),
        Kind::InputTooLong { window, largest } => too_long(*window, *largest),
        Kind::Unsupported { feature } => unsupported(*feature),
        Kind::BadRequest => on(
            connection,
            &gettext(
                "“{connection}” refused the request. The details say why; another model may accept it.",
            ),
            &gettext(
                "The server refused the request. The details say why; another model may accept it.",
            ),
        ),
        Kind::Busy => on(
            connection,
            &gettext("“{connection}” has too much to do just now. Try again in a moment."),
            &gettext("The server has too much to do just now. Try again in a moment."),
        ),
        Kind::RateLimited { retry_after: Some(wait) } => on_with(
            connection,
            ("time", &seconds(*wait)),
            &gettext("“{connection}” had too many requests. Try again in {time}."),
            &gettext("The server had too many requests. Try again in {time}."),
        ),
        Kind::RateLimited { retry_after: None } => on(
            connection,
            &gettext("“{connection}” had too many requests. Wait a while, then try again."),
            &gettext("The server had too many requests. Wait a while, then try again."),
        ),
        Kind::NoCredit => on(
            connection,
            &gettext(
                "Your account at “{connection}” has no credit left. Add some there, or choose another model.",
            ),
            &gettext(
                "Your account has no credit left. Add some at the server, or choose another model.",
            ),
        ),
        Kind::ServerFailed => on(
            connection,
            &gettext(
                "“{connection}” failed while it worked on this. Try again; its own log may say more.",
            ),
            &gettext(
                "The server failed while it worked on this. Try again; its own log may say more.",
            ),
        ),
        Kind::InvalidResponse => on(
            connection,
            &gettext(
                "“{connection}” sent something that cannot be read. Try again, or check its address and kind.",
            ),
            &gettext(
                "The server sent something that cannot be read. Try again, or check its address and kind.",
            ),
        ),
        Kind::LineTooLong => on(
            connection,
            &gettext(
                "“{connection}” sent a line without an end, so the reply was stopped. Try again.",
            ),
            &gettext("The server sent a line without an end, so the reply was stopped. Try again."),
        ),
        Kind::Cut if connection == Some(CONNECTION) => gettext(
            "The engine on this computer ended before the reply was complete. Try again: it is started anew.",
        ),
        Kind::Cut => on(
            connection,
            &gettext(
                "The connection to “{connection}” broke before the reply was complete. Try again.",
            ),
            &gettext("The connection broke before the reply was complete. Try again."),
        ),
        Kind::Stalled => on(
            connection,
            &gettext("“{connection}” fell silent in the middle of the reply. Try again."),
            &gettext("The server fell silent in the middle of the reply. Try again."),
        ),
        Kind::EmptyReply => gettext("The reply was empty. Try again, or ask in other words."),
        Kind::DiskFull => {
            gettext("The disk is full, so this could not be saved. Make room, then try again.")
        }
        Kind::ReadOnly { path } => in_file(
            path,
            &gettext("“{path}” cannot be written to. Check its permissions, then try again."),
        ),
        Kind::DatabaseDamaged { kept_as } => in_file(
            kept_as,
            &gettext(
                "The stored chats were damaged. They are kept as “{path}”; Natter began a new list.",
            ),
        ),
        Kind::DatabaseRepaired { kept_as, missing, from_backup } => {
            repaired(kept_as, missing, *from_backup)
        }
        Kind::DatabaseInUse => gettext(
            "Another Natter window or terminal is using the chats. Close it, then try again.",
        ),
        Kind::MessageDamaged => gettext(
            "A message is missing here. It was on a damaged part of the disk; a backup in Preferences may still have it.",
        ),
        Kind::DatabaseNewer { .. } => gettext(
            "A newer Natter wrote the stored chats. They are untouched; update Natter to open them.",
        ),
        Kind::Storage => {
            gettext("The chats could not be read or saved. Try again; the details say more.")
        }
        Kind::ConfigInvalid { path } => in_file(
            path,
            &gettext(
                "The settings in “{path}” cannot be read, so the defaults are used. Correct the file; it is never overwritten.",
            ),
        ),
        Kind::ConfigLocked { path } => in_file(
            path,
            &gettext(
                "This was not saved, because the settings in “{path}” cannot be read. Correct the file first.",
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
                "There is no chat “{fid}”. It may have been deleted; look at the list of chats.",
            ),
            &[("fid", fid)],
        ),
        Kind::SessionInUse => gettext(
            "Another Natter is writing in this chat. Wait until it is done, then try again.",
        ),
        Kind::SessionAtWork => gettext(
            "This chat is still being answered. Wait until that is done, or stop it, then try again.",
        ),
        Kind::AgentMissing { name } => fill(
            &gettext("The agent “{name}” is not there any more. Choose another one."),
            &[("name", name)],
        ),
        Kind::ProjectMissing { path } => in_file(
            path,
            &gettext(
                "The folder “{path}” cannot be opened. Bring it back or choose another one, then try again.",
            ),
        ),
        Kind::ProjectRefused { path } => in_file(
            path,
            &gettext(
                "The folder “{path}” holds Natter’s own files, which no model may reach. Choose another one.",
            ),
        ),
        Kind::NoReview { why: NoReview::NoProject } => {
            gettext("This chat works in no folder, so that there are no changes to review.")
        }
        Kind::NoReview { why: NoReview::Home } => gettext(
            "Changes in your home folder are not kept for review. Work in a folder below it.",
        ),
        Kind::NoReview { why: NoReview::NoGit } => gettext(
            "Changes cannot be kept for review without the program git. Install it, then try again.",
        ),
        Kind::ReviewFailed => {
            gettext("The changes could not be read or taken back. Nothing was changed; try again.")
        }
        Kind::NothingChanged => {
            gettext("No file was changed since then: there is nothing to take back.")
        }
        Kind::PageNotFetched { url, why } => page::fault(url, why),
        Kind::ConnectionMissing { name } => fill(
            &gettext(
                "There is no connection “{name}”. Choose another model, or add the connection again.",
            ),
            &[("name", name)],
        ),
        Kind::NoModel => {
            gettext("There is no model to talk to yet. Choose one, or add a server that has some.")
        }
        Kind::NothingToSend => gettext("There is nothing to send. Write a message first."),
        Kind::NameTaken { name } => fill(
            &gettext("There is a connection named “{name}” already. Choose another name."),
            &[("name", name)],
        ),
        Kind::KeyUnavailable => on(
            connection,
            &gettext(
                "The key of “{connection}” could not be found. Enter it again in the settings.",
            ),
            &gettext("The key could not be found. Enter it again in the settings."),
        ),
        Kind::RoundLimit { rounds } => fill(
            &ngettext(
                "The model reached the limit of {rounds} round of tools. Send a message to let it go on.",
                "The model reached the limit of {rounds} rounds of tools. Send a message to let it go on.",
                *rounds,
            ),
            &[("rounds", &rounds.to_string())],
        ),
        Kind::Repetition { .. } => gettext(
            "The model began to repeat itself, so the reply was ended. What had arrived is kept; you can have it go on.",
        ),
        Kind::RepeatedCalls { tool, times } => fill(
            &gettext(
                "The model made the same call of “{tool}” {times} times with the same result, so it was stopped. Tell it what to do differently.",
            ),
            &[("tool", tool), ("times", &times.to_string())],
        ),
        Kind::ContextFull { window } => fill(
            &gettext(
                "This does not fit the window of the model, {window} tokens, even with the earlier conversation in short. Send less, or choose a model with a larger window.",
            ),
            &[("window", &window.to_string())],
        ),
        Kind::Internal => {
            gettext("Something went wrong inside Natter. What had arrived is kept; try again.")
        }
    }
}

/// How many chats are named one by one.
const NAMED: usize = 5;

fn repaired(kept_as: &Path, missing: &[MissingMessages], from_backup: bool) -> String {
    let path = kept_as.display().to_string();
    let fill_path = |sentence: &str| fill(sentence, &[("path", &path)]);
    if missing.is_empty() {
        return fill_path(&if from_backup {
            gettext(
                "The stored chats were damaged. They are repaired, with what was lost taken from a backup. The damaged file is kept as “{path}”.",
            )
        } else {
            gettext(
                "The stored chats were damaged. They are repaired and nothing is missing. The damaged file is kept as “{path}”.",
            )
        });
    }
    let mut chats: Vec<String> = missing
        .iter()
        .take(NAMED)
        .map(|chat| {
            fill(
                "“{title}” ({count})",
                &[("title", &chat.title), ("count", &chat.count.to_string())],
            )
        })
        .collect();
    if missing.len() > NAMED {
        chats.push("…".to_owned());
    }
    let count: u32 = missing.iter().fold(0, |all, chat| all.saturating_add(chat.count));
    let sentence = ngettext(
        "The stored chats were damaged. They are repaired, but {count} message is missing: {chats}. The damaged file is kept as “{path}”.",
        "The stored chats were damaged. They are repaired, but {count} messages are missing: {chats}. The damaged file is kept as “{path}”.",
        count,
    );
    let values = [("count", count.to_string()), ("chats", chats.join(", ")), ("path", path)];
    let values: Vec<_> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    fill(&sentence, &values)
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

fn too_long(window: Option<u32>, largest: Option<u32>) -> String {
    let window_text = window.map(|tokens| tokens.to_string()).unwrap_or_default();
    let largest_text = largest.map(|tokens| tokens.to_string()).unwrap_or_default();
    let values = [("window", window_text.as_str()), ("largest", largest_text.as_str())];
    let sentence = match (window, largest) {
        (Some(window), Some(largest)) if largest > window => gettext(
            "This chat is too long for a window of {window} tokens. Try a larger one, of up to {largest}, or begin a new chat.",
        ),
        (Some(_), None) => gettext(
            "This chat is too long for a window of {window} tokens. Try a larger one, or begin a new chat.",
        ),
        (_, Some(_)) => gettext(
            "This chat is too long for the model, which has a window of {largest} tokens. Begin a new chat, or choose another model.",
        ),
        (None, None) => gettext(
            "This chat is too long for the model. Begin a new chat, or choose a model with a larger window.",
        ),
    };
    fill(&sentence, &values)
}

fn unsupported(feature: Feature) -> String {
    match feature {
        Feature::Chat => gettext("This model cannot hold a conversation. Choose another one."),
        Feature::Tools => {
            gettext("This model cannot use tools. Choose another model, or an agent without tools.")
        }
        Feature::Thinking => gettext(
            "This model cannot think before it answers. Leave thinking as the model has it, or choose another model.",
        ),
        Feature::Images => {
            gettext("This model cannot look at pictures. Leave them out, or choose another model.")
        }
    }
}
