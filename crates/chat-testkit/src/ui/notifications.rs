//! Imitates a desktop's notification service: records what programs show, and answers like a user.
//!
//! Speaks `org.freedesktop.Notifications` 1.2 as far as programs use it
//! (<https://specifications.freedesktop.org/notification-spec/latest/>).

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use atspi::zbus::connection::Builder;
use atspi::zbus::zvariant::OwnedValue;
use atspi::zbus::{Connection, Message, MessageStream, message};
use futures_util::StreamExt;
use tokio::task::JoinHandle;

use super::{Desktop, until};

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";

/// A visible notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// Its number.
    pub id: u32,
    /// The program's name.
    pub program: String,
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: String,
    /// Its buttons: each with its action name and its label.
    pub actions: Vec<(String, String)>,
}

/// A program's call to show a notification.
type Notify = (String, u32, String, String, String, Vec<String>, HashMap<String, OwnedValue>, i32);

/// The visible notifications, by number.
type Shown = Arc<Mutex<BTreeMap<u32, Notification>>>;

/// A notification service. Dropping it ends it.
#[derive(Debug)]
pub struct Notifications {
    bus: Connection,
    shown: Shown,
    serving: JoinHandle<()>,
}

impl Notifications {
    /// Starts to show the notifications of a desktop's programs.
    pub async fn start(desktop: &Desktop) -> Result<Self> {
        let bus = Builder::address(desktop.bus_address())?.build().await?;
        let calls = MessageStream::from(&bus);
        bus.request_name(NAME).await?;
        let shown = Shown::default();
        let serving = tokio::spawn(serve(bus.clone(), calls, Arc::clone(&shown)));
        Ok(Self { bus, shown, serving })
    }

    /// The visible notifications.
    pub fn shown(&self) -> Vec<Notification> {
        lock(&self.shown).values().cloned().collect()
    }

    /// Waits for a notification with this title.
    pub async fn titled(&self, title: &str) -> Result<Notification> {
        until(&format!("a notification {title:?}"), || async {
            Ok(self.shown().into_iter().find(|shown| shown.title == title))
        })
        .await
        .with_context(|| format!("shown were {:?}", self.shown()))
    }

    /// Waits until no notification is visible.
    pub async fn none(&self) -> Result<()> {
        until("the end of all notifications", || async {
            Ok(self.shown().is_empty().then_some(()))
        })
        .await
        .with_context(|| format!("shown were {:?}", self.shown()))
    }

    /// Presses the button with this label; `None` is the notification itself.
    pub async fn press(&self, notification: &Notification, button: Option<&str>) -> Result<()> {
        let fits = |(action, words): &&(String, String)| match button {
            Some(button) => words == button,
            None => action == "default",
        };
        let (action, _) =
            notification.actions.iter().find(fits).context("there is no such button")?;
        let invoked = (notification.id, action.as_str());
        self.tell("ActionInvoked", &invoked).await?;
        lock(&self.shown).remove(&notification.id);
        // 2: dismissed by the user.
        self.tell("NotificationClosed", &(notification.id, 2_u32)).await
    }

    async fn tell(
        &self,
        signal: &str,
        body: &(impl serde::Serialize + atspi::zbus::zvariant::DynamicType),
    ) -> Result<()> {
        Ok(self.bus.emit_signal(None::<&str>, PATH, NAME, signal, body).await?)
    }
}

impl Drop for Notifications {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn lock(shown: &Shown) -> MutexGuard<'_, BTreeMap<u32, Notification>> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(bus: Connection, mut calls: MessageStream, shown: Shown) {
    let mut last = 0;
    while let Some(Ok(call)) = calls.next().await {
        if call.message_type() == message::Type::MethodCall {
            // The caller may be gone; a wrong call gets no answer, and its test fails.
            if let Err(error) = answer(&bus, &call, &shown, &mut last).await {
                eprintln!("a call of {NAME} failed: {error}");
            }
        }
    }
}

async fn answer(bus: &Connection, call: &Message, shown: &Shown, last: &mut u32) -> Result<()> {
    let header = call.header();
    let member = header.member().map(ToString::to_string);
    match member.as_deref() {
        Some("Notify") => {
            let (program, replaces, _, title, body, actions, _, _): Notify =
                call.body().deserialize()?;
            if replaces == 0 {
                *last += 1;
            }
            let id = if replaces == 0 { *last } else { replaces };
            let actions = actions.as_chunks::<2>().0;
            let actions = actions.iter().map(|[key, words]| (key.clone(), words.clone())).collect();
            lock(shown).insert(id, Notification { id, program, title, body, actions });
            bus.reply(&header, &id).await?;
        }
        Some("CloseNotification") => {
            let id: u32 = call.body().deserialize()?;
            lock(shown).remove(&id);
            bus.reply(&header, &()).await?;
            // 3: closed by a call.
            bus.emit_signal(None::<&str>, PATH, NAME, "NotificationClosed", &(id, 3_u32)).await?;
        }
        Some("GetCapabilities") => bus.reply(&header, &vec!["actions", "body"]).await?,
        Some("GetServerInformation") => {
            bus.reply(&header, &("natter-testkit", "natter", "1", "1.2")).await?;
        }
        _ => {}
    }
    Ok(())
}
