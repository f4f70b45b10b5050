//! Shows above the composer that a project brings servers of tools, and asks whether to trust them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use adw::prelude::*;
use chat_core::definitions::Digest;
use chat_mcp::servers::ProjectServers;
use chat_presentation::words;
use gettextrs::gettext;
use relm4::gtk;

use super::definitions_bar::items::{line, scrolled};
use super::handle::Handle;
use super::messages::Output;
use super::notice_line::{NoticeLine, close_button};
use crate::tool_servers::ToolServers;

/// What the bar hears, and what the user does with it and with its question.
#[derive(Debug)]
pub(super) enum Msg {
    /// Servers, or which of them are trusted, may have changed.
    Changed,
    /// A project's file has these.
    Found(PathBuf, Arc<ProjectServers>),
    /// Show what the servers would start.
    Review,
    /// Start what was shown.
    Trust(Arc<ProjectServers>),
    /// Do not ask about these again for now.
    Refuse(Arc<ProjectServers>),
    /// Close the line.
    Close,
    /// The answer could not be saved.
    NotSaved,
}

/// The bar.
pub(super) struct ServersBar {
    handle: Handle<Msg>,
    servers: Option<ToolServers>,
    root: gtk::Box,
    line: NoticeLine,
    /// The project of the shown chat.
    project: Option<PathBuf>,
    found: Option<Arc<ProjectServers>>,
    /// What the user does not want to be asked about again: the untrusted servers of a project.
    refused: Vec<Vec<Digest>>,
}

impl ServersBar {
    pub(super) fn new(servers: Option<ToolServers>, handle: Handle<Msg>) -> Self {
        let review = gtk::Button::with_label(&gettext("Review…"));
        crate::accessible::set_label(&review, &gettext("Review servers…"));
        let told = handle.callback(|()| Msg::Review);
        review.connect_clicked(move |_| told(()));
        let close = close_button(&gettext("Close servers notice"));
        let told = handle.callback(|()| Msg::Close);
        close.connect_clicked(move |_| told(()));
        let buttons = gtk::Box::builder().spacing(6).valign(gtk::Align::Center).build();
        buttons.append(&review);
        buttons.append(&close);
        let line = NoticeLine::new("dialog-question-symbolic", &buttons);
        let root =
            gtk::Box::builder().orientation(gtk::Orientation::Vertical).visible(false).build();
        root.append(&line.root);
        let refused = Vec::new();
        let this = Self { handle, servers, root, line, project: None, found: None, refused };
        this.follow();
        this
    }

    pub(super) fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Hears of the next change.
    fn follow(&self) {
        let Some(servers) = &self.servers else { return };
        let mut changes = servers.servers.changes();
        self.handle.spawn(async move { changes.changed().await.ok().map(|()| Msg::Changed) });
    }

    /// A chat of this project is shown. Whether what had the keyboard is gone.
    pub(super) fn show(&mut self, project: Option<&Path>) -> bool {
        if self.project.as_deref() == project {
            return false;
        }
        self.project = project.map(Path::to_owned);
        self.found = None;
        self.read();
        self.refresh()
    }

    fn read(&self) {
        let (Some(servers), Some(project)) = (self.servers.clone(), self.project.clone()) else {
            return;
        };
        self.handle.spawn(async move {
            let root = project.clone();
            let found = servers.run(|it| async move { it.project(&root).await }).await?;
            Some(Msg::Found(project, Arc::new(found)))
        });
    }

    /// Takes what happened. Whether the keyboard belongs to the message now.
    pub(super) fn update(&mut self, msg: Msg) -> bool {
        match msg {
            Msg::Changed => {
                self.follow();
                self.read();
                return false;
            }
            Msg::Found(project, found) => {
                if self.project.as_ref() != Some(&project) {
                    return false;
                }
                self.found = Some(found);
            }
            Msg::Review => {
                if let Some(found) = self.asked() {
                    self.ask(found);
                }
                return false;
            }
            Msg::Trust(shown) => {
                self.trust(shown);
                return false;
            }
            Msg::Refuse(shown) => self.refused.push(untrusted(&shown)),
            Msg::Close => self.refused.extend(self.asked().map(|shown| untrusted(&shown))),
            Msg::NotSaved => {
                self.handle.output(Output::Note(words::mcp_trust_not_saved()));
                return false;
            }
        }
        self.refresh()
    }

    /// What the user is asked about.
    fn asked(&self) -> Option<Arc<ProjectServers>> {
        let found = self.found.as_ref().filter(|found| found.has_untrusted());
        found.filter(|found| !self.refused.contains(&untrusted(found))).cloned()
    }

    fn refresh(&self) -> bool {
        let words = self.asked().map(|found| words::mcp_project_notice(untrusted(&found).len()));
        let is_lost = self.line.show(words.as_deref());
        self.root.set_visible(words.is_some());
        is_lost
    }

    fn trust(&self, shown: Arc<ProjectServers>) {
        let Some(servers) = self.servers.clone() else { return };
        self.handle.spawn(async move {
            let trusting = servers.run(|it| async move { it.trust(&shown, true).await });
            let is_saved = matches!(trusting.await, Some(Ok(())));
            (!is_saved).then_some(Msg::NotSaved)
        });
    }

    /// Asks whether to start what a project's servers would start.
    fn ask(&self, shown: Arc<ProjectServers>) {
        let blocks = gtk::Box::new(gtk::Orientation::Vertical, 12);
        for (_, start) in shown.asked() {
            let block = gtk::Box::new(gtk::Orientation::Vertical, 3);
            block.append(&line(&words::visible_line(&start.name), &["heading"]));
            for words in words::mcp_start_lines(start) {
                block.append(&line(&words, &["caption"]));
            }
            blocks.append(&block);
        }
        let above = self.root.root().and_downcast::<gtk::Window>();
        let heading = gettext("Trust This Project’s Servers?");
        let body = gettext(
            "Natter would start these whenever a chat works in this project. If they change, you’re asked again.",
        );
        let dialog = adw::MessageDialog::new(above.as_ref(), Some(&heading), Some(&body));
        dialog.set_extra_child(Some(&scrolled(&blocks, &gettext("Servers"))));
        dialog.add_response("refuse", &gettext("_Not Now"));
        dialog.add_response("trust", &gettext("_Trust"));
        dialog.set_default_response(Some("refuse"));
        dialog.set_close_response("close");
        let handle = self.handle.clone();
        dialog.connect_response(None, move |_, response| match response {
            "trust" => handle.send(Msg::Trust(Arc::clone(&shown))),
            "refuse" => handle.send(Msg::Refuse(Arc::clone(&shown))),
            _ => {}
        });
        dialog.present();
    }
}

fn untrusted(found: &ProjectServers) -> Vec<Digest> {
    found.asked().map(|(server, _)| server.digest()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use chat_core::definitions::Origin;
    use chat_mcp::config::{McpConfig, PathBase};

    use super::*;

    fn found(command: &str, trusted: bool, taken: &[&str]) -> ProjectServers {
        let file = format!("{{\"mcpServers\": {{\"notes\": {{\"command\": \"{command}\"}}}}}}");
        let config = McpConfig::parse(file.as_bytes(), Origin::Project);
        let root = PathBuf::from("/projects/app");
        let base = PathBase { home: "/home/ada".into(), project: Some(root.clone()) };
        let starts = config.servers.iter().map(|it| (it.start_summary(&base), trusted)).collect();
        let taken: BTreeSet<_> = taken.iter().map(|name| (*name).to_owned()).collect();
        ProjectServers { root, config, starts, taken }
    }

    #[test]
    fn servers_that_are_trusted_or_not_used_are_not_asked_about() {
        assert_eq!(untrusted(&found("a", false, &[])).len(), 1);
        assert!(untrusted(&found("a", true, &[])).is_empty());
        assert!(untrusted(&found("a", false, &["notes"])).is_empty());
    }

    #[test]
    fn a_changed_server_is_asked_about_again() {
        assert_ne!(untrusted(&found("a", false, &[])), untrusted(&found("b", false, &[])));
    }
}
