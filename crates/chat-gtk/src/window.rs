//! Shows the main window: the chat list next to the current chat, and everything around them.

mod about;
mod acts;
mod arranging;
mod deletions;
mod dropping;
pub(crate) mod export;
pub(crate) mod files;
mod hearing;
mod import;
mod keys;
mod messages;
mod notifications;
mod panel_memory;
mod parts;
mod quit;
mod side;
mod state;
mod switcher;
mod targets;
mod title_buttons;
mod toasts;
mod trash;
mod view;
mod waiting_approvals;
mod worktrees;

use adw::prelude::*;
use chat_core::error::Error;
use chat_core::manager::Manager;
use chat_core::message::{ApprovalId, Fid};
use chat_presentation::words;
use gettextrs::gettext;
use gtk::gio;
use relm4::{Component, ComponentController, ComponentParts, ComponentSender, Controller};

use crate::app::Launch;
use crate::appearance;
use crate::chat_list::{self, ChatList};
use crate::chat_widget::{self, ChatWidget};
use crate::panel::Panel;
use deletions::Deleted;
use keys::Action;
pub(crate) use messages::{Arrival, Command, Init, Input, LaunchTarget};
use notifications::Notifications;
pub(crate) use notifications::Reply;
use panel_memory::PanelMemory;
use state::{StateWriter, WindowState};
use view::View;
use waiting_approvals::WaitingApprovals;
use worktrees::WorktreeInfo;

/// The window's state.
#[derive(Debug)]
pub(crate) struct Window {
    app: adw::Application,
    launch: Launch,
    manager: Option<Manager>,
    list: Controller<ChatList>,
    chat: Controller<ChatWidget>,
    panel: Panel,
    panel_memory: PanelMemory,
    state: WindowState,
    state_writer: StateWriter,
    shown: Option<Fid>,
    title: String,
    arrived: bool,
    quitting: quit::Quitting,
    notifications: Notifications,
    /// Files to show as soon as a chat works in their project.
    located: Option<files::Located>,
    waiting: WaitingApprovals,
    /// Whether the next chat is opened because something waits in it.
    seeks_ask: bool,
    /// What was last gone to of all that waits.
    sought: Option<ApprovalId>,
    worktrees: WorktreeInfo,
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
        // The engine starts while the widgets are being built.
        start(&launch, &sender);
        let state = WindowState::load(&launch.state_folder);
        let list = ChatList::builder().launch(()).forward(sender.input_sender(), Input::List);
        let input = sender.input_sender().clone();
        let panel = Panel::new(&launch.state_folder, move |told| input.emit(Input::Panel(told)));
        panel.changes().set_side_by_side(state.review_side_by_side);
        let editor = panel.editor().clone();
        let chat = chat_widget::launch(chat_widget::Init {
            manager: None,
            drafts: Some(launch.state_folder.join("drafts")),
            projects: Some(launch.state_folder.clone()),
            open_files: chat_widget::OpenFiles::new(move |project| editor.open_files(project)),
            servers: Some(launch.tool_servers()),
            diagnostics: launch.diagnostics.clone(),
        })
        .forward(sender.input_sender(), Input::Chat);
        let waiting = {
            let cards = chat.widgets().conversation().approval_cards();
            let input = sender.input_sender().clone();
            WaitingApprovals::new(cards, move |output| input.emit(Input::Waiting(output)))
        };
        let view = View::new(&root, &list, &chat, &panel, (&state, &waiting), &sender);
        waiting.set_yielding(view.side.button());
        let input = sender.input_sender().clone();
        appearance::connect_zoom_wheel(chat.widgets().conversation().widget(), move |up| {
            input.emit(Input::Do(if up { Action::ZoomIn } else { Action::ZoomOut }));
        });
        keys::install(&app, &root, chat.widget(), &sender);
        root.set_application(Some(&app));
        view::mark_first_frame(&root, &launch.diagnostics);
        let model = Self {
            notifications: Notifications::new(&app),
            app,
            launch,
            manager: None,
            list,
            chat,
            panel,
            panel_memory: PanelMemory::new(&state),
            state,
            state_writer: StateWriter::default(),
            shown: None,
            title: String::new(),
            arrived: false,
            quitting: quit::Quitting::default(),
            located: None,
            waiting,
            seeks_ask: false,
            sought: None,
            worktrees: WorktreeInfo::default(),
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
            Input::Arrive(arrival) => self.arrive(arrival, view, &sender, root),
            Input::Do(action) => self.act(action, view, &sender, root),
            Input::Close => self.close(&sender, root),
            Input::Answer(answer) => self.answer(answer, &sender, root),
            Input::End => self.end(&sender, root),
            Input::Folded => {
                view.show_folded(self.state.list_hidden);
                self.remember_panel(view);
            }
            Input::Looked => self.list.emit(chat_list::Input::Regroup),
            Input::Show(fid) => self.show(Some(fid), view),
            Input::MessagesBack(messages) => view.deletions.forget_messages(&messages),
            Input::Restore(Deleted::Chats(chats)) => {
                for fid in chats {
                    self.list.emit(chat_list::Input::Restore(fid));
                }
            }
            Input::Restore(Deleted::Messages(deleted)) => {
                self.chat.emit(chat_widget::Input::Restore(deleted));
            }
            Input::Choose(model) => self.chat.emit(chat_widget::Input::UseModel(model)),
            Input::Run(command) => {
                self.chat.emit(chat_widget::Input::RunCommand(command));
                view.forward();
            }
            Input::Prefer(page) => self.open_preferences(page, root),
            Input::Failed(error) => view.note(&words::sentence(&error)),
            Input::Retitle(fid, title) => {
                self.list.emit(chat_list::Input::Retitle { fid, title });
            }
            Input::StartAgain => {
                view.show_chats();
                start(&self.launch, &sender);
            }
            Input::Dropped(files) => dropping::sort(files, &sender),
            Input::Dragged(inside) => self.chat.emit(chat_widget::Input::Dragged(inside)),
            Input::Attach(files) => {
                view.forward();
                self.chat.emit(chat_widget::Input::Attach(files));
            }
            Input::AddModels(files) => self.add_models(files, &sender),
            Input::OfferFolder(folder) => view.offer_folder(folder, &sender),
            Input::Work(folder) => self.work_in(folder, view),
            Input::Located(target, located) => self.located(&target, located, view),
            Input::AttachTo(target, files) => self.attach_to(&target, files, view),
            Input::Reply(reply) => self.reply(reply, &sender, root),
            Input::Note(words) => view.note(&words),
            Input::WorktreeCreated(created) => self.worktree_created(&created, view),
            Input::List(output) => self.hear_list(output, view, &sender, root),
            Input::Chat(output) => self.hear_chat(output, view, &sender, root),
            Input::Panel(output) => self.hear_panel(output, view),
            Input::Waiting(output) => self.hear_waiting(output, view, &sender),
            Input::Exported(Ok(path)) => {
                let name = path.display().to_string();
                view.note(&words::fill(&gettext("Saved to {file}"), &[("file", &name)]));
            }
            Input::Exported(Err(reason)) => {
                let text = gettext("Couldn’t write the file: {reason}");
                view.note(&words::fill(&text, &[("reason", &reason)]));
            }
        }
        self.show_actions(root);
        self.withdraw_seen(view, root);
    }

    fn update_cmd_with_view(
        &mut self,
        view: &mut View,
        command: Command,
        sender: ComponentSender<Self>,
        root: &adw::ApplicationWindow,
    ) {
        match command {
            Command::Started(Ok(manager)) => {
                self.list.emit(chat_list::Input::Connect(manager.clone()));
                self.chat.emit(chat_widget::Input::Connect(manager.clone()));
                self.panel.editor().connect(&manager);
                view.tell_start(&manager);
                Self::look_for_left_over(manager.clone(), &sender);
                self.manager = Some(manager);
                self.show_color_scheme();
                self.look_for_repository(&sender);
            }
            Command::Started(Err(error)) => view.show_failure(&words::sentence(&error), &sender),
            Command::Finished(finished) => self.tell_finished(&finished, view, root),
            Command::Replied(Ok(true)) => {}
            Command::Replied(Ok(false)) => {
                view.note(&gettext("Nothing is waiting for your answer"));
            }
            Command::Replied(Err(error)) => view.note(&words::sentence(&error)),
            Command::Answered { fid, ask, result } => {
                if let Some(error) = self.waiting.answered(&fid, ask, result) {
                    view.note(&words::sentence(&error));
                }
            }
            Command::Repository(project, whole) => {
                self.repository_found(&project, whole);
            }
            Command::LeftOver(found) => self.tell_left_over(found, view, &sender),
            Command::Ended => self.app.quit(),
        }
        self.show_actions(root);
    }
}

/// Starts the engine; the result arrives as a command's output.
fn start(launch: &Launch, sender: &ComponentSender<Window>) {
    let starting = (launch.start)();
    sender.oneshot_command(async move {
        let lost = |_| Err(Error::new(chat_core::error::Kind::Internal));
        Command::Started(starting.await.unwrap_or_else(lost))
    });
}

impl Window {
    /// Handles an arrival. The first time, the last chat is shown again, unless something else is
    /// requested.
    fn arrive(
        &mut self,
        arrival: Arrival,
        view: &View,
        sender: &ComponentSender<Self>,
        root: &adw::ApplicationWindow,
    ) {
        if !self.quitting.come_back() {
            return;
        }
        let first = !std::mem::replace(&mut self.arrived, true);
        let has_files = !arrival.files.is_empty() || !arrival.attach.is_empty();
        match arrival.target.clone() {
            LaunchTarget::Session(fid) => self.show(Some(fid), view),
            LaunchTarget::New => {
                if first && self.state.last_session.is_some() {
                    // It was shown in another chat.
                    view.side.set_panel(false);
                }
                self.show(None, view);
            }
            LaunchTarget::Plain if first && !has_files => {
                if let Some(fid) = self.state.last_session.clone() {
                    self.chat.emit(chat_widget::Input::ShowAgain(fid));
                }
            }
            LaunchTarget::Plain => {}
        }
        if has_files {
            Self::locate(arrival, sender);
        } else if let Some(project) = arrival.project {
            self.work_in(project, view);
        }
        root.present();
        if first && !has_files {
            self.chat.emit(chat_widget::Input::FocusMessage);
        }
    }

    /// Shows the program in the colors that are set.
    fn show_color_scheme(&self) {
        if let Some(manager) = &self.manager {
            appearance::set_color_scheme(manager.settings().current().ui.color_scheme);
        }
    }

    /// Enables actions about a stored chat only if there is one, and actions about a file only if
    /// one is open.
    fn show_actions(&self, root: &adw::ApplicationWindow) {
        let enable = |action: Action, enabled| {
            let action = root.lookup_action(action.name()).and_downcast::<gio::SimpleAction>();
            if let Some(action) = action {
                action.set_enabled(enabled);
            }
        };
        for action in [
            Action::Find,
            Action::Rename,
            Action::Export,
            Action::Delete,
            Action::Pin,
            Action::Archive,
            Action::Duplicate,
        ] {
            enable(action, self.shown.is_some());
        }
        enable(Action::SaveAs, !self.panel.editor().is_empty());
        enable(Action::NewWorktreeChat, self.worktrees.is_possible());
        enable(Action::Worktrees, self.manager.is_some());
        self.show_grouping(root);
    }
}
