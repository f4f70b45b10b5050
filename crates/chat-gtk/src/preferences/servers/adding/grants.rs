//! Shows what a server to add wants to be allowed, and what it would get of the user's secrets and variables.

use adw::prelude::*;
use chat_mcp::config::{PathBase, Server, ServerOptions, Transport};
use chat_mcp::import::{ForeignServer, RequestedGrants};
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

use super::super::super::rows::plain_row;
use super::choice::switch;

/// What a server wants: all of it is off until the user switches it on.
pub(super) struct Grants {
    wanted: RequestedGrants,
    no_sandbox: Option<gtk::Switch>,
    folders: Option<gtk::Switch>,
    read_folders: Option<gtk::Switch>,
}

impl Grants {
    /// Adds the rows for what a server wants.
    pub(super) fn new(found: &ForeignServer, group: &adw::PreferencesGroup) -> Self {
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
        let paths = |paths: &[String]| {
            paths.iter().map(|path| words::one_line(path)).collect::<Vec<_>>().join(", ")
        };
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
        for line in told(found) {
            let row = plain_row(&line, "");
            row.set_title_lines(0);
            group.add(&row);
        }
        Self { wanted, no_sandbox, folders, read_folders }
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
    }
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
}
