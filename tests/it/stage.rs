//! Sets up every test here: a desktop, a scripted server, and the program between them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use chat_core::manager::{Manager, StartOptions};
use chat_core::message::{self, Message, ModelRef, SessionMeta};
use chat_core::settings::Folders;
use chat_core::store::{NewSession, Store};
use chat_testkit::real::MODEL;
use chat_testkit::server::{Gate, Script, Server};
use chat_testkit::ui::{App, By, Desktop, Launch, Role, State, Widget, named, state, until};
use tokio::time::timeout;

/// The name of the find bar's entry.
const FIND: &str = "Find in Chat";

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
        stage.configure(&stage.server.url())?;
        Ok(stage)
    }

    /// A desktop on which nothing is configured, and no server is looked for.
    pub async fn bare() -> Result<Self> {
        Self::on(Desktop::start().await?)
    }

    /// The same on this desktop.
    pub fn on(desktop: Desktop) -> Result<Self> {
        let stage = Self { server: Server::start(), desktop };
        stage.write_config("")?;
        Ok(stage)
    }

    /// Configures one server of this address, which speaks as OpenAI's.
    pub fn configure(&self, url: &str) -> Result<()> {
        self.write_config(&format!(
            "[[connections]]\nname = \"Test\"\nkind = \"openai\"\nurl = \"{url}\"\n"
        ))
    }

    /// Adds settings to those that are configured.
    pub fn configure_more(&self, settings: &str) -> Result<()> {
        let file = self.folders().config.join("config.toml");
        let before = fs::read_to_string(&file)?;
        Ok(fs::write(file, format!("{before}\n{settings}"))?)
    }

    /// Makes this agent the one that new chats begin with.
    pub fn configure_agent(&self, agent: &str) -> Result<()> {
        let file = self.folders().config.join("config.toml");
        let settings = fs::read_to_string(&file)?;
        let with = format!("[chat]\nagent = \"{agent}\"\n");
        Ok(fs::write(file, settings.replacen("[chat]\n", &with, 1))?)
    }

    /// A project on the desktop, "garden", with these files.
    pub fn project(&self, files: &[(&str, &str)]) -> Result<PathBuf> {
        let folder = self.desktop.folder().canonicalize()?.join("home/garden");
        for (path, text) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().context("a folder")?)?;
            fs::write(path, text)?;
        }
        Ok(folder)
    }

    /// Configures no server; the built-in engine takes one core.
    pub fn compute_with_one_thread(&self) -> Result<()> {
        self.write_config("[engine]\nthreads = 1\n")
    }

    /// Configures these addresses by these names; what they speak is found out.
    pub fn configure_all(&self, connections: &[(&str, &str)]) -> Result<()> {
        let mut settings = String::new();
        for (name, url) in connections {
            writeln!(settings, "[[connections]]\nname = \"{name}\"\nurl = \"{url}\"\n")?;
        }
        self.write_config(&settings)
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
            runtime: self.desktop.folder().join("runtime/natter"),
        }
    }

    /// Starts the program and waits until one can write.
    pub async fn window(&self) -> Result<Window> {
        let window = self.window_as_it_comes().await?;
        window.find(named("Message")).await?;
        Ok(window)
    }

    /// Starts the program and waits until there is a model to write to.
    pub async fn ready(&self) -> Result<Window> {
        let window = self.window().await?;
        window.find(named("scripted")).await?;
        Ok(window)
    }

    /// Starts the program, and has the model tell a story, which goes on when the gate is opened:
    /// "Once upon a time".
    pub async fn telling(&self) -> Result<(Window, Gate)> {
        let gate = Gate::new();
        self.server.when("long", Script::new().text("Once upon ").gate(&gate).text("a time"));
        let window = self.ready().await?;
        window.say("a long story").await?;
        window.shows("Once upon").await?;
        Ok((window, gate))
    }

    /// Starts the program.
    pub async fn window_as_it_comes(&self) -> Result<Window> {
        self.launch(program()).await
    }

    /// Starts the program in this way.
    pub async fn launch(&self, launch: Launch) -> Result<Window> {
        Ok(Window { app: self.desktop.launch(launch).await? })
    }

    /// Another program at work on the same chats: this test itself.
    pub async fn another_program(&self) -> Result<Manager> {
        let options = StartOptions {
            agents: chat_core::agent::AgentRegistry::built_in(),
            ..StartOptions::new(self.folders())
        };
        Ok(Manager::start(options).await?)
    }

    /// Stores a chat, in which the person and the model say these texts in turn, before the program
    /// starts.
    pub async fn store(&self, title: &str, texts: impl IntoIterator<Item = String>) -> Result<()> {
        let mut messages: Vec<Arc<Message>> = Vec::new();
        for (index, text) in texts.into_iter().enumerate() {
            let role = if index % 2 == 0 { message::Role::User } else { message::Role::Assistant };
            let parent = messages.last().map(|message| message.id);
            messages.push(Arc::new(Message::text(role, parent, text)));
        }
        Store::open(&self.folders())?.store.create(chat(title), messages).await?;
        Ok(())
    }

    /// All stored transcripts by their titles, as they are on disk.
    pub async fn stored(&self) -> Result<BTreeMap<String, Transcript>> {
        let store = Store::open(&self.folders())?.store;
        let mut all = BTreeMap::new();
        for session in store.sessions().await? {
            let page = store.page(&session.fid, None, ALL).await?;
            let messages = page.messages.iter().map(|m| m.as_ref().clone()).collect();
            all.insert(session.meta.title, Transcript { messages });
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

/// The window program.
pub fn program() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_natter"))
}

/// The small real model; none where it is missing and not required, which is said.
pub fn real_model() -> Option<PathBuf> {
    let model = std::env::var_os(MODEL).map(PathBuf::from);
    if model.is_none() {
        assert!(std::env::var_os("CI").is_none(), "{MODEL} is not set");
        eprintln!("no real model: {MODEL} is not set");
    }
    model
}

/// A chat with the scripted model, to be stored before the program starts.
pub fn chat(title: &str) -> NewSession {
    let meta = SessionMeta {
        title: title.to_owned(),
        agent: "just-ask".to_owned(),
        model: Some(ModelRef::new("Test", "scripted")),
        ..SessionMeta::default()
    };
    NewSession { meta, ..NewSession::default() }
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

/// The program's window, with what a person does there again and again.
pub struct Window {
    app: App,
}

impl Deref for Window {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

impl Window {
    /// Types a message and sends it by keyboard.
    pub async fn say(&self, text: &str) -> Result<()> {
        // A click outside a list that is just closing only closes it.
        until("the keyboard in the message", || async {
            self.find(named("Message")).await?.click_with_mouse().await?;
            Ok(self.wait_briefly(message().state(State::Focused)).await.then_some(()))
        })
        .await?;
        self.type_text(text).await?;
        self.holds(text).await?;
        self.keys(&["Return"]).await?;
        self.holds("").await
    }

    /// Begins a chat for each text, the last one shown, and waits for all answers.
    pub async fn begin(&self, texts: &[&str]) -> Result<()> {
        for text in texts {
            self.new_chat().await?;
            self.say(text).await?;
            self.shows(&format!("You said: {text}")).await?;
            self.find(named(text).under("Chats")).await?;
        }
        Ok(())
    }

    /// Waits until the composer holds this text.
    pub async fn holds(&self, text: &str) -> Result<()> {
        let held = std::cell::RefCell::default();
        let waited = until(&format!("the composer to hold {text:?}"), || async {
            let Some(composer) = self.all(message()).await.pop() else { return Ok(None) };
            held.replace(Some(composer.text().await?));
            Ok((held.borrow().as_deref() == Some(text)).then_some(()))
        })
        .await
        .with_context(|| format!("it held {:?} at last", held.borrow()));
        self.explain(waited).await
    }

    /// Waits until the keyboard is in the composer.
    pub async fn writes(&self) -> Result<()> {
        self.find(message().state(State::Focused)).await.map(drop)
    }

    /// Waits until the conversation shows this text.
    pub async fn shows(&self, text: &str) -> Result<()> {
        let what = format!("{text:?} in the conversation");
        self.wait_for_text("Conversation", &what, |all| all.contains(text)).await.map(drop)
    }

    /// Opens the find bar by keyboard, and waits until one can type there.
    pub async fn find_in_chat(&self) -> Result<()> {
        self.keys(&["ctrl+f"]).await?;
        let is_in_bar = |at: &Widget| at.name() == FIND || at.is_under(FIND);
        self.wait("the keyboard in the find bar", |all| {
            all.iter().any(|at| at.is(State::Focused) && is_in_bar(at))
        })
        .await
    }

    /// Begins a new chat, and waits until the conversation is empty.
    pub async fn new_chat(&self) -> Result<()> {
        self.keys(&["ctrl+n"]).await?;
        let is_empty = |text: &str| !text.contains("You said") && !text.contains("Answer");
        self.wait_for_text("Conversation", "an empty conversation", is_empty).await?;
        self.holds("").await
    }

    /// Opens a chat from the list, and waits until it is the one that is shown.
    pub async fn open(&self, title: &str) -> Result<()> {
        until(&format!("the chat {title:?} to be shown"), || async {
            let row = self.find(named(title).role(Role::Label).under("Chats")).await?;
            // A row may move away under the mouse when a reply ends: then it is clicked again.
            row.click_with_mouse().await?;
            let shown = self.wait_briefly(named(title).role(Role::Frame)).await;
            Ok(shown.then_some(()))
        })
        .await
    }

    /// Moves the keyboard with this key until there is such a widget.
    pub async fn move_to(&self, key: &str, by: By) -> Result<()> {
        let focus = async || self.all(state(State::Focused)).await.pop();
        until(&by.to_string(), || async {
            let before = focus().await;
            self.keys(&[key]).await?;
            // It may also move within a widget, and some presses come to nothing.
            let moved = until("the keyboard to move", || async {
                let is_there = self.has(by.clone()).await;
                let stays = match (&before, focus().await) {
                    (Some(before), Some(now)) => before.is_same(&now),
                    (before, now) => before.is_none() && now.is_none(),
                };
                Ok((is_there || !stays).then_some(is_there))
            });
            let is_there = timeout(Duration::from_secs(1), moved).await.unwrap_or(Ok(false))?;
            Ok(is_there.then_some(()))
        })
        .await
    }

    /// Goes to the row of the shown chat by keyboard.
    pub async fn focus_list(&self) -> Result<()> {
        until("the keyboard in the list of chats", || async {
            let at = self.all(state(State::Focused)).await;
            if at.iter().any(|widget| widget.is_under("Chats")) {
                return Ok(Some(()));
            }
            self.keys(&["Tab"]).await?;
            Ok(None)
        })
        .await
    }

    /// Waits until the program ends by itself, which it must do well.
    pub async fn ended(self) -> Result<()> {
        let status = self.app.ended().await?;
        ensure!(status.success(), "the program ended with {status}");
        Ok(())
    }

    /// Ends the program at once, as a power cut does.
    pub async fn kill(self) -> Result<()> {
        self.app.kill().await
    }

    /// Ends the program as a session manager does; it must have ended well.
    pub async fn close(self) -> Result<()> {
        let said = self.app.said();
        ensure!(!said.contains("panicked"), "the program panicked: {said}");
        self.app.terminate().await
    }
}

/// The composer's text.
fn message() -> By {
    named("Message").role(Role::Text)
}
