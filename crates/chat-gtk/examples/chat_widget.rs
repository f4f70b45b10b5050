//! A chat in a program of one's own: a plain GTK window, an engine, and the widget.
//!
//! `cargo run -p chat-gtk --example chat_widget [ADDRESS]`: talks to the server at that address, or
//! to those that run on this machine. Its chats are thrown away at the end.

use std::cell::RefCell;
use std::rc::Rc;

use chat_core::client::Timeouts;
use chat_core::manager::{Manager, StartOptions};
use chat_core::models::HubOptions;
use chat_core::settings::{Connection, Folders, KeySource};
use chat_gtk::chat_widget::{self, ChatWidget, Input, Output};
use gtk::prelude::*;
use gtk::{gio, glib};
use relm4::{ComponentController, Controller};

fn main() -> anyhow::Result<glib::ExitCode> {
    let runtime = tokio::runtime::Runtime::new()?;
    let folder = tempfile::tempdir()?;
    let manager = runtime.block_on(start(Folders::below(folder.path())))?;

    let app = gtk::Application::new(None::<&str>, gio::ApplicationFlags::NON_UNIQUE);
    // Dropping a controller ends its component: it must be kept as long as the window.
    let kept: Rc<RefCell<Option<Controller<ChatWidget>>>> = Rc::default();
    let engine = manager.clone();
    app.connect_activate(move |app| {
        adw::init().expect("libadwaita starts where GTK has");
        chat_gtk::init();
        let window = gtk::ApplicationWindow::builder()
            .application(app)
            .default_width(640)
            .default_height(720)
            .build();
        let title = window.clone();
        let chat = chat_widget::launch(chat_widget::Init {
            manager: Some(engine.clone()),
            ..chat_widget::Init::default()
        })
        .connect_receiver(move |_, output| match output {
            Output::Titled(words) => title.set_title(Some(&words)),
            Output::Note(words) | Output::ChatNote(words) => eprintln!("{words}"),
            Output::EscapeAgain(true) => eprintln!("Press Esc again to stop the reply"),
            Output::Shown(_)
            | Output::Stored(_)
            | Output::Connections(_)
            | Output::AddConnection
            | Output::Models
            | Output::EscapeAgain(false)
            | Output::Escaped
            | Output::Project(_)
            | Output::Folder(_)
            | Output::Changes(_)
            | Output::Answered(_)
            | Output::AnswerUndone(_)
            | Output::Review
            | Output::Export
            | Output::Restored(_)
            | Output::Panel(_)
            | Output::MessageRemoved(_)
            | Output::MessagesDeleted(_)
            | Output::MessagesRestored(_)
            | Output::MessagesNotRestored { .. }
            | Output::NothingAsked
            | Output::ChatNoteOver
            | Output::OpenFile { .. } => {}
        });
        let header = gtk::HeaderBar::new();
        header.pack_end(chat.widgets().agent_dropdown());
        window.set_titlebar(Some(&header));
        window.set_child(Some(chat.widget()));
        window.present();
        chat.emit(Input::FocusMessage);
        kept.replace(Some(chat));
    });
    let code = app.run_with_args::<&str>(&[]);
    runtime.block_on(manager.shutdown());
    Ok(code)
}

async fn start(folders: Folders) -> chat_core::error::Result<Manager> {
    let options = StartOptions {
        home: Folders::home(),
        folders,
        timeouts: Timeouts::default(),
        hub: HubOptions::from_env(),
        discover: true,
        better_titles: true,
        agents: chat_core::agent::AgentRegistry::built_in(),
        tools: chat_core::tool::Registry::default(),
        tool_source: None,
        services: chat_core::tool::ToolServices::default(),
    };
    let manager = Manager::start(options).await?;
    if let Some(url) = std::env::args().nth(1) {
        let connection = Connection {
            name: "Server".to_owned(),
            kind: None,
            url,
            key: KeySource::None,
            models: Vec::new(),
            requests: None,
            ..Connection::default()
        };
        manager.connections().save(connection, None, None).await?;
    }
    Ok(manager)
}
