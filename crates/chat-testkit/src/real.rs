//! Runs a real llama.cpp server with a small model, as a child process that ends with its handle.
//!
//! `scripts/test` downloads both (`scripts/lib/real-model`) and passes their paths in two
//! environment variables. If these are missing, [`RealServer::start`] returns none, but fails with
//! `CI=true`.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::fetched::fetched;

/// The variable with the path of a Python that has `xllamacpp`.
pub const PYTHON: &str = "NATTER_TEST_PYTHON";
/// The variable with the path of the model's GGUF file.
pub const MODEL: &str = "NATTER_TEST_MODEL";

/// The context window that it is started with, in tokens.
pub const WINDOW: u32 = 4_096;

/// A running server. Dropping it ends it.
#[derive(Debug)]
pub struct RealServer {
    child: Child,
    // Closing it tells the server to end, even if this process is killed.
    _stdin: Option<ChildStdin>,
    port: u16,
}

impl RealServer {
    /// Starts a server and waits until the model is loaded, which takes about a second. None if
    /// server and model are missing and not required; says so on standard error.
    ///
    /// # Panics
    ///
    /// If it cannot be started, or is missing with `CI=true`.
    pub fn start() -> Option<Self> {
        let [python, model] = fetched("real model", [PYTHON, MODEL])?;
        let mut child = Command::new(python)
            .args(["-c", include_str!("real.py")])
            .arg(model)
            .arg(WINDOW.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the real server starts");
        let stdin = child.stdin.take();
        let mut stderr = child.stderr.take().expect("a pipe was asked for");
        // Its log is long: without a reader it would block.
        let log = std::thread::spawn(move || {
            let mut log = Vec::new();
            let _ = stderr.read_to_end(&mut log);
            String::from_utf8_lossy(&log).into_owned()
        });
        let mut line = String::new();
        let stdout = child.stdout.take().expect("a pipe was asked for");
        let read = BufReader::new(stdout).read_line(&mut line);
        let Ok(port) = line.trim().parse() else {
            let _ = child.kill();
            let _ = child.wait();
            panic!("the real server said {line:?} ({read:?}) and:\n{}", log.join().unwrap());
        };
        Some(Self { child, _stdin: stdin, port })
    }

    /// Its address, as a connection wants it.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }
}

impl Drop for RealServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
