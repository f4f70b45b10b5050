//! Makes what is copied of a message that is written in Markdown: plain text and HTML.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

use super::piece_source::plain_text;
use crate::markdown::flow;
use crate::markdown::{is_safe_address, parse};

/// The text as it is read: without the signs of Markdown. Cells of a table are separated by tabs.
pub fn as_plain(markdown: &str) -> String {
    let mut pieces = Vec::new();
    for block in parse(markdown) {
        flow::block_pieces(&block, &mut pieces);
    }
    plain_text(&pieces)
}

/// The text as HTML. HTML in it is shown as it was written, pictures are their descriptions, and links lead only
/// where a browser or a mail program may be sent: what a model wrote must not do anything where it is pasted.
pub fn as_html(markdown: &str) -> String {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut links = Vec::new();
    let events = Parser::new_ext(markdown, options).filter_map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        Event::Start(Tag::HtmlBlock) => Some(Event::Start(Tag::Paragraph)),
        Event::End(TagEnd::HtmlBlock) => Some(Event::End(TagEnd::Paragraph)),
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => None,
        Event::Start(Tag::Link { ref dest_url, .. }) => {
            let leads = is_safe_address(dest_url);
            links.push(leads);
            leads.then_some(event)
        }
        Event::End(TagEnd::Link) => links.pop().unwrap_or(false).then_some(event),
        event => Some(event),
    });
    // Without it some programs take the bytes for Latin letters.
    let mut out = String::from("<meta charset=\"utf-8\">");
    html::push_html(&mut out, events);
    out
}

/// A text as a quotation in Markdown.
pub fn as_quote(text: &str) -> String {
    let mut out = String::new();
    for line in text.trim().lines() {
        out.push_str(if line.trim().is_empty() { ">" } else { "> " });
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_has_no_signs_of_markdown() {
        let text = "# One\n\nSome *words* and `code`.\n\n- a\n  - b\n- c\n\n```rust\nfn a() {}\n```\n\n| x | y |\n|---|---|\n| 1 | 2 |\n";
        assert_eq!(
            as_plain(text),
            "One\n\nSome words and code.\n\n• a\n  ◦ b\n• c\n\nfn a() {}\n\nx\ty\n1\t2"
        );
    }

    #[test]
    fn html_does_nothing_where_it_is_pasted() {
        let text = "**a** <img src=x onerror=alert(1)> [b](javascript:alert(1)) ![c](https://a.org/x.png) [d](https://a.org)\n\n<script>e</script>\n";
        let html = as_html(text);
        assert!(html.contains("<strong>a</strong>"), "{html}");
        assert!(html.contains("<a href=\"https://a.org\">d</a>"), "{html}");
        for bad in ["<img", "<script", "javascript:", "x.png"] {
            assert!(!html.contains(bad), "{bad}: {html}");
        }
        assert!(html.contains("&lt;script&gt;e"), "{html}");
    }

    #[test]
    fn every_line_is_quoted() {
        assert_eq!(as_quote("\na\n\nb \n"), "> a\n>\n> b\n");
    }
}
