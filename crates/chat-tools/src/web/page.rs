//! Converts a page for a model: its main content, or all of it, as Markdown or as text.

use dom_query::Document;
use dom_smoothie::{Config, Readability, TextMode};
use reqwest::Url;

use super::dom;

/// The longest title that is returned, in letters.
const TITLE: usize = 300;
/// The longest address that links are resolved against, and the maximum total length of the
/// results, in bytes: each link contains the whole address.
const ADDRESS: usize = 2_048;
const ADDRESSES: usize = 16 << 20;
/// The maximum number of elements of a page whose main content is searched for: the search takes
/// longer than everything else.
const ELEMENTS: usize = 30_000;
/// Main content shorter than this, in bytes, was a wrong guess.
const SHORT: usize = 250;
/// A page with less text than this is returned whole: leaving something out gains little, and among
/// few lines the wrong ones are easily mistaken for the main content.
const SMALL: usize = 2000;
/// Paragraphs shorter than this, in bytes, do not count as readable text.
const PARAGRAPH: usize = 60;
/// The minimum total weight of such paragraphs; newspaper articles weigh hundreds.
const WEIGHT: f32 = 10.0;

/// The wanted form of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The main content as Markdown.
    Markdown,
    /// All of it as Markdown.
    Full,
    /// The main content as text.
    Text,
}

/// A converted page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its title.
    pub title: Option<String>,
    /// Its text.
    pub text: String,
    /// Whether the main content was wanted but not found, so that this is the whole page.
    pub whole: bool,
}

/// Converts a page. This takes a while, so do not call it on a thread that must respond.
pub fn read(html: &str, url: &Url, form: Form) -> Page {
    let Some(document) = dom::tree(html) else {
        return Page { title: None, text: dom::without_tags(html), whole: form != Form::Full };
    };
    document.select("img[src^='data:'], source, template").remove();
    let title = document.select("title").first().text();
    let title: String = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let title: String = title.chars().take(TITLE).collect();
    let title = (!title.is_empty()).then_some(title);
    make_absolute(&document, url);
    let is_small = document.select("body").formatted_text().len() < SMALL;
    let whole = form == Form::Full || is_small;
    // For a page with very many elements, even checking takes long.
    let is_looked_at = !whole && document.select("*").length() <= ELEMENTS;
    let part = is_looked_at.then(|| readable(document.clone(), url, form)).flatten();
    if let Some(text) = part.filter(|text| text.len() >= SHORT) {
        return Page { title, text, whole: false };
    }
    let text = match form {
        Form::Text => document.select("body").formatted_text(),
        Form::Markdown | Form::Full => {
            document.md(Some(&["script", "style", "meta", "head", "noscript", "svg", "iframe"]))
        }
    };
    Page { title, text: text.trim().to_owned(), whole: form != Form::Full }
}

/// The main content of a page.
fn readable(document: Document, url: &Url, form: Form) -> Option<String> {
    let text_mode = if form == Form::Text { TextMode::Formatted } else { TextMode::Markdown };
    let config = Config {
        text_mode,
        max_elements_to_parse: ELEMENTS,
        readable_min_content_length: PARAGRAPH,
        readable_min_score: WEIGHT,
        // Nobody needs this data, and the library's parser for it assumes valid text.
        disable_json_ld: true,
        ..Config::default()
    };
    let url = (url.as_str().len() <= ADDRESS).then_some(url.as_str());
    let mut reader = Readability::with_document(document, url, Some(config)).ok()?;
    if !reader.is_probably_readable() {
        return None;
    }
    let article = reader.parse().ok()?;
    Some(article.text_content.trim().to_owned())
}

/// Makes links absolute, as long as that does not make the page very much longer.
fn make_absolute(document: &Document, url: &Url) {
    let bases = document.select("base");
    let base = bases.filter("[href]").first().attr("href");
    let base = base.and_then(|base| url.join(&base).ok());
    bases.remove();
    let base = base.as_ref().unwrap_or(url);
    if base.as_str().len() > ADDRESS {
        return;
    }
    let mut room = ADDRESSES;
    for (selector, name) in [("a[href]", "href"), ("img[src]", "src")] {
        for node in document.select(selector).nodes() {
            // Links within the page stay distinguishable from others.
            let aim = node.attr(name).filter(|aim| !aim.starts_with('#'));
            let aim = aim.and_then(|aim| base.join(&aim).ok());
            if let Some(aim) = aim {
                let Some(left) = room.checked_sub(aim.as_str().len()) else { return };
                room = left;
                node.set_attr(name, aim.as_str());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use rstest::rstest;

    use super::*;

    fn url() -> Url {
        Url::parse("https://example.org/docs/page.html").unwrap()
    }

    fn article() -> String {
        let paragraph = "<p>Bees make honey, and they have done so for a very long time, as \
            <a href=\"../bees\">everybody knows</a>, in meadows, on hills, and in gardens.</p>";
        format!(
            "<html><head><title>About\n bees</title><style>p {{ }}</style></head><body>\
             <nav><a href=\"/\">Home</a> <a href=\"/shop\">Shop</a></nav>\
             <article><h1>About bees</h1>{}<h2>Honey</h2><ul><li>sweet</li><li>sticky</li></ul>\
             <pre><code>let honey = 1;</code></pre></article>\
             <script>alert('x')</script><footer>Imprint</footer></body></html>",
            paragraph.repeat(20)
        )
    }

    #[test]
    fn the_readable_part_is_markdown() {
        let page = read(&article(), &url(), Form::Markdown);
        assert_eq!(page.title.as_deref(), Some("About bees"));
        assert!(page.text.contains("[everybody knows](https://example.org/bees)"), "{}", page.text);
        assert!(page.text.contains("## Honey") && page.text.contains("sticky"), "{}", page.text);
        assert!(page.text.contains("let honey = 1;"), "{}", page.text);
        for other in ["Shop", "Imprint", "alert", "p { }"] {
            assert!(!page.text.contains(other), "{other} in {}", page.text);
        }
        assert!(!page.whole);
    }

    #[test]
    fn the_whole_page_has_all_but_its_scripts() {
        let page = read(&article(), &url(), Form::Full);
        assert!(page.text.contains("[Shop](https://example.org/shop)"), "{}", page.text);
        assert!(page.text.contains("[everybody knows](https://example.org/bees)"), "{}", page.text);
        assert!(page.text.contains("# About bees") && page.text.contains("Imprint"));
        assert!(!page.text.contains("alert") && !page.text.contains("p { }"));
        assert!(!page.whole);
    }

    #[test]
    fn text_has_no_marks() {
        let page = read(&article(), &url(), Form::Text);
        assert!(page.text.contains("everybody knows") && page.text.contains("sticky"));
        assert!(!page.text.contains("](") && !page.text.contains("## "), "{}", page.text);
        assert!(!page.text.contains("Shop"));
    }

    /// The footer is its longest part, but says nothing.
    #[test]
    fn a_small_page_is_given_whole() {
        let footer =
            "<p>Licensed under these terms, and under those, as you like it.</p>".repeat(8);
        let html = format!("<h1>FAQ</h1><p>This has moved.</p><footer>{footer}</footer>");
        let page = read(&html, &url(), Form::Markdown);
        assert!(page.text.starts_with("# FAQ\n\nThis has moved."), "{}", page.text);
        assert!(page.whole);
    }

    #[test]
    fn where_nothing_stands_out_it_is_the_whole_page() {
        let links = "<a href='/a'>One</a> <a href='/b'>Two</a> ".repeat(200);
        let page = read(&format!("<nav>{links}</nav><p>Hi</p>"), &url(), Form::Markdown);
        assert!(page.whole);
        assert!(page.text.contains("[Two](https://example.org/b)"), "{}", page.text);
    }

    #[test]
    fn pictures_within_the_page_are_left_out() {
        let html = article().replace("sweet", "<img src='data:image/png;base64,QUFB' alt='bee'>");
        for form in [Form::Markdown, Form::Full] {
            assert!(!read(&html, &url(), form).text.contains("base64"));
        }
    }

    /// The library that reads such data assumed valid text.
    #[test]
    fn what_a_page_says_of_itself_as_data_is_not_read() {
        let odd =
            r#"{"@context":"https://schema.org","@type":"Article","name":"x\uab€","headline":"y"}"#;
        let data = format!("<script type=\"application/ld+json\">{odd}</script></head>");
        let page = read(&article().replace("</head>", &data), &url(), Form::Markdown);
        assert_eq!(page.title.as_deref(), Some("About bees"));
        assert!(page.text.contains("Honey") && !page.whole);
    }

    #[test]
    fn links_lead_where_a_page_says_unless_that_makes_it_very_long() {
        let page = |base: &str, links: usize| {
            let html = format!("<base href='{base}'>{}", "<a href=x>y</a> ".repeat(links));
            read(&html, &url(), Form::Full).text
        };
        assert_eq!(page("/other/", 1), "[y](https://example.org/other/x)");
        assert_eq!(page(&format!("/{}/", "a".repeat(1 << 20)), 1), "[y](x)");
        let long = page(&format!("/{}/", "a".repeat(2_000)), 20_000);
        assert!(long.len() < 2 * ADDRESSES && long.ends_with("[y](x)"), "{}", long.len());
    }

    #[test]
    fn a_place_in_the_page_stays_one() {
        let page = read("<a href='#note'>1</a> <a href='b'>2</a>", &url(), Form::Full);
        assert_eq!(page.text, "[1](#note) [2](https://example.org/docs/b)");
    }

    #[test]
    fn a_title_is_a_line() {
        let html = article().replace("About\n bees", &"bees ".repeat(1_000_000));
        let title = read(&html, &url(), Form::Full).title.unwrap();
        assert!(title.starts_with("bees bees") && title.len() == TITLE);
    }

    #[test]
    fn a_bomb_is_read_as_text() {
        let page = read(&"<div>honey ".repeat(10_000), &url(), Form::Markdown);
        assert!(page.whole && page.text.starts_with("honey honey"));
    }

    /// Within the limits, but designed to be slow.
    #[rstest]
    #[case::deep("<div>honey, bees, and more. ".repeat(500))]
    #[case::wide("<p>honey, bees, and more. ".repeat(20_000))]
    #[case::breaks("<br>honey, bees, and more. ".repeat(20_000))]
    #[case::links("<a href=x>honey</a>, ".repeat(20_000))]
    #[case::deep_many_times(
        format!("{}honey, bees{}", "<div>".repeat(300), "</div>".repeat(300)).repeat(60)
    )]
    fn slow_pages_end(#[case] html: String) {
        let began = Instant::now();
        assert!(!read(&html, &url(), Form::Markdown).text.is_empty());
        // Without optimization, on a busy machine: a quadratic step would take many minutes.
        assert!(began.elapsed() < Duration::from_mins(1), "{:?}", began.elapsed());
    }
}
