//! Measures what a journal costs: a checkpoint of an unchanged project of 10,000 files, the first one, an edit, and
//! the diff of a change of 5,000 lines.
//!
//! `cargo run --release -p chat-journal --example journal-cost`

use std::fmt::Write;
use std::time::{Duration, Instant};

use chat_journal::diff::Diff;
use chat_journal::{Change, ChangeSource, Journal, Limits, Node, Origin};
use chat_permission::path::{PathEnvironment, Project};

const FILES: usize = 10_000;
const ROUNDS: usize = 20;
const LINES: usize = 5_000;

/// The middle of several runs.
fn median(rounds: usize, mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let begin = Instant::now();
            run();
            begin.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[rounds / 2]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (folder, state) = (tempfile::tempdir()?, tempfile::tempdir()?);
    for number in 0..FILES {
        let path = folder.path().join(format!("d{}/e{}", number % 100, number % 10));
        std::fs::create_dir_all(&path)?;
        std::fs::write(path.join(format!("f{number}")), format!("{number}\n").repeat(100))?;
    }
    std::fs::write(folder.path().join(".gitignore"), "target/\n*.o\n")?;
    let project = Project::open(folder.path(), &PathEnvironment::default())?;
    let open = || Journal::open(&project, None, state.path(), Limits::default());
    let journal = open()?;
    let begin = Instant::now();
    journal.checkpoint("s", "first")?;
    println!("first checkpoint of {FILES} files: {:.1?}", begin.elapsed());
    // What was written just before it was read is read a second time.
    journal.checkpoint("s", "second")?;

    let mut count = 0;
    let mut failed = None;
    let unchanged = median(ROUNDS, || {
        count += 1;
        failed = journal.checkpoint("s", &count.to_string()).err();
    });
    println!("unchanged: {unchanged:.1?}");
    let reopened = median(ROUNDS, || {
        count += 1;
        let made = open().and_then(|journal| journal.checkpoint("s", &count.to_string()));
        failed = made.err();
    });
    println!("unchanged, journal opened anew: {reopened:.1?}");
    let path = std::path::Path::new("d1/e1/f1");
    let edit = median(ROUNDS, || {
        count += 1;
        let node = |text: String| Some(Node::file(text.into_bytes()));
        let (before, after) = (node(format!("{}\n", count - 1)), node(format!("{count}\n")));
        let change = Change { path: path.into(), from: None, before, after };
        let origin = Origin { session: "s".to_owned(), ..Origin::default() };
        failed = journal.record(&origin, ChangeSource::Tool, &[change]).err();
    });
    println!("an edit recorded: {edit:.1?}");
    let review = median(ROUNDS, || failed = journal.changes(&["s"]).err());
    println!("its review: {review:.1?}");
    if let Some(error) = failed {
        return Err(error.into());
    }

    for (name, every, same) in
        [("each line", 1, true), ("each second line", 2, true), ("all other", 1, false)]
    {
        let (mut old, mut new) = (String::new(), String::new());
        for line in 0..LINES {
            writeln!(old, "    let value_{line} = compute(first, {line});")?;
            match (line % every == 0, same) {
                (true, true) => writeln!(new, "    let value_{line} = compute(second, {line});")?,
                (true, false) => writeln!(new, "{}", line * 7919 % 100)?,
                (false, _) => writeln!(new, "    let value_{line} = compute(first, {line});")?,
            }
        }
        let diff = median(5, || drop(Diff::new(old.as_bytes(), new.as_bytes())));
        println!("diff of {LINES} lines, {name}: {diff:.1?}");
    }
    // Few kinds of lines in any order: what a search for the shortest difference likes least.
    let line = |at: usize, salt: usize| {
        format!("{}\n", ((at * 2_654_435_761) ^ (at >> 3) ^ (salt * at)) % 40)
    };
    let text = |salt| (0..LINES).map(|at| line(at, salt)).collect::<Vec<_>>().concat();
    let (old, new) = (text(1), text(77));
    let diff = median(5, || drop(Diff::new(old.as_bytes(), new.as_bytes())));
    println!("diff of {LINES} lines, a muddle: {diff:.1?}");
    Ok(())
}
