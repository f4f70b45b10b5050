//! A screen with the window on it, whose settings know one server.

use std::fmt::Write;

use anyhow::Result;
use chat_testkit::server::Server;
use chat_testkit::ui::{App, By, Desktop, Launch, Role, Widget, named, until};

/// A desktop, a server, and how to start the window there.
pub struct Place {
    pub desktop: Desktop,
    pub server: Server,
}

impl Place {
    pub async fn new() -> Result<Self> {
        let server = Server::start();
        let place = Self { desktop: Desktop::start().await?, server };
        place.configure(&place.server.url())?;
        Ok(place)
    }

    /// Settings that know this address as `Test`, and look for nothing else.
    pub fn configure(&self, url: &str) -> Result<()> {
        self.configure_all(&[("Test", url)])
    }

    /// Settings that know these addresses by these names, and look for nothing else.
    pub fn configure_all(&self, connections: &[(&str, &str)]) -> Result<()> {
        let folder = self.desktop.config().join("natter");
        std::fs::create_dir_all(&folder)?;
        let mut settings = "[chat]\nfind_local_servers = false\nbetter_titles = false\n".to_owned();
        for (name, url) in connections {
            writeln!(settings, "\n[[connections]]\nname = \"{name}\"\nurl = \"{url}\"")?;
        }
        std::fs::write(folder.join("config.toml"), settings)?;
        Ok(())
    }

    /// Starts the window, and waits until a message can be written.
    pub async fn open(&self) -> Result<App> {
        let app = self.desktop.launch(program()).await?;
        app.find(message()).await?;
        Ok(app)
    }

    /// Starts the window, and waits until a model is there.
    pub async fn open_ready(&self) -> Result<App> {
        let app = self.open().await?;
        app.find(named("scripted")).await?;
        Ok(app)
    }
}

/// The window program.
pub fn program() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_natter"))
}

/// The composer's text.
pub fn message() -> By {
    named("Message").role(Role::Text)
}

/// Writes a message and sends it by Enter.
pub async fn send(app: &App, text: &str) -> Result<()> {
    app.type_text(text).await?;
    until_message_is(app, text).await?;
    app.keys(&["Return"]).await
}

/// Waits until the composer holds this text.
pub async fn until_message_is(app: &App, text: &str) -> Result<()> {
    let what = format!("the composer to hold {text:?}");
    until(&what, || async {
        let found: Vec<Widget> = app.all(message()).await;
        let Some(widget) = found.first() else { return Ok(None) };
        Ok((widget.text().await? == text).then_some(()))
    })
    .await
}

/// Waits until the conversation shows this text.
pub async fn until_shown(app: &App, text: &str) -> Result<()> {
    app.wait_for_text("Conversation", &format!("“{text}”"), |all| all.contains(text)).await?;
    Ok(())
}
