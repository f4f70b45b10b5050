//! Tests the form through its widgets.

use std::fs;

use chat_core::manager::{Manager, StartOptions};
use chat_core::settings::Folders;
use chat_mcp::draft::DraftPair;

use super::*;
use crate::main_loop::until;

/// The narrowest window that must still be usable, in pixels.
const NARROWEST: i32 = 360;

const FILE: &str = r#"{ "mcpServers": { "notes": {
  "command": "npx", "args": ["-y", "my notes"],
  "env": { "NOTES_TOKEN": "${keyring:notes/NOTES_TOKEN}", "LEVEL": "${env:LEVEL}" },
  "icon": "book", "natter": { "disabledTools": ["delete"] }
} } }"#;

/// What a form needs to live.
struct Stage {
    context: PreferencesContext,
    runtime: tokio::runtime::Runtime,
    folder: tempfile::TempDir,
}

impl Stage {
    fn new(file: &str) -> Self {
        crate::init();
        adw::init().expect("a display");
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let folders = Folders::below(folder.path());
        fs::create_dir_all(&folders.config).unwrap();
        fs::write(folders.config.join("mcp.json"), file).unwrap();
        let manager = runtime.block_on(Manager::start(StartOptions::new(folders))).unwrap();
        let servers = crate::tool_servers::below(folder.path(), runtime.handle());
        runtime.block_on(servers.servers.refresh(None));
        let window = adw::PreferencesWindow::new();
        let context = PreferencesContext::new(&window, &manager, &servers);
        Self { context, runtime, folder }
    }

    fn form(&self, old: Option<&str>) -> Rc<Form> {
        let config = self.context.servers.servers.config();
        let old = old.map(|name| config.server(name).unwrap().clone());
        let draft = old.as_ref().map(ServerDraft::of).unwrap_or_default();
        let form = Form::new(&self.context, old);
        form.show(&draft);
        form
    }

    fn file(&self) -> String {
        let folders = Folders::below(self.folder.path());
        fs::read_to_string(folders.config.join("mcp.json")).unwrap()
    }

    fn saves(&self, form: &Form) {
        assert!(form.save.is_sensitive());
        form.save.emit_clicked();
        until("the server to be saved", || !form.is_saving.get());
        // What the form said has been read from the file.
        self.runtime.block_on(self.context.servers.servers.refresh(None));
    }
}

#[gtk::test]
fn only_what_is_whole_can_be_added() {
    let stage = Stage::new(FILE);
    let form = stage.form(None);
    assert!(!form.save.is_sensitive() && !form.name.has_css_class("error"), "nothing is wrong yet");
    form.command.set_text("npx 'x");
    form.name.set_text("notes");
    assert!(!form.save.is_sensitive());
    assert!(form.name.has_css_class("error") && form.command.has_css_class("error"));
    form.name.set_text("diary");
    form.command.set_text("npx 'x y'");
    assert!(form.save.is_sensitive() && !form.command.has_css_class("error"));
    form.kind.set_selected(1);
    assert!(!form.save.is_sensitive(), "there is no address");
    assert!(form.address.group.get_visible() && !form.program.group.get_visible());
    form.url.set_text("https://diary.example/mcp");
    stage.saves(&form);
    let config = stage.context.servers.servers.config();
    let server = config.server("diary").expect("the server");
    assert_eq!(words::mcp_command_line(&server.config), "https://diary.example/mcp");
    let before = &FILE[FILE.find("\"notes\"").expect("an entry")..FILE.len() - 4];
    assert!(stage.file().contains(before), "{}", stage.file());
}

#[gtk::test]
fn an_edit_keeps_what_the_form_does_not_show() {
    let stage = Stage::new(FILE);
    let form = stage.form(Some("notes"));
    assert_eq!(form.command.text(), "npx -y 'my notes'");
    stage.saves(&form);
    assert_eq!(stage.file(), FILE);
    let form = stage.form(Some("notes"));
    form.network.set_active(true);
    form.folders.add("/srv/notes");
    stage.saves(&form);
    let config = stage.context.servers.servers.config();
    let options = &config.server("notes").unwrap().config.options;
    assert!(options.network);
    assert_eq!((&*options.folders[0], &*options.disabled_tools[0]), ("/srv/notes", "delete"));
    assert!(stage.file().contains("\"icon\": \"book\""));
    assert!(stage.file().contains("${keyring:notes/NOTES_TOKEN}"));
}

#[gtk::test]
fn nothing_is_written_over_what_another_program_wrote() {
    let stage = Stage::new(FILE);
    let form = stage.form(Some("notes"));
    let other = FILE.replace("my notes", "our notes");
    let path = stage.context.servers.servers.file().path().to_owned();
    fs::write(path, &other).unwrap();
    stage.runtime.block_on(stage.context.servers.servers.refresh(None));
    form.command.set_text("mine");
    stage.saves(&form);
    assert_eq!(stage.file(), other);
    assert!(form.window.is_visible());
}

#[gtk::test]
fn a_value_is_hidden_while_it_is_a_secret() {
    let stage = Stage::new(FILE);
    let form = stage.form(Some("notes"));
    let token = DraftPair { is_decided: true, ..DraftPair::default() };
    let expected = form.draft().variables;
    assert!(!expected[0].is_secret && expected[1].is_secret && expected[1].text.is_empty());
    form.variables.fill(&[token]);
    assert_eq!(form.draft().variables.len(), 3);
    // One that is blank is none.
    assert!(form.save.is_sensitive());
    assert_eq!(form.draft().variables[..2], expected);
}

#[gtk::test]
fn it_fits_into_the_narrowest_window() {
    let stage = Stage::new(FILE);
    let form = stage.form(Some("notes"));
    form.headers.fill(&[DraftPair::default()]);
    form.headers.section().group.set_visible(true);
    form.address.group.set_visible(true);
    form.proposals.show(&["/srv/a/folder/with/a/rather/long/path/to/see/how/it/breaks".into()]);
    let content = form.window.content().expect("a content");
    let least = content.measure(gtk::Orientation::Horizontal, -1).0;
    assert!(least <= NARROWEST, "{least}");
}
