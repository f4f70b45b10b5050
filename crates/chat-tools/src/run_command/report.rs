//! Tells the model what became of a command, and what it wrote.

use std::io::ErrorKind;
use std::sync::Arc;

use chat_core::message::ToolView;
use chat_core::tool::{ToolContext, ToolFailure, ToolOutput};
use chat_sandbox::{Exit, Running};

use super::{SPOOL_LIMIT, excerpt};
use crate::command::{Background, Commands, exit_of, outcome, plain, quarantined};
use crate::outputs;
use crate::spec::counted;

/// The text for the model, and whether it is shortened.
pub(super) fn say(running: &Running, exit: &Exit, id: &str) -> (String, bool) {
    let excerpt = running.spool().excerpt();
    let output = plain(&excerpt.to_string());
    let is_cut = excerpt.bytes_left_out > 0 || output.is_cut;
    let (spool, output) = (running.spool(), output.text);
    let mut said = outcome(exit);
    if output.trim().is_empty() {
        said += " No output.";
    } else {
        said = format!("{said}\n{}", output.trim_end_matches('\n'));
    }
    if is_cut {
        said = format!("{said}\n{}", rest(id, spool.bytes(), spool.refused()));
    }
    (said, is_cut)
}

/// How to get the rest of an output of this size, and what of it was not kept.
fn rest(id: &str, bytes: u64, refused: Option<ErrorKind>) -> String {
    match (bytes.checked_sub(SPOOL_LIMIT).filter(|lost| *lost > 0), refused) {
        (_, Some(why)) => format!(
            "[Not all of the output could be written to disk ({why}). Read what there is with fetch_output: id {id}.]"
        ),
        (Some(lost), None) => format!(
            "[Lost in the middle of the output: {}. Read the rest with fetch_output: id {id}.]",
            counted(lost, "byte")
        ),
        (None, None) => format!("[Read the full output with fetch_output: id {id}.]"),
    }
}

/// A background command, for the tools that work with it.
///
/// # Errors
///
/// There is none with this id, or it no longer exists.
pub fn background(context: &ToolContext, id: &str) -> Result<Arc<Background>, ToolFailure> {
    context.memory.get::<Commands>().get(id).map_err(|unknown| {
        // No command outlives the program, but its output does.
        if outputs::open(&context.outputs, id).is_err() {
            return unknown;
        }
        ToolFailure::new(format!(
            "“{id}” is no longer running, and how it ended is unknown. Read its output with fetch_output."
        ))
    })
}

/// The output of a background command since the last call, and its state.
///
/// # Errors
///
/// The disk cannot be read.
pub fn report(
    context: &ToolContext,
    command: &Background,
    id: &str,
) -> Result<ToolOutput, ToolFailure> {
    let most = excerpt(context);
    // The state is read first, so that all output before its end is certainly included.
    let ended = command.ended();
    let part = command
        .more(most)
        .map_err(|error| ToolFailure::new(format!("The output could not be read: {error}.")))?;
    let mut said = ended.as_ref().map_or_else(|| "Still running.".to_owned(), outcome);
    if part.missed > 0 {
        said = format!("{said}\n[No longer available: {}]", counted(part.missed, "byte"));
    }
    let text = plain(&part.text).text;
    if text.trim().is_empty() {
        said += " No new output.";
    } else {
        said = format!("{said}\n{}", text.trim_end_matches('\n'));
    }
    let unread = command.unread();
    if unread > 0 {
        let unread = counted(unread, "more byte");
        said = format!("{said}\n[{unread}: continue with read_output.]");
    }
    let view = ToolView::Ran {
        command: command.text.clone(),
        exit: ended.as_ref().map(exit_of),
        output: Some(id.to_owned()),
        sandboxed: command.is_sandboxed,
        quarantined: ended.as_ref().map(quarantined).unwrap_or_default(),
    };
    Ok(ToolOutput::text(said).view(view))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_kept_is_told() {
        let whole = "[Read the full output with fetch_output: id out1.]";
        assert_eq!(rest("out1", SPOOL_LIMIT, None), whole);
        assert!(
            rest("out1", SPOOL_LIMIT + 7, None)
                .contains("[Lost in the middle of the output: 7 bytes. ")
        );
        let full = rest("out1", 10, Some(ErrorKind::StorageFull));
        assert!(
            full.starts_with("[Not all of the output could be written to disk (no storage space)"),
            "{full}"
        );
    }
}
