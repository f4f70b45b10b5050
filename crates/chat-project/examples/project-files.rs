//! What a project costs: `cargo run --release -p chat-project --example project-files [FOLDER]`. Without a folder it
//! makes one of 100,000 files.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use chat_permission::path::{PathEnvironment, Project};
use chat_project::tree::walk;
use chat_project::{PreferredFiles, git, search};

fn main() -> Result<(), Box<dyn Error>> {
    let made = tempfile::tempdir()?;
    let given = std::env::args_os().nth(1);
    if given.is_none() {
        make(made.path())?;
    }
    let folder = given.as_deref().map_or(made.path(), Path::new);
    let project = Project::open(folder, &PathEnvironment::default())?;
    let given_up = AtomicBool::new(false);
    let before = resident();
    for time in ["first", "again"] {
        let begun = Instant::now();
        let tree = walk(&project, &given_up, |_| {})?.ok_or("given up")?;
        println!("{} files, {} folders", tree.root().files(), tree.root().folders());
        println!("  walked, {time}: {:?}", begun.elapsed());
        let begun = Instant::now();
        tree.paths();
        println!("  paths: {:?}, {} KiB in all", begun.elapsed(), tree.memory() / 1024);
        println!("  the process: {} KiB more", resident().saturating_sub(before));
        for query in ["s", "main", "modfile7", "src module 47 file_1", "zzzq"] {
            let begun = Instant::now();
            let found = search(tree.paths(), query, &PreferredFiles::default(), 100, &given_up);
            let took = begun.elapsed();
            println!(
                "  search “{query}”: {took:?}, {} shown",
                found.map_or(0, |found| found.len())
            );
        }
    }
    if let Some(repository) = git::find(&project)? {
        let begun = Instant::now();
        let state = repository.state(&given_up)?;
        println!("  git: {:?}, {} files changed", begun.elapsed(), state.files.len());
    }
    Ok(())
}

fn make(folder: &Path) -> std::io::Result<()> {
    fs::write(folder.join(".gitignore"), "*.o\n/build/\n!keep.o\n")?;
    for part in 0..5_000 {
        let path = folder.join(format!("crates/part-{}/src/module_{part}", part % 70));
        fs::create_dir_all(&path)?;
        for file in 0..20 {
            fs::File::create(path.join(format!("source_file_{file}.rs")))?;
        }
    }
    Ok(())
}

/// KiB of memory that this process has by now.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
