//! Tests the cases that were written by hand.

use super::{Case, Right, folder, read};

pub fn cases() -> Vec<Case> {
    let mut names: Vec<_> = std::fs::read_dir(folder().join("edits"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.sort();
    names
        .iter()
        .flat_map(|path| read(path).split("=== ").skip(1).map(case).collect::<Vec<_>>())
        .collect()
}

fn case(text: &str) -> Case {
    let (name, rest) = text.split_once('\n').unwrap();
    let part = |wanted: &str| {
        let parts = rest.split("--- ").filter_map(|part| part.split_once('\n'));
        parts.into_iter().find(|(name, _)| *name == wanted).map(|(_, text)| text)
    };
    let right = part("result").map_or(Right::Refused, |text| Right::Text(seen(text)));
    let given = |name| {
        let text = seen(part(name).unwrap());
        let bare = text.strip_suffix('\n').unwrap_or(&text).to_owned();
        bare.strip_suffix('␊').map_or(bare.clone(), |text| format!("{text}\n"))
    };
    Case {
        name: name.to_owned(),
        file: seen(part("file").unwrap()),
        old: given("old"),
        new: given("new"),
        right,
    }
}

/// A text whose unseen characters were written as signs.
fn seen(text: &str) -> String {
    text.replace('␠', " ").replace('␉', "\t").replace('␍', "\r").replace("␄\n", "")
}
