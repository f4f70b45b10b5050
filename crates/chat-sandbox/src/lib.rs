//! Runs commands in a sandbox: with their own view of files, no network unless granted, and
//! resource limits. Keeps their output on disk, returns its head and tail, and leaves no process
//! behind.
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use chat_sandbox::{Command, Keep, Preference, Sandbox, Spool};
//!
//! let sandbox = Sandbox::probe(Preference::Best).await;
//! let spool = Spool::create("/tmp/output".as_ref(), Keep::default())?;
//! let running = sandbox.spawn(Command::new("cargo test", "/home/ann/project"), spool).await?;
//! let exit = running.wait().await;
//! println!("{}{:?} after {:?}", running.spool().excerpt(), exit.ended, exit.took);
//! # Ok(())
//! # }
//! ```
//!
//! A program that is talked to, such as an MCP server, gets pipes instead:
//! [`Sandbox::spawn_program`].

mod at_exit;
mod bubblewrap;
mod command;
mod descriptors;
mod environment;
mod error;
mod git;
mod landlock;
mod launch;
mod limits;
mod mount_watch;
mod output;
mod probe;
mod processes;
mod program;
mod running;
mod sandbox;
mod seccomp;
mod shell;
mod sink;
mod spawner;
mod start;
mod supervise;
mod view;
mod wake;

pub use command::{Command, GitAccess, Judge, Limits, Secrets, TIME_LIMIT};
pub use error::Error;
pub use git::{QuarantineReason, QuarantinedFile};
pub use output::{Chunk, Decoder, Excerpt, Follow, Keep, Part, Span, Spool, Stream};
pub use probe::UnavailableReason;
pub use processes::end_orphans;
pub use program::{
    FolderAccess, GrantedFolder, Pipes, Program, ProgramStdin, RunningProgram, StandardError,
};
pub use running::{Ended, Exit, Limit, Running};
pub use sandbox::{Enforcement, Gap, Preference, Sandbox};
pub use view::{clear_left_over, remove_program_files};
