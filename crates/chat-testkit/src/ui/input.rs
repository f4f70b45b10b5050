//! Simulates keyboard and mouse, and takes screenshots.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tokio::process::Command;

/// How long a window may take to accept dropped files.
const DROPPING: Duration = Duration::from_secs(20);

/// The direction of a mouse wheel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wheel {
    /// Away from the user.
    Up,
    /// Towards the user.
    Down,
    /// Towards the user while Shift is held down.
    Right,
}

/// The keyboard and the mouse of a screen. Under Wayland there is no mouse.
#[derive(Clone, Debug)]
pub struct Input {
    system: System,
    /// The screen's address, as in `DISPLAY` or `WAYLAND_DISPLAY`.
    display: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum System {
    X11,
    Wayland,
}

impl Input {
    pub(super) fn x11(display: &str) -> Self {
        Self { system: System::X11, display: display.to_owned() }
    }

    pub(super) fn wayland(display: &str) -> Self {
        Self { system: System::Wayland, display: display.to_owned() }
    }

    /// Presses keys, given as `Return` or `ctrl+shift+c`.
    pub async fn keys(&self, keys: &[&str]) -> Result<()> {
        if self.system == System::Wayland {
            return self.run("wtype", &presses(keys)).await.map(drop);
        }
        self.focus().await?;
        self.xdotool(&[&["key", "--clearmodifiers"], keys].concat()).await.map(drop)
    }

    /// Presses keys without a pause between them.
    pub async fn keys_at_once(&self, keys: &[&str]) -> Result<()> {
        self.focus().await?;
        self.xdotool(&[&["key", "--clearmodifiers", "--delay", "0"], keys].concat()).await.map(drop)
    }

    /// Types a text.
    pub async fn type_text(&self, text: &str) -> Result<()> {
        if self.system == System::Wayland {
            return self.run("wtype", &["--", text]).await.map(drop);
        }
        self.focus().await?;
        // If a key follows too quickly after the keyboard map changes for a rare letter, it is
        // lost.
        let pace = if text.is_ascii() { "1" } else { "12" };
        self.xdotool(&["type", "--clearmodifiers", "--delay", pace, "--", text]).await.map(drop)
    }

    /// Clicks at a position of the topmost window.
    pub async fn click(&self, x: i32, y: i32) -> Result<()> {
        let window = self.focus().await?;
        let (beside, x, y) = ((x - 2).to_string(), x.to_string(), y.to_string());
        let go = ["mousemove", "--window", &window];
        // A real pointer moves over what it clicks. GTK loses a click if the pointer jumps there
        // from a list that is closing.
        let all = [&go[..], &[&beside, &y], &go[..], &[&x, &y, "click", "1"]].concat();
        self.xdotool(&all).await.map(drop)
    }

    /// Drags with the left button between positions of the topmost window.
    pub async fn drag(&self, from: (i32, i32), to: (i32, i32)) -> Result<()> {
        let window = self.focus().await?;
        let mut all: Vec<String> = Vec::new();
        let mut go = |x: i32, y: i32, then: &[&str]| {
            all.extend(["mousemove", "--window", &window].map(str::to_owned));
            all.extend([x.to_string(), y.to_string()]);
            all.extend(then.iter().map(|word| (*word).to_owned()));
        };
        go(from.0, from.1, &["mousedown", "1"]);
        // A drag begins once the pointer moved.
        go(from.0.midpoint(to.0), from.1.midpoint(to.1), &["sleep", "0.02"]);
        go(to.0, to.1, &["sleep", "0.02", "mouseup", "1"]);
        self.xdotool(&all.iter().map(String::as_str).collect::<Vec<_>>()).await.map(drop)
    }

    /// Clicks the middle button at a position of the topmost window.
    pub async fn middle_click(&self, x: i32, y: i32) -> Result<()> {
        let window = self.focus().await?;
        let (x, y) = (x.to_string(), y.to_string());
        self.xdotool(&["mousemove", "--window", &window, &x, &y, "click", "2"]).await.map(drop)
    }

    /// Turns the wheel by this many notches at a position of the topmost window.
    pub async fn wheel(&self, turn: Wheel, notches: u32, (x, y): (i32, i32)) -> Result<()> {
        let window = self.focus().await?;
        let (x, y, notches) = (x.to_string(), y.to_string(), notches.to_string());
        let (button, sideways) = match turn {
            Wheel::Up => ("4", false),
            Wheel::Down => ("5", false),
            Wheel::Right => ("5", true),
        };
        let click = ["click", "--repeat", &notches, "--delay", "20", button];
        let mut all = vec!["mousemove", "--window", &window, &x, &y];
        all.extend(sideways.then_some(["keydown", "shift"]).into_iter().flatten());
        all.extend(click);
        all.extend(sideways.then_some(["keyup", "shift"]).into_iter().flatten());
        self.xdotool(&all).await.map(drop)
    }

    /// Clicks the right button at a position of the topmost window.
    pub async fn right_click(&self, x: i32, y: i32) -> Result<()> {
        let window = self.focus().await?;
        let (x, y) = (x.to_string(), y.to_string());
        self.xdotool(&["mousemove", "--window", &window, &x, &y, "click", "3"]).await.map(drop)
    }

    /// Focuses the topmost window, as a window manager would, and returns its id.
    pub async fn focus(&self) -> Result<String> {
        let windows = self.xdotool(&["search", "--onlyvisible", "--name", ".+"]).await?;
        for window in windows.lines().rev() {
            if self.is_managed(window).await {
                // Waiting for a focus that is already there would never end.
                self.xdotool(&["windowfocus", window]).await?;
                return Ok(window.to_owned());
            }
        }
        bail!("there is no window")
    }

    /// The title of the topmost window.
    pub async fn title(&self) -> Result<String> {
        let window = self.focus().await?;
        Ok(self.xdotool(&["getwindowname", &window]).await?.trim_end().to_owned())
    }

    /// Whether a window manager would manage a window: a popup of another window is not managed,
    /// and neither is a window that has disappeared.
    async fn is_managed(&self, window: &str) -> bool {
        let told = self.run("xwininfo", &["-id", window]).await;
        told.is_ok_and(|told| told.contains("Override Redirect State: no"))
    }

    /// Drops files at a position of the topmost window, as a file manager does. Returns whether it
    /// accepted them.
    pub async fn drop_files(&self, files: &[&Path], x: i32, y: i32) -> Result<bool> {
        const DROP: &str = include_str!("drop.py");
        let window = self.focus().await?;
        let (x, y) = (x.to_string(), y.to_string());
        let uris: Vec<String> =
            files.iter().map(|file| format!("file://{}", file.display())).collect();
        let mut arguments = vec!["-c", DROP, &window, &x, &y];
        arguments.extend(uris.iter().map(String::as_str));
        let told = tokio::time::timeout(DROPPING, self.run("python3", &arguments)).await;
        Ok(told.context("the window never answered the drop")?? == "taken\n")
    }

    /// Resizes a window.
    pub async fn resize(&self, width: u32, height: u32) -> Result<()> {
        let window = self.focus().await?;
        let (width, height) = (width.to_string(), height.to_string());
        self.xdotool(&["windowsize", "--sync", &window, &width, &height]).await.map(drop)
    }

    /// Takes a screenshot of the whole screen.
    pub async fn picture(&self, file: &Path) -> Result<()> {
        let file = file.to_string_lossy();
        let taken = match self.system {
            System::X11 => self.run("import", &["-silent", "-window", "root", &file]).await,
            System::Wayland => self.run("grim", &[&file]).await,
        };
        taken.map(drop)
    }

    async fn xdotool(&self, arguments: &[&str]) -> Result<String> {
        ensure!(self.system == System::X11, "under Wayland there are only keys and pictures");
        self.run("xdotool", arguments).await
    }

    async fn run(&self, program: &str, arguments: &[&str]) -> Result<String> {
        let variable = match self.system {
            System::X11 => "DISPLAY",
            System::Wayland => "WAYLAND_DISPLAY",
        };
        let output = Command::new(program)
            .args(arguments)
            .env(variable, &self.display)
            // Letters are in UTF-8, whatever the tests were started in.
            .env("LC_ALL", "C.UTF-8")
            .kill_on_drop(true)
            .output()
            .await
            .with_context(|| format!("{program} could not be started"))?;
        ensure!(
            output.status.success(),
            "{program} {arguments:?} failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// The arguments that make wtype press keys: `ctrl+n` is `-M ctrl -k n -m ctrl`.
fn presses<'a>(keys: &[&'a str]) -> Vec<&'a str> {
    let mut all = Vec::new();
    for key in keys {
        let mut held: Vec<_> = key.split('+').collect();
        let last = held.pop().unwrap_or_default();
        all.extend(held.iter().flat_map(|held| ["-M", held]));
        all.extend(["-k", last]);
        all.extend(held.iter().rev().flat_map(|held| ["-m", held]));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_keys_are_let_go_in_turn() {
        let all =
            ["-k", "Return", "-M", "ctrl", "-M", "shift", "-k", "c", "-m", "shift", "-m", "ctrl"];
        assert_eq!(presses(&["Return", "ctrl+shift+c"]), all);
    }
}
