//! Shows one server with its tools, each of which can be switched off.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use adw::prelude::*;
use chat_mcp::servers::{ServerKey, ServerStatus, ToolStatus};
use chat_presentation::words;
use gettextrs::{gettext, ngettext};
use gtk::glib;

use super::super::rows::{PreferencesContext, icon_button, plain_row};
use super::{acts, form, log, row};
use crate::close_keys::close_view_with_keys;
use crate::models::has_keyboard;

/// So many tools have a row: more would make the window slow.
const MOST: usize = 300;

/// What changes in the window.
struct Details {
    context: PreferencesContext,
    name: String,
    state: adw::ActionRow,
    start: gtk::Button,
    test: gtk::Button,
    sign_in: gtk::Button,
    sign_out: gtk::Button,
    tools: adw::PreferencesGroup,
    rows: RefCell<Vec<(String, adw::ActionRow, gtk::Switch)>>,
    /// Whether switches are being set by the program.
    is_showing: Rc<Cell<bool>>,
}

/// Opens a server.
pub(super) fn open(context: &PreferencesContext, name: &str) {
    let state = plain_row("", "");
    state.set_title_lines(0);
    let button = |label: &str| gtk::Button::builder().label(label).use_underline(true).build();
    let start = button(&row::start_label(None));
    let test = button(&gettext("_Test"));
    let show_log = button(&gettext("Show _Log"));
    let sign_in = button(&gettext("_Sign In…"));
    sign_in.add_css_class("suggested-action");
    let sign_out = button(&gettext("Sign _Out"));
    let buttons = gtk::Box::builder().spacing(6).margin_top(12).build();
    for button in [&sign_in, &start, &test, &show_log, &sign_out] {
        buttons.append(button);
    }
    let about = adw::PreferencesGroup::new();
    about.add(&state);
    about.add(&buttons);
    let tools = adw::PreferencesGroup::builder().title(gettext("Tools")).build();
    let page = adw::PreferencesPage::new();
    page.add(&about);
    page.add(&tools);
    let content = gtk::Box::new(gtk::Orientation::Vertical, 0);
    let edit = icon_button("document-edit-symbolic", &gettext("Edit Server"));
    let header = adw::HeaderBar::new();
    header.pack_start(&edit);
    content.append(&header);
    let toasts = adw::ToastOverlay::new();
    toasts.set_child(Some(&page));
    toasts.set_vexpand(true);
    content.append(&toasts);
    let window = adw::Window::builder()
        .modal(true)
        .destroy_with_parent(true)
        .default_width(context.width_within(520))
        .default_height(600)
        .title(name)
        .content(&content)
        .build();
    window.set_transient_for(context.window.upgrade().as_ref());
    close_view_with_keys(&window);
    let (here, of_form, weak) = (context.clone(), name.to_owned(), window.downgrade());
    edit.connect_clicked(move |_| {
        // It may get another name.
        if let Some(window) = weak.upgrade() {
            window.close();
        }
        form::edit(&here, &of_form);
    });
    let (here, of_log) = (context.clone(), name.to_owned());
    show_log.connect_clicked(move |_| log::open(&here, &of_log));
    let details = Rc::new(Details {
        context: context.clone(),
        name: name.to_owned(),
        state,
        start,
        test,
        sign_in,
        sign_out,
        tools,
        rows: RefCell::default(),
        is_showing: Rc::default(),
    });
    details.connect(&toasts);
    details.connect_account(&toasts);
    details.follow(&window);
    window.present();
}

impl Details {
    fn connect(self: &Rc<Self>, toasts: &adw::ToastOverlay) {
        let (context, name) = (self.context.clone(), self.name.clone());
        self.start.connect_clicked(move |_| acts::restart(&context, &name));
        let (context, name, toasts) = (self.context.clone(), self.name.clone(), toasts.downgrade());
        self.test.connect_clicked(move |test| {
            let (context, name, toasts) = (context.clone(), name.clone(), toasts.clone());
            let test = test.clone();
            test.set_sensitive(false);
            glib::spawn_future_local(async move {
                let words = acts::test(&context, &name).await;
                test.set_sensitive(true);
                if let Some(toasts) = toasts.upgrade() {
                    toasts.add_toast(adw::Toast::new(&glib::markup_escape_text(&words)));
                }
            });
        });
    }

    /// Signs in and out. What went wrong is said in a toast; what went well is seen.
    fn connect_account(self: &Rc<Self>, toasts: &adw::ToastOverlay) {
        let say = {
            let toasts = toasts.downgrade();
            move |words: Option<String>| {
                if let (Some(words), Some(toasts)) = (words, toasts.upgrade()) {
                    toasts.add_toast(adw::Toast::new(&glib::markup_escape_text(&words)));
                }
            }
        };
        let (context, name, tell) = (self.context.clone(), self.name.clone(), say.clone());
        self.sign_in.connect_clicked(move |button| {
            let (context, name, tell) = (context.clone(), name.clone(), tell.clone());
            let button = button.clone();
            button.set_sensitive(false);
            button.set_label(&gettext("Waiting for Your Browser…"));
            glib::spawn_future_local(async move {
                tell(acts::sign_in(&context, &name).await);
                button.set_label(&gettext("_Sign In…"));
                button.set_sensitive(true);
            });
        });
        let (context, name) = (self.context.clone(), self.name.clone());
        self.sign_out.connect_clicked(move |_| {
            let (context, name, tell) = (context.clone(), name.clone(), say.clone());
            glib::spawn_future_local(async move { tell(acts::sign_out(&context, &name).await) });
        });
    }

    /// Shows the server as it is until the window is closed.
    fn follow(self: &Rc<Self>, window: &adw::Window) {
        let this = Rc::clone(self);
        let mut changes = this.context.servers.servers.changes();
        let following = glib::spawn_future_local(async move {
            loop {
                this.fill();
                if changes.changed().await.is_err() {
                    return;
                }
            }
        });
        window.connect_close_request(move |_| {
            following.abort();
            glib::Propagation::Proceed
        });
    }

    fn fill(&self) {
        let status = self.context.servers.servers.status(&ServerKey::of_user(&self.name));
        let config = self.context.servers.servers.config();
        let what = config.server(&self.name).map(|it| words::mcp_command_line(&it.config));
        let program = status.as_ref().and_then(|it| it.program.clone());
        let program = program.map(|(name, version)| words::one_line(&format!("{name} {version}")));
        let below: Vec<_> = what.into_iter().chain(program).collect();
        self.state.set_title(&row::state(status.as_ref()));
        self.state.set_subtitle(&below.join("\n"));
        self.start.set_label(&row::start_label(status.as_ref()));
        self.start.set_sensitive(status.is_some());
        self.sign_in.set_visible(status.as_ref().is_some_and(|it| it.wants_sign_in));
        self.sign_out.set_visible(status.as_ref().is_some_and(|it| it.is_signed_in));
        self.tools.set_description(Some(&description(status.as_ref())));
        let tools = status.and_then(|status| status.tools).unwrap_or_default();
        self.show_tools(&tools);
    }

    fn show_tools(&self, tools: &[ToolStatus]) {
        let shown = || tools.iter().take(MOST);
        let is_same =
            self.rows.borrow().iter().map(|(name, ..)| name).eq(shown().map(|it| &it.name));
        if !is_same {
            let before = self.rows.take();
            let focused = before.iter().position(|(_, row, _)| has_keyboard(row));
            for (_, row, _) in before {
                self.tools.remove(&row);
            }
            let rows: Vec<_> = shown().map(|tool| self.row(tool)).collect();
            for (_, row, _) in &rows {
                self.tools.add(row);
            }
            if let Some((_, _, switch)) = focused.and_then(|at| rows.get(at).or(rows.last())) {
                switch.grab_focus();
            }
            self.rows.replace(rows);
        }
        self.is_showing.set(true);
        for ((_, row, switch), tool) in self.rows.borrow().iter().zip(shown()) {
            row.set_title(&words::one_line(&tool.title));
            row.set_subtitle(&about(tool));
            switch.set_active(tool.is_on);
        }
        self.is_showing.set(false);
    }

    fn row(&self, tool: &ToolStatus) -> (String, adw::ActionRow, gtk::Switch) {
        let switch = gtk::Switch::builder().valign(gtk::Align::Center).build();
        let title = words::one_line(&tool.title);
        let row = plain_row(&title, "");
        row.set_subtitle_lines(6);
        row.add_suffix(&switch);
        row.set_activatable_widget(Some(&switch));
        let (context, server, name) = (self.context.clone(), self.name.clone(), tool.name.clone());
        let showing = Rc::clone(&self.is_showing);
        switch.connect_active_notify(move |switch| {
            if showing.get() {
                return;
            }
            let (context, server, name) = (context.clone(), server.clone(), name.clone());
            let (on, switch, showing) = (switch.is_active(), switch.clone(), Rc::clone(&showing));
            glib::spawn_future_local(async move {
                if !acts::set_tool_on(&context, &server, name, on).await {
                    showing.set(true);
                    switch.set_active(!on);
                    showing.set(false);
                }
            });
        });
        (tool.name.clone(), row, switch)
    }
}

/// The name of a tool, what its server claims of it, and what it does.
fn about(tool: &ToolStatus) -> String {
    let name = words::one_line(&tool.name);
    let name = if tool.read_only {
        words::fill(&gettext("{name} · only reads, according to the server"), &[("name", &name)])
    } else {
        name
    };
    let description = words::visible(tool.description.trim()).into_owned();
    if description.is_empty() { name } else { format!("{name}\n{description}") }
}

/// What the tools take of the context, and how many cannot be used.
fn description(status: Option<&ServerStatus>) -> String {
    let Some(status) = status else { return gettext("The server is off.") };
    let Some(tools) = &status.tools else {
        return gettext("The tools are known once the server has started.");
    };
    let mut parts =
        vec![words::mcp_tool_count(tools.len()), words::mcp_context_share(status.bytes)];
    if status.unusable > 0 {
        let count = u32::try_from(status.unusable).unwrap_or(u32::MAX);
        let text = ngettext("{n} can’t be used", "{n} can’t be used", count);
        parts.push(words::fill(&text, &[("n", &count.to_string())]));
    }
    if tools.len() > MOST {
        let text = gettext("only the first {n} are listed");
        parts.push(words::fill(&text, &[("n", &MOST.to_string())]));
    }
    parts.join(" · ")
}
