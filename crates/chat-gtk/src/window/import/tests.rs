//! Tests the import dialog through its widgets.

use chat_core::manager::StartOptions;
use chat_core::settings::Folders;
use tokio::runtime::Runtime;

use super::*;
use crate::main_loop::until;

/// The narrowest window that must still be usable, in pixels.
const NARROWEST: i32 = 360;

/// An engine, and a folder for files.
struct Scene {
    runtime: Runtime,
    manager: Manager,
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        adw::init().expect("a display");
        crate::init();
        let folder = tempfile::tempdir().unwrap();
        let runtime = Runtime::new().unwrap();
        let options = StartOptions::new(Folders::below(folder.path().join("natter")));
        let manager = runtime.block_on(Manager::start(options)).unwrap();
        Self { runtime, manager, folder }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn look(&self, paths: Vec<PathBuf>) -> Rc<Importing> {
        let dialog = open(&adw::ApplicationWindow::builder().build(), &self.manager);
        dialog.look(paths);
        dialog
    }

    fn titles(&self) -> Vec<String> {
        let chats = self.runtime.block_on(self.manager.sessions().list()).unwrap();
        let mut titles: Vec<_> = chats.iter().map(|chat| chat.title.clone()).collect();
        titles.sort();
        titles
    }
}

/// Chats of Claude, each with a question and a file that is not in the export.
fn chats(titles: impl IntoIterator<Item = String>) -> String {
    let chat = |title: String| {
        format!(
            r#"{{"uuid":"{title}","name":"{title}","created_at":"2024-05-01T10:00:00Z","chat_messages":[
            {{"uuid":"a","sender":"human","text":"Why?","files":[{{"file_name":"a.pdf"}}]}}]}}"#
        )
    };
    format!("[{}]", titles.into_iter().map(chat).collect::<Vec<_>>().join(","))
}

/// The title, the lines and the problems that are shown.
fn shown(dialog: &Importing) -> [String; 3] {
    dialog.pages.shown()
}

fn width(dialog: &Importing) -> i32 {
    dialog.window.content().unwrap().measure(gtk::Orientation::Horizontal, -1).0
}

#[gtk::test]
fn each_bad_file_costs_a_sentence_and_the_others_are_imported() {
    let scene = Scene::new();
    let odd = r#"{"uuid":"o","name":"Odd","chat_messages":7}"#;
    let good = chats(["Apples".to_owned(), "Pears".to_owned()]);
    let good = good.replacen('[', &format!("[{odd},"), 1);
    let paths = vec![
        scene.file("empty.json", ""),
        scene.file("good.json", &good),
        scene.file("a-file-of-a-name-that-is-longer-than-a-narrow-window.json", "hello"),
    ];
    let dialog = scene.look(paths.clone());
    until("the preview", || dialog.pages.import.is_mapped());
    assert_eq!(
        GtkWindowExt::focus(&dialog.window).as_ref(),
        Some(dialog.pages.import.upcast_ref())
    );
    assert!(width(&dialog) <= NARROWEST, "it is {} wide", width(&dialog));
    let problems = [
        format!("“{}” is empty. Download it again, then import it.", paths[0].display()),
        format!(
            "“{}” has no chats that Natter can import. Choose an export of ChatGPT, Claude, OLLMchat or Natter.",
            paths[2].display()
        ),
        "“Odd”: Natter doesn’t recognize this chat’s format. Update Natter, then import it again."
            .to_owned(),
        "2 files aren’t in the export, or aren’t pictures or text. A note stands in their place."
            .to_owned(),
    ];
    let [_, lines, told] = shown(&dialog);
    assert!(lines.starts_with("2 chats from Claude, with 2 messages."), "{lines}");
    assert_eq!(told, problems.join("\n"));
    assert_eq!(scene.titles(), [] as [&str; 0], "nothing is imported yet");

    dialog.pages.import.emit_clicked();
    until("the report", || dialog.pages.close.is_mapped());
    let expected =
        ["Import Finished".to_owned(), "Imported 2 chats.".to_owned(), problems.join("\n")];
    assert_eq!(shown(&dialog), expected);
    assert_eq!(scene.titles(), ["Apples", "Pears"]);
    dialog.pages.close.emit_clicked();

    let again = scene.look(vec![paths[1].clone()]);
    until("the preview", || again.pages.again.is_mapped());
    assert!(!again.pages.import.is_visible(), "there is nothing new");
    let [_, lines, told] = shown(&again);
    assert!(lines.ends_with("2 chats are already here."), "{lines}");
    assert!(told.ends_with("“Apples” is already here.\n“Pears” is already here."), "{told}");
    again.window.close();
}

#[gtk::test]
fn files_without_a_chat_cost_a_sentence_each() {
    let scene = Scene::new();
    let paths = vec![scene.file("empty.json", ""), scene.file("notes.txt", "hello")];
    let dialog = scene.look(paths);
    until("the failure", || dialog.pages.close.is_mapped());
    let [title, lines, _] = shown(&dialog);
    assert_eq!((title.as_str(), lines.lines().count()), ("Couldn’t Import", 2), "{lines}");
    assert!(lines.contains("is empty") && lines.contains("has no chats"), "{lines}");
    assert!(width(&dialog) <= NARROWEST, "it is {} wide", width(&dialog));
    dialog.window.close();
}

#[gtk::test]
fn a_stopped_import_keeps_what_it_has_and_goes_on_later() {
    const CHATS: usize = 3_000;
    let scene = Scene::new();
    let file = scene.file("many.json", &chats((0..CHATS).map(|n| format!("Chat {n}"))));
    let dialog = scene.look(vec![file.clone()]);
    until("the preview", || dialog.pages.import.is_mapped());
    dialog.pages.import.emit_clicked();
    until("the first chats", || dialog.pages.progress() > 0.0);
    dialog.pages.stop.emit_clicked();
    let imported = scene.titles().len();
    assert!((1..CHATS).contains(&imported), "{imported} were imported");
    // The chat that was being stored may still have come.
    let again = scene.look(vec![file]);
    until("the preview", || again.pages.import.is_mapped());
    let [_, _, told] = shown(&again);
    assert!(told.contains("“Chat 0” is already here."), "{told}");
    again.window.close();
}
