//! Drives a program's real windows as a user would, on a virtual screen.
//!
//! A [`Desktop`] is a screen, a session bus with accessibility, and empty folders. Programs started
//! on it are [`App`]s: their widgets are found by role and accessible name, clicked, typed into and
//! read. Everything waits for a condition with a deadline, and nothing sleeps for a fixed time.
//! When the desktop is dropped, every process that was started on it ends.
//!
//! ```no_run
//! # async fn example() -> anyhow::Result<()> {
//! use chat_testkit::ui::{Desktop, Launch, named};
//!
//! let desktop = Desktop::start().await?;
//! let app = desktop.launch(Launch::new("target/debug/natter")).await?;
//! app.type_text("Hello").await?;
//! app.find(named("Send")).await?.click().await?;
//! app.find(named("You said: Hello")).await?;
//! # Ok(())
//! # }
//! ```

mod app;
mod bus;
mod by;
mod desktop;
mod input;
mod notifications;
mod processes;
mod screen;
mod tree;
mod wait;
mod widget;

pub use app::App;
pub use atspi::{Role, State};
pub use by::{By, containing, named, role, state};
pub use desktop::{Desktop, Launch};
pub use input::{Input, Wheel};
pub use notifications::{Notification, Notifications};
pub use wait::{PATIENCE, until};
pub use widget::Widget;
