//! What a session is called: taken from what the person said first, or from what a model answered.

use crate::chat::Response;
use crate::message::Ending;

/// The most characters of a title.
const LONGEST: usize = 60;

/// What the model is asked. It goes on from the same messages, so that the server need not read
/// them again.
pub(crate) const QUESTION: &str = "Give this conversation a title of two to six words, in the language of the conversation. Answer only with the title.";

/// The most words of a title that a model gives: it was asked for six.
const MOST_WORDS: usize = 9;

/// A first line shorter than this says too little alone ("Hi,"), in characters.
const TOO_SHORT: usize = 12;

/// A title from what the person said first: the first line, and more where that is short.
pub(crate) fn from_text(text: &str) -> String {
    let mut title = String::new();
    for line in text.lines() {
        for word in plain(without_list_mark(line)).split_whitespace() {
            if !title.is_empty() {
                title.push(' ');
            }
            title.push_str(word);
        }
        if title.chars().count() >= TOO_SHORT {
            break;
        }
    }
    // What a colon announces does not follow.
    shorten(title.trim_end_matches([':', '：']).trim_end())
}

/// An item of a list without the sign before it. Numbers stay: they may be a date's.
fn without_list_mark(line: &str) -> &str {
    let line = line.trim();
    let rest = line.strip_prefix(['-', '*', '+', '•']);
    rest.filter(|rest| rest.starts_with(char::is_whitespace)).unwrap_or(line)
}

/// A line without the signs of Markdown that a title would only be harder to read with: of a heading, bold, and
/// code. Signs that come alone stay.
fn plain(line: &str) -> String {
    let heading = line.trim_start_matches('#');
    let line = if heading.starts_with(char::is_whitespace) { heading } else { line };
    let mut line = line.to_owned();
    for mark in ["**", "`"] {
        if line.matches(mark).count() % 2 == 0 {
            line = line.replace(mark, "");
        }
    }
    line
}

/// A title from a whole response. One that was cut off is most often what a model thought first.
pub(crate) fn from_response(response: &Response, reply: &str) -> Option<String> {
    if response.ended != Ending::Complete {
        return None;
    }
    from_answer(&response.text(), reply)
}

/// A title from what a model answered; none where it is none, so that the first one stays. Small
/// models answer the question again, explain themselves, or go round in circles.
fn from_answer(answer: &str, reply: &str) -> Option<String> {
    let mut lines = answer.lines().map(bare).filter(|line| !line.is_empty());
    // A line that ends with a colon announces the title.
    let line = lines.find(|line| !line.ends_with([':', '：']))?;
    let line = match line.split_once(':') {
        Some((label, title)) if bare(label).eq_ignore_ascii_case("title") => bare(title),
        _ => line,
    };
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    let words: Vec<String> = line.split_whitespace().map(str::to_lowercase).collect();
    let is_title = !words.is_empty()
        && words.len() <= MOST_WORDS
        && line.chars().count() <= LONGEST
        && !goes_in_circles(&words)
        && !line.contains(". ")
        && !is_beginning(&words, reply)
        && !is_beginning(&words, QUESTION);
    is_title.then_some(line)
}

/// A line without the marks that models put round a title.
fn bare(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || "\"'“”„«»*#`_.".contains(c))
}

/// Whether a word comes thrice, or one follows itself.
fn goes_in_circles(words: &[String]) -> bool {
    let thrice = |word| words.iter().filter(|other| *other == word).count() > 2;
    words.windows(2).any(|pair| pair[0] == pair[1]) || words.iter().any(thrice)
}

/// Whether a text begins with these words, three or more: then they were not made for a title.
fn is_beginning(words: &[String], text: &str) -> bool {
    let plain = |word: &str| {
        let letters = word.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect::<String>()
    };
    let text = text.split_whitespace().take(words.len()).map(plain);
    words.len() > 2 && words.iter().map(|word| plain(word)).eq(text)
}

fn shorten(line: &str) -> String {
    if line.chars().count() <= LONGEST {
        return line.to_owned();
    }
    let cut: String = line.chars().take(LONGEST - 1).collect();
    let at_word = cut.rfind(' ').filter(|at| *at > cut.len() / 2).unwrap_or(cut.len());
    format!("{}…", cut[..at_word].trim_end())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::message::{Part, Usage};

    #[rstest]
    #[case("  Why is\tthe sky   blue?\nTell me.", "Why is the sky blue?")]
    #[case("\n\n", "")]
    #[case("Explain this code:\n\nfn main() {}", "Explain this code")]
    #[case("Hi,\n\nwhy is it raining?\nReally.", "Hi, why is it raining?")]
    #[case("Hi", "Hi")]
    #[case("这是什么：", "这是什么")]
    #[case("At 12:30?", "At 12:30?")]
    #[case("- one\n- two\n* three things", "one two three things")]
    #[case("  • Buy milk and eggs\n  • Clean", "Buy milk and eggs")]
    #[case("-5 + 3 - 1 = ?", "-5 + 3 - 1 = ?")]
    #[case("-", "-")]
    #[case("Tell me about **bees** and `cargo test`", "Tell me about bees and cargo test")]
    #[case("## What is this?", "What is this?")]
    #[case("#include and 2 ** 3", "#include and 2 ** 3")]
    fn a_title_is_the_first_line(#[case] text: &str, #[case] title: &str) {
        assert_eq!(from_text(text), title);
    }

    #[test]
    fn a_long_line_is_cut_at_a_word() {
        let title = from_text(&"wörter ".repeat(30));
        assert!(title.chars().count() <= LONGEST && title.ends_with("wörter…"), "{title}");
        assert_eq!(from_text(&"x".repeat(100)).chars().count(), LONGEST);
    }

    #[rstest]
    #[case(Ending::Complete, Some("The user asks for one"))]
    #[case(Ending::Length, None)]
    #[case(Ending::Stopped, None)]
    fn a_response_that_was_cut_off_is_no_title(#[case] ended: Ending, #[case] title: Option<&str>) {
        let parts = vec![Part::Text("The user asks for one".into())];
        let response = Response { parts, ended, usage: Usage::default() };
        assert_eq!(from_response(&response, "The sky is blue.").as_deref(), title);
    }

    #[rstest]
    #[case("\"Blue Sky\"\n", Some("Blue Sky"))]
    #[case("**Title**", Some("Title"))]
    #[case("Title: Blue Sky.", Some("Blue Sky"))]
    #[case("  ", None)]
    #[case("I would be happy to give this conversation a title, and it would be this one.", None)]
    #[case("**Title:** Blue Sky", Some("Blue Sky"))]
    #[case("Title:\n\nBlue Sky", Some("Blue Sky"))]
    #[case("Here is a title:\n\"Blue Sky\"", Some("Blue Sky"))]
    #[case("Rust: Lifetimes", Some("Rust: Lifetimes"))]
    #[case("Here is a title:", None)]
    #[case("the sky the sky the sky", None)]
    #[case("Sky sky", None)]
    #[case("The sky is blue. It is scattered light.", None)]
    #[case("The sky is blue because", None)]
    #[case("Give this conversation a title", None)]
    #[case("One two three four five six seven eight nine ten", None)]
    #[case("天空为什么是蓝色的", Some("天空为什么是蓝色的"))]
    fn an_answer_is_taken_only_where_it_is_a_title(
        #[case] answer: &str,
        #[case] title: Option<&str>,
    ) {
        let reply = "The sky is blue, because light is scattered.";
        assert_eq!(from_answer(answer, reply).as_deref(), title);
    }
}
