//! Starts virtual screens: an X server, or a Wayland compositor.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use super::desktop::command;
use super::input::Input;

/// The compositor refuses to run as root, so root runs it as nobody.
const NOBODY: u32 = 65534;

/// How long the permanent keyboard stays, in milliseconds: longer than any test.
const STAYS: &str = "100000000";

/// A virtual screen.
#[derive(Debug)]
pub struct Screen {
    server: Child,
    /// The variables by which programs find it.
    variables: Vec<(&'static str, String)>,
    input: Input,
    /// The compositor's own folder, which its user must be able to enter.
    _folder: Option<TempDir>,
}

impl Screen {
    /// Starts an X server. It picks a free number itself and reports it, so that two never
    /// conflict.
    pub fn x11(folder: &Path, size: (u32, u32)) -> Result<Self> {
        let mut server = command("Xvfb", folder)
            .args(["-displayfd", "1", "-nolisten", "tcp", "-noreset", "-screen", "0"])
            .arg(format!("{}x{}x24", size.0, size.1))
            .stdout(Stdio::piped())
            .spawn()
            .context("Xvfb could not be started")?;
        let number = first_line(&mut server)?;
        ensure!(!number.is_empty(), "Xvfb did not start");
        let display = format!(":{number}");
        let input = Input::x11(&display);
        let variables = vec![("DISPLAY", display), ("GDK_BACKEND", "x11".to_owned())];
        Ok(Self { server, variables, input, _folder: None })
    }

    /// Starts sway without a screen or devices. A window fills the whole screen.
    pub fn wayland(folder: &Path, size: (u32, u32)) -> Result<Self> {
        let own = tempfile::Builder::new().prefix("natter-sway.").tempdir()?;
        let (config, runtime) = (own.path().join("config"), own.path().join("runtime"));
        fs::create_dir(&runtime)?;
        fs::write(&config, settings(size))?;
        let mut program = if rustix::process::geteuid().is_root() {
            fs::set_permissions(own.path(), Permissions::from_mode(0o755))?;
            chown(&runtime, Some(NOBODY), Some(NOBODY))?;
            let mut program = command("setpriv", folder);
            let ids = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
            program.args(ids).args(["--clear-groups", "sway"]);
            program
        } else {
            command("sway", folder)
        };
        fs::set_permissions(&runtime, Permissions::from_mode(0o700))?;
        let mut server = program
            .arg("--config")
            .arg(&config)
            .current_dir(own.path())
            .env("HOME", own.path())
            .env("XDG_RUNTIME_DIR", &runtime)
            .env("WLR_BACKENDS", "headless")
            .env("WLR_LIBINPUT_NO_DEVICES", "1")
            .env("WLR_RENDERER", "pixman")
            .stdout(Stdio::piped())
            .spawn()
            .context("sway could not be started")?;
        let name = first_line(&mut server)?;
        ensure!(!name.is_empty(), "sway did not start");
        let socket = runtime.join(name).display().to_string();
        keep_keyboard(command("wtype", folder), &socket)?;
        let input = Input::wayland(&socket);
        let variables = vec![("WAYLAND_DISPLAY", socket), ("GDK_BACKEND", "wayland".to_owned())];
        Ok(Self { server, variables, input, _folder: Some(own) })
    }

    /// The variables by which programs find it.
    pub fn variables(&self) -> &[(&'static str, String)] {
        &self.variables
    }

    /// Its keyboard, mouse and screenshots.
    pub fn input(&self) -> &Input {
        &self.input
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The compositor's settings: it reports its socket once it listens.
fn settings((width, height): (u32, u32)) -> String {
    format!(
        "output HEADLESS-1 mode {width}x{height}\ndefault_border none\nxwayland disable\n\
         exec echo \"$WAYLAND_DISPLAY\"\n"
    )
}

/// Keeps a keyboard connected all the time. Each text is typed by a new keyboard, and if that was
/// the only one, a program would miss its first key.
fn keep_keyboard(mut wtype: Command, socket: &str) -> Result<()> {
    let started = wtype.env("WAYLAND_DISPLAY", socket).args(["-s", STAYS]).spawn();
    started.map(drop).context("wtype could not be started")
}

/// The first line of a program's output; none if it ends before.
fn first_line(program: &mut Child) -> Result<String> {
    let mut line = String::new();
    if let Some(out) = program.stdout.take() {
        BufReader::new(out).read_line(&mut line)?;
    }
    Ok(line.trim().to_owned())
}
