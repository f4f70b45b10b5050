//! The window: the list of chats beside the chat that is shown, and everything around them.

mod about;
mod export;
mod keys;
mod quit;
mod state;
mod switcher;
mod view;

use adw::prelude::*;
use chat_core::error::{Error, Result};
use chat_core::manager::Manager;
use chat_core::message::Fid;
use chat_edge::words;
use gettextrs::gettext;
use gtk::gio;
use relm4::{Component, ComponentController, ComponentParts, ComponentSender, Controller};

use crate::app::Launch;
use crate::chat_list::{self, ChatList};
use crate::chat_widget::{self, ChatWidget};
use crate::preferences;
use state::WindowState;
use view::View;

/// How the window comes to be.
#[derive(Debug)]
pub(crate) struct Init {
    pub(crate) app: adw::Application,
    pub(crate) launch: Launch,
}

/// How somebody came to the program.
#[derive(Clone, Debug)]
pub(crate) enum Arrival {
    /// Without a wish.
    Plain,
    /// For a new chat.
    New,
    /// For this chat.
    Session(Fid),
}

/// What the window's actions are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    NewChat,
    Switcher,
    Search,
    ToggleList,
    Previous,
    Next,
    FocusMessage,
    ChooseModel,
    CopyReply,
    Rename,
    Export,
    Delete,
    Preferences,
    Shortcuts,
    About,
    Close,
    Back,
}

#[derive(Debug)]
pub(crate) enum Input {
    Arrive(Arrival),
    Do(Action),
    /// The window is to be closed; asks where replies are being written.
    Close,
    /// The person's answer to that.
    Answer(quit::Answer),
    /// The program is to end without asking.
    End,
    /// The window was folded or unfolded.
    Folded,
    /// The window was looked at.
    Looked,
    Show(Fid),
    Undo(Fid),
    StartAgain,
    List(chat_list::Output),
    Chat(chat_widget::Output),
    Exported(std::result::Result<std::path::PathBuf, String>),
}

#[derive(Debug)]
pub(crate) enum Command {
    Started(Result<Manager>),
    Ended,
}

/// The window's state.
#[derive(Debug)]
pub(crate) struct Window {
    app: adw::Application,
    launch: Launch,
    manager: Option<Manager>,
    list: Controller<ChatList>,
    chat: Controller<ChatWidget>,
    state: WindowState,
    shown: Option<Fid>,
    title: String,
    arrived: bool,
    quitting: quit::Quitting,
}

impl Component for Window {
    type CommandOutput = Command;
    type Input = Input;
    type Output = ();
    type Init = Init;
    type Root = adw::ApplicationWindow;
    type Widgets = View;

    fn init_root() -> adw::ApplicationWindow {
        adw::ApplicationWindow::builder()
            .title("Natter")
            .width_request(360)
            .height_request(294)
            .build()
    }

    fn init(
        Init { app, launch }: Init,
        root: adw::ApplicationWindow,
        sender: ComponentSender<Self>,
    ) -> ComponentParts<Self> {
        // The engine starts while the widgets are made.
        start(&launch, &sender);
        let state = WindowState::load(&launch.state_folder);
        let list = ChatList::builder().launch(()).forward(sender.input_sender(), Input::List);
        let chat = chat_widget::launch(chat_widget::Init {
            manager: None,
            drafts: Some(launch.state_folder.join("drafts")),
            diagnostics: launch.diagnostics.clone(),
        })
        .forward(sender.input_sender(), Input::Chat);
        let view = View::new(&root, &list, &chat, &state, &sender);
        keys::install(&app, &root, &sender);
        root.set_application(Some(&app));
        view::mark_first_frame(&root, &launch.diagnostics);
        let model = Self {
            app,
            launch,
            manager: None,
            list,
            chat,
            state,
            shown: None,
            title: String::new(),
            arrived: false,
            quitting: quit::Quitting::default(),
        };
        ComponentParts { model, widgets: view }
    }

    fn update_with_view(
        &mut self,
        view: &mut View,
        input: Input,
        sender: ComponentSender<Self>,
        root: &adw::ApplicationWindow,
    ) {
        match input {
            Input::Arrive(arrival) => self.arrive(arrival, view, root),
            Input::Do(action) => self.act(action, view, &sender, root),
            Input::Close => self.close(&sender, root),
            Input::Answer(answer) => self.answer(answer, &sender, root),
            Input::End => self.end(&sender, root),
            Input::Folded => view.show_folded(self.state.list_hidden),
            Input::Looked => self.list.emit(chat_list::Input::Regroup),
            Input::Show(fid) => self.show(Some(fid), view),
            Input::Undo(fid) => self.list.emit(chat_list::Input::Restore(fid)),
            Input::StartAgain => {
                view.show_chats();
                start(&self.launch, &sender);
            }
            Input::List(output) => self.hear_list(output, view, &sender, root),
            Input::Chat(output) => self.hear_chat(output, view, root),
            Input::Exported(Ok(path)) => {
                let name = path.display().to_string();
                view.note(&words::fill(&gettext("Written to {file}"), &[("file", &name)]));
            }
            Input::Exported(Err(reason)) => {
                let text = gettext("The file could not be written: {reason}");
                view.note(&words::fill(&text, &[("reason", &reason)]));
            }
        }
        self.show_actions(root);
    }

    fn update_cmd_with_view(
        &mut self,
        view: &mut View,
        command: Command,
        _sender: ComponentSender<Self>,
        _root: &adw::ApplicationWindow,
    ) {
        match command {
            Command::Started(Ok(manager)) => {
                self.list.emit(chat_list::Input::Connect(manager.clone()));
                self.chat.emit(chat_widget::Input::Connect(manager.clone()));
                self.manager = Some(manager);
            }
            Command::Started(Err(error)) => view.show_failure(&words::sentence(&error)),
            Command::Ended => self.app.quit(),
        }
    }
}

/// Starts the engine; its news comes as a command's output.
fn start(launch: &Launch, sender: &ComponentSender<Window>) {
    let starting = (launch.start)();
    sender.oneshot_command(async move {
        let lost = |_| Err(Error::new(chat_core::error::Kind::Internal));
        Command::Started(starting.await.unwrap_or_else(lost))
    });
}

impl Window {
    /// Somebody came: the first time the last chat is shown again, if nothing else is asked for.
    fn arrive(&mut self, arrival: Arrival, view: &View, root: &adw::ApplicationWindow) {
        if !self.quitting.come_back() {
            return;
        }
        let first = !std::mem::replace(&mut self.arrived, true);
        match arrival {
            Arrival::Session(fid) => self.show(Some(fid), view),
            Arrival::New => self.show(None, view),
            Arrival::Plain if first => {
                if let Some(fid) = self.state.last_session.clone() {
                    self.chat.emit(chat_widget::Input::Show(Some(fid)));
                }
            }
            Arrival::Plain => {}
        }
        root.present();
        if first {
            self.chat.emit(chat_widget::Input::FocusMessage);
        }
    }

    /// Shows a chat and goes to it where only one pane is shown.
    fn show(&self, fid: Option<Fid>, view: &View) {
        self.chat.emit(chat_widget::Input::Show(fid));
        view.forward();
    }

    fn act(
        &mut self,
        action: Action,
        view: &View,
        sender: &ComponentSender<Self>,
        root: &adw::ApplicationWindow,
    ) {
        use chat_list::Input as List;
        use chat_widget::Input as Chat;
        match action {
            Action::NewChat => {
                self.show(None, view);
                self.chat.emit(Chat::FocusMessage);
            }
            Action::Switcher => {
                let chats = self.list.model().titles();
                switcher::open(root, chats, sender.input_sender().clone());
            }
            Action::Search => {
                self.reveal_list(view);
                self.list.emit(List::Search);
            }
            Action::ToggleList => {
                self.state.list_hidden = !self.state.list_hidden && !view.is_folded();
                view.toggle_list(self.state.list_hidden);
            }
            Action::Previous => self.list.emit(List::Step(-1)),
            Action::Next => self.list.emit(List::Step(1)),
            Action::FocusMessage => {
                view.forward();
                self.chat.emit(Chat::FocusMessage);
            }
            Action::ChooseModel => {
                view.forward();
                self.chat.emit(Chat::ChooseModel);
            }
            Action::CopyReply => self.chat.emit(Chat::CopyLastReply),
            Action::Rename => {
                if let Some(fid) = self.shown.clone() {
                    self.reveal_list(view);
                    self.list.emit(List::Rename(fid));
                }
            }
            Action::Export => {
                if let Some(fid) = self.shown.clone() {
                    self.export(fid, &self.title, sender, root);
                }
            }
            Action::Delete => {
                if let Some(fid) = self.shown.clone() {
                    self.list.emit(List::Delete(fid));
                }
            }
            Action::Preferences => self.open_preferences(preferences::Page::General, root),
            Action::Shortcuts => keys::show_window(root),
            Action::About => about::show(root, self.launch.version, self.launch.id),
            Action::Close => self.close(sender, root),
            Action::Back => view.back(),
        }
    }

    fn reveal_list(&mut self, view: &View) {
        self.state.list_hidden = false;
        view.reveal_list();
    }

    fn open_preferences(&self, page: preferences::Page, root: &adw::ApplicationWindow) {
        if let Some(manager) = &self.manager {
            preferences::open(root, manager, page);
        }
    }

    fn export(
        &self,
        fid: Fid,
        title: &str,
        sender: &ComponentSender<Self>,
        root: &adw::ApplicationWindow,
    ) {
        if let Some(manager) = self.manager.clone() {
            export::ask(root, manager, fid, title, sender.input_sender().clone());
        }
    }

    fn hear_list(
        &mut self,
        output: chat_list::Output,
        view: &mut View,
        sender: &ComponentSender<Self>,
        root: &adw::ApplicationWindow,
    ) {
        use chat_list::Output as Told;
        match output {
            Told::Open { fid, forward } => {
                self.chat.emit(chat_widget::Input::Show(Some(fid)));
                if forward {
                    view.forward();
                }
            }
            Told::Deleted { fid, title } => view.offer_undo(fid, &title, sender),
            Told::Export { fid, title } => self.export(fid, &title, sender, root),
            Told::Failed(error) => view.note(&words::sentence(&error)),
            Told::Loaded(chats) => {
                self.chat.emit(chat_widget::Input::HasChats(!chats.is_empty()));
                state::prune_drafts(&self.launch.state_folder, chats);
                view::mark_after_frame(root, &self.launch.diagnostics, "ready");
            }
            Told::Stirred => self.end_if_done(sender, root),
        }
    }

    fn hear_chat(
        &mut self,
        output: chat_widget::Output,
        view: &mut View,
        root: &adw::ApplicationWindow,
    ) {
        use chat_widget::Output as Told;
        match output {
            Told::Shown(fid) => {
                self.shown.clone_from(&fid);
                self.state.last_session.clone_from(&fid);
                self.list.emit(chat_list::Input::Shown(fid));
            }
            Told::Titled(title) => {
                root.set_title(Some(&title));
                view.set_title(&title);
                self.title = title;
            }
            Told::Note(words) => view.note(&words),
            Told::Connections(name) => {
                self.open_preferences(preferences::Page::Connections(name), root);
            }
            Told::AddConnection => {
                if let Some(manager) = &self.manager {
                    preferences::add_connection(root.upcast_ref(), manager);
                }
            }
        }
    }

    /// What is about a stored chat works only with one.
    fn show_actions(&self, root: &adw::ApplicationWindow) {
        for action in [Action::Rename, Action::Export, Action::Delete] {
            let action = root.lookup_action(action.name()).and_downcast::<gio::SimpleAction>();
            if let Some(action) = action {
                action.set_enabled(self.shown.is_some());
            }
        }
    }
}
