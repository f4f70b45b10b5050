//! Generates replies of a given length, the same for the same numbers, for benchmarks to stream.

use std::fmt::Write;

const WORDS: &[&str] = &[
    "the",
    "window",
    "shows",
    "what",
    "arrived",
    "and",
    "a",
    "model",
    "speaks",
    "in",
    "small",
    "pieces",
    "`token`",
    "**calm**",
    "über",
    "naïve",
    "日本語",
    "fast",
    "until",
    "it",
    "is",
    "done",
    "[link](https://example.org)",
    "*then*",
    "waits",
    "for",
    "more",
    "🦀",
    "nothing",
    "gets",
    "lost",
];

const CODE: &[&str] = &[
    "fn add(a: u32, b: u32) -> u32 {",
    "    // Adds what it was given.",
    "    let sum = a.checked_add(b).unwrap_or(u32::MAX);",
    "    println!(\"{a} + {b} = {sum}\");",
    "    sum",
    "}",
];

/// A unique word for each number. Replies of only a few words would be stopped as loops.
pub fn word(number: usize) -> String {
    let mut out = String::from("w");
    let mut rest = number;
    while out.len() < 4 || rest > 0 {
        out.push(char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
    }
    out
}

/// This many words, each followed by a space.
pub fn words(count: usize) -> Vec<String> {
    (0..count).map(|number| word(number) + " ").collect()
}

/// A Markdown text of at least this many bytes, ending with a complete word, with this many fenced
/// code blocks spread evenly.
pub fn markdown(bytes: usize, code_blocks: usize) -> String {
    let mut out = String::with_capacity(bytes + 200);
    let mut word = 0;
    let mut written = 0;
    let mut paragraph = 0;
    while out.len() < bytes || written < code_blocks {
        let due = (out.len() * (code_blocks + 1)) / bytes.max(1);
        if written < code_blocks && due > written {
            out.push_str("```rust\n");
            for line in CODE.iter().cycle().skip(written).take(12) {
                out.push_str(line);
                out.push('\n');
            }
            out.push_str("```\n\n");
            written += 1;
            continue;
        }
        paragraph += 1;
        match paragraph % 7 {
            1 => write!(out, "## Part {paragraph}\n\n").expect("a string takes all"),
            3 => {
                for item in 1..=4 {
                    writeln!(out, "- item {item} of a list").expect("a string takes all");
                }
                out.push('\n');
            }
            _ => {}
        }
        for at in 0..40 {
            if at % 5 == 0 {
                out.push_str(&self::word(paragraph * 8 + at / 5));
                out.push(' ');
            }
            // A stride that is coprime to the number of words, so that sentences differ.
            word = (word + 7 + paragraph % 3) % WORDS.len();
            out.push_str(WORDS[word]);
            out.push(' ');
        }
        out.push_str("\n\n");
    }
    out
}

/// Splits a text into this many pieces of nearly the same length, between characters. A text with
/// fewer characters gives fewer pieces.
pub fn pieces(text: &str, count: usize) -> Vec<String> {
    let mut out = Vec::with_capacity(count);
    let mut from = 0;
    for piece in 1..=count {
        let to = text.ceil_char_boundary(text.len() * piece / count);
        if to > from {
            out.push(text[from..to].to_owned());
            from = to;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_its_length_and_its_code_and_survives_being_cut() {
        let text = markdown(40_000, 10);
        assert!((40_000..42_000).contains(&text.len()), "{}", text.len());
        assert_eq!(text.matches("```rust\n").count(), 10);
        let pieces = pieces(&text, 5_000);
        assert_eq!(pieces.concat(), text);
        assert!(pieces.len() > 4_900);
    }
}
