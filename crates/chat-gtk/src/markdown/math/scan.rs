//! Scans a source for formulas, block by block.

use std::ops::Range;

use pulldown_cmark::{BrokenLink, Event, Options, Parser, Tag, TagEnd};

use super::Resolve;

/// The longest formula between single dollar signs, in bytes.
const LONGEST_DOLLARS: usize = 500;

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
pub struct FormulaScan<'s> {
    pub source: &'s str,
    pub grows: bool,
    /// Formulas before this byte are known.
    pub from: usize,
    /// Whether to stop at a formula that extends beyond its block, so that the rest is parsed
    /// again.
    pub stops: bool,
    pub formulas: Vec<Range<usize>>,
    pub open: Option<usize>,
    /// For every kind, inline and at the beginning of a line, up to where no end was found.
    pub hopeless: [usize; 8],
    pub stopped: bool,
}

impl FormulaScan<'_> {
    /// Reads the source, as far as formulas let it be read at once.
    pub fn read(mut self, text: &str, options: Options, resolve: &Resolve<'_>) -> Self {
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
        // Code begins in a sentence about money or a shell, not in a formula.
        Some(!is_money && !text.contains(['\n', '`']))
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
