//! Shows one server that can be added: its name, what it starts, what it may do.

use adw::prelude::*;
use chat_mcp::config::{McpConfig, ProblemKind, SecretText, Server, Transport};
use chat_mcp::import::{ForeignServer, free_secret_name, move_secret};
use chat_presentation::words;
use gettextrs::gettext;

use super::super::super::rows::plain_row;
use crate::accessible;

/// The group of one server.
pub(super) struct Choice {
    pub(super) group: adw::PreferencesGroup,
    found: ForeignServer,
    chosen: gtk::Switch,
    name: adw::EntryRow,
    network: gtk::Switch,
    problem: gtk::Label,
}

impl Choice {
    pub(super) fn new(found: ForeignServer) -> Self {
        let name = found.name.clone().unwrap_or_default();
        let group = adw::PreferencesGroup::new();
        let (row, chosen) = switch(&gettext("Add This Server"), "");
        chosen.set_active(true);
        row.set_subtitle(&words::mcp_command_line(&found.config));
        row.set_subtitle_lines(0);
        group.add(&row);
        let entry = adw::EntryRow::builder().title(gettext("Name")).text(&name).build();
        group.add(&entry);
        let (row, network) = switch(
            &gettext("Network Access"),
            &gettext(
                "The program runs in the sandbox. Programs such as npx and uvx download the server.",
            ),
        );
        row.set_visible(matches!(found.config.transport, Transport::Stdio(_)));
        network.set_active(found.config.options.network);
        group.add(&row);
        if !found.secrets.is_empty() {
            let places: Vec<_> = found.secrets.iter().map(|it| words::one_line(&it.name)).collect();
            group.add(&plain_row(&gettext("Secrets Move to Your Keyring"), &places.join(", ")));
        }
        let problem = gtk::Label::builder()
            .xalign(0.0)
            .wrap(true)
            .visible(false)
            .margin_top(6)
            .css_classes(["error"])
            .build();
        group.add(&problem);
        Self { group, found, chosen, name: entry, network, problem }
    }

    pub(super) fn is_chosen(&self) -> bool {
        self.chosen.is_active() && self.group.get_visible()
    }

    /// Says what is wrong with it.
    pub(super) fn say(&self, words: &str) {
        self.problem.set_label(words);
        self.problem.set_visible(true);
    }

    /// It was added.
    pub(super) fn done(&self) {
        self.group.set_visible(false);
    }

    /// The server as it is to be, with the secrets that go into the keyring first.
    pub(super) fn server(
        &self,
        known: &McpConfig,
    ) -> Result<(Server, Vec<(String, SecretText)>), ProblemKind> {
        let name = self.name.text().trim().to_owned();
        let mut config = self.found.config.clone();
        if matches!(config.transport, Transport::Stdio(_)) {
            config.options.network = self.network.is_active();
        }
        let mut server = Server { name, config };
        server.check()?;
        let mut secrets = Vec::new();
        for secret in &self.found.secrets {
            let free = free_secret_name(known, secret);
            if let Some(text) = move_secret(&mut server.config, &secret.place, &free) {
                secrets.push((free, text));
            }
        }
        Ok((server, secrets))
    }
}

fn switch(title: &str, subtitle: &str) -> (adw::ActionRow, gtk::Switch) {
    let switch = gtk::Switch::builder().valign(gtk::Align::Center).build();
    accessible::set_label(&switch, title);
    let row = plain_row(title, subtitle);
    row.add_suffix(&switch);
    row.set_activatable_widget(Some(&switch));
    (row, switch)
}

#[cfg(test)]
mod tests {
    use chat_core::definitions::Origin;
    use chat_mcp::import::read_pasted;

    use super::*;

    const PASTED: &str =
        "\"notes\": {\"command\": \"npx\", \"env\": {\"NOTES_TOKEN\": \"sk-123456789012345\"}}";

    #[gtk::test]
    fn a_secret_goes_into_the_keyring_under_a_name_that_is_free() {
        crate::init();
        let found = read_pasted(PASTED, "/home/ada".as_ref()).servers.remove(0);
        let choice = Choice::new(found);
        let (server, secrets) = choice.server(&McpConfig::default()).unwrap();
        assert_eq!(server.name, "notes");
        assert_eq!(
            (&*secrets[0].0, secrets[0].1.expose()),
            ("notes/NOTES_TOKEN", "sk-123456789012345")
        );
        let known = "{\"mcpServers\": {\"b\": {\"command\": \"${keyring:notes/NOTES_TOKEN}\"}}}";
        let known = McpConfig::parse(known.as_bytes(), Origin::User);
        let (_, secrets) = choice.server(&known).unwrap();
        assert_eq!(secrets[0].0, "notes/NOTES_TOKEN-2");
        choice.name.set_text("a b");
        assert_eq!(choice.server(&known).err(), Some(ProblemKind::InvalidName));
    }
}
