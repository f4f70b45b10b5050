//! Parses a page into a tree, within limits: some pages of a few kilobytes would otherwise take
//! gigabytes or hours.

use std::time::Duration;

use dom_query::{Document, NodeRef};
use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts, TreeSink};
use html5ever::{LocalName, TokenizerResult};
use rustix::time::{ClockId, clock_gettime};

/// The maximum number of nodes: the longest pages that people read have some ten thousand.
const NODES: usize = 200_000;
/// The maximum nesting, as in browsers. Below it, every step of the parser takes longer.
const DEPTH: usize = 512;
/// The maximum nesting of lists and quotations. Each level rewrites and indents all lines inside
/// it.
const INDENTS: usize = 16;
/// How many bytes the parser gets between two checks: this few can do little harm.
const PIECE: usize = 1024;
/// How many new nodes there may be before the depth is measured again.
const NEW_NODES: usize = 1024;
/// The maximum CPU time for parsing. A page of five megabytes takes a fraction of a second.
const TIME: Duration = Duration::from_secs(10);

/// The tree of a page; none if it exceeds a limit.
pub fn tree(html: &str) -> Option<Document> {
    let began = worked();
    let options = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let builder = Sparing(TreeBuilder::new(Document::default(), options));
    let parser = Tokenizer::new(builder, TokenizerOpts::default());
    let input = BufferQueue::default();
    let mut measured = 0;
    let mut rest = html;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        rest = after;
        input.push_back(StrTendril::from_slice(piece));
        while !matches!(parser.feed(&input), TokenizerResult::Done) {}
        let document = &parser.sink.0.sink;
        let nodes = document.tree.len();
        if nodes > NODES || worked().saturating_sub(began) > TIME {
            return None;
        }
        if nodes > measured + NEW_NODES {
            measured = nodes;
            if !is_flat(document) {
                return None;
            }
        }
    }
    parser.end();
    let document = parser.sink.0.sink.finish();
    (is_flat(&document) && is_indented_little(&document)).then_some(document)
}

/// Builds a tree, and keeps only attributes that are needed to read a page: an element that is
/// never closed is created again and again with all its attributes.
struct Sparing(TreeBuilder<<Document as TreeSink>::Handle, Document>);

impl TokenSink for Sparing {
    type Handle = <Document as TreeSink>::Handle;

    fn process_token(&self, mut token: Token, line: u64) -> TokenSinkResult<Self::Handle> {
        if let Token::TagToken(tag) = &mut token {
            tag.attrs.retain(|attribute| is_read_by(&attribute.name.local));
        }
        self.0.process_token(token, line)
    }

    fn end(&self) {
        self.0.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.0.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Attributes that say where something leads, what it is, or whether it is visible: everything that
/// Markdown and the search for the main content need.
const READ: [&str; 32] = [
    "alt",
    "aria-hidden",
    "aria-label",
    "aria-modal",
    "class",
    "colspan",
    "content",
    "data-lang",
    "data-language",
    "data-src",
    "data-srcset",
    "datatable",
    "dir",
    "hidden",
    "href",
    "id",
    "itemprop",
    "lang",
    "loading",
    "name",
    "property",
    "rel",
    "role",
    "rowspan",
    "src",
    "srcset",
    "start",
    "style",
    "summary",
    "title",
    "type",
    "value",
];

fn is_read_by(name: &LocalName) -> bool {
    READ.binary_search(&&**name).is_ok()
}

/// Whether the nesting of lists and quotations is within the limit.
fn is_indented_little(document: &Document) -> bool {
    let mut open = vec![(document.root(), 0)];
    while let Some((node, indents)) = open.pop() {
        let name = node.node_name();
        let indents = indents
            + usize::from(name.is_some_and(|name| matches!(&*name, "blockquote" | "ol" | "ul")));
        if indents > INDENTS {
            return false;
        }
        open.extend(node.children_it(false).map(|child| (child, indents)));
    }
    true
}

/// This thread's CPU time, which does not depend on the load of the machine.
fn worked() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(now).unwrap_or_default()
}

/// Whether nothing is nested too deeply.
fn is_flat(document: &Document) -> bool {
    let mut depth = 0;
    let mut node = Some(document.root());
    while let Some(at) = node {
        node = at.first_child();
        if node.is_some() {
            depth += 1;
            if depth > DEPTH {
                return false;
            }
        } else {
            node = after(at, &mut depth);
        }
    }
    true
}

/// The next node after this one and everything in it.
fn after<'a>(mut node: NodeRef<'a>, depth: &mut usize) -> Option<NodeRef<'a>> {
    loop {
        if let Some(next) = node.next_sibling() {
            return Some(next);
        }
        node = node.parent()?;
        *depth = depth.checked_sub(1)?;
    }
}

/// The text of a page without a tree: everything outside its tags, scripts and styles.
pub fn without_tags(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let name: String =
            rest.chars().take_while(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
        let end = match name.as_str() {
            "script" | "style" => close(rest, &name),
            _ if rest.starts_with("!--") => rest.find("-->").map(|at| at + 3),
            _ => rest.find('>').map(|at| at + 1),
        };
        rest = end.map_or("", |end| &rest[end..]);
        text.push(' ');
    }
    text.push_str(rest);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Where an element without child elements ends.
fn close(html: &str, name: &str) -> Option<usize> {
    let starts = |at: &usize| {
        html[at + 2..].get(..name.len()).is_some_and(|end| end.eq_ignore_ascii_case(name))
    };
    let at = html.match_indices("</").map(|(at, _)| at).find(starts)?;
    Some(at + html[at..].find('>')? + 1)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn a_page_becomes_a_tree() {
        let document = tree("<p>Größe<p>and <b>more").unwrap();
        assert_eq!(document.select("p").length(), 2);
        assert_eq!(&*document.select("b").text(), "more");
        // Cut into pieces in the middle of characters and tags.
        let long = format!("<ul>{}</ul>", "<li>日本語</li>".repeat(1000));
        assert_eq!(tree(&long).unwrap().select("li").length(), 1000);
    }

    /// Elements that are never closed, each different: the parser opens them again and again.
    fn many(name: &str) -> String {
        (0..2000).fold(String::new(), |html, number| html + &format!("<{name} id={number}>"))
    }

    #[rstest]
    #[case::deep("<div>x".repeat(200_000))]
    #[case::deep_in_a_table(format!("<table>{}", "<div>x".repeat(200_000)))]
    #[case::deep_by_links("<a><div></a>".repeat(100_000))]
    #[case::deep_behind_a_marquee(
        format!("{}<marquee>{}", "<div>".repeat(500), "</div>".repeat(500)).repeat(100)
    )]
    #[case::many("<br>".repeat(300_000))]
    #[case::bold_again_and_again(
        many("b") + &"<p>x".repeat(300_000)
    )]
    #[case::indented(
        format!("{}{}", "<ol start=999999999><li>".repeat(17), "<li>".repeat(10_000))
    )]
    #[case::quoted(format!("{}{}", "<blockquote>".repeat(400), "<br>".repeat(100_000)))]
    #[case::bold_in_a_table(
        "<table>".to_owned()
            + &many("i")
            + &"<p>x".repeat(300_000)
    )]
    fn bombs_become_no_tree(#[case] html: String) {
        let began = worked();
        assert!(tree(&html).is_none());
        let worked = worked().saturating_sub(began);
        assert!(worked < TIME, "only the clock ended it: {worked:?}");
    }

    #[test]
    fn what_is_read_is_found() {
        assert!(READ.is_sorted());
        assert!(is_read_by(&LocalName::from("aria-modal")) && !is_read_by(&LocalName::from("a1")));
    }

    #[test]
    fn elements_that_are_made_again_have_few_attributes() {
        let many = (0..2_000).fold(String::new(), |all, number| all + &format!(" a{number}"));
        let html = format!("<div><b{many} title=t></div>{}", "<div>x</div>".repeat(20_000));
        let document = tree(&html).unwrap();
        let bold = document.select("b");
        assert!(bold.length() > 20_000);
        assert!(bold.nodes().iter().all(|node| node.attrs().len() == 1 && node.has_attr("title")));
    }

    #[test]
    fn deep_as_browsers_have_it_is_fine() {
        assert!(tree(&"<div>x".repeat(500)).is_some());
    }

    #[rstest]
    #[case("a<b>c</b>d", "a c d")]
    #[case("a<script>if (1<2) b()</SCRIPT>c", "a c")]
    #[case("a<style>b</style >c<!-- d > e -->f", "a c f")]
    #[case("a<script>b", "a")]
    #[case("1 <", "1")]
    #[case("<日本>a", "a")]
    fn tags_go_without_a_tree_too(#[case] html: &str, #[case] text: &str) {
        assert_eq!(without_tags(html), text);
    }
}
