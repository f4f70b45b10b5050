//! Starts a private desktop: screen, buses, empty folders.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use atspi::AccessibilityConnection;
use tempfile::TempDir;

use super::bus::Bus;
use super::input::Input;
use super::screen::Screen;
use super::{App, processes};

/// A desktop. Dropping it ends everything that runs on it and removes its folders.
#[derive(Debug)]
pub struct Desktop {
    pub(super) accessibility: AccessibilityConnection,
    bus: Bus,
    screen: Screen,
    folder: TempDir,
}

/// How to start a program.
#[derive(Clone, Debug)]
pub struct Launch {
    program: PathBuf,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
}

impl Launch {
    /// Starts this program.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), arguments: Vec::new(), variables: Vec::new() }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }
}

/// The user's folders in a desktop's folder: variable and subfolder.
const FOLDERS: [(&str, &str); 6] = [
    ("HOME", "home"),
    ("XDG_CONFIG_HOME", "config"),
    ("XDG_DATA_HOME", "data"),
    ("XDG_STATE_HOME", "state"),
    ("XDG_CACHE_HOME", "cache"),
    ("XDG_RUNTIME_DIR", "runtime"),
];

impl Desktop {
    /// Starts a desktop of 1280 × 900 pixels.
    pub async fn start() -> Result<Self> {
        Self::start_sized(1280, 900).await
    }

    /// Starts a desktop of this size.
    pub async fn start_sized(width: u32, height: u32) -> Result<Self> {
        Self::with_screen(|folder| Screen::x11(folder, (width, height))).await
    }

    /// Starts a desktop of 1280 × 900 pixels under Wayland: with a keyboard and screenshots, but
    /// without a mouse.
    pub async fn start_wayland() -> Result<Self> {
        Self::with_screen(|folder| Screen::wayland(folder, (1280, 900))).await
    }

    async fn with_screen(start: impl FnOnce(&Path) -> Result<Screen>) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("natter-desktop.").tempdir()?;
        for (_, name) in FOLDERS {
            // A runtime folder that others may read is refused.
            fs::DirBuilder::new().mode(0o700).create(folder.path().join(name))?;
        }
        let screen = start(folder.path())?;
        let bus = Bus::start(folder.path(), &screen)?;
        let accessibility = bus.accessibility().await?;
        Ok(Self { accessibility, bus, screen, folder })
    }

    /// `XDG_CONFIG_HOME`.
    pub fn config(&self) -> PathBuf {
        self.folder.path().join("config")
    }

    /// `XDG_DATA_HOME`.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// `XDG_STATE_HOME`.
    pub fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// A folder for the test's own files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A command that runs on this desktop.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = command(program, self.folder.path());
        command
            .envs(self.screen.variables().iter().cloned())
            .env("DBUS_SESSION_BUS_ADDRESS", &self.bus.address);
        command
    }

    /// Starts a program and waits for its first window.
    pub async fn launch(&self, launch: Launch) -> Result<App> {
        let child = self.spawn(&launch)?;
        App::attach(self, child, self.log()).await
    }

    /// Starts a program without waiting for it: for programs without accessibility.
    pub fn spawn(&self, launch: &Launch) -> Result<Child> {
        let out = File::options().append(true).create(true).open(self.log())?;
        self.command(&launch.program)
            .args(&launch.arguments)
            .envs(launch.variables.iter().cloned())
            .stdout(out.try_clone()?)
            .stderr(out)
            .spawn()
            .with_context(|| format!("{} could not be started", launch.program.display()))
    }

    /// Where the session bus listens.
    pub fn bus_address(&self) -> &str {
        &self.bus.address
    }

    /// The keyboard, the mouse and screenshots.
    pub fn input(&self) -> &Input {
        self.screen.input()
    }

    /// What programs write to their standard output and error.
    fn log(&self) -> PathBuf {
        self.folder.path().join("program.log")
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        processes::end(self.folder.path());
    }
}

/// A command with a desktop's folders and mark, and nothing from the user's own session.
pub(super) fn command(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    for (variable, name) in FOLDERS {
        command.env(variable, folder.join(name));
    }
    for variable in [
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "DBUS_SESSION_BUS_ADDRESS",
        "AT_SPI_BUS_ADDRESS",
        "SESSION_MANAGER",
        "XAUTHORITY",
        "GTK_A11Y",
        "GTK_THEME",
        "LANGUAGE",
    ] {
        command.env_remove(variable);
    }
    command
        .env(processes::MARK, folder)
        .env("GSK_RENDERER", "cairo")
        .env("LIBGL_ALWAYS_SOFTWARE", "1")
        .env("GSETTINGS_BACKEND", "memory")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn dropping_a_desktop_ends_all_that_ran_on_it() {
        let desktop = Desktop::start().await.expect("a desktop");
        let folder = desktop.folder().to_owned();
        let sleeper = desktop.command("sleep").arg("1000").spawn().expect("a program");
        // The screen, the bus, what the bus started for accessibility, and the program.
        assert!(processes::marked(&folder).len() >= 4, "{:?}", processes::marked(&folder));

        drop(desktop);

        assert_eq!(processes::marked(&folder), []);
        assert!(!folder.exists());
        drop(sleeper);
    }

    #[tokio::test]
    async fn two_desktops_do_not_meet() {
        let (one, other) = tokio::join!(Desktop::start(), Desktop::start());
        let (one, other) = (one.expect("a desktop"), other.expect("another"));
        assert_ne!(one.screen.variables(), other.screen.variables());
        assert_ne!(one.bus.address, other.bus.address);
    }
}
