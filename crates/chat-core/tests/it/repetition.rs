//! The detector of repetition against its corpus: see `tests/repetition/README.md`.

use std::fmt::Write;
use std::path::Path;

use chat_core::chat::{DetectedLoop, Repetition};

/// A text of the corpus.
struct Case {
    name: String,
    text: String,
}

/// Numbers that nobody foresees, the same in every run (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// The texts of a folder, each `@times` this many times as often as written.
fn cases(folder: &str, longer: usize) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/repetition").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        for case in format!("\n{text}").split("\n=== ").skip(1) {
            let (name, body) = case.split_once('\n').unwrap();
            let lines: Vec<_> = body.lines().collect();
            let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
            let mut text = String::new();
            write_out(&lines, (1, longer), &mut dice, &mut text);
            cases.push(Case { name: format!("{stem}: {name}"), text });
        }
    }
    cases
}

fn write_out(lines: &[&str], (turn, longer): (usize, usize), dice: &mut Dice, out: &mut String) {
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let Some(times) = line.strip_prefix("@times ") else {
            fill(line, turn, dice, out);
            // A blank at its end: the turns stand on one line.
            out.push_str(if line.ends_with(' ') { "" } else { "\n" });
            continue;
        };
        let mut open = 1;
        let length = lines[at..].iter().position(|line| {
            open += i32::from(line.starts_with("@times ")) - i32::from(*line == "@end");
            open == 0
        });
        let block = &lines[at..at + length.expect("@times has its @end")];
        for turn in 1..=times.parse::<usize>().unwrap() * longer {
            write_out(block, (turn, longer), dice, out);
        }
        at += block.len() + 1;
    }
}

fn fill(line: &str, turn: usize, dice: &mut Dice, out: &mut String) {
    let mut rest = line;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let close = rest[open..].find('}').map(|at| open + at);
        let place = close.map_or("", |close| &rest[open + 1..close]);
        match place.split_at(place.len().min(2)) {
            ("n", _) => out.push_str(&turn.to_string()),
            ("r", _) => out.push_str(&(dice.roll() % 1000).to_string()),
            ("x", _) => write!(out, "{:08x}", dice.roll() as u32).unwrap(),
            ("b", _) => {
                let signs = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
                out.extend((0..64).map(|_| char::from(signs[dice.roll() as usize % 64])));
            }
            ("d:", from) => {
                let from: usize = from.parse().unwrap();
                out.push_str(&from.saturating_sub(turn).to_string());
            }
            ("w:", words) => {
                let words: Vec<_> = words.split('|').collect();
                out.push_str(words[dice.roll() as usize % words.len()]);
            }
            ("c:", words) => {
                let words: Vec<_> = words.split('|').collect();
                out.push_str(words[turn % words.len()]);
            }
            _ => {
                out.push('{');
                rest = &rest[open + 1..];
                continue;
            }
        }
        rest = &rest[close.unwrap() + 1..];
    }
    out.push_str(rest);
}

/// Where it is noticed, in the pieces that a model's tokens make.
fn noticed(text: &str) -> Option<(usize, DetectedLoop)> {
    let mut reader = Repetition::default();
    let mut at = 0;
    while at < text.len() {
        let to = text.ceil_char_boundary(at + 4);
        if let Some(circle) = reader.read(&text[at..to]) {
            return Some((to, circle));
        }
        at = to;
    }
    None
}

#[test]
fn no_lawful_text_is_stopped_and_hardly_a_circle_is_missed() {
    let (lawful, circles) = (cases("lawful", 1), cases("circles", 4));
    let stopped: Vec<_> =
        lawful.iter().filter_map(|case| Some((&case.name, noticed(&case.text)?.0))).collect();
    let missed: Vec<_> = circles
        .iter()
        .filter(|case| noticed(&case.text).is_none())
        .map(|case| &case.name)
        .collect();
    println!(
        "{} lawful texts: {} false stops {stopped:?}; {} circles: {} missed {missed:?}",
        lawful.len(),
        stopped.len(),
        circles.len(),
        missed.len(),
    );
    assert!(lawful.len() + circles.len() >= 120 && circles.len() >= 60);
    assert!(stopped.is_empty(), "{stopped:?}");
    assert!(missed.len() * 20 <= circles.len(), "{missed:?}");
}

#[test]
fn what_is_worth_keeping_stands_before_the_circle() {
    for case in cases("circles", 4) {
        if let Some((at, circle)) = noticed(&case.text) {
            assert!(circle.from < at, "{}: {} of {at}", case.name, circle.from);
        }
    }
}
