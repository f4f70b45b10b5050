//! What the person asks of the engine besides sending: stopping, trying again, and the chat's
//! choices.

use std::time::{Duration, Instant};

use chat_core::error::{Error, Kind, Result};
use chat_core::manager::{Manager, SessionChange};
use chat_core::message::{Fid, ModelRef, Options, Thinking};
use chat_core::settings::Settings;
use chat_edge::diagnostics::Moment;
use chat_edge::words;
use gettextrs::gettext;
use relm4::ComponentSender;
use relm4::gtk::prelude::*;

use super::shown::Shown;
use super::view::View;
use super::{ChatWidget, Done, Input, Output, PAGE, done, tell};
use super::{pointing, restoring};
use crate::composer::Written;
use crate::conversation::{self, FilePlace};

/// How long a second Esc counts as the answer to the first, in seconds.
pub(crate) const ESCAPE_TWICE: u32 = 3;

impl ChatWidget {
    pub(super) fn stop(&mut self, sender: &ComponentSender<Self>) {
        self.forget_escape(sender);
        if let (Some(manager), Some(fid)) = (&self.manager, self.shown.fid()) {
            self.metering.stopped(fid);
            manager.sessions().stop(fid);
        }
    }

    /// Looks at all connections anew.
    pub(super) fn look_again(&self) {
        if let Some(manager) = &self.manager {
            manager.connections().refresh();
        }
    }

    /// Looks for servers that were started meanwhile.
    pub(super) fn look_out(&self) {
        if let Some(manager) = &self.manager {
            manager.look_out();
        }
    }

    pub(super) fn hear_conversation(
        &mut self,
        session: Option<&Fid>,
        output: conversation::Output,
        view: &View,
        sender: &ComponentSender<Self>,
        root: &gtk::Box,
    ) {
        use conversation::Output as Told;
        // Words are kept for their chat, whichever is shown by now.
        if let Told::GiveBack(text) = output {
            let written = Written::text(text);
            let fid = session.or(self.shown.fid()).cloned();
            return self.give_back(fid.as_ref(), &written, view, sender);
        }
        let Some(fid) = self.shown.fid().cloned() else { return };
        if !self.shown.concerns(session, &output) {
            if let Told::Answer { ask, .. } = output {
                // Nobody is given it.
                self.answered(&fid, ask, Ok(false), view, sender);
            }
            return;
        }
        if matches!(
            output,
            Told::Retry
                | Told::Regenerate
                | Told::Resume
                | Told::ThinkAsModel
                | Told::EnlargeWindow { .. }
        ) {
            // The button goes away with its card: the focus must not fall onto some text.
            view.composer.focus();
            // Who asks for an answer wants to see it.
            view.conversation.go_to_end();
        }
        match output {
            Told::NeedEarlier { before } => {
                let Some(manager) = self.manager.clone() else { return };
                sender.oneshot_command(async move {
                    let result = manager.sessions().earlier(&fid, before, PAGE).await;
                    done(Done::Earlier { fid, before, result })
                });
            }
            Told::Stop => self.stop(sender),
            Told::Retry | Told::Regenerate => {
                self.diagnostics.reply(fid.as_str(), Moment::Request);
                self.run(sender, async move |manager| manager.sessions().retry(&fid).await);
            }
            Told::ShowBranch { reply, keyboard } => {
                // The button goes away with its reply, and another comes with the other one.
                match keyboard {
                    Some(side) => view.conversation.return_to_step(reply, side),
                    None => view.composer.focus(),
                }
                self.run(sender, async move |manager| {
                    manager.sessions().show_branch(&fid, reply).await.map(drop)
                });
            }
            Told::Resume => {
                self.diagnostics.reply(fid.as_str(), Moment::Request);
                self.run(sender, async move |manager| manager.sessions().resume(&fid).await);
            }
            Told::ThinkAsModel => {
                self.diagnostics.reply(fid.as_str(), Moment::Request);
                self.run(sender, async move |manager| {
                    let thinking = Some(Thinking::Habit);
                    let change = SessionChange { thinking, ..SessionChange::default() };
                    manager.sessions().change(&fid, change).await?;
                    manager.sessions().retry(&fid).await
                });
            }
            Told::ChooseModel => view.model.open(),
            Told::ChooseAgent => view.agents.open(),
            Told::NewChat => sender.input(Input::ShowBeside),
            Told::OpenSettings => tell(sender, Output::Connections(self.connection_name())),
            Told::EnlargeWindow { tokens } => self.enlarge(fid, tokens, sender),
            Told::CopyText(text) => root.clipboard().set_text(&text),
            Told::SendWaiting => {
                self.diagnostics.reply(fid.as_str(), Moment::Request);
                self.run(sender, async move |manager| manager.sessions().send_waiting(&fid).await);
            }
            Told::Unqueue(id) => {
                let Some(manager) = self.manager.clone() else { return };
                let project = self.shown.project().map(std::path::Path::to_owned);
                sender.oneshot_command(async move {
                    match manager.sessions().unqueue(&fid, id).await {
                        Ok(queued) => {
                            let written = match queued {
                                Some(queued) => Some(
                                    pointing::written(&manager, project.as_deref(), queued).await,
                                ),
                                None => None,
                            };
                            done(Done::Unqueued { fid, written })
                        }
                        Err(error) => done(Done::Finished { fid: Some(fid), result: Err(error) }),
                    }
                });
            }
            Told::Answer { ask, answer } => {
                // The card goes away with what has the keyboard in it.
                view.composer.focus();
                // Who answers wants to see what comes of it.
                view.conversation.go_to_end();
                let Some(manager) = self.manager.clone() else { return };
                sender.oneshot_command(async move {
                    let result = manager.permissions().answer(&fid, ask, answer).await;
                    done(Done::Answered { fid, ask, result })
                });
            }
            Told::Restore(message) => restoring::ask(fid, message, root, sender),
            Told::GiveBack(_) => {}
            Told::KeyboardLost => view.composer.focus(),
            Told::OpenLink(url) => open_link(&url, root),
            Told::OpenFile(FilePlace { path, place }) => {
                tell(sender, Output::OpenFile { path, place });
            }
            Told::Seen => self.mark_read(sender),
            Told::Found(standing) => view.find.show(standing),
        }
    }

    /// Ends a command that runs in the background of the shown chat.
    pub(super) fn end_command(&self, id: String, view: &View, sender: &ComponentSender<Self>) {
        // Another chat may be on its way, whose commands are not those that are seen.
        if let Some(fid) = view.conversation.session() {
            self.run(sender, async move |manager| {
                manager.commands().end(&fid, &id).await.map(drop)
            });
        }
    }

    /// The person has the shown chat before them.
    pub(super) fn mark_read(&self, sender: &ComponentSender<Self>) {
        if let Some(fid) = self.shown.fid().cloned() {
            self.run(sender, async move |manager| manager.sessions().mark_read(&fid).await);
        }
    }

    /// Makes the chat's window larger and sends again what was too long for it.
    fn enlarge(&mut self, fid: Fid, tokens: u32, sender: &ComponentSender<Self>) {
        let options = Options { context_window: Some(tokens), ..self.shown.options() };
        let change = SessionChange { options: Some(options), ..SessionChange::default() };
        self.run(sender, async move |manager| {
            manager.sessions().change(&fid, change).await?;
            manager.sessions().retry(&fid).await
        });
    }

    pub(super) fn choose_model(
        &mut self,
        model: ModelRef,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        match &mut self.shown {
            Shown::New(session) => session.model = Some(model.clone()),
            Shown::Open(session) => session.model = Some(model.clone()),
            Shown::Opening(_) => return,
        }
        self.change(SessionChange { model: Some(model), ..SessionChange::default() }, sender);
        self.show_state(view, sender);
        view.composer.focus();
    }

    pub(super) fn set_agent(&mut self, agent: String, sender: &ComponentSender<Self>) {
        match &mut self.shown {
            Shown::New(session) => session.agent.clone_from(&agent),
            Shown::Open(session) => session.agent.clone_from(&agent),
            Shown::Opening(_) => return,
        }
        self.offer_panel(sender);
        self.change(SessionChange { agent: Some(agent), ..SessionChange::default() }, sender);
    }

    /// The panel that the agent of the shown chat brings, where it brings one.
    pub(super) fn panel(&self) -> Option<&'static str> {
        let agents =
            self.manager.as_ref().map(|manager| manager.agents().list()).unwrap_or_default();
        agents.iter().find(|info| info.name == self.shown.agent()).and_then(|info| info.panel)
    }

    /// Shows that panel.
    pub(super) fn offer_panel(&self, sender: &ComponentSender<Self>) {
        if let Some(panel) = self.panel() {
            tell(sender, Output::Panel(panel));
        }
    }

    pub(super) fn set_thinking(&mut self, thinking: Thinking, sender: &ComponentSender<Self>) {
        match &mut self.shown {
            Shown::New(session) => session.thinking = thinking,
            Shown::Open(session) => session.thinking = thinking,
            Shown::Opening(_) => return,
        }
        self.change(SessionChange { thinking: Some(thinking), ..SessionChange::default() }, sender);
    }

    pub(super) fn set_options(&mut self, options: Options, sender: &ComponentSender<Self>) {
        match &mut self.shown {
            Shown::New(session) => session.options = options.clone(),
            Shown::Open(session) => session.options = options.clone(),
            Shown::Opening(_) => return,
        }
        self.change(SessionChange { options: Some(options), ..SessionChange::default() }, sender);
    }

    /// Esc: pressed twice, it stops the reply; where nothing runs it belongs to the window.
    pub(super) fn escape(&mut self, sender: &ComponentSender<Self>) {
        if !self.shown.is_busy() {
            tell(sender, Output::Escaped);
            return;
        }
        let twice = Duration::from_secs(ESCAPE_TWICE.into());
        if self.escaped.is_some_and(|at| at.elapsed() < twice) {
            self.stop(sender);
        } else {
            self.escaped = Some(Instant::now());
            tell(sender, Output::EscapeAgain(true));
        }
    }

    /// An Esc that was pressed before counts no longer, and nothing asks for another.
    pub(super) fn forget_escape(&mut self, sender: &ComponentSender<Self>) {
        if self.escaped.take().is_some() {
            tell(sender, Output::EscapeAgain(false));
        }
    }

    /// Tells the engine of a stored chat's choices; a new chat's go with its first message.
    pub(super) fn change(&mut self, change: SessionChange, sender: &ComponentSender<Self>) {
        if let Shown::Open(session) = &self.shown {
            let fid = session.fid.clone();
            if let Some(change) = self.changes.begin(&fid, change) {
                self.tell_change(fid, change, sender);
            }
        }
    }

    fn tell_change(&self, fid: Fid, change: SessionChange, sender: &ComponentSender<Self>) {
        let Some(manager) = self.manager.clone() else { return };
        sender.oneshot_command(async move {
            let result = manager.sessions().change(&fid, change).await;
            done(Done::Changed { fid, result })
        });
    }

    /// A chat's choices are stored, or could not be: what was chosen meanwhile comes next.
    pub(super) fn changed(
        &mut self,
        fid: Fid,
        result: Result<()>,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        if let Err(error) = result
            && !is_gone(&error)
        {
            self.failed(Some(&fid), &error, view, sender);
        }
        if let Some(next) = self.changes.done(&fid) {
            self.tell_change(fid, next, sender);
        }
    }

    /// Asks once what a model can do, where the list does not say.
    pub(super) fn ask_capabilities(&self, sender: &ComponentSender<Self>) {
        let (Some(manager), Some(model)) = (self.manager.clone(), self.shown.model().cloned())
        else {
            return;
        };
        sender.oneshot_command(async move {
            let result = manager.models().capabilities(&model).await;
            done(Done::Capabilities { model, result })
        });
    }

    /// Marks a model as a favourite, or takes that back; all windows hear of it.
    pub(super) fn set_favourite(
        &self,
        model: ModelRef,
        favourite: bool,
        sender: &ComponentSender<Self>,
    ) {
        self.run(sender, async move |manager| {
            let change =
                move |settings: &mut Settings| settings.ui.set_favourite(&model, favourite);
            manager.settings().change(change).await.map(drop)
        });
    }

    /// Keeps that nobody need be told again that the model is a tiny one.
    pub(super) fn tiny_is_known(&self, sender: &ComponentSender<Self>) {
        self.run(sender, async |manager| {
            let change = |settings: &mut Settings| settings.ui.tiny_is_known = true;
            manager.settings().change(change).await.map(drop)
        });
    }

    fn connection_name(&self) -> Option<String> {
        self.shown.model().map(|model| model.connection.clone())
    }

    /// Says what went wrong in a chat, and opens what mends it where that chat is still shown.
    pub(super) fn failed(
        &self,
        fid: Option<&Fid>,
        error: &Error,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        tell(sender, Output::Note(words::sentence(error)));
        let mends = words::advice(error).actions.first() == Some(&words::Action::ChooseModel);
        if mends && self.shown.fid() == fid {
            view.model.open();
        }
    }

    pub(super) fn run<F>(&self, sender: &ComponentSender<Self>, work: impl FnOnce(Manager) -> F)
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let Some(manager) = self.manager.clone() else { return };
        let work = work(manager);
        let fid = self.shown.fid().cloned();
        sender.oneshot_command(async move {
            match work.await {
                Err(error) if is_gone(&error) => done(Done::Nothing),
                result => done(Done::Finished { fid, result }),
            }
        });
    }
}

/// Pressed twice, or the chat was deleted meanwhile: there is nothing to say.
pub(super) fn is_gone(error: &Error) -> bool {
    matches!(error.kind, Kind::SessionNotFound { .. })
}

/// Opens what a browser or mail program may be given, and nothing else.
fn open_link(url: &str, root: &gtk::Box) {
    let allowed = ["https://", "http://", "mailto:"];
    let lower = url.to_ascii_lowercase();
    if allowed.iter().any(|scheme| lower.starts_with(scheme)) {
        let window = root.root().and_downcast::<gtk::Window>();
        gtk::show_uri(window.as_ref(), url, gtk::gdk::CURRENT_TIME);
    }
}

/// Says an error in passing.
pub(super) fn note(error: &Error) -> Output {
    Output::Note(words::sentence(error))
}

pub(super) fn copy_last_reply(view: &View, root: &gtk::Box, sender: &ComponentSender<ChatWidget>) {
    let words = match view.conversation.last_reply() {
        Some(reply) => {
            root.clipboard().set_text(&reply);
            gettext("Reply copied")
        }
        None => gettext("No reply yet"),
    };
    tell(sender, Output::Note(words));
}
