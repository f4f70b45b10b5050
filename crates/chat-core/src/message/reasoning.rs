//! Splits reasoning from a whole reply that has only the closing tag, as it comes where a template
//! puts the opening one into the prompt.

use super::Part;

/// What opens thoughts inside a text.
pub(crate) const OPEN: &str = "<think>";

/// What closes them.
pub(crate) const CLOSE: &str = "</think>";

/// From this indentation on, in columns, a line is code.
const CODE_INDENT: usize = 4;

/// How many marks in a row fence code, at least.
const FENCE: usize = 3;

/// Makes thinking of what came as text and turned out to be thoughts: only the first that
/// came can be.
pub(crate) fn split_reasoning(parts: &mut Vec<Part>) {
    let Some(Part::Text(text)) = parts.first() else { return };
    let Some((reasoning, answer)) = split_closed(text) else { return };
    let thinking = Part::Thinking { text: reasoning.to_owned(), took: None, provider: None };
    let answer = Part::Text(answer.to_owned());
    parts.splice(..1, [thinking, answer]);
    parts.retain(|part| match part {
        Part::Thinking { text, provider, .. } => !text.is_empty() || provider.is_some(),
        Part::Text(text) => !text.is_empty(),
        _ => true,
    });
}

/// The thoughts and the answer of a whole text that has the closing tag alone. It must stand on a
/// line of its own and in no block of code, or the text talks about it.
fn split_closed(text: &str) -> Option<(&str, &str)> {
    let mut fence: Option<Fence> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let words = line.trim();
        if indent(line) >= CODE_INDENT {
            // Code, and no end of any.
        } else if let Some(open) = fence {
            if open.is_closed_by(words) {
                fence = None;
            }
        } else if words == CLOSE {
            let (reasoning, answer) = (text[..at].trim(), text[at + line.len()..].trim_start());
            return (!reasoning.contains(OPEN)).then_some((reasoning, answer));
        } else {
            fence = Fence::opened_by(words);
        }
        at += line.len();
    }
    None
}

/// How far a line is indented, in columns.
fn indent(line: &str) -> usize {
    let mut columns = 0;
    for c in line.chars() {
        columns = match c {
            ' ' => columns + 1,
            '\t' => (columns / CODE_INDENT + 1) * CODE_INDENT,
            _ => break,
        };
    }
    columns
}

/// A fence that opened a block of code.
#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = line.trim_start_matches(mark);
        let length = line.len() - info.len();
        // What has another backtick is code within a line.
        let is_inline = mark == '`' && info.contains('`');
        (length >= FENCE && !is_inline).then_some(Self { mark, length })
    }

    fn is_closed_by(self, line: &str) -> bool {
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("hm\n</think>\n\nYes.", Some(("hm", "Yes.")))]
    #[case("hm\n</think>", Some(("hm", "")))]
    #[case("It ends with </think> there.", None)]
    #[case("```\n</think>\n```\nis its end.", None)]
    #[case("````\n```\n</think>\n````\nis its end.", None)]
    #[case("```\n~~~\n</think>\n```\nis its end.", None)]
    #[case("```\n```rust\n</think>\n```\nis its end.", None)]
    #[case("```\n    ```\n</think>\n```\nis its end.", None)]
    #[case("It is\n\n    </think>\n\nalone.", None)]
    #[case("```let``` binds\n</think>\nYes.", Some(("```let``` binds", "Yes.")))]
    #[case("   ```\nx\n  `````\n</think>\nYes.", Some(("```\nx\n  `````", "Yes.")))]
    #[case("~~~ `a`\n</think>\n~~~\nis its end.", None)]
    #[case("Write <think>\n</think>\nfirst.", None)]
    #[case("", None)]
    fn a_closing_tag_alone_ends_thoughts_on_a_line_of_its_own(
        #[case] said: &str,
        #[case] expected: Option<(&str, &str)>,
    ) {
        assert_eq!(split_closed(said), expected);
    }
}
