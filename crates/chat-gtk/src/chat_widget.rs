//! Shows a conversation with its composer and dropdowns: everything that is needed to talk to a model.
//!
//! It takes a [`Manager`] and stands in any GTK program after [`crate::init`]: `examples/chat_widget.rs`.
//!
//! [`ChatWidget`] is a frame. Its parts own their state and their widgets; it alone knows all of them, calls them
//! with plain data and routes what they report.

mod agent_bar;
mod attaching;
mod background_commands;
mod built_in_commands;
mod chat_composer;
mod chat_switching;
mod command_list;
mod composing;
mod context_meter;
mod definitions_bar;
mod deleted_messages;
mod editor_context;
mod escape_key;
mod events;
mod find_bar;
mod folding_line;
mod handle;
mod hint_bar;
mod instructions;
mod mention_ranking;
mod mention_sources;
mod messages;
mod model_bar;
mod notice_line;
mod plan_bar;
mod project_bar;
mod prompt_form;
mod reading_positions;
mod requests;
mod review_bar;
mod routing;
mod server_mentions;
mod servers_bar;
mod session_changes;
mod session_requests;
mod shown_chat;
mod start_page;
mod view;

use std::path::{Path, PathBuf};

use chat_core::manager::Manager;
use chat_core::message::{Fid, MessageId};
use chat_core::permission::Mode;
use chat_core::session::EmptySession;
use chat_core::settings::Zoom;
use chat_presentation::diagnostics::Diagnostics;
use gtk::glib;
use gtk::prelude::*;
use relm4::component::Connector;
use relm4::{Component, ComponentParts, ComponentSender};

use crate::bridge::Bridge;
use crate::composer::{Composer, Written};
use crate::conversation::Conversation;
pub use crate::editor::{At, Outline, TextPosition};
use agent_bar::AgentBar;
use attaching::Attaching;
use background_commands::BackgroundCommands;
use chat_composer::ChatComposer;
use command_list::CommandList;
use context_meter::ContextMeter;
use definitions_bar::DefinitionsBar;
pub use deleted_messages::DeletedInChat;
use editor_context::EditorContext;
pub use editor_context::OpenFiles;
pub(crate) use escape_key::ESCAPE_TWICE;
use escape_key::EscapeKey;
use find_bar::FindBar;
use handle::Handle;
use hint_bar::HintBar;
use mention_sources::MentionSources;
pub use mention_sources::{Finder, Finding, KnownFiles, Pointed};
use messages::FrameMsg;
pub use messages::{Find, Init, Input, Output, Part, ToChanges};
use model_bar::ModelBar;
use plan_bar::PlanBar;
use project_bar::ProjectBar;
use review_bar::ReviewBar;
pub use review_bar::{Answered, Restore, Review};
use servers_bar::ServersBar;
use session_changes::SessionChanges;
pub use session_requests::RemovedMessage;
use session_requests::SessionRequests;
use shown_chat::ShownChat;
use start_page::StartPage;
use view::Layout;
pub use view::View;

/// Below painting (`GDK_PRIORITY_REDRAW` is 120): however fast text comes, frames come first.
const PRIORITY: i32 = 121;
/// How many messages are opened at once; earlier ones come when they are looked for.
const PAGE: usize = 50;
/// The widget's state.
pub struct ChatWidget {
    handle: Handle<FrameMsg>,
    layout: Layout,
    conversation: Conversation,
    composer: ChatComposer,
    manager: Option<Manager>,
    bridge: Option<Bridge>,
    shown: ShownChat,
    /// What was asked to be shown before the engine was there.
    wanted: Option<Fid>,
    /// The chat that was shown last time: nobody asked for it, so that it may be gone.
    recalled: Option<Fid>,
    has_chats: bool,
    /// Whether a note about a message of the shown chat may still be seen.
    noted: bool,
    /// The reply that is asked for again once a model is chosen.
    regenerates: Option<(Fid, MessageId)>,
    reading: reading_positions::ReadingPositions,
    /// The mode that new chats begin with.
    default_mode: Mode,
    /// The size of texts, and how wide the conversation becomes, as the settings had them last.
    sizes: Option<(Zoom, i32)>,
    editor_context: EditorContext,
    agents: AgentBar,
    background: BackgroundCommands,
    plan: PlanBar,
    meter: ContextMeter,
    review: ReviewBar,
    find: FindBar,
    escape_key: EscapeKey,
    requests: SessionRequests,
    model: ModelBar,
    project: ProjectBar,
    session_changes: SessionChanges,
    hint: HintBar,
    start: StartPage,
    mentions: MentionSources,
    attaching: Attaching,
    /// What to attach to the chat that was asked for before the engine was there.
    to_attach: Vec<PathBuf>,
    commands: CommandList,
    definitions: DefinitionsBar,
    servers: ServersBar,
    diagnostics: Diagnostics,
}

impl std::fmt::Debug for ChatWidget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatWidget").field("shown", &self.shown).finish_non_exhaustive()
    }
}

/// Launches a chat widget so that painting comes before its messages.
pub fn launch(init: Init) -> Connector<ChatWidget> {
    ChatWidget::builder().priority(glib::Priority::from(PRIORITY)).launch(init)
}

impl Component for ChatWidget {
    type CommandOutput = Part;
    type Input = Input;
    type Output = Output;
    type Init = Init;
    type Root = gtk::Box;
    type Widgets = View;

    fn init_root() -> gtk::Box {
        gtk::Box::new(gtk::Orientation::Vertical, 0)
    }

    fn init(init: Init, root: gtk::Box, sender: ComponentSender<Self>) -> ComponentParts<Self> {
        let handle = Handle::new(&sender, |msg| msg);
        let background = BackgroundCommands::new(Handle::new(&sender, FrameMsg::Background));
        let plan = PlanBar::new(Handle::new(&sender, FrameMsg::Plan));
        let meter = ContextMeter::new(Handle::new(&sender, FrameMsg::Meter));
        let conversation = {
            let told = handle.clone();
            Conversation::new(move |session, output| {
                told.send(FrameMsg::Conversation(session, output));
            })
        };
        let agents = AgentBar::new(&conversation, Handle::new(&sender, FrameMsg::Agents));
        let find = FindBar::new(&conversation, Handle::new(&sender, FrameMsg::Find));
        let requests =
            SessionRequests::new(&conversation, Handle::new(&sender, FrameMsg::Requests));
        let start = StartPage::new(Handle::new(&sender, FrameMsg::Start));
        let hint = HintBar::new(Handle::new(&sender, FrameMsg::Hint));
        let definitions = DefinitionsBar::new(Handle::new(&sender, FrameMsg::Definitions));
        let servers = ServersBar::new(init.servers, Handle::new(&sender, FrameMsg::Servers));
        let project =
            ProjectBar::new(init.projects.clone(), Handle::new(&sender, FrameMsg::Project));
        let model = ModelBar::new(Handle::new(&sender, FrameMsg::Model));
        let closed = handle.clone();
        model.connect_models_closed(move || closed.send(FrameMsg::ModelsClosed));
        let review = ReviewBar::new(Handle::new(&sender, FrameMsg::Review));
        let about: [gtk::Widget; 3] = [
            project.widget().clone().upcast(),
            project.modes_widget().clone().upcast(),
            meter.widget().clone().upcast(),
        ];
        let to: [gtk::Widget; 2] =
            [model.thinking_widget().clone().upcast(), model.model_widget().clone().upcast()];
        let composer = {
            let told = Handle::new(&sender, FrameMsg::Composer);
            Composer::new(&about, &to, move |output| told.send(output))
        };
        for button in about.iter().chain(&to).chain([model.agents_widget().upcast_ref()]) {
            composer.focus_after_popover(button);
        }
        let drafts = Handle::new(&sender, FrameMsg::Drafts);
        let children = view::Children {
            composer: composer.widget(),
            conversation: &conversation,
            find: find.widget(),
            start: start.widget(),
            hint: hint.widget(),
            definitions: definitions.widget(),
            servers: servers.widget(),
            agents: model.agents_widget(),
            agent_bar: agents.widget(),
            changed: review.widget(),
            background: background.widget(),
            plan: plan.widget(),
            plan_ready: plan.ready_widget(),
        };
        let (view, layout) = view::build(&root, &children, &handle);
        chat_switching::add_actions(&root, &composer, drafts.clone());
        let mut model = Self {
            escape_key: EscapeKey::new(handle.clone()),
            handle,
            layout,
            conversation,
            composer: ChatComposer::new(composer, init.drafts, drafts),
            manager: None,
            bridge: None,
            shown: ShownChat::New(EmptySession::default()),
            wanted: None,
            recalled: None,
            has_chats: true,
            noted: false,
            regenerates: None,
            reading: reading_positions::ReadingPositions::load(init.projects),
            default_mode: Mode::default(),
            sizes: None,
            editor_context: EditorContext::new(init.open_files),
            agents,
            background,
            plan,
            meter,
            review,
            find,
            requests,
            model,
            project,
            session_changes: SessionChanges::new(Handle::new(&sender, FrameMsg::Changes)),
            hint,
            start,
            mentions: MentionSources::new(Handle::new(&sender, FrameMsg::Mentions)),
            attaching: Attaching::new(Handle::new(&sender, FrameMsg::Attaching)),
            to_attach: Vec::new(),
            commands: CommandList::new(Handle::new(&sender, FrameMsg::Commands)),
            definitions,
            servers,
            diagnostics: init.diagnostics,
        };
        if let Some(manager) = init.manager {
            model.connect(manager);
        }
        model.show_state();
        ComponentParts { model, widgets: view }
    }

    fn update(&mut self, input: Input, _sender: ComponentSender<Self>, _root: &gtk::Box) {
        match input {
            Input::Connect(manager) => self.connect(manager),
            Input::Show(fid) => {
                self.recalled = None;
                self.show(fid, None);
            }
            Input::ShowBeside => self.show_next(),
            Input::ShowTemporary => self.show_temporary(),
            Input::ShowAgain(fid) => {
                self.recalled = Some(fid.clone());
                if self.manager.is_none() || !self.composer.were_typed() {
                    self.show(Some(fid), None);
                }
            }
            Input::HasChats(has) => {
                self.has_chats = has;
                self.show_state();
            }
            Input::CopyLastReply => requests::copy_last_reply(&self.conversation, &self.handle),
            Input::StepMessage { forward } if matches!(self.shown, ShownChat::Open(_)) => {
                self.conversation.step_message(forward);
            }
            Input::FocusMessage => self.composer.field().focus(),
            Input::AttachFiles => self.choose_files(),
            Input::Attach(files) => self.attach(files),
            Input::Dragged(inside) => self.layout.show_drop(inside),
            Input::Find(find) if matches!(self.shown, ShownChat::Open(_)) => self.find.act(find),
            Input::StepMessage { .. } | Input::Find(_) => {}
            Input::ShowFound { fid, message, words } => {
                self.show(Some(fid), None);
                self.seek(find_bar::Target::Words(message, words));
            }
            Input::FocusAsk(wanted) => self.seek(find_bar::Target::Ask(wanted)),
            Input::GiveBack(fid, text) => {
                self.composer.give_back(Some(&fid), &Written::text(text));
            }
            Input::ChooseModel => self.model.open_models(),
            Input::UseModel(model) => self.choose_model(model),
            Input::RunCommand(name) => self.run_command(&name),
            Input::ChooseProject => self.project.open(),
            Input::ReviewDefinitions => self.review_definitions(),
            Input::Work(folder) => self.choose_project(Some(folder)),
            Input::Open(open) => {
                self.editor_context.set_open(open);
                self.show_chips();
            }
            Input::KnownFiles(files) => {
                self.mentions.set_files(&files);
                self.composer.field().set_names(Some(self.mentions.names()));
                self.conversation.set_files(files.into_known());
            }
            Input::Answer(wish) => self.review.answer(wish.0),
            Input::UndoRestore(fid, seq) => self.review.undo_restore(fid, seq),
            Input::UndoAnswer(which) => self.review.undo_answer(which),
            Input::PutBack(removed) => self.requests.put_back(removed),
            Input::Restore(deleted) => self.requests.restore(deleted),
            Input::Escape => self.escape(),
            Input::Stop => self.stop(),
            Input::SaveDrafts(saved) => {
                self.composer.end(saved);
                self.finish();
            }
            Input::Part(Part(msg)) => self.receive(msg),
        }
    }

    fn update_cmd(&mut self, Part(msg): Part, _sender: ComponentSender<Self>, _root: &gtk::Box) {
        self.receive(msg);
    }
}

impl ChatWidget {
    fn connect(&mut self, manager: Manager) {
        self.bridge = Some(self.handle.subscribe(&manager));
        if let ShownChat::New(session) = &mut self.shown {
            // A folder may have been given with the start of the program.
            let project = session.project.take();
            let temporary = session.temporary;
            *session = EmptySession { project, temporary, ..manager.sessions().empty() };
        }
        self.conversation.set_tools(manager.tools());
        let priced = manager.clone();
        self.conversation.set_prices(move |model| {
            let models = priced.models().list().into_iter();
            models.filter(|entry| entry.model == *model).find_map(|entry| entry.info.price)
        });
        self.composer.connect(manager.clone());
        self.agents.connect(manager.clone());
        self.background.connect(manager.clone());
        self.plan.connect(manager.clone());
        self.meter.connect(manager.clone());
        self.review.connect(manager.clone());
        self.find.connect(manager.clone());
        self.requests.connect(manager.clone());
        self.model.connect(manager.clone());
        self.project.connect(manager.clone());
        self.session_changes.connect(manager.clone());
        self.hint.connect(manager.clone());
        self.start.connect(manager.clone());
        self.mentions.connect(manager.clone());
        self.composer.field().set_names(Some(self.mentions.names()));
        self.commands.connect(manager.clone());
        self.definitions.connect(manager.clone());
        self.manager = Some(manager);
        self.mentions.fetch_pages(self.composer.field().pages());
        self.take_settings();
        // Who began to write goes on where they are; what they asked for is shown all the same.
        let wanted = self.wanted.take();
        match wanted
            .filter(|fid| !self.composer.were_typed() || self.recalled.as_ref() != Some(fid))
        {
            Some(fid) => self.show(Some(fid), None),
            None => self.show_state(),
        }
        let files = std::mem::take(&mut self.to_attach);
        self.attach(files);
        if let Some(folder) = self.shown.project().map(Path::to_owned) {
            self.offer_panel();
            self.find_agent_of(folder);
        }
        self.send_next();
        self.diagnostics.mark("engine");
    }
}
