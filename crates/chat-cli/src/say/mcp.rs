//! Defines the sentences about servers of tools.

use chat_presentation::words::fill;
use gettextrs::gettext;

use super::quoted;

pub fn no_servers() -> String {
    gettext("There are no servers of tools. Add one with: natter-cli mcp add NAME -- COMMAND")
}

pub fn no_such_server(name: &str) -> String {
    let text = gettext("There’s no server “{name}”. List them with: natter-cli mcp list");
    fill(&text, &[("name", name)])
}

pub fn server_is_off(name: &str) -> String {
    fill(&gettext("The server “{name}” is off."), &[("name", name)])
}

pub fn off() -> String {
    gettext("off")
}

pub fn of_project() -> String {
    gettext("of this project")
}

pub fn of_untrusted_project() -> String {
    gettext("of this project, not trusted: natter-cli mcp trust")
}

pub fn server_added(name: &str) -> String {
    let text = gettext("Added “{name}”. Test it with: natter-cli mcp test {argument}");
    fill(&text, &[("name", name), ("argument", &quoted(name))])
}

pub fn server_secrets_will_be_lost() -> String {
    gettext(
        "To keep it, store it in an environment variable, and refer to that in mcp.json: ${env:VARIABLE}",
    )
}

pub fn server_removed(name: &str) -> String {
    fill(&gettext("Removed “{name}”."), &[("name", name)])
}

pub fn secrets_stay() -> String {
    gettext(
        "Its secrets stay in your keyring, because another server has an error and may need them.",
    )
}

/// Says that a reply has to do without a server's tools, and why.
pub fn server_unavailable(name: &str, why: &str) -> String {
    let text = gettext("The tools of “{name}” aren’t available. {problem}");
    fill(&text, &[("name", name), ("problem", why)])
}

pub fn server_works(tools: &str) -> String {
    fill(&gettext("It works: {tools}."), &[("tools", tools)])
}

pub fn sign_in_first(name: &str) -> String {
    let text = gettext("Sign in with: natter-cli mcp sign-in {name}");
    fill(&text, &[("name", &quoted(name))])
}

pub fn no_sign_in_wanted(name: &str) -> String {
    fill(&gettext("“{name}” works without signing in."), &[("name", name)])
}

pub fn sign_in_at(url: &str) -> String {
    fill(&gettext("Sign in at this address: {url}"), &[("url", url)])
}

pub fn signed_in(name: &str) -> String {
    fill(&gettext("You’re signed in to “{name}”."), &[("name", name)])
}

pub fn folder_has_no_servers() -> String {
    gettext("This project has no servers of tools.")
}

pub fn servers_trusted() -> String {
    gettext("The project’s servers are trusted as they are now.")
}

pub fn servers_untrusted() -> String {
    gettext("The project’s servers aren’t trusted.")
}

/// Says that a project’s servers are not in use.
pub fn servers_not_trusted_yet() -> String {
    gettext(
        "This project’s servers of tools aren’t used until you trust them. To decide, use: natter-cli mcp trust DIR",
    )
}

pub fn already_trusted() -> String {
    gettext("trusted")
}

pub fn server_not_used() -> String {
    gettext("not used: your mcp.json has a server of this name, or can’t be read")
}

pub fn ask_trust_servers() -> String {
    gettext("Trust these servers? [y/N] ")
}
