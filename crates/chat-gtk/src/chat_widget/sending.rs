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
use relm4::ComponentSender;

use super::shown::Shown;
use super::turning::Ahead;
use super::view::View;
use super::{ChatWidget, Done, Output, done, tell};
use crate::composer::{self, Along, Written};

/// What left the composer, for the engine.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) written: Written,
    /// What of the open files does not go along.
    without: Vec<Along>,
}

impl ChatWidget {
    /// The person does something with the composer.
    pub(super) fn hear_composer(
        &mut self,
        output: composer::Output,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        use composer::Output as Told;
        match output {
            Told::Submit(written) => {
                // Who sends something wants to see it.
                view.conversation.go_to_end();
                if let Some(name) = view.composer.unknown_names(&written).first() {
                    let text =
                        gettext("{name} isn’t in the project, so it was sent as plain text.");
                    tell(sender, Output::Note(fill(&text, &[("name", name)])));
                }
                self.submit(written, view, sender);
            }
            Told::Hindered(why) => self.hindered(why, view, sender),
            Told::Stop => self.stop(sender),
            Told::LeaveOut(along) => self.leave_out(along, view),
            Told::Changed => self.draft_changed(view, sender),
            Told::LookFor(query) => self.look_for(query, view, sender),
            Told::Pages(wanted) => self.fetch_pages(wanted, sender),
            Told::ScrollUp => view.conversation.scroll_pages(-1.0),
            Told::ScrollDown => view.conversation.scroll_pages(1.0),
        }
    }

    /// The person chose words to begin with. What was written already is what they are about.
    pub(super) fn begin_message(
        &mut self,
        words: &str,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        let begun = Written::text(words).followed_by(view.composer.content(), "");
        view.composer.set_content(&begun);
        view.composer.focus();
        self.draft_changed(view, sender);
    }

    /// What was written leaves the composer for the engine, or waits until it can.
    pub(super) fn submit(&mut self, written: Written, view: &View, sender: &ComponentSender<Self>) {
        if self.leaving {
            self.ahead.push_back(Ahead::Sent(written));
            return;
        }
        let without = self.leave_behind(view);
        self.outbox.push_back(Outgoing { written, without });
        self.send_next(sender);
    }

    /// Something is missing before a text can be sent. A model is what a person can choose.
    pub(super) fn hindered(&self, why: String, view: &View, sender: &ComponentSender<Self>) {
        tell(sender, Output::Note(why));
        let lacks_model = !matches!(self.shown, Shown::Opening(_)) && self.shown.model().is_none();
        if self.manager.is_some() && lacks_model {
            view.model.open();
        }
    }

    /// Sends the next text, if it can be sent now.
    pub(super) fn send_next(&mut self, sender: &ComponentSender<Self>) {
        let must_wait = self.leaving || self.finding > 0 || self.sending == Some(self.epoch);
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
        let context = Context { mentions, ..self.along_without(&outgoing.without) };
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
        sender.oneshot_command(async move {
            let result = manager.send(request).await;
            done(Done::Sent { epoch, number, result })
        });
    }

    /// The message is on disk, or was not taken: then its text comes back.
    pub(super) fn sent(
        &mut self,
        epoch: u64,
        number: u64,
        result: Result<Sent>,
        view: &mut View,
        sender: &ComponentSender<Self>,
    ) {
        let Some((from, outgoing)) = self.keeping.on_its_way.remove(&number) else { return };
        let (from, written) = (from.as_ref(), &outgoing.written);
        self.sending = self.sending.filter(|sending| *sending != epoch);
        let still_there = epoch == self.epoch;
        match result {
            Ok(sent) => {
                self.has_chats = true;
                let typed = if still_there { view.composer.content() } else { Written::default() };
                if self.drafts.get(from) == written || still_there {
                    self.drafts.set(from, &Written::default());
                }
                if from.is_none() {
                    self.diagnostics.reply(sent.fid.as_str(), Moment::Request);
                }
                if still_there && from.is_none() {
                    self.drafts.set(Some(&sent.fid), &typed);
                    view.composer.set_content(&Written::default());
                    // What was sent after it is for the same chat.
                    let next = std::mem::take(&mut self.outbox);
                    self.show(Some(sent.fid), view, sender);
                    self.outbox = next;
                } else if !still_there
                    && !self.leaving
                    && self.shown.fid() == from
                    && view.composer.content() == *written
                {
                    // Who went away and came back was shown the text while it was on its way.
                    view.composer.set_content(&Written::default());
                }
                self.draft_changed(view, sender);
                self.write_drafts(sender);
            }
            Err(error) => {
                if still_there {
                    self.give_back_waiting(from);
                    self.leave_out_again(outgoing.without, view);
                }
                self.give_back(from, &outgoing.written, view, sender);
                self.failed(from, &error, view, sender);
            }
        }
        self.send_next(sender);
        self.finish_drafts(view, sender);
    }

    /// What waits to be sent becomes a draft of this chat.
    pub(super) fn give_back_waiting(&mut self, fid: Option<&Fid>) {
        while let Some(outgoing) = self.outbox.pop_back() {
            self.drafts.give_back(fid, &outgoing.written);
        }
    }
}
