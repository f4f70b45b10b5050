//! Parses the YAML of a front matter into values with their lines. Nothing is expanded: aliases are refused, and
//! nesting is limited, so the result is never larger than the text.

use std::collections::BTreeSet;

use granit_parser::{Event, Parser, ScalarStyle};

use crate::problem::{Found, ProblemKind};
use crate::visible::quoted;

/// How deep lists and maps may be nested. No key of a definition needs more than two.
const DEEPEST: usize = 8;

/// A value, and the line of the file in which it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub line: usize,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Nothing, `~` or `null`.
    Null,
    /// Every other scalar. Whoever reads it decides whether it is a number.
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub key: String,
    /// The line of the key.
    pub line: usize,
    pub node: Node,
}

/// A list or map whose end has not come yet.
enum Open {
    List(usize, Vec<Node>),
    Map { line: usize, entries: Vec<Entry>, keys: BTreeSet<String>, key: Option<(String, usize)> },
}

/// The entries of a front matter. `offset` is the number of lines in front of it.
pub(crate) fn parse(text: &str, offset: usize) -> Result<Vec<Entry>, Found> {
    let options = granit_parser::options! {
        disallow_directives: true,
        emit_unresolved_aliases: true,
        flow_nesting_limit: DEEPEST,
        block_nesting_limit: DEEPEST,
    };
    let mut open: Vec<Open> = Vec::new();
    let mut root = None;
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event
            .map_err(|error| Found::at(error.marker().line() + offset, ProblemKind::Syntax))?;
        let line = span.start.line() + offset;
        let unsupported = || Found::at(line, ProblemKind::Unsupported);
        let node = match event {
            Event::Alias(_) | Event::UnresolvedAlias(_) => return Err(unsupported()),
            Event::Scalar(_, _, anchor, ref tag) if anchor != 0 || tag.is_some() => {
                return Err(unsupported());
            }
            Event::SequenceStart(_, anchor, ref tag) | Event::MappingStart(_, anchor, ref tag)
                if anchor != 0 || tag.is_some() =>
            {
                return Err(unsupported());
            }
            Event::Scalar(text, style, ..) => Node { line, value: scalar(&text, style) },
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() >= DEEPEST => {
                return Err(Found::at(line, ProblemKind::Syntax));
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(line, Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                let (entries, keys) = (Vec::new(), BTreeSet::new());
                open.push(Open::Map { line, entries, keys, key: None });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(line, nodes)) => Node { line, value: Value::List(nodes) },
                Some(Open::Map { line, entries, .. }) => Node { line, value: Value::Map(entries) },
                None => return Err(Found::at(line, ProblemKind::Syntax)),
            },
            _ => continue,
        };
        match open.last_mut() {
            None if root.is_some() => return Err(Found::at(line, ProblemKind::Syntax)),
            None => root = Some(node),
            Some(open) => open.add(node)?,
        }
    }
    match root {
        None | Some(Node { value: Value::Null, .. }) => Ok(Vec::new()),
        Some(Node { value: Value::Map(entries), .. }) => Ok(entries),
        Some(Node { line, .. }) => Err(Found::at(line, ProblemKind::NotAMap)),
    }
}

impl Open {
    fn add(&mut self, node: Node) -> Result<(), Found> {
        match self {
            Self::List(_, nodes) => nodes.push(node),
            Self::Map { entries, key: key @ Some(_), .. } => {
                if let Some((key, line)) = key.take() {
                    entries.push(Entry { key, line, node });
                }
            }
            Self::Map { keys, key, .. } => {
                let Value::Text(text) = node.value else {
                    return Err(Found::at(node.line, ProblemKind::Syntax));
                };
                if !keys.insert(text.clone()) {
                    let kind = ProblemKind::DuplicateKey { key: quoted(&text) };
                    return Err(Found::at(node.line, kind));
                }
                *key = Some((text, node.line));
            }
        }
        Ok(())
    }
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    let is_plain = matches!(style, ScalarStyle::Plain);
    if is_plain && matches!(text, "" | "~" | "null" | "Null" | "NULL") {
        Value::Null
    } else {
        Value::Text(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(line: usize, text: &str) -> Node {
        Node { line, value: Value::Text(text.to_owned()) }
    }

    #[test]
    fn values_have_their_lines() {
        let entries =
            parse("# hello\na: 1 # one\nb:\n  - x\n  - 'y: z'\nc: ~\nd: >\n  long\n  text\n", 1);
        let entries = entries.unwrap();
        let keys: Vec<_> = entries.iter().map(|entry| (entry.key.as_str(), entry.line)).collect();
        assert_eq!(keys, [("a", 3), ("b", 4), ("c", 7), ("d", 8)]);
        assert_eq!(entries[0].node, text(3, "1"));
        assert_eq!(entries[1].node.value, Value::List(vec![text(5, "x"), text(6, "y: z")]));
        assert_eq!(entries[2].node.value, Value::Null);
        assert_eq!(entries[3].node.value, Value::Text("long text\n".to_owned()));
        assert_eq!(parse("", 1), Ok(Vec::new()));
        assert_eq!(parse("# nothing\n", 1), Ok(Vec::new()));
    }

    #[test]
    fn an_error_names_its_line() {
        for (yaml, line, kind) in [
            ("a: 1\nb: c: d\n", 3, ProblemKind::Syntax),
            ("a: 1\na: 2\n", 3, ProblemKind::DuplicateKey { key: "a".to_owned() }),
            ("- a\n", 2, ProblemKind::NotAMap),
            ("a: &x 1\nb: *x\n", 2, ProblemKind::Unsupported),
            ("a: 1\nb: *x\n", 3, ProblemKind::Unsupported),
            ("a: !!str 1\n", 2, ProblemKind::Unsupported),
            ("a: 1\n? [b]\n: c\n", 3, ProblemKind::Syntax),
            ("\n\na: [1, 2\n", 5, ProblemKind::Syntax),
            ("a: 1\n...\nb: 1\n", 4, ProblemKind::Syntax),
        ] {
            assert_eq!(parse(yaml, 1).unwrap_err().kind, kind, "{yaml}");
            let found = parse(yaml, 1).unwrap_err().line.unwrap();
            assert!(
                found.abs_diff(line) <= usize::from(kind == ProblemKind::Syntax),
                "{yaml} {found}"
            );
        }
    }

    #[test]
    fn bombs_stay_small() {
        let deep = format!("a: {}", "[".repeat(30_000));
        assert_eq!(parse(&deep, 0).unwrap_err().kind, ProblemKind::Syntax);
        let deep: Vec<_> = (0..200).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        assert_eq!(parse(&deep.concat(), 0).unwrap_err().kind, ProblemKind::Syntax);
        let laughs = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n";
        assert_eq!(parse(laughs, 0).unwrap_err(), Found::at(1, ProblemKind::Unsupported));
        let many: Vec<_> = (0..8_000).map(|number| format!("k{number}: 1\n")).collect();
        assert_eq!(parse(&many.concat(), 0).unwrap().len(), 8_000);
    }

    #[test]
    fn a_long_run_of_anything_ends_soon() {
        let runs = [
            "-",
            "- ",
            "? ",
            ": ",
            "a: ",
            "a:\n ",
            "[",
            "{",
            "{a: ",
            "'",
            "\"\\n",
            "&a ",
            "*a ",
            "!a ",
            "| ",
            ">\n",
            "#",
            "%",
            "\t",
            "\n",
            " ",
            ",",
            "a,",
            "[a",
            "]",
            "---\n",
            "...\n",
            "a",
            "é",
            "- a\n",
            "a: [b, c]\n",
        ];
        for run in runs {
            let text = run.repeat(64 * 1024 / run.len());
            for text in
                [text.clone(), format!("a: {text}"), format!("a: [{text}"), format!("a: '{text}")]
            {
                let _ = parse(&text, 0);
            }
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in any::<String>(), yaml in "[-a:#&*!|>'\"%@`{}\\[\\], \n\t?~0]{0,60}") {
            let _ = parse(&text, 0);
            let _ = parse(&yaml, 0);
        }

        #[test]
        fn a_quoted_text_comes_back(value in "[ -~é東\n\t]{0,40}") {
            let yaml = format!("key: {}\n", serde_json::to_string(&value).unwrap());
            let entries = parse(&yaml, 0).unwrap();
            prop_assert_eq!(&entries[0].node.value, &Value::Text(value));
        }
    }
}
