//! Finds formulas in a source. They are found before the rest is parsed and then masked, so that
//! nothing in them is taken for Markdown and their source stays as the model wrote it.
//!
//! `$…$` and `\(…\)` are inline. `$$…$$`, `\[…\]` and `\begin{…}…\end{…}` may begin a line; then
//! they may span line breaks, list markers and anything else. No formula spans a blank line.

mod scan;

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{BrokenLink, CowStr, Options};
use scan::FormulaScan;

/// Replaces every byte of a formula while the rest is parsed: punctuation without a meaning.
const COVER: &str = "%";
/// How often a source is parsed again because a formula changed its blocks.
const MOST_READINGS: usize = 20;

/// Finds the target of a link whose label is defined elsewhere.
pub type Resolve<'r> = dyn Fn(BrokenLink<'_>) -> Option<(CowStr<'static>, CowStr<'static>)> + 'r;

/// A source whose formulas are masked.
pub struct Covered<'s> {
    /// The source, with every byte of a formula replaced.
    pub text: Cow<'s, str>,
    /// The positions of the formulas, in order.
    pub formulas: Vec<Range<usize>>,
    /// Where a formula begins that later text may close: nothing after it is certain yet.
    pub open: Option<usize>,
}

/// Finds and masks all formulas. `grows`: whether a formula that is open at the end may still be
/// closed.
pub fn cover<'s>(
    source: &'s str,
    options: Options,
    resolve: &Resolve<'_>,
    grows: bool,
) -> Covered<'s> {
    let mut covered = Covered { text: Cow::Borrowed(source), formulas: Vec::new(), open: None };
    if !["$", "\\(", "\\[", "\\begin{"].iter().any(|sign| source.contains(sign)) {
        return covered;
    }
    for reading in 1..=MOST_READINGS {
        #[cfg(test)]
        super::build::COUNTED.set(super::build::COUNTED.get() + source.len());
        let from = covered.formulas.last().map_or(0, |last| last.end);
        let scan = FormulaScan {
            source,
            grows,
            from,
            stops: reading < MOST_READINGS,
            formulas: Vec::new(),
            open: covered.open,
            hopeless: [0; 8],
            stopped: false,
        };
        let scan = scan.read(&covered.text, options, resolve);
        if !scan.formulas.is_empty() {
            let text = covered.text.to_mut();
            for formula in &scan.formulas {
                text.replace_range(formula.clone(), &COVER.repeat(formula.len()));
            }
        }
        covered.formulas.extend(scan.formulas);
        covered.open = scan.open;
        if !scan.stopped {
            break;
        }
    }
    covered
}

/// Restores formulas in a text that was parsed from this range of a masked source.
pub fn uncover(text: &str, source: &str, formulas: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    for formula in formulas {
        let Some(at) = rest.find(&COVER.repeat(formula.len())) else { break };
        out.push_str(&rest[..at]);
        out.push_str(&source[formula.clone()]);
        rest = &rest[at + formula.len()..];
    }
    out + rest
}

/// Whether a formula is displayed on its own rather than inline.
pub fn is_display(formula: &str) -> bool {
    ["$$", "\\[", "\\begin{"].iter().any(|sign| formula.starts_with(sign))
}

/// A formula as it was written, without the quotation marks or list indentation before its lines.
pub fn written(source: &str, formula: &Range<usize>) -> String {
    let text = &source[formula.clone()];
    if !text.contains('\n') {
        return text.to_owned();
    }
    let line = source[..formula.start].rfind('\n').map_or(0, |end| end + 1);
    let before = &source[line..formula.start];
    let margin = before.len() - before.trim_start_matches([' ', '\t', '>']).len();
    let quotes = before[..margin].matches('>').count();
    let indent = before.rsplit('>').next().unwrap_or_default().chars().count();
    let mut out = String::with_capacity(text.len());
    for (index, line) in text.split('\n').enumerate() {
        if index == 0 {
            out.push_str(line);
            continue;
        }
        out.push('\n');
        let mut line = line;
        for _ in 0..quotes {
            line = line.trim_start_matches([' ', '\t']).strip_prefix('>').unwrap_or(line);
        }
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        out.push_str(&line[blanks.min(indent)..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::markdown::{compact, parse};

    fn read(text: &str) -> String {
        compact(&parse(text))
    }

    #[test]
    fn formulas_stay_as_they_were_written() {
        for formula in [
            r"\(a_1 * b_2 * c\)",
            r"\(\{x \mid x > 0\}\)",
            r"\[\frac{a}{b} \\ c\]",
            r"\[4\,\text{a [b](c)}\]",
            "$a_1 * b_2 * c$",
            r"$\$5$",
            "$$\nx_1 \\\\\ny\n$$",
            "\\[\na\n+ b\n- c\n= d\n> e\n# f\n=\n\\]",
            "$$a & b\\\\[2mm] c$$",
            "\\begin{align}\na &= b \\\\\n&= c\n\\end{align}",
        ] {
            assert_eq!(read(formula), format!("p math{formula:?}\n"), "{formula}");
        }
        assert_eq!(
            read(r"**so:**\(x\)*y*"),
            "p strong( \"so:\" ) math\"\\\\(x\\\\)\" em( \"y\" )\n"
        );
        assert_eq!(read("> $$\n> x\n> $$"), "quote\n  p math\"$$\\nx\\n$$\"\n");
        assert_eq!(
            read("- \\[\n    x\n  \\]\n"),
            "bullets\n  item\n    p math\"\\\\[\\n  x\\n\\\\]\"\n"
        );
        assert_eq!(
            read("| a |\n|---|\n| $x_1$ |"),
            "table -\n  row | \"a\"\n  row | math\"$x_1$\"\n"
        );
    }

    #[test]
    fn money_and_code_are_no_formulas() {
        for text in [
            "$5 and $6",
            "costs $5-$6",
            "US$5 and CA$6",
            "$20 for me and 30$",
            "$",
            "$$ alone in a line",
            "from $ x$ to",
            "a $5 b",
        ] {
            assert_eq!(read(text), format!("p {text:?}\n"), "{text}");
        }
        assert_eq!(
            read("$5 and $6, `$x$` and $HOME"),
            "p \"$5 and $6, \" code\"$x$\" \" and $HOME\"\n"
        );
        assert_eq!(read("$PATH:$HOME and $A"), "p \"$PATH:$HOME and $A\"\n");
        assert_eq!(read("`$x$` and `\\(x\\)`"), "p code\"$x$\" \" and \" code\"\\\\(x\\\\)\"\n");
        assert_eq!(read("```\n$$\nx\n$$\n```\n"), "code \"\" \"$$\\nx\\n$$\\n\"\n");
        // A literal bracket, as in Markdown.
        assert_eq!(read("\\[foo] and \\(bar)"), "p \"[foo] and (bar)\"\n");
        assert_eq!(read("\\\\(x\\\\)"), "p \"\\\\(x\\\\)\"\n");
        assert_eq!(read("[a](https://b.c/$d$e)"), "p link \"https://b.c/$d$e\" \"\"( \"a\" )\n");
    }

    #[test]
    fn a_formula_ends_at_a_blank_line_and_grows_until_then() {
        assert_eq!(read("\\[\nx\n+ y"), "p math\"\\\\[\\nx\\n+ y\"\n");
        assert_eq!(read("\\[\nx\n\ny"), "p \"[\" / \"x\"\np \"y\"\n");
    }
}
