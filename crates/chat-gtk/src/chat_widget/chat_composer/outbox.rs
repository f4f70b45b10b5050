//! Sends what was written, in the order in which Enter was pressed, to the chat that it was for.
//!
//! Keys come before the widget's own messages, and who types fast is ahead of it: so the composer
//! hands a text over the moment that Enter is pressed.

use chat_core::error::Result;
use chat_core::manager::Sent;
use chat_core::message::{ChatRequest, Context, Fid};
use chat_edge::diagnostics::Moment;
use chat_edge::words::fill;
use gettextrs::gettext;

use super::super::chat_switching::Ahead;
use super::super::mention_sources;
use super::super::requests::note;
use super::super::shown::Shown;
use super::super::{ChatWidget, FrameMsg, Output};
use crate::composer::{self, Along, Written};

/// What left the composer, for the engine.
#[derive(Debug)]
pub(in super::super) struct Outgoing {
    pub(in super::super) written: Written,
    /// What of the open files does not go along.
    without: Vec<Along>,
}

impl ChatWidget {
    /// The person does something with the composer.
    pub(in super::super) fn hear_composer(&mut self, output: composer::Output) {
        use composer::Output as Told;
        match output {
            Told::Submit(written) => {
                // Who sends something wants to see it.
                self.conversation.go_to_end();
                if let Some(name) = self.composer.unknown_names(&written).first() {
                    let text =
                        gettext("{name} is not in the project, so it was sent as plain text.");
                    self.handle.output(Output::Note(fill(&text, &[("name", name)])));
                }
                self.submit(written);
            }
            Told::Hindered(why) => self.hindered(why),
            Told::Stop => self.stop(),
            Told::LeaveOut(along) => {
                self.editor_context.leave_out(along);
                self.show_chips();
                self.composer.focus();
            }
            Told::Changed => self.draft_changed(),
            Told::LookFor(query) => {
                let (fid, project) = (self.shown.fid(), self.shown.project());
                let found = self.mentions.look_for(query, fid, project);
                self.show_mentions(found);
            }
            Told::Pages(wanted) => self.mentions.fetch_pages(wanted),
            Told::ScrollUp => self.conversation.scroll_pages(-1.0),
            Told::ScrollDown => self.conversation.scroll_pages(1.0),
        }
    }

    /// The person chose words to begin with. What was written already is what they are about.
    pub(in super::super) fn begin_message(&mut self, words: &str) {
        let begun = Written::text(words).followed_by(self.composer.content(), "");
        self.composer.set_content(&begun);
        self.composer.focus();
        self.draft_changed();
    }

    /// What was written leaves the composer for the engine, or waits until it can.
    pub(in super::super) fn submit(&mut self, written: Written) {
        if self.leaving {
            self.ahead.push_back(Ahead::Sent(written));
            return;
        }
        let without = self.editor_context.leave_behind(self.shown.project());
        self.show_chips();
        self.outbox.push_back(Outgoing { written, without });
        self.send_next();
    }

    /// Something is missing before a text can be sent. A model is what a person can choose.
    pub(in super::super) fn hindered(&self, why: String) {
        self.handle.output(Output::Note(why));
        let lacks_model = !matches!(self.shown, Shown::Opening(_)) && self.shown.model().is_none();
        if self.manager.is_some() && lacks_model {
            self.model.open_models();
        }
    }

    /// Sends the next text, if it can be sent now.
    pub(in super::super) fn send_next(&mut self) {
        let must_wait =
            self.leaving || self.project.is_finding() || self.sending == Some(self.epoch);
        if must_wait || self.is_ending() {
            return;
        }
        let session = match &self.shown {
            Shown::New(_) => None,
            Shown::Open(session) => Some(session.fid.clone()),
            Shown::Opening(_) => return,
        };
        let Some(manager) = self.manager.clone() else { return };
        let Some(outgoing) = self.outbox.pop_front() else { return };
        let (content, mentions) = outgoing.written.content();
        let context = Context {
            mentions,
            ..self.editor_context.now(self.shown.project(), &outgoing.without)
        };
        let request = match &self.shown {
            Shown::New(chat) => chat.request(content, context),
            _ => ChatRequest { session, content, context, ..ChatRequest::default() },
        };
        if let Some(fid) = self.shown.fid() {
            self.diagnostics.reply(fid.as_str(), Moment::Request);
        }
        let epoch = self.epoch;
        self.sending = Some(epoch);
        let from = self.shown.fid().cloned();
        self.keeping.sent += 1;
        let number = self.keeping.sent;
        self.keeping.on_its_way.insert(number, (from, outgoing));
        self.handle.spawn(async move {
            let result = manager.send(request).await;
            FrameMsg::Sent { epoch, number, result }
        });
    }

    /// The message is on disk, or was not taken: then its text comes back.
    pub(in super::super) fn sent(&mut self, epoch: u64, number: u64, result: Result<Sent>) {
        let Some((from, outgoing)) = self.keeping.on_its_way.remove(&number) else { return };
        let (from, written) = (from.as_ref(), &outgoing.written);
        self.sending = self.sending.filter(|sending| *sending != epoch);
        let still_there = epoch == self.epoch;
        match result {
            Ok(sent) => {
                self.has_chats = true;
                let typed = if still_there { self.composer.content() } else { Written::default() };
                if self.drafts.get(from) == written || still_there {
                    self.drafts.set(from, &Written::default());
                }
                if from.is_none() {
                    self.diagnostics.reply(sent.fid.as_str(), Moment::Request);
                }
                if still_there && from.is_none() {
                    self.drafts.set(Some(&sent.fid), &typed);
                    self.composer.set_content(&Written::default());
                    // What was sent after it is for the same chat.
                    let next = std::mem::take(&mut self.outbox);
                    self.show(Some(sent.fid));
                    self.outbox = next;
                } else if !still_there
                    && !self.leaving
                    && self.shown.fid() == from
                    && self.composer.content() == *written
                {
                    // Who went away and came back was shown the text while it was on its way.
                    self.composer.set_content(&Written::default());
                }
                self.draft_changed();
                self.write_drafts();
            }
            Err(error) => {
                if still_there {
                    self.give_back_waiting(from);
                    self.editor_context.leave_out_again(outgoing.without);
                    self.show_chips();
                }
                self.give_back(from, &outgoing.written);
                self.handle.fail(from, error);
            }
        }
        self.send_next();
        self.finish_drafts();
    }

    /// What waits to be sent becomes a draft of this chat.
    pub(in super::super) fn give_back_waiting(&mut self, fid: Option<&Fid>) {
        while let Some(outgoing) = self.outbox.pop_back() {
            self.drafts.give_back(fid, &outgoing.written);
        }
    }

    /// Shows what was found for the message.
    pub(in super::super) fn show_mentions(&self, found: Option<mention_sources::Output>) {
        match found {
            Some(mention_sources::Output::Suggestions(query, suggestions)) => {
                self.composer.suggest(&query, suggestions);
            }
            Some(mention_sources::Output::Page { url, result: Ok(text) }) => {
                self.composer.page_came(&url, Some(text));
            }
            Some(mention_sources::Output::Page { url, result: Err(error) }) => {
                let is_waited_for = self.composer.page_came(&url, None);
                if is_waited_for {
                    self.handle.output(note(&error));
                }
            }
            None => {}
        }
    }
}
