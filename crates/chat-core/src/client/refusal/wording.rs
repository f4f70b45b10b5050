//! Lists the sentences by which servers say what they do not say by a status.

use crate::error::{Feature, Kind};

/// Whether the words say that the input does not fit the window. In lower case, as all here.
pub(super) fn is_too_long(message: &str, code: &str, kind: &str) -> bool {
    const SAYINGS: &[&str] = &[
        // Ollama: "the input length exceeds the context length".
        "exceeds the context length",
        "exceeds the maximum context length",
        // llama.cpp: "the request exceeds the available context size".
        "exceeds the available context size",
        "input is larger than the max context size",
        // OpenAI, vLLM, OpenRouter: "This model's maximum context length is 4096 tokens …".
        "maximum context length is",
        "exceeds the context window",
        // vLLM: "The decoder prompt (length 5000) is longer than the maximum model length of …".
        "longer than the maximum model length",
        // LM Studio.
        "when context the overflows",
        "greater than the context length",
        "context length exceeded",
        "exceed context length",
        // Anthropic: "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000".
        "exceed context limit",
        "prompt is too long",
        "input is too long",
        "reduce the length of the",
        // Gemini: "The input token count (…) exceeds the maximum number of tokens allowed (…)".
        "exceeds the maximum number of tokens",
        // LiteLLM, before the words of whoever it asked.
        "contextwindowexceedederror",
    ];
    code == "context_length_exceeded"
        || kind == "exceed_context_size_error"
        || SAYINGS.iter().any(|saying| message.contains(saying))
}

/// The window that such words name, in tokens.
pub(super) fn window(message: &str) -> Option<u32> {
    const BEFORE: &[&str] = &[
        "maximum context length is",
        "maximum model length of",
        "context length of only",
        "available context size",
        "maximum number of tokens allowed",
        // Anthropic: "prompt is too long: 213462 tokens > 200000 maximum".
        "tokens >",
    ];
    BEFORE.iter().find_map(|before| {
        let rest = &message[message.find(before)? + before.len()..];
        let from = rest.find(|c: char| c.is_ascii_digit())?;
        // A number that stands further off is about something else.
        if from > 12 {
            return None;
        }
        let digits = rest[from..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - from);
        rest[from..from + digits].parse().ok()
    })
}

/// What a model cannot do, where the words say that.
pub(super) fn unsupported(message: &str) -> Option<Feature> {
    const SAYINGS: &[(&str, Feature)] = &[
        ("does not support tools", Feature::Tools),
        ("does not support tool", Feature::Tools),
        ("support tool use", Feature::Tools),
        ("does not support function calling", Feature::Tools),
        // vLLM: "\"auto\" tool choice requires --enable-auto-tool-choice …".
        ("tool choice requires", Feature::Tools),
        // llama.cpp: "tools param requires --jinja flag".
        ("tools param requires", Feature::Tools),
        ("does not support thinking", Feature::Thinking),
        ("does not support reasoning", Feature::Thinking),
        ("reasoning_effort", Feature::Thinking),
        ("does not support image", Feature::Images),
        ("does not support vision", Feature::Images),
        ("support image input", Feature::Images),
        // llama.cpp: "image input is not supported - hint: …".
        ("image input is not supported", Feature::Images),
        // vLLM: "… is not a multimodal model".
        ("is not a multimodal model", Feature::Images),
        ("does not support chat", Feature::Chat),
        ("not a chat model", Feature::Chat),
        // vLLM: "… you must provide a chat template".
        ("provide a chat template", Feature::Chat),
    ];
    SAYINGS.iter().find(|(saying, _)| message.contains(saying)).map(|(_, feature)| *feature)
}

/// Whether the words say that there is no such model.
pub(super) fn is_unknown_model(message: &str, code: &str, kind: &str, status: u16) -> bool {
    const SAYINGS: &[&str] = &[
        // OpenRouter: "x is not a valid model ID", "No endpoints found for x".
        "is not a valid model id",
        "no endpoints found for",
        // LiteLLM.
        "invalid model name",
        "llm provider not provided",
        // Mistral and Perplexity: "Invalid model: x".
        "invalid model:",
        "invalid model '",
        // DeepSeek.
        "model not exist",
    ];
    const CODES: &[&str] = &["model_not_found", "DeploymentNotFound"];
    if CODES.contains(&code) || kind == "invalid_model" {
        return true;
    }
    if SAYINGS.iter().any(|saying| message.contains(saying)) {
        return true;
    }
    // Anthropic: "model: x".
    if kind == "not_found_error" && message.starts_with("model:") {
        return true;
    }
    let gone = ["not found", "does not exist", "no such model", "do not have access"];
    matches!(status, 0 | 400 | 404)
        && message.contains("model")
        && gone.iter().any(|gone| message.contains(gone))
}

/// Whether the words of a 404 are about the address and not about what was asked for.
pub(super) fn is_unknown_path(message: &str) -> bool {
    const SAYINGS: &[&str] = &[
        // llama.cpp.
        "file not found",
        "page not found",
        // OpenAI: "Invalid URL (POST /v1/…)", "Unknown request URL: POST …".
        "invalid url",
        "unknown request url",
        "no route",
        // LM Studio: "Unexpected endpoint or method".
        "unexpected endpoint",
        "unknown endpoint",
    ];
    matches!(message.trim_end_matches('.'), "not found" | "404" | "resource not found")
        || SAYINGS.iter().any(|saying| message.contains(saying))
}

/// Whether the words are about the order of messages, or about the template that insists on one.
pub(super) fn is_about_order(message: &str) -> bool {
    const SAYINGS: &[&str] = &[
        // The templates of Mistral's and Gemma's models: "… roles must alternate user/assistant/…".
        "must alternate",
        "should alternate",
        // Mistral's server: "Unexpected role 'user' after role 'tool'".
        "unexpected role",
        // llama.cpp, LM Studio: "Error rendering prompt with jinja template".
        "jinja",
        "chat template",
        "raise_exception",
    ];
    SAYINGS.iter().any(|saying| message.contains(saying))
}

/// Whether the words say that the key is wrong, with a status that does not (Gemini: 400).
pub(super) fn is_bad_key(message: &str) -> bool {
    message.contains("api key not valid") || message.contains("api_key_invalid")
}

/// Whether the words say that nothing is left to pay with, with a status that does not.
pub(super) fn has_no_credit(message: &str, kind: &str) -> bool {
    kind == "budget_exceeded"
        // DeepSeek through a gateway; Anthropic: 400.
        || message.contains("insufficient balance")
        || message.contains("credit balance is too low")
}

/// Whether a content filter refused the request.
pub(super) fn is_filtered(message: &str, code: &str, kind: &str) -> bool {
    const SAYINGS: &[&str] = &[
        // Azure.
        "content management policy",
        // OpenRouter: 403.
        "input was flagged",
        "requires moderation",
        "content_policy_violation",
        "contentpolicyviolationerror",
        // DeepSeek.
        "content exists risk",
    ];
    matches!(code, "content_filter" | "content_policy_violation")
        || kind == "content_filter"
        || SAYINGS.iter().any(|saying| message.contains(saying))
}

/// The kind of a failure in mid-stream that has words and no status.
pub(super) fn failure(message: &str, keyless: bool) -> Kind {
    if message.contains("maximum pending requests")
        || message.contains("server busy")
        || message.contains("overloaded")
    {
        Kind::Busy
    } else if message.contains("rate limit") || message.contains("too many requests") {
        Kind::RateLimited { retry_after: None }
    } else if message == "unauthorized" {
        Kind::Unauthorized { signin_url: None, keyless }
    } else {
        Kind::ServerFailed
    }
}
