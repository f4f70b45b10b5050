//! A screen that nobody sees.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use anyhow::{Context, Result, ensure};

use super::desktop::command;

/// An X server on a display of its own.
#[derive(Debug)]
pub struct Screen {
    server: Child,
    /// Its name, as in `DISPLAY`.
    pub display: String,
}

impl Screen {
    /// Starts it. It picks a free number itself and says which, so that no two can meet.
    pub fn start(folder: &Path, size: (u32, u32)) -> Result<Self> {
        let mut server = command("Xvfb", folder)
            .args(["-displayfd", "1", "-nolisten", "tcp", "-noreset", "-screen", "0"])
            .arg(format!("{}x{}x24", size.0, size.1))
            .stdout(Stdio::piped())
            .spawn()
            .context("Xvfb could not be started")?;
        let mut number = String::new();
        if let Some(out) = server.stdout.take() {
            BufReader::new(out).read_line(&mut number)?;
        }
        ensure!(!number.trim().is_empty(), "Xvfb did not start");
        Ok(Self { server, display: format!(":{}", number.trim()) })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
