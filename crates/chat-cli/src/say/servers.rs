//! Defines the sentences about known servers, and about models on servers.

use chat_presentation::words::fill;
use gettextrs::gettext;

use super::quoted;

pub fn no_preset(name: &str) -> String {
    let text = gettext(
        "“{name}” is not a known server. Add --url with its address, or list known servers with: natter-cli connections presets",
    );
    fill(&text, &[("name", name)])
}

pub fn get_a_key(url: &str) -> String {
    fill(&gettext("Get a key at {url}"), &[("url", url)])
}

pub fn key_from_variable(variable: &str) -> String {
    let text = gettext("The key is read from the environment variable {name} each time.");
    fill(&text, &[("name", variable)])
}

pub fn key_is_missing(name: &str) -> String {
    let text = gettext("Then add it with: natter-cli connections key {name}");
    fill(&text, &[("name", &quoted(name))])
}

pub fn model_unloaded(model: &str) -> String {
    fill(&gettext("Unloaded “{model}”."), &[("model", model)])
}

pub fn model_removed_there(model: &str, connection: &str) -> String {
    let text = gettext("Removed “{model}” from “{connection}”.");
    fill(&text, &[("model", model), ("connection", connection)])
}

pub fn model_pulled_there(model: &str) -> String {
    let text = gettext("Downloaded “{name}”. Try it with: natter-cli ask --model {name} PROMPT");
    fill(&text, &[("name", model)])
}

pub fn nothing_loaded() -> String {
    gettext("No server has a model loaded.")
}

pub fn loaded_until(time: &str) -> String {
    fill(&gettext("until {time}"), &[("time", time)])
}
