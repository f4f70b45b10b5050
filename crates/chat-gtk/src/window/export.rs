//! Writes a chat to a file as Markdown, and several to one that can be imported.

mod together;

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use adw::prelude::*;
use chat_core::manager::Manager;
use chat_core::message::{Fid, Message, Role};
use chat_core::models::display_name;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::{gio, glib};

use super::Input;
use crate::file_dialog;
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
    let parent = parent.upcast_ref::<gtk::Window>();
    file_dialog::ask_where(Some(parent), heading, name, move |file| {
        if let Some(path) = file.path() {
            glib::spawn_future_local(async move { then(path).await });
        }
    });
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
    file_dialog::write(&gio::File::for_path(&path), text.into_bytes()).await?;
    Ok(path)
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
    fn no_title_leads_out_of_the_folder() {
        assert_eq!(file_name("../../etc/passwd"), "-..-etc-passwd");
        assert_eq!(file_name(" "), "chat");
    }
}
