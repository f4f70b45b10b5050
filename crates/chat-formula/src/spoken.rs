//! Says a formula in words: its letters and signs as they are, and phrases for what is only seen by
//! where it stands.

use ratex_font::get_symbol;
use ratex_parser::ParseNode;
use ratex_parser::parse_node::Mode;

/// No more than this is said of a formula.
const MOST: usize = 400;

/// A piece of what a formula says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spoken {
    /// A letter, a number, a sign or a text.
    Text(String),
    /// Words that the front end has.
    Phrase(Phrase),
}

/// Words for what is only seen by where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phrase {
    /// Begins a fraction.
    Fraction,
    /// Between numerator and denominator.
    Over,
    /// Ends a fraction.
    EndFraction,
    /// Between the two numbers of a binomial coefficient.
    Choose,
    /// Begins a square root.
    SquareRoot,
    /// Begins another root; its index follows.
    Root,
    /// Behind the index of a root.
    Of,
    /// Ends a root.
    EndRoot,
    /// Before what stands below the line.
    Sub,
    /// To the second power.
    Squared,
    /// To the third power.
    Cubed,
    /// Before any other exponent.
    Power,
    /// Ends an exponent.
    EndPower,
    /// Before the lower limit.
    From,
    /// Before the upper limit.
    To,
    /// Before what stands above an arrow or a brace.
    Above,
    /// Begins a table, with its numbers of rows and columns.
    Table {
        /// How many rows.
        rows: usize,
        /// How many columns.
        columns: usize,
    },
    /// Begins a row, by its number.
    Row(usize),
}

/// What these nodes say.
pub fn spoken(nodes: &[ParseNode]) -> Vec<Spoken> {
    let mut speaker = Speaker::default();
    speaker.all(nodes);
    speaker.out.truncate(MOST);
    speaker.out
}

#[derive(Default)]
struct Speaker {
    out: Vec<Spoken>,
}

impl Speaker {
    fn all(&mut self, nodes: &[ParseNode]) {
        for node in nodes {
            self.node(node);
        }
    }

    fn phrase(&mut self, phrase: Phrase) {
        self.out.push(Spoken::Phrase(phrase));
    }

    fn text(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.out.push(Spoken::Text(text.trim().to_owned()));
        }
    }

    /// The sign of a command, or its name.
    fn sign(&mut self, name: &str, mode: Mode) {
        let mode = match mode {
            Mode::Math => ratex_font::Mode::Math,
            Mode::Text => ratex_font::Mode::Text,
        };
        match get_symbol(name, mode).and_then(|symbol| symbol.codepoint) {
            // A number of several digits is said as one.
            Some(sign) if sign.is_ascii_digit() => match self.out.last_mut() {
                Some(Spoken::Text(text))
                    if text.bytes().all(|it| it.is_ascii_digit() || it == b'.') =>
                {
                    text.push(sign);
                }
                _ => self.text(&sign.to_string()),
            },
            Some(sign) => self.text(&sign.to_string()),
            None => self.text(name.trim_start_matches('\\')),
        }
    }

    fn delimiter(&mut self, name: &str) {
        if name != "." {
            self.sign(name, Mode::Math);
        }
    }

    fn node(&mut self, node: &ParseNode) {
        if self.out.len() >= MOST {
            return;
        }
        match node {
            ParseNode::Atom { text, mode, .. }
            | ParseNode::MathOrd { text, mode, .. }
            | ParseNode::TextOrd { text, mode, .. }
            | ParseNode::OpToken { text, mode, .. }
            | ParseNode::AccentToken { text, mode, .. } => self.sign(text, *mode),
            ParseNode::SupSub { base, sup, sub, .. } => {
                self.scripts(base.as_deref(), sup.as_deref(), sub.as_deref());
            }
            ParseNode::GenFrac { numer, denom, has_bar_line, .. } => {
                self.fraction(numer, denom, *has_bar_line);
            }
            ParseNode::Sqrt { body, index, .. } => {
                match index {
                    None => self.phrase(Phrase::SquareRoot),
                    Some(index) => {
                        self.phrase(Phrase::Root);
                        self.node(index);
                        self.phrase(Phrase::Of);
                    }
                }
                self.node(body);
                if !is_single(body) {
                    self.phrase(Phrase::EndRoot);
                }
            }
            ParseNode::Accent { label, base, .. } | ParseNode::AccentUnder { label, base, .. } => {
                self.node(base);
                self.text(label.trim_start_matches('\\'));
            }
            ParseNode::Op { name, body, .. } => match (name, body) {
                (Some(name), _) => self.sign(name, Mode::Math),
                (None, Some(body)) => self.all(body),
                (None, None) => {}
            },
            ParseNode::Text { body, .. } | ParseNode::OperatorName { body, .. } => self.words(body),
            ParseNode::LeftRight { body, left, right, .. } => {
                self.delimiter(left);
                self.all(body);
                self.delimiter(right);
            }
            ParseNode::Middle { delim, .. } | ParseNode::DelimSizing { delim, .. } => {
                self.delimiter(delim);
            }
            ParseNode::Array { body, .. } => self.table(body),
            ParseNode::XArrow { label, body, below, .. } => {
                self.text(label.trim_start_matches("\\x"));
                self.phrase(Phrase::Above);
                self.node(body);
                if let Some(below) = below {
                    self.phrase(Phrase::Sub);
                    self.node(below);
                }
            }
            ParseNode::Verb { body, .. } => self.text(body),
            ParseNode::Url { url, .. } => self.text(url),
            ParseNode::IncludeGraphics { alt, .. } => self.text(alt),
            ParseNode::Tag { body, tag, .. } => {
                self.all(body);
                self.words(tag);
            }
            ParseNode::MathChoice { text, .. } => self.all(text),
            ParseNode::HtmlMathMl { html, .. } => self.all(html),
            ParseNode::OrdGroup { body, .. }
            | ParseNode::Color { body, .. }
            | ParseNode::Styling { body, .. }
            | ParseNode::Sizing { body, .. }
            | ParseNode::MClass { body, .. }
            | ParseNode::Href { body, .. }
            | ParseNode::HBox { body, .. }
            | ParseNode::Pmb { body, .. }
            | ParseNode::Html { body, .. } => self.all(body),
            ParseNode::Font { body, .. }
            | ParseNode::Overline { body, .. }
            | ParseNode::Underline { body, .. }
            | ParseNode::Smash { body, .. }
            | ParseNode::Enclose { body, .. }
            | ParseNode::Lap { body, .. }
            | ParseNode::RaiseBox { body, .. }
            | ParseNode::VCenter { body, .. }
            | ParseNode::HorizBrace { base: body, .. }
            | ParseNode::CdLabel { label: body, .. }
            | ParseNode::CdLabelParent { fragment: body, .. } => self.node(body),
            ParseNode::CdArrow { label_above, label_below, .. } => {
                for label in [label_above, label_below].into_iter().flatten() {
                    self.node(label);
                }
            }
            // They are not seen, or only say how something is drawn.
            _ => {}
        }
    }

    fn fraction(&mut self, above: &ParseNode, below: &ParseNode, has_bar: bool) {
        if !has_bar {
            self.node(above);
            self.phrase(Phrase::Choose);
            return self.node(below);
        }
        self.phrase(Phrase::Fraction);
        self.node(above);
        self.phrase(Phrase::Over);
        self.node(below);
        if !is_single(above) || !is_single(below) {
            self.phrase(Phrase::EndFraction);
        }
    }

    fn scripts(
        &mut self,
        base: Option<&ParseNode>,
        above: Option<&ParseNode>,
        below: Option<&ParseNode>,
    ) {
        if let Some(base) = base {
            self.node(base);
        }
        if matches!(base, Some(ParseNode::Op { .. } | ParseNode::OperatorName { .. })) {
            for (phrase, limit) in [(Phrase::From, below), (Phrase::To, above)] {
                if let Some(limit) = limit {
                    self.phrase(phrase);
                    self.node(limit);
                }
            }
            return;
        }
        if let Some(below) = below {
            self.phrase(Phrase::Sub);
            self.node(below);
        }
        let Some(above) = above else { return };
        if matches!(base, Some(ParseNode::HorizBrace { .. })) {
            self.phrase(Phrase::Above);
            return self.node(above);
        }
        match single(above) {
            Some("2") => self.phrase(Phrase::Squared),
            Some("3") => self.phrase(Phrase::Cubed),
            Some("\\prime") => self.text("′"),
            _ => {
                self.phrase(Phrase::Power);
                self.node(above);
                if !is_single(above) {
                    self.phrase(Phrase::EndPower);
                }
            }
        }
    }

    /// Letters that are words.
    fn words(&mut self, nodes: &[ParseNode]) {
        let mut word = String::new();
        for node in nodes {
            if matches!(node, ParseNode::SpacingNode { .. }) {
                word.push(' ');
            } else if let Some(text) = node.symbol_text() {
                word.push_str(text.trim_start_matches('\\'));
            } else {
                self.text(&std::mem::take(&mut word));
                if let ParseNode::OrdGroup { body, .. } = node {
                    self.words(body);
                } else {
                    self.node(node);
                }
            }
        }
        self.text(&word);
    }

    fn table(&mut self, rows: &[Vec<ParseNode>]) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        self.phrase(Phrase::Table { rows: rows.len(), columns });
        for (index, row) in rows.iter().enumerate() {
            self.phrase(Phrase::Row(index + 1));
            self.all(row);
        }
    }
}

/// The only sign of a node, as it was written.
fn single(node: &ParseNode) -> Option<&str> {
    match node {
        ParseNode::OrdGroup { body, .. } | ParseNode::Styling { body, .. } => match &body[..] {
            [only] => single(only),
            _ => None,
        },
        node => node.symbol_text(),
    }
}

fn is_single(node: &ParseNode) -> bool {
    single(node).is_some()
}
