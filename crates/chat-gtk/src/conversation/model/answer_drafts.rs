//! Keeps what a person typed below questions, and filled into forms, until an answer has taken it along. The card of a question is made
//! again when its chat is shown again, and goes when somebody else answers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use chat_core::message::{ApprovalId, ApprovalRequest, Fid};
use serde_json::{Map, Value};

/// The words, by what they are about.
#[derive(Debug)]
pub struct AnswerDrafts {
    /// The session that is shown.
    session: Rc<RefCell<Option<Fid>>>,
    words: RefCell<HashMap<ApprovalId, Words>>,
}

#[derive(Debug)]
struct Words {
    session: Option<Fid>,
    text: String,
    /// What was filled into a form, by the names of its fields. It is for a server, perhaps private, and so never given back
    /// to become a message.
    fields: Map<String, Value>,
    /// An answer took them along, of which it is not known yet whether it came in time.
    is_sent: bool,
    /// Meanwhile it waits no longer.
    is_gone: bool,
}

impl Words {
    fn of(session: Option<Fid>) -> Self {
        let (text, fields) = (String::new(), Map::new());
        Self { session, text, fields, is_sent: false, is_gone: false }
    }

    fn take(self) -> Option<String> {
        let text = self.text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }
}

impl AnswerDrafts {
    /// None, below the questions of the session that is shown.
    pub fn of(session: Rc<RefCell<Option<Fid>>>) -> Self {
        Self { session, words: RefCell::default() }
    }

    /// What was typed before; none where nothing was.
    pub fn text(&self, ask: ApprovalId) -> Option<String> {
        self.words.borrow().get(&ask).map(|words| words.text.clone())
    }

    /// This stands in the field now.
    pub fn set(&self, ask: ApprovalId, text: String) {
        let session = self.session.borrow().clone();
        self.words.borrow_mut().insert(ask, Words { text, ..Words::of(session) });
    }

    /// What was filled into a form before, by the names of its fields.
    pub fn fields(&self, ask: ApprovalId) -> Map<String, Value> {
        self.words.borrow().get(&ask).map(|words| words.fields.clone()).unwrap_or_default()
    }

    /// This stands in a field of a form now.
    pub fn set_field(&self, ask: ApprovalId, name: &str, value: Value) {
        let session = self.session.borrow().clone();
        let mut all = self.words.borrow_mut();
        let words = all.entry(ask).or_insert_with(|| Words::of(session));
        words.fields.insert(name.to_owned(), value);
    }

    /// What was typed, for an answer to take along.
    pub fn send(&self, ask: ApprovalId) -> Option<String> {
        let mut all = self.words.borrow_mut();
        let words = all.get_mut(&ask).filter(|words| !words.text.trim().is_empty())?;
        words.is_sent = true;
        Some(words.text.trim().to_owned())
    }

    /// These questions of the session wait. Gives what was typed below others of it, and no answer
    /// took along.
    pub fn waits(&self, session: Option<&Fid>, asks: &[Arc<ApprovalRequest>]) -> Vec<String> {
        let mut all = self.words.borrow_mut();
        for (ask, words) in all.iter_mut().filter(|(_, words)| words.session.as_ref() == session) {
            words.is_gone = asks.iter().all(|waiting| waiting.id != *ask);
        }
        let lost = all.extract_if(|_, words| words.is_gone && !words.is_sent);
        lost.filter_map(|(_, words)| words.take()).collect()
    }

    /// Whether the answer came in time is known. Gives what it was to take along, and to which
    /// session, where it did not and the question waits no longer.
    pub fn answered(&self, ask: ApprovalId, in_time: bool) -> Option<(Option<Fid>, String)> {
        let mut all = self.words.borrow_mut();
        let words = all.get_mut(&ask)?;
        let was_taken = std::mem::take(&mut words.is_sent) && in_time;
        if was_taken || words.is_gone {
            let words = all.remove(&ask)?;
            let session = words.session.clone();
            return words.take().filter(|_| !was_taken).map(|text| (session, text));
        }
        None
    }

    /// All that was typed and no answer is known to have taken along, with its session.
    pub fn take_all(&self) -> Vec<(Option<Fid>, String)> {
        let all = std::mem::take(&mut *self.words.borrow_mut());
        all.into_values().filter_map(|words| Some((words.session.clone(), words.take()?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_in_is_kept_while_its_form_waits_and_becomes_no_message() {
        let session = Rc::new(RefCell::new(Some(Fid::new("a"))));
        let drafts = AnswerDrafts::of(Rc::clone(&session));
        let ask = ApprovalId::generate();
        drafts.set_field(ask, "name", "Ada".into());
        drafts.set_field(ask, "member", true.into());
        session.replace(Some(Fid::new("b")));
        assert_eq!(drafts.waits(Some(&Fid::new("b")), &[]), Vec::<String>::new());
        let fields = drafts.fields(ask);
        assert_eq!((&fields["name"], &fields["member"]), (&"Ada".into(), &true.into()));
        assert_eq!(drafts.waits(Some(&Fid::new("a")), &[]), Vec::<String>::new());
        assert!(drafts.fields(ask).is_empty() && drafts.take_all().is_empty());
    }
}
