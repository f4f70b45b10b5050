//! Generates shell completions and manual pages from the command line's own definition.

use std::io;
use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::Cli;
use crate::error::{CliError, Outcome, Result};
use crate::say;

/// Prints the completions for a shell.
pub fn completions(shell: Shell) -> Result<Outcome> {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "natter-cli", &mut bytes);
    print(&bytes)
}

/// Prints the manual page, or writes it and one page for each command to a folder.
pub fn man(folder: Option<&Path>) -> Result<Outcome> {
    if let Some(folder) = folder {
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
        written.map_err(|error| CliError::Said(say::not_written(folder, &error.to_string())))?;
        return Ok(Outcome::Done);
    }
    let mut bytes = Vec::new();
    // Writing into memory cannot fail.
    let _ = Man::new(Cli::command()).render(&mut bytes);
    print(&bytes)
}

fn print(bytes: &[u8]) -> Result<Outcome> {
    match io::Write::write_all(&mut io::stdout().lock(), bytes) {
        Ok(()) => Ok(Outcome::Done),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(CliError::BrokenPipe),
        Err(error) => Err(CliError::Said(say::output_failed(&error.to_string()))),
    }
}
