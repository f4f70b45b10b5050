//! Back to how things were at a message: the files of the project, and on request the conversation.

use adw::prelude::*;
use chat_core::error::Result;
use chat_core::message::{Content, Fid, MessageId};
use chat_core::review::{Restored, Seq};
use chat_edge::words::{self, fill, one_line};
use gettextrs::{gettext, ngettext};
use relm4::ComponentSender;

use super::reviewing::News;
use super::view::{View, tells};
use super::{ChatWidget, Done, Output, Told, done, tell};

/// Files that are named where they were left alone; more are counted.
const NAMED: usize = 3;

/// What is to be brought back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The files.
    Files,
    /// The files, and the conversation up to the message.
    Conversation,
}

/// What was brought back, and how that is taken back.
#[derive(Clone, Debug)]
pub struct Restore {
    /// What was done, in words.
    pub(crate) words: String,
    /// The chat.
    pub(crate) fid: Fid,
    /// The restore.
    pub(crate) seq: Seq,
}

/// Asks how much is to be brought back to how it was at this message.
pub(super) fn ask(
    fid: Fid,
    message: MessageId,
    root: &gtk::Box,
    sender: &ComponentSender<ChatWidget>,
) {
    let body = gettext(
        "The files of the project become what they were before this message. What you changed yourself since then stays.",
    );
    let dialog = adw::MessageDialog::new(
        root.root().and_downcast::<gtk::Window>().as_ref(),
        Some(&gettext("Restore to Here?")),
        Some(&body),
    );
    dialog.add_response("cancel", &gettext("_Cancel"));
    dialog.add_response("all", &gettext("Files and _Conversation"));
    dialog.add_response("files", &gettext("_Files Only"));
    dialog.set_default_response(Some("files"));
    dialog.set_close_response("cancel");
    let told = tells(sender, move |extent| Told::Restore(fid.clone(), message, extent));
    dialog.connect_response(None, move |_, response| match response {
        "files" => told(Extent::Files),
        "all" => told(Extent::Conversation),
        _ => {}
    });
    dialog.present();
}

impl ChatWidget {
    /// Brings back what the person asked for.
    pub(super) fn restore(
        &self,
        fid: Fid,
        message: MessageId,
        extent: Extent,
        sender: &ComponentSender<Self>,
    ) {
        let Some(manager) = self.manager.clone() else { return };
        sender.oneshot_command(async move {
            let files = manager.restore_files(&fid, message).await;
            let nothing = |error: &chat_core::error::Error| {
                matches!(error.kind, chat_core::error::Kind::NothingChanged)
            };
            let news = match (files, extent) {
                (Ok(files), Extent::Files) => Ok((Some(files), None)),
                (Err(error), Extent::Conversation) if nothing(&error) => {
                    manager.rewind(&fid, message).await.map(|said| (None, Some(said)))
                }
                (Ok(files), Extent::Conversation) => {
                    manager.rewind(&fid, message).await.map(|said| (Some(files), Some(said)))
                }
                (Err(error), _) => Err(error),
            };
            done(Done::Review(News::Restored { fid, result: news }))
        });
    }

    /// Takes a restore back.
    pub(super) fn undo_restore(&self, fid: Fid, restored: Seq, sender: &ComponentSender<Self>) {
        let Some(manager) = self.manager.clone() else { return };
        sender.oneshot_command(async move {
            let result = manager.undo_restore(&fid, restored).await;
            done(Done::Review(News::Undone { result }))
        });
    }

    /// It was brought back, or could not be.
    pub(super) fn restored(
        &mut self,
        fid: &Fid,
        result: Result<(Option<Restored>, Option<Content>)>,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        match result {
            Ok((files, said)) => {
                if let Some(files) = files {
                    let words = restored_files(files.changed.len());
                    tell(
                        sender,
                        Output::Restored(Restore { words, fid: fid.clone(), seq: files.seq }),
                    );
                    tell_left_alone(&files, sender);
                }
                if let Some(said) = said {
                    self.give_back(Some(fid), &said.text, view, sender);
                    if self.shown.fid() == Some(fid) {
                        view.composer.focus();
                    }
                }
            }
            Err(error) => tell(sender, Output::Note(words::sentence(&error))),
        }
        self.look_at_changes(view, sender);
    }

    /// A restore was taken back, or could not be.
    pub(super) fn undone(
        &mut self,
        result: Result<Restored>,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        match result {
            Ok(files) => {
                tell(sender, Output::Note(restored_files(files.changed.len())));
                tell_left_alone(&files, sender);
            }
            Err(error) => tell(sender, Output::Note(words::sentence(&error))),
        }
        self.look_at_changes(view, sender);
    }
}

/// `Restored 3 files`.
fn restored_files(count: usize) -> String {
    let number = u32::try_from(count).unwrap_or(u32::MAX);
    let words = ngettext("Restored {count} file", "Restored {count} files", number);
    fill(&words, &[("count", &count.to_string())])
}

fn tell_left_alone(files: &Restored, sender: &ComponentSender<ChatWidget>) {
    if let Some(words) = left_alone(files) {
        tell(sender, Output::Note(words));
    }
}

/// Names the files that were left alone.
fn left_alone(files: &Restored) -> Option<String> {
    let paths: Vec<_> = files
        .conflicts
        .iter()
        .map(|conflict| one_line(&conflict.path.display().to_string()))
        .collect();
    if paths.is_empty() {
        return None;
    }
    let named = paths[..paths.len().min(NAMED)].join(", ");
    let more = paths.len().saturating_sub(NAMED);
    let text = gettext("Left alone, because it was changed since: {files}");
    let files = if more > 0 {
        fill(
            &gettext("{files} and {count} more"),
            &[("files", &named), ("count", &more.to_string())],
        )
    } else {
        named
    };
    Some(fill(&text, &[("files", &files)]))
}

#[cfg(test)]
mod tests {
    use chat_core::review::{Conflict, Reason};

    use super::*;

    #[test]
    fn what_was_left_alone_is_named_up_to_a_few() {
        let conflict =
            |path: &str| Conflict { path: path.into(), hunks: Vec::new(), reason: Reason::Changed };
        let mut files = Restored { seq: 1, before: 0, changed: Vec::new(), conflicts: Vec::new() };
        assert_eq!(left_alone(&files), None);
        files.conflicts = ["a", "b", "c", "d", "e"].map(conflict).into();
        let words = left_alone(&files).unwrap();
        assert!(words.ends_with("a, b, c and 2 more"), "{words}");
    }
}
