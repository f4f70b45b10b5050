//! Which of the functions and environments that are documented are drawn.

use std::collections::BTreeSet;

use chat_formula::{Item, layout};

/// A name and a sample of it in each line. `\n%N` stands for a line break.
const SAMPLES: &str = include_str!("samples.txt");

/// Those that are not drawn: the source is shown instead.
const MISSING: &[&str] = &[
    r"\expandafter",
    r"\includegraphics",
    r"\lBrace",
    r"\llbracket",
    r"\mathsection",
    r"\prescript",
    r"\rBrace",
    r"\rrbracket",
    r"\sideset",
    r"\standardstate",
];

/// Those with letters that are drawn in the text's own font.
const FOREIGN: &[&str] = &[r"\char"];

fn samples() -> impl Iterator<Item = (&'static str, String)> {
    SAMPLES.lines().map(|line| {
        let (name, tex) = line.split_once('\t').expect("a name and a sample");
        (name, tex.replace("\\n%N", "\n"))
    })
}

#[test]
fn nearly_all_that_katex_documents_is_drawn() {
    let names: BTreeSet<&str> = samples().map(|(name, _)| name).collect();
    assert!(names.len() > 300, "{}", names.len());
    let missing: BTreeSet<&str> = samples()
        .filter(|(_, tex)| layout(tex, true).is_err() || layout(tex, false).is_err())
        .map(|(name, _)| name)
        .collect();
    assert_eq!(missing, MISSING.iter().copied().collect(), "what is not drawn");
    assert!(missing.len() * 20 <= names.len(), "{} of {}", missing.len(), names.len());
}

#[test]
fn the_built_in_fonts_have_all_signs() {
    let is_foreign = |tex: &str| {
        let formula = layout(tex, true).ok();
        let mut items = formula.iter().flat_map(|it| &it.drawings).flat_map(|it| &it.items);
        items.any(|item| matches!(item, Item::Letter { .. }))
    };
    let foreign: BTreeSet<&str> =
        samples().filter(|(_, tex)| is_foreign(tex)).map(|(name, _)| name).collect();
    assert_eq!(foreign, FOREIGN.iter().copied().collect(), "letters that the fonts lack");
}
