//! What waits until the session is free, or a step of its reply is over.

use std::collections::VecDeque;

use crate::event::SessionEvent;
use crate::message::{ChatRequest, Content, Context, Delivery, FromAgent, MessageId, Queued};

/// How many messages that were taken out are remembered.
const REMEMBERED: usize = 8;

/// The messages that wait to be sent, in order, and those that were taken out last: one that is put
/// back goes out in the mode and by the agent that it was written for, which the store does not keep.
#[derive(Default)]
pub(crate) struct Queue(VecDeque<Waiting>, VecDeque<Waiting>);

/// A request that waits. Its delivery says when it goes out; it interrupts nothing any more.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub id: MessageId,
    pub request: ChatRequest,
}

impl Waiting {
    /// What is stored and shown of it.
    pub(crate) fn queued(&self) -> Queued {
        let ChatRequest { content, context, .. } = self.request.clone();
        Queued { id: self.id, content, context, delivery: self.delivery() }
    }

    /// Whether an agent reports the end of its work.
    fn is_report(&self) -> bool {
        matches!(self.request.content.agent, Some(FromAgent::Report(_)))
    }

    fn delivery(&self) -> Delivery {
        self.request.delivery.unwrap_or_default()
    }

    fn is_as(&self, stored: &Queued) -> bool {
        self.id == stored.id
            && self.delivery() == stored.delivery
            && self.request.content == stored.content
    }
}

impl From<Queued> for Waiting {
    fn from(queued: Queued) -> Self {
        let Queued { id, content, context, delivery } = queued;
        let delivery = Some(delivery);
        Self { id, request: ChatRequest { content, context, delivery, ..ChatRequest::default() } }
    }
}

impl FromIterator<Queued> for Queue {
    fn from_iter<I: IntoIterator<Item = Queued>>(queued: I) -> Self {
        Self(queued.into_iter().map(Waiting::from).collect(), VecDeque::new())
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

    /// These wait before all others.
    pub(crate) fn push_first(&mut self, waiting: Vec<Waiting>) -> SessionEvent {
        for waiting in waiting.into_iter().rev() {
            self.0.push_front(waiting);
        }
        self.changed()
    }

    /// Whether one of them goes out after the current step.
    pub(crate) fn steers(&self) -> bool {
        self.0.iter().any(|waiting| waiting.delivery() == Delivery::Steer)
    }

    /// Those that go out after the current step, in order.
    pub(crate) fn steering(&self) -> Vec<Waiting> {
        self.0.iter().filter(|waiting| waiting.delivery() == Delivery::Steer).cloned().collect()
    }

    /// All that wait go out at the end of the request.
    pub(crate) fn wait_for_end(&mut self) {
        for waiting in &mut self.0 {
            waiting.request.delivery = Some(Delivery::Queue);
        }
    }

    /// A waiting message says something else.
    pub(crate) fn edit(
        &mut self,
        id: MessageId,
        content: Content,
        context: Context,
    ) -> Option<SessionEvent> {
        let waiting = self.0.iter_mut().find(|waiting| waiting.id == id)?;
        waiting.request.content = content;
        waiting.request.context = context;
        Some(self.changed())
    }

    /// What is stored of a waiting message.
    pub(crate) fn get(&self, id: MessageId) -> Option<Queued> {
        self.0.iter().find(|waiting| waiting.id == id).map(Waiting::queued)
    }

    /// These went out.
    pub(crate) fn took(&mut self, ids: &[MessageId]) -> SessionEvent {
        self.0.retain(|waiting| !ids.contains(&waiting.id));
        self.changed()
    }

    /// Takes the first out, to send it; where it is the report of an agent, with all others.
    pub(crate) fn pop(&mut self) -> Option<(Vec<Waiting>, SessionEvent)> {
        let first = self.0.pop_front()?;
        let mut taken = vec![first];
        if taken[0].is_report() {
            let (reports, rest): (Vec<_>, Vec<_>) = self.0.drain(..).partition(Waiting::is_report);
            taken.extend(reports);
            self.0 = rest.into();
        }
        Some((taken, self.changed()))
    }

    /// Takes one out that is not to be sent.
    pub(crate) fn remove(&mut self, id: MessageId) -> Option<(Waiting, SessionEvent)> {
        let place = self.0.iter().position(|waiting| waiting.id == id)?;
        let waiting = self.0.remove(place)?;
        self.1.push_back(waiting.clone());
        if self.1.len() > REMEMBERED {
            self.1.pop_front();
        }
        Some((waiting, self.changed()))
    }

    /// Whether the same messages wait here as in the store.
    pub(crate) fn is_as(&self, stored: &[Queued]) -> bool {
        self.0.len() == stored.len() && self.0.iter().zip(stored).all(|(one, it)| one.is_as(it))
    }

    /// Takes what waits as the store has it: another process may have sent, changed or moved it, or
    /// taken it back. What the store does not keep of a request stays.
    pub(crate) fn take_stored(&mut self, stored: Vec<Queued>) -> Option<SessionEvent> {
        if self.is_as(&stored) {
            return None;
        }
        let mut known: Vec<_> = self.0.drain(..).collect();
        let is_back = |removed: &Waiting| stored.iter().any(|queued| queued.id == removed.id);
        let (back, removed): (VecDeque<_>, _) = self.1.drain(..).partition(is_back);
        self.1 = removed;
        known.extend(back);
        for queued in stored {
            let place = known.iter().position(|waiting| waiting.id == queued.id);
            let waiting = match place.map(|place| known.swap_remove(place)) {
                None => queued.into(),
                Some(known) if known.is_as(&queued) => known,
                Some(known) => {
                    let Queued { id, content, context, delivery } = queued;
                    // What only this process knows of files by their names counts for the old words.
                    let is_edited = known.request.content != content;
                    let context = if is_edited { context } else { known.request.context };
                    let delivery = Some(delivery);
                    let request = ChatRequest { content, context, delivery, ..known.request };
                    Waiting { id, request }
                }
            };
            self.0.push_back(waiting);
        }
        Some(self.changed())
    }

    /// What waits now.
    pub(crate) fn changed(&self) -> SessionEvent {
        SessionEvent::QueueChanged { queue: self.queued() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{AgentReport, AgentState, Fid, Usage};

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
        let texts: Vec<_> = first.iter().map(|it| it.request.content.text.as_str()).collect();
        assert_eq!((texts, told(&event)), (vec!["a"], vec!["b".to_owned()]));
        assert_eq!(told(&queue.push_first(first)), ["a", "b"]);
        assert_eq!(queue.first().unwrap().content.text, "a");
    }

    #[test]
    fn all_reports_go_out_together() {
        let report = |text: &str| {
            let report = AgentReport {
                session: Fid::new(text),
                name: text.to_owned(),
                agent: "just-ask".to_owned(),
                state: AgentState::Done,
                text: String::new(),
                error: None,
                usage: Usage::default(),
                ids: Vec::new(),
            };
            let mut waiting = waiting(text);
            waiting.request.content.agent = Some(FromAgent::Report(Box::new(report)));
            waiting
        };
        let mut queue = Queue::default();
        for one in [report("a"), report("b"), waiting("c"), report("d")] {
            queue.push(one);
        }
        let mut turns = Vec::new();
        while let Some((taken, _)) = queue.pop() {
            let texts = taken.iter().map(|it| it.request.content.text.clone());
            turns.push(texts.collect::<Vec<_>>().join(" "));
        }
        assert_eq!(turns, ["a b d", "c"]);
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

    fn steering(text: &str) -> Waiting {
        let mut waiting = waiting(text);
        waiting.request.delivery = Some(Delivery::Steer);
        waiting
    }

    fn until_the_end(text: &str) -> Waiting {
        let mut waiting = waiting(text);
        waiting.request.delivery = Some(Delivery::Queue);
        waiting
    }

    #[test]
    fn what_steers_goes_out_in_its_order_past_what_waits_for_the_end() {
        let mut queue = Queue::default();
        for waiting in [until_the_end("a"), steering("b"), until_the_end("c"), steering("d")] {
            queue.push(waiting);
        }
        let steering = queue.steering();
        let texts = |all: &[Waiting]| -> Vec<String> {
            all.iter().map(|waiting| waiting.request.content.text.clone()).collect()
        };
        assert_eq!(texts(&steering), ["b", "d"]);
        let ids: Vec<_> = steering.iter().map(|waiting| waiting.id).collect();
        assert_eq!(told(&queue.took(&ids)), ["a", "c"]);
        assert!(!queue.steers());
        // They were refused: they wait before all others, and no longer steer.
        queue.push_first(steering);
        assert!(queue.steers());
        queue.wait_for_end();
        assert!(!queue.steers());
        assert_eq!(told(&queue.changed()), ["b", "d", "a", "c"]);
    }

    #[test]
    fn an_edited_message_keeps_its_place_and_what_else_was_asked_for() {
        let mut queue = Queue::default();
        let mut first = steering("first");
        first.request.mode = Some(chat_permission::Mode::Plan);
        let id = first.id;
        queue.push(first);
        queue.push(steering("second"));
        let event = queue.edit(id, Content::text("better"), Context::default()).unwrap();
        assert_eq!(told(&event), ["better", "second"]);
        assert_eq!(queue.first().unwrap().mode, Some(chat_permission::Mode::Plan));
        queue.remove(id);
        assert!(queue.edit(id, Content::text("late"), Context::default()).is_none());
    }

    #[test]
    fn what_another_process_edited_or_moved_is_taken_over() {
        let mut queue = Queue::default();
        let mut a = steering("a");
        a.request.agent = Some("coder".to_owned());
        queue.push(a);
        queue.push(steering("b"));
        let mut stored = queue.queued();
        stored.swap(0, 1);
        stored[1].content.text = "a, better".to_owned();
        stored[1].delivery = Delivery::Queue;
        assert!(!queue.is_as(&stored));
        assert_eq!(told(&queue.take_stored(stored.clone()).unwrap()), ["b", "a, better"]);
        assert!(queue.is_as(&stored));
        assert_eq!(queue.get(stored[1].id).unwrap().delivery, Delivery::Queue);
        queue.pop();
        assert_eq!(queue.first().unwrap().agent.as_deref(), Some("coder"));
    }

    #[test]
    fn one_that_was_taken_out_and_is_put_back_is_what_it_was() {
        let mut queue = Queue::default();
        let mut plans = steering("plans");
        plans.request.mode = Some(chat_permission::Mode::Plan);
        let id = plans.id;
        queue.push(plans);
        queue.push(steering("other"));
        let stored = queue.queued();
        queue.remove(id).unwrap();
        assert_eq!(told(&queue.take_stored(stored.clone()).unwrap()), ["plans", "other"]);
        assert_eq!(queue.first().unwrap().mode, Some(chat_permission::Mode::Plan));
        // Only the last few are remembered.
        queue.remove(id).unwrap();
        for _ in 0..REMEMBERED {
            let next = steering("next");
            let next_id = next.id;
            queue.push(next);
            queue.remove(next_id).unwrap();
        }
        queue.take_stored(stored).unwrap();
        assert_eq!(queue.first().unwrap().mode, None);
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
