//! Words what a model cannot do.

use chat_core::error::Feature;
use gettextrs::gettext;

use crate::words::fill;

pub(super) fn too_long(window: Option<u32>, largest: Option<u32>) -> String {
    let window_text = window.map(|tokens| tokens.to_string()).unwrap_or_default();
    let largest_text = largest.map(|tokens| tokens.to_string()).unwrap_or_default();
    let values = [("window", window_text.as_str()), ("largest", largest_text.as_str())];
    let sentence = match (window, largest) {
        (Some(window), Some(largest)) if largest > window => gettext(
            "This chat is too long for a context window of {window} tokens. Try a larger one, up to {largest}, or start a new chat.",
        ),
        (Some(_), None) => gettext(
            "This chat is too long for a context window of {window} tokens. Try a larger one, or start a new chat.",
        ),
        (_, Some(_)) => gettext(
            "This chat is too long for the model’s context window of {largest} tokens. Start a new chat, or choose another model.",
        ),
        (None, None) => gettext(
            "This chat is too long for the model. Start a new chat, or choose a model with a larger context window.",
        ),
    };
    fill(&sentence, &values)
}

pub(super) fn unsupported(feature: Feature) -> String {
    match feature {
        Feature::Chat => gettext("This model can’t chat. Choose another one."),
        Feature::Tools => {
            gettext("This model can’t use tools. Choose another model, or an agent without tools.")
        }
        Feature::Thinking => gettext(
            "This model doesn’t support thinking. Set thinking to Default, or choose another model.",
        ),
        Feature::Images => {
            gettext("This model can’t read images. Remove them, or choose another model.")
        }
        Feature::Models => {
            gettext("Models can be managed only on Ollama servers and on this computer.")
        }
    }
}
