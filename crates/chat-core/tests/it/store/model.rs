//! Any order of operations, with restarts among them, against a model in memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chat_core::message::{Ending, Fid, Message, MessageId, Part, Role};
use chat_core::store::{SegmentKind, SessionPatch, Store};
use proptest::prelude::*;
use proptest::sample::Index;

use super::{open, reply, segment, titled};

#[derive(Clone, Debug)]
enum Op {
    Create,
    /// Adds a message after the head, or after any other: a branch.
    Say(Index, Option<Index>, String),
    Begin(Index),
    Journal(Index, Vec<(bool, String)>),
    Fold(Index, Ending),
    Head(Index, Index),
    Rename(Index, String, bool),
    Delete(Index),
    Restore(Index),
    Release(Index),
    Purge,
    Restart,
}

fn op() -> impl Strategy<Value = Op> {
    let which = any::<Index>;
    let ending = prop_oneof![Just(Ending::Complete), Just(Ending::Stopped), Just(Ending::Failed)];
    prop_oneof![
        1 => Just(Op::Create),
        3 => (which(), proptest::option::of(which()), "\\PC{0,20}")
            .prop_map(|(s, after, text)| Op::Say(s, after, text)),
        2 => which().prop_map(Op::Begin),
        4 => (which(), proptest::collection::vec((any::<bool>(), "\\PC{1,20}"), 1..4))
            .prop_map(|(s, pieces)| Op::Journal(s, pieces)),
        2 => (which(), ending).prop_map(|(s, ending)| Op::Fold(s, ending)),
        1 => (which(), which()).prop_map(|(s, m)| Op::Head(s, m)),
        1 => (which(), "\\PC{0,20}", any::<bool>()).prop_map(|(s, t, by)| Op::Rename(s, t, by)),
        1 => which().prop_map(Op::Delete),
        1 => which().prop_map(Op::Restore),
        1 => which().prop_map(Op::Release),
        1 => Just(Op::Purge),
        1 => Just(Op::Restart),
    ]
}

struct Session {
    fid: Fid,
    title: (String, bool),
    messages: HashMap<MessageId, Message>,
    order: Vec<MessageId>,
    head: Option<MessageId>,
    /// The reply that is being written.
    live: Option<MessageId>,
    deleted: bool,
    owned: bool,
}

impl Session {
    fn branch(&self) -> Vec<Message> {
        let mut branch = Vec::new();
        let mut next = self.head;
        while let Some(message) = next.map(|id| &self.messages[&id]) {
            branch.push(message.clone());
            next = message.parent;
        }
        branch.reverse();
        branch
    }

    fn add(&mut self, message: &Message) {
        self.messages.insert(message.id, message.clone());
        self.order.push(message.id);
        self.head = Some(message.id);
    }

    /// What taking over from nobody, or a restart, does to a reply that was being written.
    fn interrupt(&mut self) {
        if let Some(live) = self.live.take() {
            self.messages.get_mut(&live).unwrap().ended = Some(Ending::Interrupted);
        }
    }

    fn own(&mut self) {
        if !self.owned {
            self.interrupt();
            self.owned = true;
        }
    }
}

async fn apply(store: &Store, sessions: &mut Vec<Session>, op: &Op) {
    let which = match op {
        Op::Create => {
            let made = store.create(titled("new"), vec![]).await.unwrap();
            sessions.push(Session {
                fid: made.meta.fid,
                title: (made.meta.title, false),
                messages: HashMap::new(),
                order: Vec::new(),
                head: None,
                live: None,
                deleted: false,
                owned: true,
            });
            return;
        }
        Op::Purge => {
            store.purge(Duration::ZERO).await.unwrap();
            sessions.retain(|session| !session.deleted || session.owned);
            return;
        }
        Op::Restart => return,
        Op::Say(which, ..)
        | Op::Begin(which)
        | Op::Journal(which, _)
        | Op::Fold(which, _)
        | Op::Head(which, _)
        | Op::Rename(which, ..)
        | Op::Delete(which)
        | Op::Restore(which)
        | Op::Release(which) => which,
    };
    if sessions.is_empty() {
        return;
    }
    let session = which.get_mut(sessions.as_mut_slice());
    let fid = session.fid.clone();
    match op {
        Op::Say(_, after, text) => {
            session.own();
            let after = after.filter(|_| !session.order.is_empty());
            let parent = after.map_or(session.head, |after| Some(*after.get(&session.order)));
            let message = Message::text(Role::User, parent, text);
            session.add(&message);
            let id = message.id;
            store.append(&fid, vec![Arc::new(message)], id).await.unwrap();
        }
        Op::Begin(_) if session.live.is_none() && session.head.is_some() => {
            session.own();
            let begun = reply(&session.messages[&session.head.unwrap()]);
            session.add(&begun);
            session.live = Some(begun.id);
            let id = begun.id;
            store.append(&fid, vec![Arc::new(begun)], id).await.unwrap();
        }
        Op::Journal(_, pieces) if session.live.is_some() => {
            let message = session.messages.get_mut(&session.live.unwrap()).unwrap();
            let mut segments = Vec::new();
            for (thinking, piece) in pieces {
                match (message.parts.last_mut(), thinking) {
                    (Some(Part::Thinking { text, .. }), true) | (Some(Part::Text(text)), false) => {
                        text.push_str(piece);
                    }
                    (_, true) => {
                        message.parts.push(Part::Thinking {
                            text: piece.clone(),
                            took: None,
                            provider: None,
                        });
                    }
                    (_, false) => message.parts.push(Part::Text(piece.clone())),
                }
                let kind = if *thinking { SegmentKind::Thinking } else { SegmentKind::Text };
                let at = message.parts.len() - 1;
                segments.push(chat_core::store::Segment { kind, ..segment(message, at, piece) });
            }
            store.journal(segments).await.unwrap();
        }
        Op::Fold(_, ending) if session.live.is_some() => {
            let message = session.messages.get_mut(&session.live.take().unwrap()).unwrap();
            message.ended = Some(*ending);
            store.fold(&fid, Arc::new(message.clone())).await.unwrap();
        }
        Op::Head(_, to) if !session.order.is_empty() && !session.deleted => {
            session.head = Some(*to.get(&session.order));
            let patch = SessionPatch { head: Some(session.head), ..SessionPatch::default() };
            store.patch(&fid, patch).await.unwrap();
        }
        Op::Rename(_, title, by_person) if !session.deleted => {
            if *by_person || !session.title.1 {
                session.title = (title.clone(), *by_person);
            }
            let title = Some((title.clone(), *by_person));
            store.patch(&fid, SessionPatch { title, ..SessionPatch::default() }).await.unwrap();
        }
        Op::Delete(_) => {
            session.deleted = true;
            store.delete(&fid).await.unwrap();
        }
        Op::Restore(_) => {
            session.deleted = false;
            store.restore(&fid).await.unwrap();
        }
        Op::Release(_) if session.live.is_none() => {
            session.owned = false;
            store.release(&fid).await.unwrap();
        }
        _ => {}
    }
}

async fn check(store: &Store, sessions: &[Session]) {
    let stored = store.sessions().await.unwrap();
    let mut stored: Vec<_> =
        stored.into_iter().map(|s| (s.meta.fid, s.meta.title, s.head)).collect();
    stored.sort();
    let there = sessions.iter().filter(|session| !session.deleted);
    let mut expected: Vec<_> = there.map(|s| (s.fid.clone(), s.title.0.clone(), s.head)).collect();
    expected.sort();
    assert_eq!(stored, expected);
    for session in sessions {
        let page = store.page(&session.fid, None, usize::MAX).await.unwrap();
        let stored: Vec<_> = page.messages.iter().map(|m| (**m).clone()).collect();
        assert_eq!(stored, session.branch());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_store_does_what_its_model_does(ops in proptest::collection::vec(op(), 1..50)) {
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut store = open(folder.path());
            let mut sessions = Vec::new();
            for op in ops.iter().chain([&Op::Restart]) {
                apply(&store, &mut sessions, op).await;
                if matches!(op, Op::Restart) {
                    check(&store, &sessions).await;
                    drop(store);
                    store = open(folder.path());
                    store.recover().await.unwrap();
                    for session in &mut sessions {
                        session.interrupt();
                        session.owned = false;
                    }
                    check(&store, &sessions).await;
                }
            }
        });
    }
}
