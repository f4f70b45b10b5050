//! Shows one server: its name, what it is, how it is, a switch, and a menu.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use adw::prelude::*;
use chat_mcp::config::Server;
use chat_mcp::connection::State;
use chat_mcp::servers::ServerStatus;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::{gio, glib};

use super::super::rows::PreferencesContext;
use super::{acts, details, form, log};
use crate::accessible;

/// The row.
#[derive(Debug)]
pub(super) struct Row {
    name: String,
    root: adw::ActionRow,
    icon: gtk::Image,
    switch: gtk::Switch,
    menu: gtk::MenuButton,
    actions: gio::SimpleActionGroup,
    /// Whether the switch is being set by the program.
    is_showing: Rc<Cell<bool>>,
    /// What the menu calls starting it.
    start: RefCell<String>,
}

impl Row {
    pub(super) fn new(context: &PreferencesContext, name: &str) -> Self {
        let icon = gtk::Image::new();
        let switch = gtk::Switch::builder().valign(gtk::Align::Center).build();
        let about = |text: &str| words::fill(text, &[("name", name)]);
        accessible::set_label(&switch, &about(&gettext("Use {name}")));
        let menu = gtk::MenuButton::builder()
            .icon_name("view-more-symbolic")
            .valign(gtk::Align::Center)
            .css_classes(["flat"])
            .build();
        accessible::set_label(&menu, &about(&gettext("Menu of {name}")));
        let root = adw::ActionRow::builder()
            .use_markup(false)
            .title(name)
            .subtitle_lines(4)
            .activatable(true)
            .build();
        root.add_prefix(&icon);
        root.add_suffix(&switch);
        root.add_suffix(&menu);
        let this = Self {
            name: name.to_owned(),
            root,
            icon,
            switch,
            menu,
            actions: gio::SimpleActionGroup::new(),
            is_showing: Rc::default(),
            start: RefCell::default(),
        };
        this.connect(context);
        this
    }

    fn connect(&self, context: &PreferencesContext) {
        let (here, name) = (context.clone(), self.name.clone());
        self.root.connect_activated(move |_| details::open(&here, &name));
        let (here, name, showing) = (context.clone(), self.name.clone(), self.is_showing.clone());
        self.switch.connect_active_notify(move |switch| {
            if showing.get() {
                return;
            }
            let (here, name, showing) = (here.clone(), name.clone(), showing.clone());
            let (on, switch) = (switch.is_active(), switch.clone());
            glib::spawn_future_local(async move {
                if !acts::set_on(&here, &name, on).await {
                    showing.set(true);
                    switch.set_active(!on);
                    showing.set(false);
                }
            });
        });
        self.add_action(context, "start", acts::restart);
        self.add_action(context, "test", |context, name| {
            let (context, name) = (context.clone(), name.to_owned());
            glib::spawn_future_local(async move {
                let words = acts::test(&context, &name).await;
                context.tell(&words);
            });
        });
        self.add_action(context, "edit", form::edit);
        self.add_action(context, "log", log::open);
        self.add_action(context, "remove", acts::ask_removal);
        self.root.insert_action_group("server", Some(&self.actions));
    }

    fn add_action(
        &self,
        context: &PreferencesContext,
        action: &str,
        act: impl Fn(&PreferencesContext, &str) + 'static,
    ) {
        let (context, name) = (context.clone(), self.name.clone());
        let action = gio::SimpleAction::new(action, None);
        action.connect_activate(move |_, _| act(&context, &name));
        self.actions.add_action(&action);
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn widget(&self) -> &adw::ActionRow {
        &self.root
    }

    /// Shows the server as it is now; none if it is switched off.
    pub(super) fn show(&self, server: &Server, status: Option<&ServerStatus>) {
        let what = words::mcp_command_line(&server.config);
        self.root.set_subtitle(&format!("{what}\n{}", state(status)));
        self.icon.set_icon_name(Some(icon(status)));
        self.is_showing.set(true);
        self.switch.set_active(!server.config.disabled);
        self.is_showing.set(false);
        for action in ["start", "test"] {
            let action = self.actions.lookup_action(action).and_downcast::<gio::SimpleAction>();
            if let Some(action) = action {
                action.set_enabled(status.is_some());
            }
        }
        let start = start_label(status);
        // Another menu would close one that is open.
        if *self.start.borrow() != start {
            self.menu.set_menu_model(Some(&menu(&start)));
            self.start.replace(start);
        }
    }
}

/// What starting a server is called.
pub(super) fn start_label(status: Option<&ServerStatus>) -> String {
    let is_stopped = status.is_none_or(|it| matches!(it.state, State::Stopped));
    if is_stopped { gettext("_Start") } else { gettext("_Restart") }
}

/// How a server is, in words.
pub(super) fn state(status: Option<&ServerStatus>) -> String {
    let Some(status) = status else { return gettext("Off") };
    if status.wants_sign_in && matches!(status.state, State::Running) {
        return words::mcp_sign_in_wanted();
    }
    let tools = status.tools.as_ref().map(|tools| tools.len());
    words::mcp_state(&status.state, tools)
}

fn icon(status: Option<&ServerStatus>) -> &'static str {
    let Some(status) = status else { return "media-playback-stop-symbolic" };
    match status.state {
        State::Stopped => "media-playback-stop-symbolic",
        State::Starting => "content-loading-symbolic",
        State::Running if !status.wants_sign_in => "emblem-ok-symbolic",
        State::Running | State::Failed { .. } => "dialog-warning-symbolic",
    }
}

fn menu(start: &str) -> gio::Menu {
    let menu = gio::Menu::new();
    menu.append(Some(start), Some("server.start"));
    menu.append(Some(&gettext("_Test")), Some("server.test"));
    menu.append(Some(&gettext("_Edit…")), Some("server.edit"));
    menu.append(Some(&gettext("Show _Log")), Some("server.log"));
    let removing = gio::Menu::new();
    removing.append(Some(&gettext("Re_move")), Some("server.remove"));
    menu.append_section(None, &removing);
    menu
}
