//! Writes a chat to a file as Markdown, and several to one that can be imported.

mod together;

use std::cell::RefCell;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use adw::prelude::*;
use chat_core::manager::Manager;
use chat_core::message::{Fid, Message, Role};
use chat_core::models::display_name;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::{gio, glib};

use super::Input;
pub(super) use together::ask_together;

/// Asks for a path, and writes the chat there.
pub(super) fn ask(
    parent: &adw::ApplicationWindow,
    manager: Manager,
    fid: Fid,
    title: &str,
    input: relm4::Sender<Input>,
) {
    let name = format!("{}.md", file_name(title));
    let title = title.to_owned();
    choose(parent, &gettext("Export as Markdown"), &name, async move |path| {
        input.emit(Input::Exported(write(&manager, &fid, &title, path).await));
    });
}

/// Asks for a path, and does something with it.
fn choose(
    parent: &adw::ApplicationWindow,
    heading: &str,
    name: &str,
    then: impl AsyncFnOnce(PathBuf) + 'static,
) {
    let chooser = gtk::FileChooserNative::builder()
        .title(heading)
        .action(gtk::FileChooserAction::Save)
        .transient_for(parent)
        .modal(true)
        .build();
    chooser.set_current_name(name);
    // Keeps the dialog alive until it is answered.
    let alive = RefCell::new(Some((chooser.clone(), then)));
    chooser.connect_response(move |chooser, response| {
        let path = chooser.file().and_then(|file| file.path());
        let Some((_, then)) = alive.take() else { return };
        if let (gtk::ResponseType::Accept, Some(path)) = (response, path) {
            glib::spawn_future_local(async move { then(path).await });
        }
    });
    chooser.show();
}

async fn write(
    manager: &Manager,
    fid: &Fid,
    title: &str,
    path: PathBuf,
) -> Result<PathBuf, String> {
    let messages =
        manager.sessions().transcript(fid).await.map_err(|error| words::sentence(&error))?;
    let text = markdown(title, &messages);
    put(&path, text).await?;
    Ok(path)
}

/// Writes a file at the path that the user chose. An existing file is replaced, even if it is a
/// link: a command may have created one that leads out of the project.
pub(crate) async fn put(path: &Path, text: String) -> Result<(), String> {
    let file = gio::File::for_path(path);
    let how = gio::FileCreateFlags::REPLACE_DESTINATION;
    let written = file.replace_contents_future(text.into_bytes(), None, false, how).await;
    written.map(drop).map_err(|(_, error)| error.message().to_owned())
}

/// The conversation, with a heading for each speaker.
fn markdown(title: &str, messages: &[Arc<Message>]) -> String {
    let mut out = format!("# {title}\n");
    for message in messages {
        let who = match message.role {
            Role::User => words::role(Role::User),
            Role::Assistant => message.model.as_ref().map_or_else(
                || words::role(Role::Assistant),
                |model| display_name(model).to_owned(),
            ),
            Role::System | Role::Tool | Role::Ui => continue,
        };
        let text = message.plain_text();
        if !text.trim().is_empty() {
            let _ = write!(out, "\n## {who}\n\n{}\n", text.trim_end());
        }
    }
    out
}

/// A file name from a title.
fn file_name(title: &str) -> String {
    let name: String =
        title.chars().map(|c| if c == '/' || c.is_control() { '-' } else { c }).take(80).collect();
    let name = name.trim().trim_start_matches('.');
    if name.is_empty() { "chat".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use chat_core::message::ModelRef;

    use super::*;

    #[test]
    fn a_chat_reads_as_it_was_said() {
        let question = Message::text(Role::User, None, "Why?");
        let hidden = Message::text(Role::System, None, "Be brief");
        let mut answer = Message::text(Role::Assistant, Some(question.id), "Because.\n");
        answer.model = Some(ModelRef::new("Ollama", "qwen3"));
        let messages = [hidden, question, answer].map(Arc::new);
        let expected = format!(
            "# Reasons\n\n## {}\n\nWhy?\n\n## qwen3\n\nBecause.\n",
            words::role(Role::User)
        );
        assert_eq!(markdown("Reasons", &messages), expected);
    }

    #[test]
    fn what_a_link_leads_to_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("startup"), "kept").unwrap();
        let write =
            |name: &str| glib::MainContext::new().block_on(put(&at(name), "new".to_owned()));
        for (link, target) in [("one.md", "startup"), ("two.md", "nothing yet")] {
            std::os::unix::fs::symlink(at(target), at(link)).unwrap();
            write(link).unwrap();
            assert_eq!(std::fs::read_to_string(at(link)).unwrap(), "new");
            assert!(!at(link).is_symlink());
        }
        assert_eq!(std::fs::read_to_string(at("startup")).unwrap(), "kept");
        assert!(!at("nothing yet").exists());
        write("one.md").unwrap();
        assert!(write("no/such/folder.md").is_err());
    }

    #[test]
    fn no_title_leads_out_of_the_folder() {
        assert_eq!(file_name("../../etc/passwd"), "-..-etc-passwd");
        assert_eq!(file_name(" "), "chat");
    }
}
