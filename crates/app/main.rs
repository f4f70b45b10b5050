//! `natter`, the window program. Starts the log, the translations, the runtime and the window; the
//! engine starts while the window is being built.

use std::rc::Rc;
use std::sync::Arc;

use anyhow::{Context, Result};
use chat_core::agent::AgentRegistry;
use chat_core::client::Timeouts;
use chat_core::manager::{Manager, StartOptions};
use chat_core::models::HubOptions;
use chat_core::settings::{Folders, SettingsFile};
use chat_core::tool::ToolServices;
use chat_gtk::app::{Launch, run};
use chat_mcp::servers::{Servers, ServersOptions};
use chat_presentation::diagnostics::Diagnostics;
use chat_presentation::{i18n, log};
use gtk::glib::ExitCode;

fn main() -> Result<ExitCode> {
    chat_gtk::share_heaps();
    let diagnostics = Diagnostics::from_env("natter");
    i18n::init();
    let folders = Folders::from_env().context("could not find a home folder to store chats in")?;
    log::init("natter", &folders.state);
    // An own runtime: relm4's has one thread, which the main thread's work would share.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("engine")
        .enable_all()
        .build()
        .context("could not start the runtime")?;

    let state_folder = folders.state.clone();
    let (_, settings, _) = SettingsFile::load(&folders);
    let engine = runtime.handle().clone();
    let servers = Servers::new(ServersOptions::new(folders.clone(), engine.clone()));
    let tool_source = servers.clone();
    let start = move || {
        let options = StartOptions {
            folders: folders.clone(),
            home: Folders::home(),
            timeouts: Timeouts::default(),
            hub: HubOptions::from_env(),
            discover: true,
            better_titles: true,
            agents: AgentRegistry::built_in(),
            tools: chat_tools::all().into_iter().collect(),
            tool_source: Some(Arc::new(tool_source.clone())),
            services: ToolServices {
                server_context: Some(Arc::new(tool_source.clone())),
                ..chat_tools::services()
            },
        };
        // Their names are to be known before the user types one.
        tool_source.look(None);
        engine.spawn(Manager::start(options))
    };
    let code = run(Launch {
        id: env!("APP_ID"),
        version: env!("CARGO_PKG_VERSION"),
        runtime: runtime.handle().clone(),
        start: Rc::new(start),
        servers,
        state_folder,
        color_scheme: settings.ui.color_scheme,
        diagnostics,
    });
    // What had to be stored is stored; what still waits for a server need not be waited for.
    runtime.shutdown_background();
    Ok(code)
}
