//! Writes several chats to one file, with all that is stored of them.

use std::path::PathBuf;

use adw::prelude::*;
use chat_core::error::{Error, Kind, Result};
use chat_core::manager::Manager;
use chat_core::message::Fid;
use chat_presentation::words::{self, fill};
use gettextrs::gettext;
use gtk::{gio, glib};
use jiff::Zoned;

use super::{Input, choose};

/// Asks for a path, and writes the chats there.
pub(in crate::window) fn ask_together(
    parent: &adw::ApplicationWindow,
    manager: Manager,
    chats: Vec<Fid>,
    input: relm4::Sender<Input>,
) {
    let date = Zoned::now().strftime("%Y-%m-%d").to_string();
    let name = format!("{}.json", fill(&gettext("Chats {date}"), &[("date", &date)]));
    choose(parent, &gettext("Export Chats"), &name, async move |path| {
        input.emit(Input::Exported(write(&manager, chats, path).await));
    });
}

/// Writes the chats at the path that the user chose. What is there is replaced once all is written, and stays where
/// that fails.
async fn write(
    manager: &Manager,
    chats: Vec<Fid>,
    path: PathBuf,
) -> std::result::Result<PathBuf, String> {
    let message = |error: glib::Error| error.message().to_owned();
    let file = gio::File::for_path(&path);
    let is_new = !file.query_exists(gio::Cancellable::NONE);
    // As for a single chat: a link leads to nothing that was not chosen.
    let how = gio::FileCreateFlags::REPLACE_DESTINATION;
    let priority = glib::Priority::DEFAULT;
    let out = file.replace_future(None, false, how, priority).await.map_err(message)?;
    if let Err(reason) = write_all(manager, chats, &out).await {
        // A stream that is closed like this leaves what was there.
        let given_up = gio::Cancellable::new();
        given_up.cancel();
        drop(out.close(Some(&given_up)));
        if is_new {
            drop(file.delete_future(priority).await);
        }
        return Err(reason);
    }
    out.close_future(priority).await.map_err(message)?;
    Ok(path)
}

/// Writes one chat after another: together they may be larger than memory.
async fn write_all(
    manager: &Manager,
    chats: Vec<Fid>,
    out: &gio::FileOutputStream,
) -> std::result::Result<(), String> {
    let mut begin: &[u8] = b"[\n";
    for fid in chats {
        let manager = manager.clone();
        let exported = relm4::spawn(async move { exported(&manager, &fid).await }).await;
        let exported = exported.unwrap_or_else(|_| Err(Kind::Internal.into()));
        let json = exported.map_err(|error| words::sentence(&error))?;
        append(out, begin.to_vec()).await?;
        append(out, json).await?;
        begin = b",\n";
    }
    append(out, b"\n]\n".to_vec()).await
}

async fn exported(manager: &Manager, fid: &Fid) -> Result<Vec<u8>> {
    let export = manager.sessions().export(fid).await?;
    serde_json::to_vec(&export).map_err(|_| Error::new(Kind::Internal))
}

async fn append(out: &gio::FileOutputStream, bytes: Vec<u8>) -> std::result::Result<(), String> {
    let written = out.write_all_future(bytes, glib::Priority::DEFAULT).await;
    let error = match written {
        Ok((_, _, error)) => error,
        Err((_, error)) => Some(error),
    };
    error.map_or(Ok(()), |error| Err(error.message().to_owned()))
}

#[cfg(test)]
mod tests {
    use chat_core::manager::StartOptions;
    use chat_core::settings::Folders;
    use tokio::runtime::Runtime;

    use super::*;

    #[test]
    fn exported_chats_can_be_imported_and_a_failure_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = Runtime::new().unwrap();
        let engine = |name: &str| {
            let options = StartOptions::new(Folders::below(folder.path().join(name)));
            runtime.block_on(Manager::start(options)).unwrap()
        };
        let (from, to) = (engine("from"), engine("to"));
        let source = folder.path().join("source.json");
        let chat = |id: &str| {
            let message = serde_json::json!({ "uuid": "a", "sender": "human", "text": "Why?" });
            serde_json::json!({ "uuid": id, "name": id, "chat_messages": [message] })
        };
        let chats = serde_json::json!([chat("Apples"), chat("Pears")]);
        std::fs::write(&source, chats.to_string()).unwrap();
        let import = |manager: &Manager, path: &PathBuf| {
            runtime.block_on(manager.import().run(std::slice::from_ref(path), |_| ())).unwrap()
        };
        let chats = import(&from, &source).imported;
        let path = folder.path().join("out.json");
        let context = glib::MainContext::new();
        let write = |chats: &[Fid], path: &PathBuf| {
            context.block_on(write(&from, chats.to_vec(), path.clone()))
        };
        write(&chats, &path).unwrap();
        let report = import(&to, &path);
        assert_eq!((report.imported.len(), report.broken.len()), (2, 0), "{report:?}");

        let before = std::fs::read(&path).unwrap();
        let lost = [chats[0].clone(), Fid::new("2020-01-01-00-00-00")];
        write(&lost, &path).unwrap_err();
        assert_eq!(std::fs::read(&path).unwrap(), before);
        let other = folder.path().join("other.json");
        write(&lost, &other).unwrap_err();
        assert!(!other.exists());
        write(&[], &path).unwrap();
        assert_eq!(import(&to, &path).broken.len(), 1, "there is no chat in it");
    }
}
