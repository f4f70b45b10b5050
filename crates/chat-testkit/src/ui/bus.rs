//! Starts a private session bus, which starts the accessibility bus on request.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use anyhow::{Context, Result, ensure};
use atspi::AccessibilityConnection;
use atspi::proxy::bus::BusProxy;
use atspi::zbus::connection::Builder;

use super::desktop::command;
use super::screen::Screen;

/// A message bus.
#[derive(Debug)]
pub struct Bus {
    daemon: Child,
    /// Its address, as in `DBUS_SESSION_BUS_ADDRESS`.
    pub address: String,
}

impl Bus {
    /// Starts it. Services that it starts use this screen and this bus.
    pub fn start(folder: &Path, screen: &Screen) -> Result<Self> {
        let mut daemon = command("dbus-daemon", folder)
            .args(["--session", "--nofork", "--nopidfile", "--print-address=1"])
            .envs(screen.variables().iter().cloned())
            .stdout(Stdio::piped())
            .spawn()
            .context("dbus-daemon could not be started")?;
        let mut address = String::new();
        if let Some(out) = daemon.stdout.take() {
            BufReader::new(out).read_line(&mut address)?;
        }
        ensure!(!address.trim().is_empty(), "dbus-daemon did not start");
        Ok(Self { daemon, address: address.trim().to_owned() })
    }

    /// Connects to the accessibility bus.
    pub async fn accessibility(&self) -> Result<AccessibilityConnection> {
        let session = Builder::address(self.address.as_str())?.build().await?;
        let address = BusProxy::new(&session)
            .await?
            .get_address()
            .await
            .context("no accessibility bus: is at-spi2-core installed?")?;
        Ok(AccessibilityConnection::from_address(address.as_str().try_into()?).await?)
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}
