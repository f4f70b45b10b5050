//! Asks how much is to be as it was at a message: the files of the project, and on request the
//! conversation. Says what came of it.

use adw::prelude::*;
use chat_core::error::{Error, Result};
use chat_core::message::{Content, Fid};
use chat_core::review::{Conflict, Restored, Seq};
use chat_presentation::words::{self, fill, one_line};
use gettextrs::{gettext, ngettext};

use super::super::Output;

/// Files that are named where they were left alone; more are counted.
const NAMED: usize = 3;

/// What is to be brought back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Extent {
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

/// What a restore does, in an agent's chat or in another one.
fn explanation(is_agent: bool) -> String {
    if is_agent {
        gettext(
            "This undoes only what this agent has changed in the project’s files since this message. All other changes are kept.",
        )
    } else {
        gettext(
            "This restores the project’s files to their state before this message. Changes you made yourself since then are kept.",
        )
    }
}

/// Asks it above a window.
pub(super) fn ask(above: Option<&gtk::Window>, is_agent: bool, told: impl Fn(Extent) + 'static) {
    let body = explanation(is_agent);
    let dialog =
        adw::MessageDialog::new(above, Some(&gettext("Restore to This Point?")), Some(&body));
    dialog.add_response("cancel", &gettext("_Cancel"));
    dialog.add_response("all", &gettext("Files and C_hat"));
    dialog.add_response("files", &gettext("_Files Only"));
    dialog.set_default_response(Some("files"));
    dialog.set_close_response("cancel");
    dialog.connect_response(None, move |_, response| match response {
        "files" => told(Extent::Files),
        "all" => told(Extent::Conversation),
        _ => {}
    });
    dialog.present();
}

/// `Restored 3 files`.
fn restored_files(count: usize) -> String {
    let number = u32::try_from(count).unwrap_or(u32::MAX);
    let words = ngettext("Restored {count} file", "Restored {count} files", number);
    fill(&words, &[("count", &count.to_string())])
}

/// `Restore of 3 files undone`.
pub(super) fn taken_back(count: usize) -> String {
    let number = u32::try_from(count).unwrap_or(u32::MAX);
    let words =
        ngettext("Restore of {count} file undone", "Restore of {count} files undone", number);
    fill(&words, &[("count", &count.to_string())])
}

/// What is said of it. Files that were brought back can be taken forth again, whatever became of
/// the conversation.
pub(super) fn came_back(
    fid: &Fid,
    files: &Result<Restored>,
    said: Option<&Result<Content>>,
) -> Vec<Output> {
    let note = |error: &Error| Output::Note(words::sentence(error));
    let mut told = Vec::new();
    match (files, said) {
        (Ok(files), _) if files.changed.is_empty() => {
            // What was left alone, or the conversation, says enough.
            if files.conflicts.is_empty() && said.is_none() {
                told.push(Output::Note(gettext("Nothing to restore")));
            }
            told.extend(left_alone(&files.conflicts).map(Output::Note));
        }
        (Ok(files), _) => {
            let words = restored_files(files.changed.len());
            told.push(Output::Restored(Restore { words, fid: fid.clone(), seq: files.seq }));
            told.extend(left_alone(&files.conflicts).map(Output::Note));
        }
        (Err(error), None) => told.push(note(error)),
        // There were no files to bring back.
        (Err(_), Some(_)) => {}
    }
    if let Some(Err(error)) = said {
        told.push(note(error));
    }
    told
}

/// Names the files that were left alone.
pub(super) fn left_alone(conflicts: &[Conflict]) -> Option<String> {
    let paths: Vec<_> =
        conflicts.iter().map(|conflict| one_line(&conflict.path.display().to_string())).collect();
    if paths.is_empty() {
        return None;
    }
    let named = paths[..paths.len().min(NAMED)].join(", ");
    let more = paths.len().saturating_sub(NAMED);
    let text = gettext("Skipped because of newer changes: {files}");
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
    use chat_core::error::Kind;
    use chat_core::review::{ConflictReason, RestoredFile};

    use super::*;

    #[test]
    fn what_was_left_alone_is_named_up_to_a_few() {
        let conflict = |path: &str| Conflict {
            path: path.into(),
            hunks: Vec::new(),
            reason: ConflictReason::Changed,
        };
        assert_eq!(left_alone(&[]), None);
        let words = left_alone(&["a", "b", "c", "d", "e"].map(conflict)).unwrap();
        assert!(words.ends_with("a, b, c and 2 more"), "{words}");
    }

    #[test]
    fn a_restore_in_an_agents_chat_says_that_it_undoes_what_the_agent_changed() {
        assert!(explanation(true).starts_with("This undoes only what this agent has changed"));
        assert!(explanation(false).starts_with("This restores the project’s files"));
    }

    #[test]
    fn files_that_came_back_can_go_again_whatever_became_of_the_conversation() {
        let file = RestoredFile { path: "a".into(), from: None, created: false, deleted: false };
        let files =
            || Restored { seq: 7, before: 6, changed: vec![file.clone()], conflicts: Vec::new() };
        let failed = |kind: Kind| Err(Error::new(kind));
        let fid = Fid::new("chat");
        let told = |files: Result<Restored>, said: Option<Result<Content>>| {
            let told = came_back(&fid, &files, said.as_ref());
            let name = |output: &Output| match output {
                Output::Restored(restore) if restore.seq == 7 => "undo",
                Output::Note(_) => "note",
                _ => "other",
            };
            told.iter().map(name).collect::<Vec<_>>()
        };
        let said = || Some(Ok(Content::text("Do it")));
        assert_eq!(told(Ok(files()), None), ["undo"]);
        assert_eq!(told(Ok(files()), said()), ["undo"]);
        assert_eq!(
            told(Ok(files()), Some(failed(Kind::SessionInUse).map(|()| Content::default()))),
            ["undo", "note"]
        );
        assert_eq!(told(failed(Kind::SessionAtWork).map(|()| files()), None), ["note"]);
        // Where no file changed there is nothing to undo.
        let none = || Restored { changed: Vec::new(), ..files() };
        assert_eq!(told(Ok(none()), None), ["note"]);
        assert_eq!(told(Ok(none()), said()), [""; 0]);
        assert_eq!(told(failed(Kind::NothingChanged).map(|()| files()), said()), [""; 0]);
    }
}
