//! Shows one server that can be added: its name, what it starts, what it may do.

use std::path::PathBuf;

use adw::prelude::*;
use chat_mcp::config::{ProblemKind, SecretText, Server, Transport};
use chat_mcp::import::ForeignServer;
use chat_mcp::servers::NewServer;
use chat_presentation::words;
use gettextrs::gettext;

use super::super::super::rows::plain_row;
use super::grants::Grants;

/// The group of one server.
pub(super) struct Choice {
    pub(super) group: adw::PreferencesGroup,
    found: ForeignServer,
    chosen: gtk::Switch,
    name: adw::EntryRow,
    network: gtk::Switch,
    grants: Grants,
    problem: gtk::Label,
}

impl Choice {
    /// A server, and the folders that its command names.
    pub(super) fn new(found: ForeignServer, folders: Vec<PathBuf>) -> Self {
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
        group.add(&row);
        let grants = Grants::new(&found, folders, &group);
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
        Self { group, found, chosen, name: entry, network, grants, problem }
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

    /// The server as it is to be, with those inputs that it uses.
    pub(super) fn server(
        &self,
        inputs: &[(String, Option<SecretText>)],
    ) -> Result<NewServer, ProblemKind> {
        let name = self.name.text().trim().to_owned();
        let mut config = self.found.config.clone();
        if matches!(config.transport, Transport::Stdio(_)) {
            config.options.network = self.network.is_active();
            self.grants.apply(&mut config.options);
        }
        let server = Server { name, config };
        server.check()?;
        let is_used = |name: &str| server.config.secrets().any(|secret| secret == name);
        let inputs = inputs.iter().filter(|(name, _)| is_used(name)).cloned().collect();
        Ok(NewServer { server, secrets: self.found.secrets.clone(), inputs })
    }
}

pub(super) fn switch(title: &str, subtitle: &str) -> (adw::ActionRow, gtk::Switch) {
    let switch = gtk::Switch::builder().valign(gtk::Align::Center).build();
    let row = plain_row(title, subtitle);
    row.add_suffix(&switch);
    // It is named by the row, too.
    row.set_activatable_widget(Some(&switch));
    (row, switch)
}

#[cfg(test)]
mod tests {
    use chat_mcp::import::read_pasted;

    use super::*;

    fn choice(pasted: &str) -> Choice {
        crate::init();
        let server = read_pasted(pasted, "/home/ada".as_ref()).servers.remove(0);
        let folders = server.named_folders("/home/ada".as_ref());
        Choice::new(server, folders)
    }

    #[gtk::test]
    fn a_folder_in_the_command_is_hidden_until_it_is_chosen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        let choice = choice(&format!(
            "\"files\": {{\"command\": \"x\", \"args\": [\"{path}\", \"/none\"]}}"
        ));
        let options = || choice.server(&[]).unwrap().server.config.options;
        let rows: Vec<_> = choice.grants.named().collect();
        assert_eq!(rows.iter().map(|row| row.title()).collect::<Vec<_>>(), [path]);
        assert_eq!(options(), chat_mcp::config::ServerOptions::default());
        rows[0].set_selected(1);
        assert_eq!(options().read_folders, [path]);
        rows[0].set_selected(2);
        assert_eq!((options().read_folders.len(), options().folders), (0, vec![path.to_owned()]));
    }

    #[gtk::test]
    fn a_server_is_added_with_what_it_uses() {
        let choice = choice(
            r#""notes": {"command": "npx", "env": {"NOTES_TOKEN": "sk-123456789012345", "A": "${input:a}"}}"#,
        );
        let inputs = ["a", "b"].map(|name| (name.to_owned(), Some(SecretText::new("typed"))));
        let new = choice.server(&inputs).unwrap();
        assert_eq!((&*new.server.name, &*new.secrets[0].name), ("notes", "notes/NOTES_TOKEN"));
        assert_eq!(new.inputs, inputs[..1]);
        choice.name.set_text("a b");
        assert_eq!(choice.server(&inputs).err(), Some(ProblemKind::InvalidName));
    }

    #[gtk::test]
    fn what_a_text_wants_to_be_allowed_is_off_until_it_is_chosen() {
        let wishes =
            r#""sandbox": false, "network": true, "folders": ["~/a"], "readFolders": ["/b"]"#;
        let choice = choice(&format!("\"x\": {{\"command\": \"x\", \"natter\": {{{wishes}}}}}"));
        let options = || choice.server(&[]).unwrap().server.config.options;
        assert_eq!(options(), chat_mcp::config::ServerOptions::default());
        for switch in choice.grants.switches().chain([&choice.network]) {
            switch.set_active(true);
        }
        let chosen = options();
        assert!(!chosen.sandbox && chosen.network);
        assert_eq!(
            (&*chosen.folders, &*chosen.read_folders),
            (&["~/a".to_owned()][..], &["/b".to_owned()][..])
        );
    }

    #[gtk::test]
    fn each_folder_that_a_text_wants_is_read_whole() {
        let deep = format!("/home/ada/{}/secret", "a".repeat(200));
        let choice = choice(&format!(
            r#""x": {{"command": "x", "natter": {{"folders": ["/b, /c", "{deep}"]}}}}"#
        ));
        let switch = choice.grants.switches().next().unwrap();
        let row = switch.ancestor(adw::ActionRow::static_type()).unwrap();
        let row = row.downcast::<adw::ActionRow>().unwrap();
        assert_eq!(row.subtitle().unwrap(), format!("/b, /c\n{deep}"));
    }

    #[gtk::test]
    fn a_text_that_wants_nothing_offers_nothing() {
        let choice = choice(r#"{"command": "x"}"#);
        assert_eq!(choice.grants.switches().count(), 0);
    }
}
