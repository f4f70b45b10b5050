//! Shows how full the window of the shown chat's model is: asked for when the chat or its model is another
//! one, told by the engine from then on.

mod button;
mod prompt;
mod ring;

use std::path::PathBuf;

use chat_core::error::Result;
use chat_core::manager::Manager;
use chat_core::message::{
    ChatRequest, Content, Context, ContextUsage, Fid, ModelRef, Options, PromptPreview, Thinking,
};
use chat_presentation::slash_commands::{self, SlashCommand};
use chat_presentation::words;
use gettextrs::gettext;
use relm4::gtk::prelude::*;

use super::handle::Handle;
use super::messages;
use super::shown_chat::ShownChat;
use button::MeterButton;

/// What the person wants to know or to have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MeterAction {
    /// What fills the window now.
    Refresh,
    /// The whole of what would go out.
    Prompt,
    /// Earlier messages are to be summed up.
    Compact,
    /// All is to go out again.
    Undo,
}

/// What the person does with the meter, and what its work brings.
#[derive(Debug)]
pub(super) enum Msg {
    /// The person asks for something.
    Asked(MeterAction),
    /// The window was measured.
    Measured { of: Box<Of>, result: Result<ContextUsage> },
    /// What would go out in this chat.
    Previewed { fid: Fid, result: Result<PromptPreview> },
    /// Earlier messages were summed up, or that was taken back; or there was nothing to do.
    Compacted { fid: Fid, back: bool, result: Result<bool> },
}

/// What the meter wants of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// The message as it is now, for [`ContextMeter::preview`].
    Message,
    /// The end of the conversation is to be seen: there a summary is announced.
    ConversationEnd,
    /// What had the keyboard is gone.
    KeyboardLost,
}

/// What decides how large the window is, and what stands in it besides the messages.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Of {
    fid: Fid,
    agent: String,
    model: Option<ModelRef>,
    thinking: Thinking,
    options: Options,
    project: Option<PathBuf>,
}

/// The meter of the shown chat.
pub(super) struct ContextMeter {
    handle: Handle<Msg>,
    manager: Option<Manager>,
    button: MeterButton,
    of: Option<Of>,
    /// Whether another chat is being read, so that nothing can be asked of the one before.
    is_opening: bool,
    meter: Option<ContextUsage>,
    /// Whether that is of the model that is chosen now.
    is_current: bool,
    /// The chat whose work the person stopped last.
    stopped: Option<Fid>,
}

impl ContextMeter {
    pub(super) fn new(handle: Handle<Msg>) -> Self {
        Self {
            button: MeterButton::new(handle.callback(Msg::Asked)),
            handle,
            manager: None,
            of: None,
            is_opening: false,
            meter: None,
            is_current: false,
            stopped: None,
        }
    }

    pub(super) fn widget(&self) -> &gtk::MenuButton {
        self.button.widget()
    }

    pub(super) fn connect(&mut self, manager: Manager) {
        self.manager = Some(manager);
    }

    /// The person stopped what this chat does: that a summary did not come is no news to them.
    pub(super) fn stopped(&mut self, fid: &Fid) {
        self.stopped = Some(fid.clone());
    }

    /// The chat is another one, or something in it changed. Whether what had the keyboard is gone.
    pub(super) fn show(&mut self, shown: &ShownChat) -> bool {
        self.is_opening = shown.is_opening();
        let of = match shown {
            // It is shown in a moment: what stands there need not go and come.
            ShownChat::Opening(_) => return false,
            ShownChat::New(_) => None,
            ShownChat::Open(session) => Some(Of {
                fid: session.fid.clone(),
                agent: session.agent.clone(),
                model: session.model.clone(),
                thinking: session.thinking,
                options: session.options.clone(),
                project: session.project.clone(),
            }),
        };
        self.button.set_busy(shown.is_busy() || shown.is_in_use());
        if self.of == of {
            return false;
        }
        let fid = |of: &Option<Of>| of.as_ref().map(|of| of.fid.clone());
        if fid(&self.of) != fid(&of) {
            self.meter = None;
        }
        self.of = of;
        self.is_current = false;
        self.measure();
        self.show_meter()
    }

    /// The engine tells how full the window of a chat is. Whether what had the keyboard is gone.
    pub(super) fn changed(&mut self, fid: &Fid, meter: &ContextUsage) -> bool {
        if self.of.as_ref().is_none_or(|of| of.fid != *fid) {
            return false;
        }
        self.meter = Some(meter.clone());
        self.is_current = true;
        self.show_meter()
    }

    pub(super) fn update(&mut self, msg: Msg) -> Option<Output> {
        match msg {
            Msg::Asked(action) => return self.asked(action),
            Msg::Measured { of, .. } if self.of.as_ref() != Some(&*of) => {}
            Msg::Measured { of, result: Ok(meter) } => {
                return self.changed(&of.fid, &meter).then_some(Output::KeyboardLost);
            }
            // Where it cannot be told, nothing is said: sending says why.
            Msg::Measured { result: Err(_), .. } => {
                if !self.is_current {
                    self.meter = None;
                    return self.show_meter().then_some(Output::KeyboardLost);
                }
            }
            Msg::Previewed { fid, result: Ok(preview) } => {
                if !self.is_opening && self.of.as_ref().is_some_and(|of| of.fid == fid) {
                    let window = self.widget().root().and_downcast::<gtk::Window>();
                    prompt::show(&preview, window.as_ref());
                }
            }
            Msg::Previewed { fid, result: Err(error) }
            | Msg::Compacted { fid, result: Err(error), .. } => self.handle.fail(Some(&fid), error),
            Msg::Compacted { fid, back, result: Ok(was_done) } => {
                let stopped = self.stopped.as_ref() == Some(&fid);
                if let Some(words) = compacted(was_done, back).filter(|_| !stopped) {
                    self.handle.output(messages::Output::Note(words));
                }
            }
        }
        None
    }

    /// Shows the whole of what would go out with this message.
    pub(super) fn preview(
        &self,
        content: Content,
        context: Context,
        command: Option<(SlashCommand, String)>,
    ) {
        let (Some(manager), Some(of)) = (self.manager.clone(), &self.of) else { return };
        let fid = of.fid.clone();
        let mut request =
            ChatRequest { session: Some(fid.clone()), content, context, ..ChatRequest::default() };
        self.handle.spawn(async move {
            let attached = match &command {
                Some((command, arguments)) => {
                    slash_commands::attach(&manager, command, arguments, &mut request).await
                }
                None => Ok(()),
            };
            let result = match attached {
                Ok(()) => manager.context().preview(request).await,
                Err(error) => Err(error),
            };
            Msg::Previewed { fid, result }
        });
    }

    /// The person asks for something.
    fn asked(&mut self, action: MeterAction) -> Option<Output> {
        if self.is_opening {
            return None;
        }
        let (manager, fid) = (self.manager.clone()?, self.of.as_ref()?.fid.clone());
        match action {
            MeterAction::Refresh => {
                self.measure();
                None
            }
            MeterAction::Prompt => Some(Output::Message),
            MeterAction::Compact | MeterAction::Undo => {
                let back = action == MeterAction::Undo;
                if !back {
                    self.stopped = None;
                }
                self.handle.spawn(async move {
                    let result = if back {
                        manager.context().undo_compaction(&fid).await
                    } else {
                        manager.context().compact(&fid).await
                    };
                    Msg::Compacted { fid, back, result }
                });
                (!back).then_some(Output::ConversationEnd)
            }
        }
    }

    /// Asks how full the window is.
    fn measure(&self) {
        let (Some(manager), Some(of)) = (self.manager.clone(), self.of.clone()) else { return };
        self.handle.spawn(async move {
            let result = manager.context().usage(&of.fid).await;
            Msg::Measured { of: Box::new(of), result }
        });
    }

    fn show_meter(&self) -> bool {
        self.button.show(self.meter.as_ref())
    }
}

/// What is to be said about a summary, or about taking one back.
fn compacted(was_done: bool, back: bool) -> Option<String> {
    match (was_done, back) {
        // The marker says it.
        (true, false) => None,
        (false, false) => Some(gettext("There is nothing to compact.")),
        (true, true) => Some(gettext("The model reads the earlier messages in full again.")),
        (false, true) => Some(gettext("No messages are compacted.")),
    }
}

/// What would go out, part by part, with what could mislead a reader shown.
fn text_of(preview: &PromptPreview) -> String {
    let tools = preview
        .tools
        .iter()
        .map(|(name, bytes)| format!("{name} ({})", words::bytes(*bytes as u64)));
    let tools = tools.collect::<Vec<_>>().join(", ");
    let parts = [
        (gettext("Instructions"), preview.system.trim_end()),
        (gettext("Sent with Your Message"), preview.context.trim_end()),
        (gettext("Tools"), tools.as_str()),
    ];
    let parts = parts.iter().filter(|(_, text)| !text.is_empty());
    let parts = parts.map(|(title, text)| format!("── {title} ──\n\n{}", words::visible(text)));
    parts.collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_has_its_parts_and_shows_what_hides() {
        let preview = PromptPreview {
            system: "Be brief.\u{202e}\n".to_owned(),
            tools: vec![("read".to_owned(), 300)],
            ..PromptPreview::default()
        };
        let text = text_of(&preview);
        assert!(text.contains("Be brief.⟨U+202E⟩\n\n"), "{text}");
        assert!(text.contains("read (") && !text.contains("Sent with Your Message"), "{text}");
    }

    #[test]
    fn only_what_the_chat_does_not_show_is_said() {
        assert_eq!(compacted(true, false), None);
        assert!(
            [(false, false), (true, true), (false, true)]
                .map(|(d, b)| compacted(d, b))
                .iter()
                .all(Option::is_some)
        );
    }
}
