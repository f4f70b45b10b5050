//! Shows what a new chat offers: at first whom there is to talk to, later what could be begun.

mod contents;
mod local_models;

use std::time::Duration;

use chat_core::error::Result;
use chat_core::manager::Manager;
use chat_core::message::ModelRef;
use chat_presentation::words::sentence;
use gtk::glib;
use relm4::gtk::prelude::*;

use super::handle::Handle;
use super::messages;
use crate::models::{Stock, has_keyboard};
use contents::Contents;
use local_models::LocalModels;

/// How often is looked for a server while there is none: soon enough for one that was just
/// started.
const LOOK_OUT: Duration = Duration::from_secs(3);

/// What the person does with the page, and what its work brings.
#[derive(Debug)]
pub(super) enum Msg {
    /// Talk to this model.
    Choose(ModelRef),
    /// Begin the message with these words.
    Begin(String),
    /// Look at all connections again.
    LookAgain,
    /// Look for servers that were started meanwhile.
    LookOut,
    /// The models that are here, and those that are coming.
    Stock(Result<Stock>),
}

/// What the page wants of others.
#[derive(Debug)]
pub(super) enum Output {
    /// This model was chosen.
    Chosen(ModelRef),
    /// The message begins with these words.
    Begun(String),
    /// What had the keyboard is gone.
    KeyboardLost,
}

/// The new chat that the page is about.
#[derive(Clone, Debug)]
pub(super) struct NewChat {
    pub(super) chosen: Option<ModelRef>,
    /// Whether that model thinks.
    pub(super) thinks: bool,
    /// Whether there is no chat yet.
    pub(super) first_run: bool,
    /// Whether code is worked on in a folder.
    pub(super) codes: bool,
}

impl NewChat {
    /// Whether the page shows suggestions rather than the list of models.
    pub(super) fn can_begin(&self) -> bool {
        self.chosen.is_some() && !self.first_run
    }
}

/// Whether somebody is looking what there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RefreshState {
    Idle,
    Running,
    /// What there is changed meanwhile.
    Again,
}

/// The page.
pub(super) struct StartPage {
    handle: Handle<Msg>,
    manager: Option<Manager>,
    root: gtk::ScrolledWindow,
    /// The new chat in sight.
    chat: Option<NewChat>,
    /// What is shown, so that it is built again only when that changes.
    contents: Option<Contents>,
    /// What is said about models on this computer, once that is known.
    local: Option<LocalModels>,
    refresh_state: RefreshState,
    /// The timer of looking for servers, while there is one.
    timer: Option<glib::SourceId>,
}

impl StartPage {
    /// An empty page: it shows something as soon as it is connected.
    pub(super) fn new(handle: Handle<Msg>) -> Self {
        let root = gtk::ScrolledWindow::builder()
            .hscrollbar_policy(gtk::PolicyType::Never)
            .propagate_natural_height(true)
            .vexpand(true)
            .build();
        Self {
            handle,
            manager: None,
            root,
            chat: None,
            contents: None,
            local: None,
            refresh_state: RefreshState::Idle,
            timer: None,
        }
    }

    pub(super) fn widget(&self) -> &gtk::ScrolledWindow {
        &self.root
    }

    pub(super) fn connect(&mut self, manager: Manager) {
        self.manager = Some(manager);
        self.look_at_stock();
    }

    /// Finds out which models are here and which are coming; one look at a time.
    pub(super) fn look_at_stock(&mut self) {
        let Some(manager) = self.manager.clone() else { return };
        if self.refresh_state != RefreshState::Idle {
            self.refresh_state = RefreshState::Again;
            return;
        }
        self.refresh_state = RefreshState::Running;
        self.handle.spawn(async move { Msg::Stock(Stock::take(&manager).await) });
    }

    /// Shows the page for this new chat; with none, another one is in sight. Whether what had the
    /// keyboard is gone.
    pub(super) fn show(&mut self, chat: Option<NewChat>) -> bool {
        self.chat = chat;
        self.start_refresh();
        self.show_contents()
    }

    pub(super) fn update(&mut self, msg: Msg) -> Option<Output> {
        match msg {
            Msg::Choose(model) => Some(Output::Chosen(model)),
            Msg::Begin(words) => Some(Output::Begun(words)),
            Msg::LookAgain => {
                if let Some(manager) = &self.manager {
                    manager.connections().refresh();
                }
                None
            }
            Msg::LookOut => {
                if let Some(manager) = &self.manager {
                    manager.retry_connections();
                }
                None
            }
            Msg::Stock(stock) => self.stock_came(stock).then_some(Output::KeyboardLost),
        }
    }

    fn stock_came(&mut self, stock: Result<Stock>) -> bool {
        let Some(manager) = &self.manager else { return false };
        let mut lost = false;
        match stock {
            Ok(stock) => {
                self.local = Some(LocalModels::take(self.local.take(), &stock, manager));
                lost = self.show_contents();
            }
            Err(error) => self.handle.output(messages::Output::Note(sentence(&error))),
        }
        if std::mem::replace(&mut self.refresh_state, RefreshState::Idle) == RefreshState::Again {
            self.look_at_stock();
        }
        lost
    }

    fn show_contents(&mut self) -> bool {
        let (Some(manager), Some(chat)) = (&self.manager, &self.chat) else { return false };
        let contents = Contents {
            connections: manager.connections().list(),
            models: manager.models().list(),
            local: self.local.as_ref().map(LocalModels::status),
            chosen: chat.chosen.clone(),
            thinks: chat.thinks,
            first_run: chat.first_run,
            codes: chat.codes,
        };
        if self.contents.as_ref() == Some(&contents) {
            return false;
        }
        let fetch = self.local.as_ref().and_then(LocalModels::fetch);
        let had_keyboard = has_keyboard(&self.root);
        self.root.set_child(Some(&contents::build(&contents, fetch, &self.handle)));
        // Who waits for a download stays there; whoever has a model can write at once.
        let waits = had_keyboard && contents.chosen.is_none();
        let stays = waits && fetch.is_some_and(|fetch| fetch.widget().grab_focus());
        let lost = had_keyboard && !stays;
        self.contents = Some(contents);
        lost
    }

    /// Looks for servers again and again, as long as there is nobody to talk to and the page that says
    /// so is in sight.
    fn start_refresh(&mut self) {
        let has_nobody = self.chat.is_some()
            && self.manager.as_ref().is_some_and(|manager| manager.models().list().is_empty());
        match self.timer.take() {
            None if has_nobody => {
                let (handle, root) = (self.handle.clone(), self.root.downgrade());
                self.timer = Some(glib::timeout_add_local(LOOK_OUT, move || {
                    let Some(root) = root.upgrade() else { return glib::ControlFlow::Break };
                    if root.is_mapped() {
                        handle.send(Msg::LookOut);
                    }
                    glib::ControlFlow::Continue
                }));
            }
            Some(timer) if !has_nobody => timer.remove(),
            timer => self.timer = timer,
        }
    }
}
