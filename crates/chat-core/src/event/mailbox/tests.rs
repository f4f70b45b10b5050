//! Tests what a mailbox promises.

use proptest::prelude::*;

use super::*;
use crate::message::ToolCallId;

fn growth(text: &Arc<LiveText>, message: MessageId, (from, to): (usize, usize)) -> Growth {
    Growth {
        fid: Fid::new("a"),
        seq: 0,
        message,
        part: 0,
        kind: TextKind::Text,
        from,
        to,
        text: Arc::clone(text),
    }
}

#[test]
fn a_later_event_supersedes_an_earlier_one_about_the_same() {
    let hub = Hub::default();
    let mut subscription = hub.subscribe();
    hub.tell(&Event::ModelsChanged);
    hub.tell(&Event::SettingsChanged);
    hub.tell(&Event::ModelsChanged);
    let events = subscription.take();
    assert!(matches!(events[..], [Event::SettingsChanged, Event::ModelsChanged]), "{events:?}");
    assert!(subscription.take().is_empty());
}

#[test]
fn what_is_written_between_a_piece_and_its_telling_comes_once() {
    let mailbox = Arc::new(Mailbox::default());
    let mut subscription = Subscription { mailbox: Arc::clone(&mailbox) };
    let (text, message) = (Arc::new(LiveText::default()), MessageId::new());
    text.push("first ");
    mailbox.grow(&growth(&text, message, (0, 6)));
    // The session writes first and tells then; the subscriber comes in between.
    text.push("second");
    let mut seen = subscription.take();
    mailbox.grow(&growth(&text, message, (6, 12)));
    seen.extend(subscription.take());
    let pieces: Vec<_> = seen
        .iter()
        .map(|event| match event {
            Event::Session { event: SessionEvent::TextAdded { range, text, .. }, .. } => {
                (range.clone(), text.as_str())
            }
            _ => panic!("only text"),
        })
        .collect();
    assert_eq!(pieces, [(0..6, "first "), (6..12, "second")]);
}

fn finished() -> Event {
    Event::RequestFinished {
        fid: Fid::new("a"),
        reason: crate::event::StopReason::Complete,
        usage: crate::message::Usage::default(),
        error: None,
    }
}

#[test]
fn each_request_that_ended_is_told() {
    let hub = Hub::default();
    let mut subscription = hub.subscribe();
    hub.tell(&finished());
    hub.tell(&finished());
    assert_eq!(subscription.take().len(), 2);
}

#[test]
fn calls_of_one_id_in_two_replies_are_two() {
    let hub = Hub::default();
    let mut subscription = hub.subscribe();
    for (fid, running) in [("a", true), ("b", true), ("b", false)] {
        static IDS: std::sync::OnceLock<[MessageId; 2]> = std::sync::OnceLock::new();
        let ids = IDS.get_or_init(|| [MessageId::new(), MessageId::new()]);
        let event = SessionEvent::ToolCallChanged {
            message: ids[usize::from(fid == "b")],
            call: ToolCallId::new("call_0"),
            running,
            result: None,
        };
        hub.tell(&Event::Session { fid: Fid::new(fid), seq: 1, event });
    }
    let told: Vec<_> = subscription
        .take()
        .into_iter()
        .map(|event| match event {
            Event::Session {
                fid, event: SessionEvent::ToolCallChanged { running, .. }, ..
            } => (fid.to_string(), running),
            _ => panic!("only calls"),
        })
        .collect();
    assert_eq!(told, [("a".to_owned(), true), ("b".to_owned(), false)]);
}

#[test]
fn a_subscriber_that_never_takes_does_not_fill_the_memory() {
    let hub = Hub::default();
    let mut subscription = hub.subscribe();
    hub.tell(&finished());
    for _ in 0..100_000 {
        hub.tell(&Event::ModelsChanged);
        hub.tell(&Event::SettingsChanged);
    }
    assert!(lock(&subscription.mailbox.dirty).entries.len() <= 2 * CROWDED);
    let events = subscription.take();
    assert!(
        matches!(
            events[..],
            [Event::RequestFinished { .. }, Event::ModelsChanged, Event::SettingsChanged]
        ),
        "{events:?}"
    );
}

#[test]
fn what_a_snapshot_holds_is_forgotten_and_nothing_else() {
    let mailbox = Arc::new(Mailbox::default());
    let mut subscription = Subscription { mailbox: Arc::clone(&mailbox) };
    let (text, message) = (Arc::new(LiveText::default()), MessageId::new());
    text.push("one");
    mailbox.put(Event::ModelsChanged);
    mailbox.grow(&growth(&text, message, (0, 3)));
    mailbox.put(finished());
    mailbox.forget(&Fid::new("a"));
    text.push("two");
    mailbox.grow(&growth(&text, message, (3, 6)));
    let events = subscription.take();
    assert!(
        matches!(
            &events[..],
            [
                Event::ModelsChanged,
                Event::RequestFinished { .. },
                Event::Session {
                    event: SessionEvent::TextAdded {
                        range: std::ops::Range { start: 3, end: 6 },
                        ..
                    },
                    ..
                }
            ]
        ),
        "{events:?}"
    );
}

#[tokio::test]
async fn a_subscription_ends_with_its_hub() {
    let hub = Hub::default();
    let mut subscription = hub.subscribe();
    hub.tell(&Event::AgentKindsChanged);
    drop(hub);
    assert_eq!(subscription.next().await.map(|events| events.len()), Some(1));
    assert!(subscription.next().await.is_none());
}

proptest! {
    /// However often it is taken: the pieces joined are the whole text, and their ranges meet.
    #[test]
    fn no_text_is_lost(pieces in prop::collection::vec((".{0,8}", any::<bool>()), 0..60)) {
        let mailbox = Arc::new(Mailbox::default());
        let mut subscription = Subscription { mailbox: Arc::clone(&mailbox) };
        let text = Arc::new(LiveText::default());
        let message = MessageId::new();
        let mut whole = String::new();
        let mut seen = String::new();
        let mut read = |subscription: &mut Subscription| {
            for event in subscription.take() {
                let Event::Session { event: SessionEvent::TextAdded { range, text, .. }, .. } = event
                else {
                    panic!("only text")
                };
                assert_eq!(range, seen.len()..seen.len() + text.len());
                seen.push_str(&text);
            }
        };
        for (piece, take) in &pieces {
            let from = text.push(piece);
            whole.push_str(piece);
            mailbox.grow(&growth(&text, message, (from, text.whole().len())));
            if *take {
                read(&mut subscription);
            }
        }
        read(&mut subscription);
        prop_assert_eq!(whole, seen);
    }
}
