//! Generates edits of blocks of real code with every kind of imperfection.

use super::{Case, Right, read};

/// A block of a file, and what comes in its place.
struct Block {
    name: String,
    file: Vec<String>,
    from: usize,
    to: usize,
    new: Vec<String>,
}

fn blocks() -> Vec<Block> {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (mut all, mut file) = (Vec::<Block>::new(), String::new());
    for line in lines(&read("code/blocks.txt")) {
        if let Some(range) = line.strip_prefix("#@ ") {
            let (from, to) = range.split_once(' ').unwrap();
            let (from, to): (usize, usize) = (from.parse().unwrap(), to.parse().unwrap());
            let text = lines(&read(format!("code/{file}")));
            all.push(Block {
                name: format!("{file} {from}"),
                file: text,
                from: from - 1,
                to,
                new: Vec::new(),
            });
        } else if let Some(name) = line.strip_prefix("#: ") {
            name.clone_into(&mut file);
        } else {
            all.last_mut().unwrap().new.push(line);
        }
    }
    all
}

impl Block {
    fn old(&self) -> &[String] {
        &self.file[self.from..self.to]
    }

    /// The file with other lines in the block's place.
    fn with(&self, block: &[String]) -> Vec<String> {
        [&self.file[..self.from], block, &self.file[self.to..]].concat()
    }
}

type Lines = Vec<String>;

fn each(lines: &[String], change: impl Fn(&str) -> String) -> Lines {
    lines.iter().map(|line| change(line)).collect()
}

fn whole(lines: &[String], ending: &str) -> String {
    lines.iter().flat_map(|line| [line, ending]).collect()
}

/// Plain quotes for typographic ones.
pub fn plain(text: &str) -> String {
    text.replace(['“', '”', '„'], "\"").replace(['‘', '’'], "'")
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// Both texts without the indentation that all of their lines have.
fn dedent(old: &[String], new: &[String]) -> (Lines, Lines) {
    let filled = || old.iter().chain(new).filter(|line| !line.is_empty());
    let common = filled().map(|line| indent(line)).min().unwrap();
    let cut = |line: &str| line.get(common..).unwrap_or_default().to_owned();
    (each(old, cut), each(new, cut))
}

/// The indentation of lines written with other steps.
fn steps(lines: &[String], from: &str, to: &str) -> Lines {
    each(lines, |line| {
        let (blank, rest) = line.split_at(indent(line));
        to.repeat(blank.len() / from.len()) + &blank[blank.len() / from.len() * from.len()..] + rest
    })
}

fn step(name: &str) -> &'static str {
    match name.split('.').nth(1).unwrap().split(' ').next().unwrap() {
        "py" | "rs" => "    ",
        "go" => "\t",
        "c" => "        ",
        _ => "  ",
    }
}

pub fn cases() -> Vec<Case> {
    blocks().iter().flat_map(|block| clear(block).into_iter().chain(unclear(block))).collect()
}

/// The ways in which the block is meant, and no other.
fn clear(block: &Block) -> Vec<Case> {
    let (old, new, file) = (block.old().to_vec(), block.new.clone(), block.file.clone());
    let result = block.with(&new);
    let step = step(&block.name);
    let (flat_old, flat_new) = dedent(&old, &new);
    let deeper = |lines: &[String]| each(lines, |line| format!("{step}{line}"));
    let blanks = |lines: &[String]| each(lines, |line| format!("{line}  "));
    let quoted = |lines: &[String]| each(lines, plain);
    let other = if step == "\t" { "    " } else { "\t" };
    let narrow = if step == "  " { "    " } else { "  " };
    let first_bare = |lines: &[String]| {
        let (first, rest) = lines.split_first().unwrap();
        [&[first.trim_start().to_owned()], rest].concat()
    };
    let mixed = |lines: &[String]| {
        let endings = ["\r\n", "\n"].into_iter().cycle();
        lines.iter().zip(endings).flat_map(|(line, ending)| [&**line, ending]).collect::<String>()
    };
    let blanked = block.with(&blanks(&old));
    let unix = |lines: &[String]| whole(lines, "\n");
    let plain_old = quoted(&old);
    let cases: Vec<(&str, String, Lines, Lines, Right)> = vec![
        ("exact", unix(&file), old.clone(), new.clone(), Right::Text(unix(&result))),
        (
            "Windows",
            whole(&file, "\r\n"),
            old.clone(),
            new.clone(),
            Right::Text(whole(&result, "\r\n")),
        ),
        (
            "blanks in the file",
            unix(&blanked),
            old.clone(),
            new.clone(),
            Right::Nearly(unix(&result)),
        ),
        ("blanks given", unix(&file), blanks(&old), new.clone(), Right::Text(unix(&result))),
        (
            "plain quotes",
            unix(&file),
            plain_old.clone(),
            quoted(&new),
            Right::Nearly(unix(&result)),
        ),
        ("dedented", unix(&file), flat_old.clone(), flat_new.clone(), Right::Text(unix(&result))),
        ("deeper", unix(&file), deeper(&old), deeper(&new), Right::Text(unix(&result))),
        (
            "other steps",
            unix(&file),
            steps(&old, step, other),
            steps(&new, step, other),
            Right::Text(unix(&result)),
        ),
        (
            "narrow steps",
            unix(&file),
            steps(&old, step, narrow),
            steps(&new, step, narrow),
            Right::Text(unix(&result)),
        ),
        (
            "flat other steps",
            unix(&file),
            steps(&flat_old, step, other),
            steps(&flat_new, step, other),
            Right::Text(unix(&result)),
        ),
        (
            "first line bare",
            unix(&file),
            first_bare(&old),
            first_bare(&new),
            Right::Text(unix(&result)),
        ),
        (
            "first line bare, others deeper",
            unix(&file),
            first_bare(&deeper(&old)),
            first_bare(&deeper(&new)),
            Right::Text(unix(&result)),
        ),
        (
            "dedented, Windows",
            whole(&file, "\r\n"),
            flat_old.clone(),
            flat_new.clone(),
            Right::Text(whole(&result, "\r\n")),
        ),
        (
            "dedented, plain quotes, blanks",
            unix(&blanked),
            blanks(&quoted(&flat_old)),
            quoted(&flat_new),
            Right::Nearly(unix(&result)),
        ),
        (
            "with the newlines round it",
            unix(&file),
            [vec![String::new()], flat_old.clone(), vec![String::new()]].concat(),
            [vec![String::new()], flat_new.clone(), vec![String::new()]].concat(),
            Right::Text(unix(&result)),
        ),
        (
            "exact, mixed endings",
            mixed(&file),
            old.clone(),
            old[..1].to_vec(),
            Right::Text(
                mixed(&file[..=block.from]).trim_end_matches(['\r', '\n']).to_owned()
                    + &mixed_tail(&mixed(&file), block),
            ),
        ),
    ];
    let made = cases.into_iter().map(|(name, file, old, new, right)| Case {
        name: format!("{}, {name}", block.name),
        file,
        old: old.join("\n"),
        new: new.join("\n"),
        right,
    });
    // A way that changes nothing here would only be counted.
    let exact = old.join("\n");
    made.filter(|case| {
        case.old != exact
            || ["exact", "Windows", "blanks in the file", "mixed endings"]
                .iter()
                .any(|name| case.name.ends_with(name))
    })
    .filter(|case| case.old != case.new)
    .collect()
}

/// What follows the last line of a block, with its ending.
fn mixed_tail(file: &str, block: &Block) -> String {
    let lines: Vec<&str> = file.split_inclusive('\n').collect();
    let last = lines[block.to - 1];
    let ending = &last[last.trim_end_matches(['\r', '\n']).len()..];
    ending.to_owned() + &lines[block.to..].concat()
}

/// The ways in which it is not clear, or another text is meant.
fn unclear(block: &Block) -> Vec<Case> {
    let (old, new, file) = (block.old().to_vec(), block.new.clone(), block.file.clone());
    let step = step(&block.name);
    let (flat_old, flat_new) = dedent(&old, &new);
    let deeper = |lines: &[String], by: &str| each(lines, |line| format!("{by}{line}"));
    let twice = [file.clone(), file.clone()].concat();
    let two_depths = [file.clone(), deeper(&old, &step.repeat(3))].concat();
    let mut missing = old.clone();
    missing.remove(old.len() / 2);
    let mut word = old.clone();
    let last = word.last_mut().unwrap();
    *last = format!("{} other", last.trim_end());
    let bare = each(&old, |line| line.trim_start().to_owned());
    let has_depths = old.iter().any(|line| indent(line) != indent(&old[0]));
    let curly = |lines: &[String]| each(lines, |line| line.replace('"', "”").replace('\'', "’"));
    let two_ways = [block.with(&curly(&old)), deeper(&plain_lines(&old), step)].concat();
    let has_quotes = curly(&old) != plain_lines(&old);
    let mut cases: Vec<(&str, Lines, Lines, Lines)> = vec![
        ("twice", twice.clone(), old.clone(), new.clone()),
        ("twice, with blanks", twice, each(&old, |line| format!("{line} ")), new.clone()),
        (
            "two depths",
            two_depths,
            deeper(&flat_old, &step.repeat(9)),
            deeper(&flat_new, &step.repeat(9)),
        ),
        ("another word", file.clone(), word, new.clone()),
    ];
    if old.len() > 2 {
        cases.push(("a line is missing", file.clone(), missing, new.clone()));
    }
    if has_depths {
        cases.push((
            "all indentation lost",
            file,
            bare,
            each(&new, |line| line.trim_start().to_owned()),
        ));
    }
    if has_quotes {
        cases.push((
            "other quotes here, another depth there",
            two_ways,
            plain_lines(&old),
            plain_lines(&new),
        ));
    }
    let made = cases.into_iter().map(|(name, file, old, new)| Case {
        name: format!("{}, {name}", block.name),
        file: whole(&file, "\n"),
        old: old.join("\n"),
        new: new.join("\n"),
        right: Right::Refused,
    });
    made.collect()
}

fn plain_lines(lines: &[String]) -> Lines {
    each(lines, plain)
}
