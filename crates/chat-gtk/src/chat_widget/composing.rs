//! Routes what the person does with the composer to the parts of the chat that it concerns.

use std::io::ErrorKind;
use std::path::PathBuf;

use chat_core::message::{ChatRequest, Context, Delivery};
use chat_presentation::diagnostics::Moment;
use chat_presentation::words::fill;
use gettextrs::gettext;
use relm4::gtk::prelude::*;

use super::messages::FrameMsg;
use super::requests::note;
use super::shown_chat::ShownChat;
use super::{ChatWidget, Output, attaching, chat_composer, mention_sources};
use crate::composer::{self, Written};

impl ChatWidget {
    /// The person does something with the composer.
    pub(super) fn composer_used(&mut self, output: composer::Output) {
        use composer::Output as Used;
        match output {
            Used::Submit { written, other } => {
                // Who sends something wants to see it.
                self.conversation.go_to_end();
                if std::mem::take(&mut self.noted) {
                    self.handle.output(Output::ChatNoteOver);
                }
                if let Some(name) = self.composer.field().unknown_names(&written).first() {
                    let text =
                        gettext("{name} isn’t in the project, so it was sent as plain text.");
                    self.noted = true;
                    self.handle.output(Output::ChatNote(fill(&text, &[("name", name)])));
                }
                let delivery = other.then(|| self.other_delivery()).flatten();
                self.submit(written, delivery);
            }
            Used::Hindered(why) => {
                self.handle.output(Output::Note(why));
                // A model is what a person can choose.
                let lacks_model = !self.shown.is_opening() && self.shown.model().is_none();
                if self.manager.is_some() && lacks_model {
                    self.model.open_models();
                }
            }
            Used::Stop => self.stop(),
            Used::LeaveOut(along) => {
                self.editor_context.leave_out(along);
                self.show_chips();
                self.composer.field().focus();
            }
            Used::Changed => {
                if self.composer.changed() {
                    self.conversation.expect_reply();
                }
            }
            Used::LookFor(query) => {
                let (fid, project) = (self.shown.fid(), self.shown.project());
                let found = self.mentions.look_for(query, fid, project);
                self.show_mentions(found);
            }
            Used::LookForCommand(query) => {
                let output = self.commands.look_for(query.as_deref());
                if output.is_some() {
                    self.commands_changed(output);
                }
            }
            Used::AskArguments(name) => self.ask_arguments_of(name),
            Used::Pages(wanted) => self.mentions.fetch_pages(wanted),
            Used::Files(wanted) => {
                if !wanted.is_empty() {
                    self.diagnostics.mark("attaching");
                }
                self.attaching.read(wanted);
            }
            Used::Pasted { id, what } => {
                let is_lost = what.is_none();
                if self.composer.pasted(id, what.as_ref()) && is_lost {
                    self.handle.output(Output::Note(composer::not_pasted()));
                }
            }
            Used::Pictures => self.show_hint(),
            Used::ChooseFiles => self.choose_files(),
            Used::Note(words) => self.handle.output(Output::Note(words)),
            Used::ScrollUp => self.conversation.scroll_pages(-1.0),
            Used::ScrollDown => self.conversation.scroll_pages(1.0),
            Used::ScrollToStart => self.conversation.go_to_start(),
            Used::ScrollToEnd => self.conversation.go_to_end(),
        }
    }

    /// Asks for files to attach.
    pub(super) fn choose_files(&self) {
        let window = self.layout.root().root().and_downcast::<gtk::Window>();
        let input = self.handle.clone();
        attaching::choose(window.as_ref(), move |files| input.send(FrameMsg::Chosen(files)));
    }

    /// Attaches files to the message, as soon as its chat is shown.
    pub(super) fn attach(&mut self, files: Vec<PathBuf>) {
        if files.is_empty() {
            return;
        }
        if self.manager.is_none() && self.wanted.is_some() {
            self.to_attach.extend(files);
            return;
        }
        self.composer.field().attach(files);
        self.composer.field().focus();
    }

    /// When a message reaches the model that is sent during a reply, and not as the settings say.
    fn other_delivery(&self) -> Option<Delivery> {
        let settings = self.manager.as_ref()?.settings().current();
        Some(settings.chat.while_busy.other().into())
    }

    /// What was written leaves the composer for the engine, or waits until it can.
    pub(super) fn submit(&mut self, written: Written, delivery: Option<Delivery>) {
        if self.composer.is_switching() {
            self.composer.defer(written);
            return;
        }
        let without = self.editor_context.leave_behind(self.shown.project());
        self.show_chips();
        self.composer.enqueue(written, without, delivery);
        self.send_next();
    }

    /// Sends the next message, if it can be sent now.
    pub(super) fn send_next(&mut self) {
        if self.project.is_finding() || self.shown.is_opening() {
            return;
        }
        let outgoing = loop {
            let Some(next) = self.composer.next_to_send() else { return };
            let is_unknown = self.commands.typed(&next.written.text).is_none();
            match self.obey(next) {
                Some(outgoing) => break outgoing,
                None if is_unknown => return,
                None => {}
            }
        };
        let (mut content, mentions) = outgoing.written.content();
        let command = self.command_of(&mut content);
        let context = Context {
            mentions,
            ..self.editor_context.now(self.shown.project(), &outgoing.without)
        };
        let session = self.shown.fid().cloned();
        if let Some(fid) = &session {
            self.diagnostics.reply(fid.as_str(), Moment::Request);
        }
        let delivery = outgoing.delivery;
        let mode = outgoing.mode;
        let request = match &self.shown {
            ShownChat::New(chat) => chat.request(content, context),
            _ => {
                ChatRequest { session, content, context, delivery, mode, ..ChatRequest::default() }
            }
        };
        self.composer.send(outgoing, request, command);
    }

    /// Something came of a message, or of the drafts.
    pub(super) fn composer_changed(&mut self, output: Option<chat_composer::Output>) {
        match output {
            Some(chat_composer::Output::Changed) => self.conversation.expect_reply(),
            Some(chat_composer::Output::Unwritten(error)) => {
                self.handle.output(Output::Note(unwritten(&error)));
            }
            Some(chat_composer::Output::Stored { fid, is_new, is_there }) => {
                self.has_chats = true;
                if is_new {
                    self.diagnostics.reply(fid.as_str(), Moment::Request);
                }
                if is_new && is_there {
                    // What was sent after it is for the same chat.
                    let waiting = self.composer.take_waiting();
                    let noted = std::mem::take(&mut self.noted);
                    self.handle.output(Output::Stored(fid.clone()));
                    self.layout.glide_down();
                    self.show(Some(fid), None);
                    self.noted = noted;
                    self.composer.put_waiting(waiting);
                }
                if self.composer.changed() {
                    self.conversation.expect_reply();
                }
                self.composer.write();
                self.send_next();
            }
            Some(chat_composer::Output::Refused { fid, error, without }) => {
                if !without.is_empty() {
                    self.editor_context.leave_out_again(without);
                    self.show_chips();
                }
                self.handle.fail(fid.as_ref(), error);
                self.send_next();
            }
            None => {}
        }
        self.finish();
    }

    /// Writes all that was typed for the last time, where the program ends and nothing is on its way.
    pub(super) fn finish(&mut self) {
        if self.composer.can_end(self.conversation.edits().is_any_on_its_way()) {
            let mut typed = self.conversation.take_typed();
            typed.extend(self.conversation.edits().unsent());
            self.remember_position();
            self.composer.write_last(typed, self.reading.clone());
        }
    }

    /// Shows what was found for the message.
    pub(super) fn show_mentions(&self, found: Option<mention_sources::Output>) {
        match found {
            Some(mention_sources::Output::Suggestions(query, suggestions)) => {
                self.composer.field().suggest(&query, suggestions);
            }
            Some(mention_sources::Output::Page { url, result: Ok(text) }) => {
                self.composer.field().page_came(&url, Some(text));
            }
            Some(mention_sources::Output::Page { url, result: Err(error) }) => {
                let is_waited_for = self.composer.field().page_came(&url, None);
                if is_waited_for {
                    self.handle.output(note(&error));
                }
            }
            Some(mention_sources::Output::Failed(error)) => self.handle.output(note(&error)),
            None => {}
        }
    }
}

/// Says that drafts cannot be written.
fn unwritten(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => gettext(
            "The disk is full, so your draft isn’t saved. It stays here while Natter is open. Free up some space.",
        ),
        _ => fill(
            &gettext("Couldn’t save your draft: {reason}. It stays here while Natter is open."),
            &[("reason", &error.to_string())],
        ),
    }
}
