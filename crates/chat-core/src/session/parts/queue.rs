//! What waits until the session is free.

use std::collections::VecDeque;

use crate::event::SessionEvent;
use crate::message::{ChatRequest, MessageId, Queued};

/// The messages that wait to be sent, in order.
#[derive(Default)]
pub(crate) struct Queue(VecDeque<Waiting>);

/// A request that waits.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub id: MessageId,
    pub request: ChatRequest,
}

impl Waiting {
    /// What is stored and shown of it.
    pub(crate) fn queued(&self) -> Queued {
        let ChatRequest { content, context, .. } = self.request.clone();
        Queued { id: self.id, content, context }
    }
}

impl From<Queued> for Waiting {
    fn from(queued: Queued) -> Self {
        let Queued { id, content, context } = queued;
        Self { id, request: ChatRequest { content, context, ..ChatRequest::default() } }
    }
}

impl FromIterator<Queued> for Queue {
    fn from_iter<I: IntoIterator<Item = Queued>>(queued: I) -> Self {
        Self(queued.into_iter().map(Waiting::from).collect())
    }
}

impl Queue {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What goes out next.
    pub(crate) fn first(&self) -> Option<&ChatRequest> {
        self.0.front().map(|waiting| &waiting.request)
    }

    pub(crate) fn contains(&self, id: MessageId) -> bool {
        self.0.iter().any(|waiting| waiting.id == id)
    }

    /// What waits, as it is stored and shown.
    pub(crate) fn queued(&self) -> Vec<Queued> {
        self.0.iter().map(Waiting::queued).collect()
    }

    /// One more waits, behind the others.
    pub(crate) fn push(&mut self, waiting: Waiting) -> SessionEvent {
        self.0.push_back(waiting);
        self.changed()
    }

    /// Takes the first out, to send it.
    pub(crate) fn pop(&mut self) -> Option<(Waiting, SessionEvent)> {
        let waiting = self.0.pop_front()?;
        Some((waiting, self.changed()))
    }

    /// The first could not be sent and goes on waiting.
    pub(crate) fn put_back(&mut self, waiting: Waiting) -> SessionEvent {
        self.0.push_front(waiting);
        self.changed()
    }

    /// Takes one out that is not to be sent.
    pub(crate) fn remove(&mut self, id: MessageId) -> Option<(Waiting, SessionEvent)> {
        let place = self.0.iter().position(|waiting| waiting.id == id)?;
        let waiting = self.0.remove(place)?;
        Some((waiting, self.changed()))
    }

    /// Whether the same messages wait here as in the store.
    pub(crate) fn is_as(&self, stored: &[Queued]) -> bool {
        stored.iter().map(|queued| queued.id).eq(self.0.iter().map(|waiting| waiting.id))
    }

    /// Takes what waits as the store has it: another process may have sent it or taken it back. What
    /// the store does not keep of a request stays.
    pub(crate) fn take_stored(&mut self, stored: Vec<Queued>) -> Option<SessionEvent> {
        if self.is_as(&stored) {
            return None;
        }
        let mut known: Vec<_> = self.0.drain(..).collect();
        for queued in stored {
            let place = known.iter().position(|waiting| waiting.id == queued.id);
            let waiting = place.map_or_else(|| queued.into(), |place| known.swap_remove(place));
            self.0.push_back(waiting);
        }
        Some(self.changed())
    }

    fn changed(&self) -> SessionEvent {
        SessionEvent::QueueChanged { queue: self.queued() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Content;

    fn waiting(text: &str) -> Waiting {
        let request = ChatRequest { content: Content::text(text), ..ChatRequest::default() };
        Waiting { id: MessageId::new(), request }
    }

    fn told(event: &SessionEvent) -> Vec<String> {
        let SessionEvent::QueueChanged { queue } = event else { panic!("{event:?}") };
        queue.iter().map(|queued| queued.content.text.clone()).collect()
    }

    #[test]
    fn the_first_goes_out_first_and_waits_on_where_it_could_not() {
        let mut queue = Queue::default();
        queue.push(waiting("a"));
        assert_eq!(told(&queue.push(waiting("b"))), ["a", "b"]);
        let (first, event) = queue.pop().unwrap();
        assert_eq!(
            (first.request.content.text.as_str(), told(&event)),
            ("a", vec!["b".to_owned()])
        );
        assert_eq!(told(&queue.put_back(first)), ["a", "b"]);
        assert_eq!(queue.first().unwrap().content.text, "a");
    }

    #[test]
    fn one_is_taken_out_of_the_middle_once() {
        let mut queue = Queue::default();
        let ids: Vec<_> = ["a", "b", "c"]
            .map(waiting)
            .into_iter()
            .map(|waiting| {
                let id = waiting.id;
                queue.push(waiting);
                id
            })
            .collect();
        let (taken, event) = queue.remove(ids[1]).unwrap();
        assert_eq!((taken.id, told(&event)), (ids[1], vec!["a".to_owned(), "c".to_owned()]));
        assert!(queue.remove(ids[1]).is_none() && !queue.contains(ids[1]));
    }

    #[test]
    fn what_the_store_has_counts_and_what_only_this_process_knows_stays() {
        let mut queue = Queue::default();
        let mut own = waiting("own");
        own.request.agent = Some("coder".to_owned());
        let own_id = own.id;
        queue.push(waiting("sent elsewhere"));
        queue.push(own);
        let other = waiting("from elsewhere").queued();
        let stored = vec![queue.queued().remove(1), other];
        let event = queue.take_stored(stored.clone()).unwrap();
        assert_eq!(told(&event), ["own", "from elsewhere"]);
        assert!(queue.contains(own_id));
        assert_eq!(queue.first().unwrap().agent.as_deref(), Some("coder"));
        assert!(queue.take_stored(stored).is_none(), "nothing changed");
    }
}
