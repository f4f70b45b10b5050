//! How full the window of the shown chat's model is: asked for when the chat or its model is another
//! one, told by the engine from then on.

mod button;
mod prompt;
mod ring;

use std::path::PathBuf;

use chat_core::error::Result;
use chat_core::message::{
    ChatRequest, Context, Fid, Meter, ModelRef, Options, PromptPreview, Thinking,
};
use chat_edge::words;
use gettextrs::gettext;
use relm4::ComponentSender;
use relm4::gtk::prelude::*;

pub(super) use button::MeterButton;

use super::shown::Shown;
use super::view::View;
use super::{ChatWidget, Done, Output, done, tell};

/// What the person wants to know or to have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// What fills the window now.
    Look,
    /// The whole of what would go out.
    Prompt,
    /// Earlier messages are to be summed up.
    Compact,
    /// All is to go out again.
    Undo,
}

/// What background work about the window brings.
#[derive(Debug)]
pub(super) enum News {
    /// The window was measured.
    Measured { of: Of, result: Result<Meter> },
    /// What would go out in this chat.
    Prompt { fid: Fid, result: Result<PromptPreview> },
    /// Earlier messages were summed up, or that was taken back; or there was nothing to do.
    Compacted { fid: Fid, back: bool, result: Result<bool> },
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

/// What is known of the window of the shown chat's model.
#[derive(Debug, Default)]
pub(super) struct Metering {
    of: Option<Of>,
    meter: Option<Meter>,
    /// Whether that is of the model that is chosen now.
    is_current: bool,
    /// The chat whose work the person stopped last.
    stopped: Option<Fid>,
}

impl Metering {
    /// The person stopped what this chat does: that a summary did not come is no news to them.
    pub(super) fn stopped(&mut self, fid: &Fid) {
        self.stopped = Some(fid.clone());
    }
}

impl ChatWidget {
    /// The chat is another one, or something in it changed.
    pub(super) fn look_at_meter(&mut self, view: &View, sender: &ComponentSender<Self>) {
        let of = match &self.shown {
            // It is shown in a moment: what stands there need not go and come.
            Shown::Opening(_) => return,
            Shown::New(_) => None,
            Shown::Open(session) => Some(Of {
                fid: session.fid.clone(),
                agent: session.agent.clone(),
                model: session.model.clone(),
                thinking: session.thinking,
                options: session.options.clone(),
                project: session.project.clone(),
            }),
        };
        view.meter.set_busy(self.shown.is_busy() || self.shown.is_in_use());
        if self.metering.of == of {
            return;
        }
        let fid = |of: &Option<Of>| of.as_ref().map(|of| of.fid.clone());
        if fid(&self.metering.of) != fid(&of) {
            self.metering.meter = None;
        }
        self.metering.of = of;
        self.metering.is_current = false;
        self.show_meter(view);
        self.measure_window(sender);
    }

    /// Asks how full the window is.
    fn measure_window(&self, sender: &ComponentSender<Self>) {
        let (Some(manager), Some(of)) = (self.manager.clone(), self.metering.of.clone()) else {
            return;
        };
        sender.oneshot_command(async move {
            let result = manager.context().meter(&of.fid).await;
            done(Done::Meter(News::Measured { of, result }))
        });
    }

    /// The engine tells how full the window is.
    pub(super) fn meter_changed(&mut self, fid: &Fid, meter: &Meter, view: &View) {
        if self.metering.of.as_ref().is_some_and(|of| of.fid == *fid) {
            self.metering.meter = Some(meter.clone());
            self.metering.is_current = true;
            self.show_meter(view);
        }
    }

    fn show_meter(&self, view: &View) {
        if view.meter.show(self.metering.meter.as_ref()) {
            view.composer.focus();
        }
    }

    /// The person asks for something.
    pub(super) fn hear_meter(&mut self, wish: Wish, view: &View, sender: &ComponentSender<Self>) {
        let (Some(manager), Shown::Open(session)) = (self.manager.clone(), &self.shown) else {
            return;
        };
        let fid = session.fid.clone();
        match wish {
            Wish::Look => self.measure_window(sender),
            Wish::Prompt => {
                let (content, mentions) = view.composer.content().content();
                let request = ChatRequest {
                    session: Some(fid.clone()),
                    content,
                    context: Context { mentions, ..self.goes_along() },
                    ..ChatRequest::default()
                };
                sender.oneshot_command(async move {
                    let result = manager.context().preview(request).await;
                    done(Done::Meter(News::Prompt { fid, result }))
                });
            }
            Wish::Compact | Wish::Undo => {
                let back = wish == Wish::Undo;
                if !back {
                    self.metering.stopped = None;
                    // There the summary is announced, and its marker comes.
                    view.conversation.go_to_end();
                }
                sender.oneshot_command(async move {
                    let result = if back {
                        manager.context().undo_compaction(&fid).await
                    } else {
                        manager.context().compact(&fid).await
                    };
                    done(Done::Meter(News::Compacted { fid, back, result }))
                });
            }
        }
    }

    /// Background work about the window is done.
    pub(super) fn meter_came(&mut self, news: News, view: &View, sender: &ComponentSender<Self>) {
        match news {
            News::Measured { of, result } => {
                if self.metering.of.as_ref() != Some(&of) {
                    return;
                }
                match result {
                    Ok(meter) => self.meter_changed(&of.fid, &meter, view),
                    // Where it cannot be told, nothing is said: sending says why.
                    Err(_) if !self.metering.is_current => {
                        self.metering.meter = None;
                        self.show_meter(view);
                    }
                    Err(_) => {}
                }
            }
            News::Prompt { fid, result: Ok(preview) } => {
                if self.shown.fid() == Some(&fid) {
                    let window = view.composer.widget().root().and_downcast::<gtk::Window>();
                    prompt::show(&preview, window.as_ref());
                }
            }
            News::Prompt { fid, result: Err(error) }
            | News::Compacted { fid, result: Err(error), .. } => {
                self.failed(Some(&fid), &error, view, sender);
            }
            News::Compacted { fid, back, result: Ok(was_done) } => {
                let stopped = self.metering.stopped.as_ref() == Some(&fid);
                if let Some(words) = compacted(was_done, back).filter(|_| !stopped) {
                    tell(sender, Output::Note(words));
                }
            }
        }
    }
}

/// What is to be said about a summary, or about taking one back.
fn compacted(was_done: bool, back: bool) -> Option<String> {
    match (was_done, back) {
        // The marker says it.
        (true, false) => None,
        (false, false) => Some(gettext("There is nothing to compact.")),
        (true, true) => Some(gettext("The model reads all messages again.")),
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
