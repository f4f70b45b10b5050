//! Explains why an MCP server did not give what the user asked it for.

use chat_core::error::{ServerFailure, ServerFault, ServerItem};
use gettextrs::gettext;

use super::{fill, one_line};

/// Says what happened and what to do.
pub(super) fn fault(failure: &ServerFailure) -> String {
    let ServerFailure { server, item, why } = failure;
    let name = |name: &str| one_line(name);
    let asked = match item {
        ServerItem::List => String::new(),
        ServerItem::Resource(uri) => name(uri),
        ServerItem::Prompt(prompt) => name(prompt),
    };
    let (message, argument) = match why {
        ServerFault::Refused { message } => {
            (one_line(message).trim_end_matches('.').to_owned(), String::new())
        }
        ServerFault::ArgumentMissing { argument } => (String::new(), name(argument)),
        _ => (String::new(), String::new()),
    };
    let text = match why {
        ServerFault::Unknown => {
            gettext("The MCP server “{server}” isn’t in use here. Check its name and your servers.")
        }
        ServerFault::NotConnected => {
            gettext("Couldn’t connect to the MCP server “{server}”. Check its settings.")
        }
        ServerFault::TimedOut => {
            gettext("The MCP server “{server}” didn’t respond in time. Try again later.")
        }
        ServerFault::SignIn => {
            gettext("The MCP server “{server}” wants you to sign in. Sign in, then try again.")
        }
        ServerFault::Refused { .. } if message.is_empty() => {
            gettext("The MCP server “{server}” refused the request.")
        }
        ServerFault::Refused { .. } => {
            gettext("The MCP server “{server}” refused the request: {message}.")
        }
        ServerFault::Invalid => {
            gettext("The MCP server “{server}” sent something that Natter can’t read.")
        }
        ServerFault::TooLarge => {
            gettext("The MCP server “{server}” sent more than 10 MB. Choose something smaller.")
        }
        ServerFault::Empty if asked.is_empty() => {
            gettext("The MCP server “{server}” sent nothing.")
        }
        ServerFault::Empty => gettext(
            "“{name}” of the MCP server “{server}” has nothing that can be sent. Choose something else.",
        ),
        ServerFault::ArgumentMissing { .. } => gettext(
            "The prompt “{name}” of the MCP server “{server}” needs a value: add {argument}=….",
        ),
    };
    fill(
        &text,
        &[("server", server), ("name", &asked), ("message", &message), ("argument", &argument)],
    )
}
