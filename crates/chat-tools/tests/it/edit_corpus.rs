//! Tests the edit matcher with imperfect edits from `tests/corpus`.

use std::path::{Path, PathBuf};

use chat_tools::{Edit, apply_edits};

mod generated;
mod written;

/// An edit as a model gives it, and the one right result.
pub struct Case {
    pub name: String,
    pub file: String,
    pub old: String,
    pub new: String,
    pub right: Right,
}

/// What must come of an edit.
pub enum Right {
    /// This text.
    Text(String),
    /// The same but for blanks at the ends of lines and the kind of quotes.
    Nearly(String),
    /// Nothing: it is not clear.
    Refused,
}

impl Right {
    fn is(&self, text: &str) -> bool {
        match self {
            Self::Text(right) => right == text,
            Self::Nearly(right) => bare(right) == bare(text),
            Self::Refused => false,
        }
    }
}

/// A text without what nobody sees.
fn bare(text: &str) -> String {
    let lines = text.split('\n').map(|line| line.trim_end_matches([' ', '\t']));
    generated::plain(&lines.collect::<Vec<_>>().join("\n"))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(folder().join(path)).unwrap()
}

#[test]
fn no_edit_is_applied_wrongly_and_nearly_all_are_applied() {
    let cases: Vec<Case> = written::cases().into_iter().chain(generated::cases()).collect();
    assert!(cases.len() >= 200, "only {} cases", cases.len());
    let (mut wrong, mut refused, mut clear, mut unclear) = (Vec::new(), Vec::new(), 0, 0);
    for Case { name, file, old, new, right } in &cases {
        let edit = Edit { old: old.clone(), new: new.clone(), all: false };
        let is_clear = !matches!(right, Right::Refused);
        *(if is_clear { &mut clear } else { &mut unclear }) += 1;
        match apply_edits(file, &[edit]) {
            Ok(applied) if right.is(&applied.content) => {}
            Ok(applied) => wrong.push(format!("{name}:\n{:?}", applied.content)),
            Err(refusal) if is_clear => refused.push(format!("{name}: {refusal}")),
            Err(_) => {}
        }
    }
    eprintln!("{clear} clear edits, {} refused; {unclear} unclear ones", refused.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(unclear >= 50, "only {unclear} that must be refused");
    assert!(
        refused.len() * 100 <= clear * 5,
        "{} of {clear} refused:\n{}",
        refused.len(),
        refused.join("\n")
    );
}
