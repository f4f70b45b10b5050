//! Forwards the engine's events to a component: one batch is one message, and at most one message
//! is sent per frame, so that a fast model never starves painting. An idle engine causes no
//! wakeups.

use std::time::Duration;

use chat_core::error::Result;
use chat_core::event::{Event, Snapshot, Subscription};
use chat_core::manager::Manager;
use chat_core::message::Fid;
use relm4::{Component, ComponentSender};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

/// A frame at 60 Hz: everything that arrives within one is painted together.
const FRAME: Duration = Duration::from_millis(16);

/// A component's subscription to the engine. Dropping it ends the subscription.
#[derive(Debug)]
pub(crate) struct Bridge {
    watch: UnboundedSender<Watch>,
}

/// Messages over the bridge, in order: the events after a snapshot are those that follow it.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// What happened since the last batch.
    Events(Vec<Event>),
    /// A session was opened, or could not be opened.
    Opened {
        /// The session.
        fid: Fid,
        /// Its snapshot, with its position in the events.
        result: Result<Box<Snapshot>>,
    },
}

/// What the subscription should watch.
#[derive(Debug)]
enum Watch {
    Open { fid: Fid, limit: usize },
    Close(Fid),
}

impl Bridge {
    /// Subscribes a component; `wrap` turns arrivals into its messages.
    pub(crate) fn new<C: Component>(
        manager: &Manager,
        sender: &ComponentSender<C>,
        wrap: fn(Arrival) -> C::CommandOutput,
    ) -> Self {
        let (watch, watched) = unbounded_channel();
        let subscription = manager.subscribe();
        let manager = manager.clone();
        sender.command(move |out, shutdown| {
            shutdown
                .register(async move {
                    let deliver = move |arrival| out.send(wrap(arrival)).is_ok();
                    carry(&manager, subscription, watched, deliver).await;
                })
                .drop_on_shutdown()
        });
        Self { watch }
    }

    /// Opens a session with its last `limit` messages, and watches it from then on.
    pub(crate) fn open(&self, fid: Fid, limit: usize) {
        self.tell(Watch::Open { fid, limit });
    }

    /// Stops watching a session.
    pub(crate) fn close(&self, fid: Fid) {
        self.tell(Watch::Close(fid));
    }

    fn tell(&self, watch: Watch) {
        // The task ends only with the engine; then there is nothing left to watch.
        let _ = self.watch.send(watch);
    }
}

/// Forwards events until the engine, the component or the bridge is gone.
async fn carry(
    manager: &Manager,
    mut subscription: Subscription,
    mut watched: UnboundedReceiver<Watch>,
    deliver: impl Fn(Arrival) -> bool,
) {
    let mut not_before = Instant::now();
    loop {
        let arrival = tokio::select! {
            biased;
            watch = watched.recv() => match watch {
                Some(Watch::Open { fid, limit }) => {
                    let result = manager.sessions().open(&fid, limit, &subscription).await.map(Box::new);
                    Arrival::Opened { fid, result }
                }
                Some(Watch::Close(fid)) => {
                    manager.sessions().close(&fid, &subscription);
                    continue;
                }
                None => return,
            },
            events = next_after(&mut subscription, not_before) => {
                let Some(events) = events else { return };
                not_before = Instant::now() + FRAME;
                Arrival::Events(events)
            }
        };
        if !deliver(arrival) {
            return;
        }
    }
}

async fn next_after(subscription: &mut Subscription, not_before: Instant) -> Option<Vec<Event>> {
    if Instant::now() < not_before {
        tokio::time::sleep_until(not_before).await;
    }
    subscription.next().await
}

/// The session of an event, if the event belongs to a session.
pub(crate) fn about(event: &Event) -> Option<&Fid> {
    match event {
        Event::Session { fid, .. } | Event::RequestFinished { fid, .. } => Some(fid),
        Event::SessionAdded(_)
        | Event::SessionChanged(_)
        | Event::SessionRemoved { .. }
        | Event::ApprovalsChanged { .. }
        | Event::ModelsChanged
        | Event::ToolsChanged
        | Event::DownloadsChanged
        | Event::ConnectionsChanged
        | Event::ShowRequested { .. }
        | Event::AgentKindsChanged
        | Event::DefinitionsChanged { .. }
        | Event::SettingsChanged
        | Event::Notice(_) => None,
    }
}
