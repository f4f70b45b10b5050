//! Converts a page to Markdown.

use dom_query::Document;

/// What a reader of the page does not see.
const UNSEEN: &[&str] =
    &["script", "style", "meta", "head", "noscript", "svg", "iframe", "template"];

/// All of a page as Markdown, with its title.
pub fn markdown(html: &str) -> String {
    let document = Document::from(html);
    document.select("img[src^='data:']").remove();
    let title = document.select("title").first().text();
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = document.md(Some(UNSEEN));
    let text = text.trim();
    if title.is_empty() { text.to_owned() } else { format!("# {title}\n\n{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_becomes_markdown() {
        let html = "<title>About\n bees</title><script>x()</script><h2>Honey</h2>\
            <p>Is <b>sweet</b>.<img src='data:image/png;base64,AAAA'></p>";
        assert_eq!(markdown(html), "# About bees\n\n## Honey\n\nIs **sweet**.");
    }
}
