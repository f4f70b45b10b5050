//! Shows what a server to add wants to be allowed, and what it would get of the user's secrets and variables.

use std::path::{Path, PathBuf};

use adw::prelude::*;
use chat_mcp::config::{PathBase, Server, ServerOptions, Transport};
use chat_mcp::import::{ForeignServer, RequestedGrants};
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

use super::super::super::rows::plain_row;
use super::choice::switch;

/// What may be done with a folder that the command names, in the order of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Hidden,
    Read,
    Change,
}

impl Access {
    const ALL: [Self; 3] = [Self::Hidden, Self::Read, Self::Change];

    fn title(self) -> String {
        match self {
            Self::Hidden => gettext("Hidden"),
            Self::Read => gettext("Read"),
            Self::Change => gettext("Change"),
        }
    }
}

/// What a server wants: all of it is off until the user switches it on.
pub(super) struct Grants {
    wanted: RequestedGrants,
    /// The folders that its command names, each with its row.
    named: Vec<(PathBuf, adw::ComboRow)>,
    no_sandbox: Option<gtk::Switch>,
    folders: Option<gtk::Switch>,
    read_folders: Option<gtk::Switch>,
}

impl Grants {
    /// Adds the rows for what a server wants, and for the folders that its command names.
    pub(super) fn new(
        found: &ForeignServer,
        named: Vec<PathBuf>,
        group: &adw::PreferencesGroup,
    ) -> Self {
        let is_program = matches!(found.config.transport, Transport::Stdio(_));
        let wanted = if is_program { found.grants.clone() } else { RequestedGrants::default() };
        let offer = |is_wanted: bool, title: String, subtitle: String| {
            is_wanted.then(|| {
                let (row, switch) = switch(&title, &subtitle);
                row.set_subtitle_lines(0);
                group.add(&row);
                switch
            })
        };
        // Whole, and each in its own line: what is switched on is what is read here.
        let paths = |paths: &[String]| {
            paths.iter().map(|path| words::visible_line(path)).collect::<Vec<_>>().join("\n")
        };
        let row_of = |path: PathBuf| {
            let row = access_row(&path);
            group.add(&row);
            (path, row)
        };
        let named: Vec<_> = named.into_iter().map(row_of).collect();
        let folders = offer(
            !wanted.folders.is_empty(),
            gettext("Change Files in These Folders"),
            paths(&wanted.folders),
        );
        let read_folders = offer(
            !wanted.read_folders.is_empty(),
            gettext("Read Files in These Folders"),
            paths(&wanted.read_folders),
        );
        let no_sandbox = offer(
            wanted.no_sandbox,
            gettext("Run Outside the Sandbox"),
            gettext("The program could then do whatever you can do."),
        );
        if let Some(no_sandbox) = &no_sandbox {
            // Outside of the sandbox nothing is hidden.
            for (_, row) in &named {
                let flags = glib::BindingFlags::SYNC_CREATE | glib::BindingFlags::INVERT_BOOLEAN;
                no_sandbox.bind_property("active", row, "sensitive").flags(flags).build();
            }
        }
        for line in told(found) {
            let row = plain_row(&line, "");
            row.set_title_lines(0);
            group.add(&row);
        }
        Self { wanted, named, no_sandbox, folders, read_folders }
    }

    /// Allows what the user switched on.
    pub(super) fn apply(&self, options: &mut ServerOptions) {
        let is_on =
            |switch: &Option<gtk::Switch>| switch.as_ref().is_some_and(gtk::Switch::is_active);
        options.sandbox = !is_on(&self.no_sandbox);
        if is_on(&self.folders) {
            options.folders.clone_from(&self.wanted.folders);
        }
        if is_on(&self.read_folders) {
            options.read_folders.clone_from(&self.wanted.read_folders);
        }
        for (path, row) in &self.named {
            let path = path.to_string_lossy().into_owned();
            match Access::ALL.get(row.selected() as usize) {
                Some(Access::Read) => options.read_folders.push(path),
                Some(Access::Change) => options.folders.push(path),
                Some(Access::Hidden) | None => {}
            }
        }
    }
}

/// The row in which the user chooses what the program may do with a folder.
fn access_row(path: &Path) -> adw::ComboRow {
    let titles = Access::ALL.map(Access::title);
    let model = gtk::StringList::new(&titles.each_ref().map(String::as_str));
    let row = adw::ComboRow::builder().model(&model).use_markup(false).build();
    row.set_title(&words::visible_line(&path.to_string_lossy()));
    row.set_title_lines(0);
    row.set_subtitle(&gettext("Folder in the command"));
    row
}

/// What it sets, sends and gets, and which secrets that the user has already would go to it.
fn told(found: &ForeignServer) -> Vec<String> {
    let server = Server { name: String::new(), config: found.config.clone() };
    let base = PathBase { home: glib::home_dir(), project: None };
    words::mcp_adding_lines(&server.start_summary(&base), &found.references)
}

#[cfg(test)]
impl Grants {
    /// The switches that are shown.
    pub(super) fn switches(&self) -> impl Iterator<Item = &gtk::Switch> {
        [&self.no_sandbox, &self.folders, &self.read_folders].into_iter().flatten()
    }

    /// The rows of the folders that the command names.
    pub(super) fn named(&self) -> impl Iterator<Item = &adw::ComboRow> {
        self.named.iter().map(|(_, row)| row)
    }
}
