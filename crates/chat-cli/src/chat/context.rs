//! Runs the commands about the context window: `/context`, `/prompt`, `/compact`.

use chat_core::message::Fid;
use chat_presentation::words;

use super::Conversation;
use crate::error::Result;
use crate::say;
use crate::terminal;

impl Conversation<'_> {
    /// Shows how full the context window is, and what fills it.
    pub(super) async fn context(&mut self) -> Result<()> {
        let Some(fid) = self.begun() else { return Ok(()) };
        let usage = self.program.manager.context().usage(&fid).await?;
        let mut lines = vec![words::fullness(&usage)];
        let fills = words::context_lines(&usage).into_iter();
        lines.extend(fills.map(|(what, tokens)| format!("{tokens:>9}  {what}")));
        lines.extend(words::cost(&usage));
        self.program.output.print(lines.join("\n") + "\n").await
    }

    /// Shows everything that would be sent with the next message.
    pub(super) async fn prompt(&mut self) -> Result<()> {
        let preview = self.program.manager.context().preview(self.request.clone()).await?;
        let tools = preview.tools.iter().map(|(name, bytes)| format!("{name} ({bytes})"));
        let tools = tools.collect::<Vec<_>>().join(", ");
        let mut text = String::new();
        for part in [&preview.system, &preview.context, &tools] {
            if !part.is_empty() {
                text.push_str(&terminal::clean(part));
                text.push_str("\n\n");
            }
        }
        text.push_str(&words::prompt_size(&preview));
        self.program.output.print(text + "\n").await
    }

    /// Summarizes earlier messages, or undoes that.
    pub(super) async fn compact(&mut self, back: bool) -> Result<()> {
        let Some(fid) = self.begun() else { return Ok(()) };
        let manager = &self.program.manager;
        let done = if back {
            manager.context().undo_compaction(&fid).await?
        } else {
            self.remark(&say::summing_up());
            // Interrupting the wait also stops the work.
            let stops = StopOnDrop(manager, &fid);
            let done = manager.context().compact(&fid).await?;
            std::mem::forget(stops);
            done
        };
        self.remark(&say::compacted(done, back));
        Ok(())
    }

    /// The chat, if it has begun.
    pub(super) fn begun(&self) -> Option<Fid> {
        let fid = self.request.session.clone();
        if fid.is_none() {
            self.remark(&say::not_begun());
        }
        fid
    }
}

/// Stops the session's work when dropped, unless it is forgotten.
struct StopOnDrop<'a>(&'a chat_core::manager::Manager, &'a Fid);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.sessions().stop(self.1);
    }
}
