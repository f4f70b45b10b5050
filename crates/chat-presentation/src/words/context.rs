//! Words what fills the context window of a model.

use chat_core::message::{ContextCategory, ContextUsage, PromptPreview};
use gettextrs::{gettext, ngettext};

use super::{fill, one_line};

/// How full the window is, in a line.
pub fn fullness(usage: &ContextUsage) -> String {
    let tokens = grouped(usage.tokens);
    let tokens = format!("{}{tokens}", about(usage));
    match usage.window {
        Some(window) if window > 0 => fill(
            &gettext("{tokens} of {window} tokens ({percent}%)"),
            &[
                ("tokens", &tokens),
                ("window", &grouped(window.into())),
                ("percent", &(usage.tokens * 100 / u64::from(window)).to_string()),
            ],
        ),
        _ => fill(&gettext("{tokens} tokens (context window unknown)"), &[("tokens", &tokens)]),
    }
}

/// The sign of an estimate.
fn about(usage: &ContextUsage) -> &'static str {
    if usage.measured { "" } else { "~" }
}

/// The same in the least room: how much of the window, or how many tokens.
pub fn share(usage: &ContextUsage) -> String {
    let share = match usage.window {
        Some(window) if window > 0 => {
            let percent = usage.tokens * 100 / u64::from(window);
            fill(&gettext("{percent}%"), &[("percent", &percent.to_string())])
        }
        _ if usage.tokens < 1000 => usage.tokens.to_string(),
        _ => fill(
            &gettext("{thousands}k"),
            &[("thousands", &((usage.tokens + 500) / 1000).to_string())],
        ),
    };
    format!("{}{share}", about(usage))
}

/// How large a prompt is.
pub fn prompt_size(preview: &PromptPreview) -> String {
    let count = u32::try_from(preview.messages).unwrap_or(u32::MAX);
    let text = ngettext(
        "{messages} earlier message is also sent, {bytes} bytes in total. This chat has about {now} tokens now, and about {tokens} with your next message and its attachments.",
        "{messages} earlier messages are also sent, {bytes} bytes in total. This chat has about {now} tokens now, and about {tokens} with your next message and its attachments.",
        count,
    );
    fill(
        &text,
        &[
            ("messages", &preview.messages.to_string()),
            ("bytes", &grouped(preview.bytes)),
            ("now", &grouped(preview.now)),
            ("tokens", &grouped(preview.tokens)),
        ],
    )
}

/// What something in the window is.
fn context_category(category: ContextCategory) -> String {
    match category {
        ContextCategory::Instructions => gettext("Instructions"),
        ContextCategory::Rules => gettext("Project rules"),
        ContextCategory::Tools => gettext("Tools"),
        ContextCategory::Person => gettext("Your messages"),
        ContextCategory::Files => gettext("Attached files"),
        ContextCategory::Context => gettext("Open files and selection"),
        ContextCategory::Pictures => gettext("Images"),
        ContextCategory::Answers => gettext("Replies"),
        ContextCategory::Reasoning => gettext("Reasoning"),
        ContextCategory::Calls => gettext("Tool calls"),
        ContextCategory::Results => gettext("Tool results"),
        ContextCategory::Summary => gettext("Summary of earlier messages"),
    }
}

/// What fills the window, a line each with its tokens, the largest first. What each server of tools takes follows the
/// line of the tools.
pub fn context_lines(usage: &ContextUsage) -> Vec<(String, u64)> {
    let mut lines = Vec::new();
    for (category, tokens) in &usage.by_category {
        lines.push((context_category(*category), *tokens));
        if *category == ContextCategory::Tools {
            let of_server = |(server, tokens): &(String, u64)| {
                (fill(&gettext("including {server}"), &[("server", &one_line(server))]), *tokens)
            };
            lines.extend(usage.by_server.iter().map(of_server));
        }
    }
    lines
}

/// What the chat cost, where that is known.
pub fn cost(usage: &ContextUsage) -> Option<String> {
    let dollars = usage.cost? as f64 / 1e12;
    // Where cents are too coarse to say anything.
    let digits = if dollars < 1.0 { 4 } else { 2 };
    let amount = format!("{dollars:.digits$}");
    Some(fill(&gettext("This chat has cost ${amount} so far."), &[("amount", &amount)]))
}

/// A marker that stands for earlier messages.
pub fn compaction(summed: bool, undone: bool) -> String {
    match (summed, undone) {
        (_, true) => gettext("Earlier messages were compacted here. You undid that."),
        (true, false) => gettext(
            "From here on, the model reads a summary of the earlier messages. All of them stay in this chat.",
        ),
        (false, false) => gettext(
            "From here on, the model reads shortened results of earlier tool calls. The full results stay in this chat.",
        ),
    }
}

/// A count with its thousands separated as the language does it.
pub fn grouped(count: u64) -> String {
    if count < 1000 {
        return count.to_string();
    }
    let (thousands, rest) = (grouped(count / 1000), format!("{:03}", count % 1000));
    // A number with a thousands separator, such as 2,883.
    fill(&gettext("{thousands},{rest}"), &[("thousands", &thousands), ("rest", &rest)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_window_is_told() {
        let usage = ContextUsage {
            window: Some(8_192),
            tokens: 6_100,
            measured: true,
            cost: Some(12_340_000_000),
            ..ContextUsage::default()
        };
        assert_eq!(fullness(&usage), "6,100 of 8,192 tokens (74%)");
        assert_eq!(share(&usage), "74%");
        assert_eq!(cost(&usage).unwrap(), "This chat has cost $0.0123 so far.");
        let unknown = ContextUsage { window: None, measured: false, cost: None, ..usage };
        assert_eq!(fullness(&unknown), "~6,100 tokens (context window unknown)");
        assert_eq!(cost(&unknown), None);
        assert_eq!(share(&unknown), "~6k");
        assert_eq!(share(&ContextUsage { tokens: 999, ..unknown }), "~999");
        assert_eq!([0, 999, 1_000, 12_034_005].map(grouped), ["0", "999", "1,000", "12,034,005"]);
    }

    #[test]
    fn servers_follow_the_tools() {
        let usage = ContextUsage {
            by_category: vec![(ContextCategory::Tools, 900), (ContextCategory::Person, 5)],
            by_server: vec![("notes".to_owned(), 600)],
            ..ContextUsage::default()
        };
        let lines = context_lines(&usage);
        let told: Vec<_> = lines.iter().map(|(what, tokens)| (&**what, *tokens)).collect();
        assert_eq!(told, [("Tools", 900), ("including notes", 600), ("Your messages", 5)]);
    }

    #[test]
    fn everything_that_fills_it_has_a_name() {
        let mut names: Vec<_> = ContextCategory::ALL.into_iter().map(context_category).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), ContextCategory::ALL.len());
    }
}
