//! Finds formulas in a source. They are found before the rest is parsed and then masked, so that
//! nothing in them is taken for Markdown and their source stays as the model wrote it.
//!
//! `$…$` and `\(…\)` are inline. `$$…$$`, `\[…\]` and `\begin{…}…\end{…}` may begin a line; then
//! they may span line breaks, list markers and anything else. No formula spans a blank line.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{BrokenLink, CowStr, Event, Options, Parser, Tag, TagEnd};

/// Replaces every byte of a formula while the rest is parsed: punctuation without a meaning.
const COVER: &str = "%";
/// How often a source is parsed again because a formula changed its blocks.
const MOST_READINGS: usize = 20;
/// The longest formula between single dollar signs, in bytes.
const LONGEST_DOLLARS: usize = 500;

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

/// A kind of formula, by its delimiters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Parentheses,
    Brackets,
    Dollar,
    Dollars,
}

/// Where a formula ends.
enum End {
    At(usize),
    /// The source ends before the formula does.
    Open,
    Nowhere,
}

/// A piece of text in a paragraph, heading or cell.
struct Text {
    range: Range<usize>,
    /// Whether a backslash before it makes its first character literal.
    escaped: bool,
    begins_line: bool,
}

/// One pass over a source.
struct FormulaScan<'s> {
    source: &'s str,
    grows: bool,
    /// Formulas before this byte are known.
    from: usize,
    /// Whether to stop at a formula that extends beyond its block, so that the rest is parsed
    /// again.
    stops: bool,
    formulas: Vec<Range<usize>>,
    open: Option<usize>,
    /// For every kind, inline and at the beginning of a line, up to where no end was found.
    hopeless: [usize; 8],
    stopped: bool,
}

impl FormulaScan<'_> {
    fn read(mut self, text: &str, options: Options, resolve: &Resolve<'_>) -> Self {
        let callback = |link: BrokenLink<'_>| resolve(link);
        let parser = Parser::new_with_broken_link_callback(text, options, Some(callback));
        let mut texts: Vec<Text> = Vec::new();
        let (mut in_code, mut begins_line, mut end) = (false, true, 0);
        for (event, range) in parser.into_offset_iter() {
            match event {
                Event::Text(_) if in_code => {}
                Event::Text(_) => {
                    let gap = end < range.start && text[..range.start].ends_with('\\');
                    texts.push(Text { range: range.clone(), escaped: gap, begins_line });
                    (begins_line, end) = (false, range.end);
                }
                Event::SoftBreak | Event::HardBreak => (begins_line, end) = (true, range.end),
                Event::Code(_)
                | Event::InlineHtml(_)
                | Event::FootnoteReference(_)
                | Event::TaskListMarker(_)
                | Event::InlineMath(_)
                | Event::DisplayMath(_)
                | Event::End(
                    TagEnd::Emphasis
                    | TagEnd::Strong
                    | TagEnd::Strikethrough
                    | TagEnd::Link
                    | TagEnd::Image,
                ) => (begins_line, end) = (false, range.end),
                Event::Start(
                    Tag::Emphasis
                    | Tag::Strong
                    | Tag::Strikethrough
                    | Tag::Link { .. }
                    | Tag::Image { .. },
                ) => (begins_line, end) = (false, range.start),
                Event::Start(_) | Event::End(_) | Event::Html(_) | Event::Rule => {
                    if !self.scan(&std::mem::take(&mut texts), end) {
                        return self;
                    }
                    match event {
                        Event::Start(Tag::CodeBlock(_)) => in_code = true,
                        Event::End(TagEnd::CodeBlock) => in_code = false,
                        _ => {}
                    }
                    (begins_line, end) = (true, end.max(range.start));
                }
            }
        }
        self.scan(&texts, end);
        self
    }

    /// Looks for formulas in the texts of a block that ends here. Returns whether to continue.
    fn scan(&mut self, texts: &[Text], end: usize) -> bool {
        for text in texts {
            let mut at = text.range.start;
            while at < text.range.end {
                at = at.max(self.from);
                let Some(found) = self.next(text, at) else { break };
                let (kind, start, inside) = found;
                at = inside;
                let begins_line = text.begins_line
                    && start <= text.range.start
                    && matches!(kind, Kind::Brackets | Kind::Dollars);
                match self.end_of(kind, start, inside, (!begins_line).then_some(end)) {
                    End::At(close) => {
                        self.formulas.push(start..close);
                        self.from = close;
                        if close > end && self.stops {
                            self.stopped = true;
                            return false;
                        }
                    }
                    End::Open if begins_line => {
                        self.open = Some(self.open.map_or(start, |open| open.min(start)));
                        if self.is_begun(kind, start, inside) {
                            let close = self.source.trim_end().len().max(inside);
                            self.formulas.push(start..close);
                            self.from = self.source.len();
                            return false;
                        }
                    }
                    End::Open | End::Nowhere => {}
                }
            }
        }
        true
    }

    /// Whether the beginning of a line is a formula, though its end is still to come.
    fn is_begun(&self, kind: Kind, start: usize, inside: usize) -> bool {
        let next = self.source[inside..].chars().next();
        let blank = next.is_none_or(char::is_whitespace);
        match kind {
            Kind::Dollars => !blank || next.is_none_or(|letter| letter == '\n'),
            _ => blank || self.source[start..].starts_with("\\begin{"),
        }
    }

    /// The next delimiter in a text that may begin a formula: its kind, its position, and the
    /// position after it.
    fn next(&self, text: &Text, from: usize) -> Option<(Kind, usize, usize)> {
        let source = self.source;
        let first = text.range.start;
        if from <= first && text.escaped {
            let kind = match source.as_bytes()[first] {
                b'(' => Some(Kind::Parentheses),
                b'[' => Some(Kind::Brackets),
                _ => None,
            };
            if let Some(kind) = kind.filter(|_| first > self.from) {
                return Some((kind, first - 1, first + 1));
            }
        }
        if from <= first && text.begins_line && source[first..].starts_with("\\begin{") {
            return Some((Kind::Brackets, first, first + "\\begin{".len()));
        }
        let skip = if text.escaped { source[first..].chars().next()?.len_utf8() } else { 0 };
        let mut at = from.max(first + skip);
        loop {
            at += source.get(at..text.range.end)?.find('$')?;
            let count = source[at..].bytes().take_while(|byte| *byte == b'$').count();
            let before = source[..at].chars().next_back();
            let behind = source[at + count..].chars().next();
            match count {
                1 if !before.is_some_and(char::is_alphanumeric)
                    && behind.is_some_and(|letter| !letter.is_whitespace()) =>
                {
                    return Some((Kind::Dollar, at, at + 1));
                }
                2 => return Some((Kind::Dollars, at, at + 2)),
                _ => at += count,
            }
        }
    }

    /// Where a formula ends that begins here, but no later than `within`. At the beginning of a
    /// line it may extend to a blank line.
    fn end_of(&mut self, kind: Kind, start: usize, inside: usize, within: Option<usize>) -> End {
        let source = self.source;
        let slot = kind as usize + if within.is_none() { 4 } else { 0 };
        let is_environment = source[start..].starts_with("\\begin{");
        if start < self.hopeless[slot] && !is_environment {
            return End::Nowhere;
        }
        let (limit, ends) = match within {
            Some(end) => (end, false),
            None => match blank_line(source, inside) {
                Some(blank) => (blank, false),
                None => (source.len(), self.grows),
            },
        };
        let environment = source[start..].strip_prefix("\\begin{").map(|rest| {
            let name = rest.split('}').next().unwrap_or_default();
            format!("\\end{{{name}}}")
        });
        let mut at = inside;
        while at < limit {
            let rest = &source[at..limit];
            let Some(step) = rest.find(['\\', '$']) else { break };
            at += step;
            let rest = &source[at..limit];
            let dollars = rest.bytes().take_while(|byte| *byte == b'$').count();
            let close = match kind {
                Kind::Parentheses => rest.starts_with("\\)").then_some(2),
                Kind::Brackets => match &environment {
                    Some(close) => rest.starts_with(close.as_str()).then_some(close.len()),
                    None => rest.starts_with("\\]").then_some(2),
                },
                Kind::Dollars => (dollars == 2).then_some(2),
                Kind::Dollar => (dollars == 1).then_some(1),
            };
            if let Some(length) = close.filter(|_| at > inside) {
                if kind != Kind::Dollar {
                    // Delimiters alone were literal, and are not a formula.
                    let says = source[inside..at].contains(char::is_alphanumeric);
                    return if says { End::At(at + length) } else { End::Nowhere };
                }
                match self.is_formula(inside..at) {
                    Some(true) => return End::At(at + 1),
                    Some(false) => return End::Nowhere,
                    None => {}
                }
            }
            if kind == Kind::Dollar && at - start > LONGEST_DOLLARS {
                return End::Nowhere;
            }
            let escape = rest.strip_prefix('\\').and_then(|rest| rest.chars().next());
            at += dollars.max(1) + escape.map_or(0, char::len_utf8);
        }
        if ends {
            return End::Open;
        }
        if !is_environment {
            self.hopeless[slot] = limit;
        }
        End::Nowhere
    }

    /// Whether the text between two dollar signs is a formula rather than sums of money; none if
    /// the second sign cannot end one.
    fn is_formula(&self, inside: Range<usize>) -> Option<bool> {
        let text = &self.source[inside.clone()];
        let behind = self.source[inside.end + 1..].chars().next();
        if text.ends_with(char::is_whitespace)
            || behind.is_some_and(|letter| letter.is_alphanumeric() || letter == '$')
        {
            return None;
        }
        let is_word = |word: &str| word.len() > 1 && word.chars().all(char::is_alphabetic);
        let is_money = text.starts_with(|letter: char| letter.is_ascii_digit())
            && text.split_whitespace().skip(1).any(is_word);
        Some(!is_money && !text.contains('\n'))
    }
}

/// Where the next blank line begins: a line with only spaces and quotation marks (`>`).
fn blank_line(source: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += source[at..].find('\n')? + 1;
        let end = at + source[at..].find('\n')?;
        if source[at..end].bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'>')) {
            return Some(at);
        }
    }
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
