//! Runs the application: a single instance, its command line, and the window's life cycle.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::error::Result;
use chat_core::manager::Manager;
use chat_core::message::Fid;
use chat_core::settings::ColorScheme;
use chat_mcp::servers::Servers;
use chat_presentation::diagnostics::Diagnostics;
use gettextrs::gettext;
use gtk::{gio, glib};
use relm4::{Component, ComponentController, Controller};
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};

use crate::tool_servers::ToolServers;
use crate::window::{self, Arrival, LaunchTarget, Reply, Window, files};
use crate::{appearance, languages, stalls};

/// `GLib`'s name for arguments that belong to no option.
const FILES: &str = "";

/// The action that shows a chat, by its id.
pub(crate) const SHOW_CHAT: &str = "show-chat";
/// The action that answers a waiting question of a tool.
pub(crate) const ANSWER: &str = "answer";

/// Starts the engine. Called while the window is being built, and again if the engine could not
/// start.
pub type StartEngine = Rc<dyn Fn() -> tokio::task::JoinHandle<Result<Manager>>>;

/// What the application needs to run.
#[derive(Clone)]
pub struct Launch {
    /// The application id on the session bus.
    pub id: &'static str,
    /// Its version, for the About window.
    pub version: &'static str,
    /// The engine's runtime.
    pub runtime: Handle,
    /// Starts the engine on that runtime.
    pub start: StartEngine,
    /// The servers of tools, which the engine uses, too.
    pub servers: Servers,
    /// Where window state and drafts are kept.
    pub state_folder: PathBuf,
    /// The colors of the first frame, which may be painted before the engine has read the settings.
    pub color_scheme: ColorScheme,
    /// Records measurements.
    pub diagnostics: Diagnostics,
}

impl Launch {
    /// The servers of tools, for the main loop.
    pub(crate) fn tool_servers(&self) -> ToolServers {
        ToolServers::new(self.servers.clone(), self.runtime.clone())
    }
}

impl std::fmt::Debug for Launch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Launch").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Runs the window program until it ends. A second instance passes its arguments to the first and
/// ends.
pub fn run(launch: Launch) -> glib::ExitCode {
    // The name that the desktop shows above a notification.
    glib::set_application_name("Natter");
    let app = adw::Application::builder()
        .application_id(launch.id)
        // A desktop passes files over the bus, without a command line.
        .flags(gio::ApplicationFlags::HANDLES_COMMAND_LINE | gio::ApplicationFlags::HANDLES_OPEN)
        .build();
    add_options(&app, launch.version);

    let diagnostics = launch.diagnostics.clone();
    let window: Rc<RefCell<Option<Controller<Window>>>> = Rc::default();
    let slot = Rc::clone(&window);
    app.connect_startup(move |app| {
        crate::init();
        appearance::set_color_scheme(launch.color_scheme);
        languages::set_up(&launch.state_folder);
        stalls::watch(&launch.diagnostics);
        let root = Window::builder();
        let controller = root.launch(window::Init { app: app.clone(), launch: launch.clone() });
        let controller = controller.detach();
        app.add_window(controller.widget());
        end_on_signals(&controller, &launch.runtime);
        add_actions(app, &controller);
        slot.replace(Some(controller));
    });
    let slot = Rc::clone(&window);
    let arrive = move |arrival| {
        if let Some(window) = slot.borrow().as_ref() {
            window.emit(window::Input::Arrive(arrival));
        }
    };
    let activated = arrive.clone();
    app.connect_activate(move |_| activated(Arrival::plain()));
    let opened = arrive.clone();
    app.connect_open(move |_, files, _| {
        let files = files.iter().filter_map(gio::File::path).collect();
        opened(Arrival { files, ..Arrival::plain() });
    });
    app.connect_command_line(move |_, line| {
        arrive(arrival(line));
        glib::ExitCode::SUCCESS
    });

    let code = app.run();
    window.take();
    diagnostics.write();
    code
}

fn add_options(app: &adw::Application, version: &'static str) {
    let flags = glib::OptionFlags::NONE;
    let none = glib::Char::from(b'\0');
    let new = gettext("Start a new chat");
    app.add_main_option("new", none, flags, glib::OptionArg::None, &new, None);
    let session = gettext("Open this chat");
    app.add_main_option("session", none, flags, glib::OptionArg::String, &session, Some("FID"));
    let project = gettext("Work in this folder; starts a new chat there unless you name one");
    app.add_main_option("project", none, flags, glib::OptionArg::Filename, &project, Some("DIR"));
    let files = glib::OptionArg::FilenameArray;
    let attach = gettext("Attach this file to a new chat, or to the one you name; may be repeated");
    app.add_main_option("attach", none, flags, files, &attach, Some("FILE"));
    app.add_main_option(FILES, none, flags, files, "", Some("[FILE[:LINE]…]"));
    let summary = gettext(
        "A text file opens in its project: the nearest parent folder with a repository, or else its own folder. Pictures, PDF and other documents are attached to a new chat.",
    );
    app.set_option_context_summary(Some(&summary));
    let said = gettext("Print the version and exit");
    app.add_main_option("version", none, flags, glib::OptionArg::None, &said, None);
    app.connect_handle_local_options(move |_, options| {
        if options.contains("version") {
            println!("natter {version}");
            return std::ops::ControlFlow::Break(glib::ExitCode::SUCCESS);
        }
        std::ops::ControlFlow::Continue(())
    });
}

/// What a command line asks for. Its paths are relative to the folder of the calling process.
fn arrival(line: &gio::ApplicationCommandLine) -> Arrival {
    let options = line.options_dict();
    let from = line.cwd().unwrap_or_default();
    let project = options.lookup::<PathBuf>("project").ok().flatten();
    let project = project.map(|folder| files::whole(&from, &folder));
    let named = options.lookup::<Vec<PathBuf>>(FILES).ok().flatten().unwrap_or_default();
    let session = options.lookup::<String>("session").ok().flatten();
    let target = match session {
        _ if options.contains("new") => LaunchTarget::New,
        Some(fid) => LaunchTarget::Session(Fid::new(fid)),
        // A folder means a new chat that works in it.
        None if project.is_some() => LaunchTarget::New,
        None => LaunchTarget::Plain,
    };
    let attached = options.lookup::<Vec<PathBuf>>("attach").ok().flatten().unwrap_or_default();
    let whole = |named: Vec<PathBuf>| named.iter().map(|file| files::whole(&from, file)).collect();
    Arrival { target, project, files: whole(named), attach: whole(attached) }
}

/// Adds the actions that the desktop file, its launcher and notifications activate.
fn add_actions(app: &adw::Application, window: &Controller<Window>) {
    let input = window.sender().clone();
    let new_chat = gio::SimpleAction::new("new-chat", None);
    new_chat.connect_activate(move |_, _| {
        input.emit(window::Input::Arrive(Arrival::of(LaunchTarget::New)));
    });
    app.add_action(&new_chat);
    let input = window.sender().clone();
    let show = gio::SimpleAction::new(SHOW_CHAT, Some(&String::static_variant_type()));
    show.connect_activate(move |_, fid| {
        if let Some(fid) = fid.and_then(String::from_variant) {
            let target = LaunchTarget::Session(Fid::new(fid));
            input.emit(window::Input::Arrive(Arrival::of(target)));
        }
    });
    app.add_action(&show);
    let input = window.sender().clone();
    let answer = gio::SimpleAction::new(ANSWER, Some(&Reply::static_variant_type()));
    answer.connect_activate(move |_, reply| {
        if let Some(reply) = reply.and_then(Reply::from_variant) {
            input.emit(window::Input::Reply(reply));
        }
    });
    app.add_action(&answer);
}

/// Lets SIGINT and SIGTERM end the program cleanly.
fn end_on_signals(window: &Controller<Window>, runtime: &Handle) {
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        let input = window.sender().clone();
        runtime.spawn(async move {
            // If signals cannot be handled, they keep their default effect.
            let Ok(mut signals) = signal(kind) else { return };
            while signals.recv().await.is_some() {
                input.emit(window::Input::End);
            }
        });
    }
}
