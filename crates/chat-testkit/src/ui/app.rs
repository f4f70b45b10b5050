//! Drives a program with windows.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use atspi::ObjectRefOwned;
use atspi::proxy::accessible::ObjectRefExt;
use rustix::process::{Pid, Signal, kill_process};

use super::input::Input;
use super::tree::{self, Tree};
use super::{By, Desktop, Widget, until};

/// GTK's own warnings, which are not caused by the program.
const KNOWN: [&str; 1] = [
    // GTK 4.8, now and then: the pointer leaves a popover that is being closed.
    "gtk_widget_compute_point: assertion 'GTK_IS_WIDGET (widget)' failed",
];

/// A running program. Dropping it kills it.
#[derive(Debug)]
pub struct App {
    child: Child,
    input: Input,
    tree: Tree,
    log: PathBuf,
}

impl App {
    pub(super) async fn attach(desktop: &Desktop, mut child: Child, log: PathBuf) -> Result<Self> {
        let pid = child.id();
        let root = until("the program's first window", || {
            let ended = child.try_wait();
            async move {
                if let Some(status) = ended? {
                    // Nothing more will come; returning ends the wait.
                    return Ok(Some(Err(status)));
                }
                Ok(application(desktop, pid).await?.map(Ok))
            }
        })
        .await;
        let said =
            || format!("the program said:\n{}", fs::read_to_string(&log).unwrap_or_default());
        match root.with_context(said)? {
            Ok(root) => {
                let bus = desktop.accessibility.connection().clone();
                let input = desktop.input().clone();
                let tree = Tree::new(bus, input.clone(), root);
                Ok(Self { child, input, tree, log })
            }
            Err(status) => bail!("the program ended ({status}); {}", said()),
        }
    }

    /// All visible widgets, in reading order.
    pub async fn widgets(&self) -> Vec<Widget> {
        self.tree.all().await
    }

    /// All matching widgets.
    pub async fn all(&self, by: By) -> Vec<Widget> {
        self.widgets().await.into_iter().filter(|widget| by.fits(widget)).collect()
    }

    /// Whether there is a matching widget.
    pub async fn has(&self, by: By) -> bool {
        self.tree.first(&by).await.is_some()
    }

    /// Waits for a widget, and returns it: the first one in reading order.
    pub async fn find(&self, by: By) -> Result<Widget> {
        let found = self.find_quietly(by).await;
        self.explain(found).await
    }

    /// Waits for a widget for about a second, for actions that may have to be repeated.
    pub async fn wait_briefly(&self, by: By) -> bool {
        let found = self.find_quietly(by);
        tokio::time::timeout(Duration::from_secs(1), found).await.is_ok_and(|found| found.is_ok())
    }

    async fn find_quietly(&self, by: By) -> Result<Widget> {
        until(&by.to_string(), || async { Ok(self.tree.first(&by).await) }).await
    }

    /// Waits until no widget matches.
    pub async fn gone(&self, by: By) -> Result<()> {
        let gone = until(&format!("the end of {by}"), || {
            let by = by.clone();
            async { Ok((!self.has(by).await).then_some(())) }
        })
        .await;
        self.explain(gone).await
    }

    /// Waits until the visible widgets fulfil a condition.
    pub async fn wait(&self, what: &str, is_so: impl Fn(&[Widget]) -> bool) -> Result<()> {
        let waited = until(what, || {
            let is_so = &is_so;
            async move { Ok(is_so(&self.widgets().await).then_some(())) }
        })
        .await;
        self.explain(waited).await
    }

    /// Waits for a widget, and clicks it.
    pub async fn click(&self, by: By) -> Result<()> {
        self.find(by).await?.click().await
    }

    /// All text inside a widget of this name, in reading order, one line for each piece.
    pub async fn text_under(&self, name: &str) -> String {
        let mut lines = Vec::new();
        for widget in self.widgets().await {
            if widget.is_under(name) {
                // A widget without text has a name, or nothing to say.
                let text = widget.text().await.unwrap_or_else(|_| widget.name().to_owned());
                if !text.is_empty() {
                    lines.push(text);
                }
            }
        }
        lines.join("\n")
    }

    /// Waits until the text inside a widget of this name fulfils a condition, and returns it.
    pub async fn wait_for_text(
        &self,
        name: &str,
        what: &str,
        is_so: impl Fn(&str) -> bool,
    ) -> Result<String> {
        let text = until(what, || {
            let is_so = &is_so;
            async move {
                let text = self.text_under(name).await;
                Ok(is_so(&text).then_some(text))
            }
        })
        .await;
        self.explain(text).await
    }

    /// Types a text into the focused widget.
    pub async fn type_text(&self, text: &str) -> Result<()> {
        self.input.type_text(text).await
    }

    /// Presses keys, one after another: `Return`, `ctrl+n`.
    pub async fn keys(&self, keys: &[&str]) -> Result<()> {
        self.input.keys(keys).await
    }

    /// Presses keys faster than the program can follow, so that it gets them all at once.
    pub async fn keys_at_once(&self, keys: &[&str]) -> Result<()> {
        kill_process(self.pid(), Signal::STOP)?;
        let pressed = self.input.keys_at_once(keys).await;
        kill_process(self.pid(), Signal::CONT)?;
        pressed
    }

    /// Resizes the topmost window.
    pub async fn resize(&self, width: u32, height: u32) -> Result<()> {
        self.input.resize(width, height).await
    }

    /// Takes a screenshot.
    pub async fn picture(&self, file: &Path) -> Result<()> {
        self.input.picture(file).await
    }

    /// The program's process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What the program has written to its standard output and error.
    pub fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Waits until the program ends by itself. Fails if GTK reported critical warnings.
    pub async fn ended(mut self) -> Result<ExitStatus> {
        let child = &mut self.child;
        let status = until("the program's end", || {
            let status = child.try_wait();
            async move { Ok(status?) }
        })
        .await?;
        let said = self.said();
        let criticals: Vec<_> = said.lines().filter(|line| is_critical(line)).collect();
        ensure!(criticals.is_empty(), "the toolkit was used wrongly: {criticals:#?}");
        Ok(status)
    }

    /// Asks the program to end, as a session manager does, and waits for that.
    pub async fn terminate(self) -> Result<()> {
        kill_process(self.pid(), Signal::TERM)?;
        let status = self.ended().await?;
        match status.signal() {
            // A program that does not handle the signal is ended by it.
            None | Some(15) => Ok(()),
            Some(signal) => bail!("the program was ended by signal {signal}"),
        }
    }

    /// Ends the program at once, like a power failure.
    pub async fn kill(self) -> Result<()> {
        kill_process(self.pid(), Signal::KILL)?;
        self.ended().await.map(drop)
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Adds what was visible to an error: the outline of the windows, the program's output, and a
    /// screenshot if `NATTER_TEST_PICTURES` names a folder.
    pub async fn explain<T>(&self, result: Result<T>) -> Result<T> {
        let Err(error) = result else { return result };
        if let Some(folder) = std::env::var_os("NATTER_TEST_PICTURES") {
            let thread = std::thread::current();
            let name = thread.name().unwrap_or("test").replace("::", "-");
            let file = Path::new(&folder).join(name).with_extension("png");
            fs::create_dir_all(&folder)?;
            self.picture(&file).await?;
        }
        let shown = tree::outline(&self.widgets().await);
        // What went wrong comes first: a long picture may be cut.
        Err(anyhow!("{error:#}\nshown was:\n{shown}\nsaid was:\n{}", self.said()))
    }
}

impl Drop for App {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a line reports that a library was used wrongly.
fn is_critical(line: &str) -> bool {
    line.contains("-CRITICAL **") && !KNOWN.iter().any(|known| line.contains(known))
}

/// The accessible root of the program with this id, once it exists and has a window.
async fn application(desktop: &Desktop, pid: u32) -> Result<Option<ObjectRefOwned>> {
    let accessibility = &desktop.accessibility;
    let registry = accessibility.root_accessible_on_registry().await?;
    let dbus = atspi::zbus::fdo::DBusProxy::new(accessibility.connection()).await?;
    for object in registry.get_children().await? {
        let Some(name) = object.name().cloned() else { continue };
        // A program that has just ended has no process id.
        let Ok(owner) = dbus.get_connection_unix_process_id(name.into()).await else { continue };
        if owner == pid {
            let program = object.as_accessible_proxy(accessibility.connection()).await?;
            let windows = program.get_children().await?;
            return Ok((!windows.is_empty()).then_some(object));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_use_of_a_library_is_told_from_its_own_faults() {
        let line = |what: &str| format!("(natter:1): Gtk-CRITICAL **: 01:40:12.622: {what}");
        assert!(is_critical(&line("gtk_box_append: assertion 'GTK_IS_BOX (box)' failed")));
        assert!(!is_critical(&line(KNOWN[0])));
        assert!(!is_critical("(natter:1): Gtk-WARNING **: no theme"));
    }
}
