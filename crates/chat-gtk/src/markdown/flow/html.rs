//! Renders the few supported HTML tags: line breaks, keys, superscript and subscript. All others
//! are shown as they were written.

use super::super::block::Inline;
use super::Style;

/// The meaning of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A line break.
    Break,
    /// Text of this kind begins.
    Begins(Kind),
    /// Text of this kind ends.
    Ends(Kind),
}

/// A kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Key,
    Lowered,
    Raised,
}

impl Kind {
    /// The style of such text.
    pub fn styled(self, style: Style) -> Style {
        match self {
            Self::Key => Style { key: true, ..style },
            Self::Lowered => Style { lowered: true, ..style },
            Self::Raised => Style { raised: true, ..style },
        }
    }
}

/// The meaning of a tag, if it is a known one.
pub fn meaning(tag: &str) -> Option<Meaning> {
    let inside = tag.strip_prefix('<')?.strip_suffix('>')?;
    let (ends, name) = match inside.strip_prefix('/') {
        Some(name) => (true, name),
        None => (false, inside.strip_suffix('/').unwrap_or(inside)),
    };
    let name = name.trim_end().to_ascii_lowercase();
    let kind = match name.as_str() {
        "br" => return Some(Meaning::Break),
        "kbd" => Kind::Key,
        "sub" => Kind::Lowered,
        "sup" => Kind::Raised,
        _ => return None,
    };
    Some(if ends { Meaning::Ends(kind) } else { Meaning::Begins(kind) })
}

/// A block of HTML as running text, if it contains only known tags.
pub fn as_text(html: &str) -> Option<Vec<Inline>> {
    let mut out = Vec::new();
    for (index, line) in html.trim_end_matches('\n').split('\n').enumerate() {
        if index > 0 {
            out.push(Inline::SoftBreak);
        }
        let mut rest = line;
        while let Some(at) = rest.find('<') {
            let tag = &rest[at..=at + rest[at..].find('>')?];
            meaning(tag)?;
            if at > 0 {
                out.push(Inline::Text(rest[..at].to_owned()));
            }
            out.push(Inline::Html(tag.to_owned()));
            rest = &rest[at + tag.len()..];
        }
        if !rest.is_empty() {
            out.push(Inline::Text(rest.to_owned()));
        }
    }
    Some(out)
}
