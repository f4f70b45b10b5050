//! What every test here begins with: a desktop, a scripted server, and the program between them.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use chat_core::message::{self, Message};
use chat_core::settings::Folders;
use chat_core::store::Store;
use chat_testkit::server::Server;
use chat_testkit::ui::{App, Desktop, Launch, Role, named, until};

/// More than any test's transcript has.
const ALL: usize = 1000;

pub struct Stage {
    pub server: Server,
    pub desktop: Desktop,
}

impl Stage {
    /// A desktop on which the scripted server is configured, and nothing is looked for or asked
    /// that the test has not asked for.
    pub async fn new() -> Result<Self> {
        let stage = Self::bare().await?;
        stage.configure(&stage.server.url(), "openai")?;
        Ok(stage)
    }

    /// A desktop on which nothing is configured, and no server is looked for.
    pub async fn bare() -> Result<Self> {
        let stage = Self { server: Server::start(), desktop: Desktop::start().await? };
        stage.write_config("")?;
        Ok(stage)
    }

    /// Configures one server of this address and protocol.
    pub fn configure(&self, url: &str, kind: &str) -> Result<()> {
        self.write_config(&format!(
            "[[connections]]\nname = \"Test\"\nkind = \"{kind}\"\nurl = \"{url}\"\n"
        ))
    }

    fn write_config(&self, connections: &str) -> Result<()> {
        let folder = self.folders().config;
        fs::create_dir_all(&folder)?;
        let chat = "[chat]\nfind_local_servers = false\nbetter_titles = false\n\n";
        fs::write(folder.join("config.toml"), format!("{chat}{connections}"))?;
        Ok(())
    }

    pub fn folders(&self) -> Folders {
        Folders {
            config: self.desktop.config().join("natter"),
            data: self.desktop.data().join("natter"),
            state: self.desktop.state().join("natter"),
        }
    }

    /// Starts the program and waits until one can write.
    pub async fn window(&self) -> Result<Window> {
        let window = self.window_as_it_comes().await?;
        window.app.find(named("Message")).await?;
        Ok(window)
    }

    /// Starts the program.
    pub async fn window_as_it_comes(&self) -> Result<Window> {
        let app = self.desktop.launch(Launch::new(env!("CARGO_BIN_EXE_natter"))).await?;
        Ok(Window { app })
    }

    /// All stored transcripts by their titles, as they are on disk.
    pub async fn stored(&self) -> Result<BTreeMap<String, Transcript>> {
        let store = Store::open(&self.folders())?.store;
        let mut all = BTreeMap::new();
        for session in store.sessions().await? {
            let page = store.page(&session.fid, None, ALL).await?;
            let messages = page.messages.iter().map(|m| m.as_ref().clone()).collect();
            all.insert(session.title, Transcript { messages });
        }
        Ok(all)
    }

    /// Waits until the stored transcript of this title fulfils a condition, and gives it.
    pub async fn stored_when(
        &self,
        title: &str,
        what: &str,
        is_so: impl Fn(&Transcript) -> bool,
    ) -> Result<Transcript> {
        until(&format!("{what} in the stored chat {title:?}"), || async {
            Ok(self.stored().await?.remove(title).filter(&is_so))
        })
        .await
    }
}

/// A stored chat.
#[derive(Debug)]
pub struct Transcript {
    pub messages: Vec<Message>,
}

impl Transcript {
    /// What the model said, in order.
    pub fn answers(&self) -> Vec<String> {
        self.of(message::Role::Assistant).iter().map(|m| m.plain_text()).collect()
    }

    pub fn of(&self, role: message::Role) -> Vec<&Message> {
        self.messages.iter().filter(|message| message.role == role).collect()
    }

    pub fn last(&self) -> Result<&Message> {
        self.messages.last().context("the transcript is empty")
    }
}

/// The program's window.
pub struct Window {
    pub app: App,
}

impl Window {
    /// Types a message and sends it by keyboard.
    pub async fn say(&self, text: &str) -> Result<()> {
        let composer = self.app.find(named("Message")).await?;
        composer.click_with_mouse().await?;
        self.app.type_text(text).await?;
        until("the typed text in the composer", || async {
            Ok((composer.text().await? == text).then_some(()))
        })
        .await?;
        self.app.keys(&["Return"]).await?;
        until("an empty composer after sending", || async {
            Ok(composer.text().await?.is_empty().then_some(()))
        })
        .await
    }

    /// Waits until the conversation shows this text.
    pub async fn shows(&self, text: &str) -> Result<()> {
        let what = format!("{text:?} in the conversation");
        self.app.wait_for_text("Conversation", &what, |all| all.contains(text)).await.map(drop)
    }

    /// Begins a new chat, and waits until the conversation is empty.
    pub async fn new_chat(&self) -> Result<()> {
        self.app.keys(&["ctrl+n"]).await?;
        let is_empty = |text: &str| !text.contains("You said") && !text.contains("Answer");
        self.app.wait_for_text("Conversation", "an empty conversation", is_empty).await.map(drop)
    }

    /// Opens a chat from the list, and waits until it is the one that is shown.
    pub async fn open(&self, title: &str) -> Result<()> {
        until(&format!("the chat {title:?} to be shown"), || async {
            let row = self.app.find(named(title).role(Role::Label).under("Chats")).await?;
            // A row may move away under the mouse when a reply ends: then it is clicked again.
            row.click_with_mouse().await?;
            let shown = self.app.wait_briefly(named(title).role(Role::Frame)).await;
            Ok(shown.then_some(()))
        })
        .await
    }

    /// Ends the program as a session manager does; it must have ended well.
    pub async fn close(self) -> Result<()> {
        let said = self.app.said();
        ensure!(!said.contains("panicked"), "the program panicked: {said}");
        self.app.terminate().await
    }
}
