//! Shows the user's servers of tools on the page with the tools: how they are, what is wrong with their file, and ways to
//! more. A page of their own would have no room for its title in a narrow window.

mod acts;
mod adding;
mod details;
mod form;
mod log;
mod row;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use adw::prelude::*;
use chat_mcp::config::Problem;
use chat_mcp::servers::ServerKey;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::{gio, glib};

use self::row::Row;
use super::rows::{PreferencesContext, Range, number_row, plain_row};
use crate::accessible;
use crate::models::has_keyboard;
use crate::tool_servers::ToolServers;

/// The groups on the page. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct ServersPage(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    context: PreferencesContext,
    group: adw::PreferencesGroup,
    rows: RefCell<Vec<Row>>,
    /// What is there where there are no servers.
    none: adw::ActionRow,
    has_none: Cell<bool>,
    problems: adw::PreferencesGroup,
    problem_rows: RefCell<Vec<adw::ActionRow>>,
    shown_problems: RefCell<Vec<Problem>>,
}

impl ServersPage {
    pub(super) fn new(page: &adw::PreferencesPage, context: &PreferencesContext) -> Self {
        let problems = adw::PreferencesGroup::builder()
            .title(gettext("Problems in mcp.json"))
            .visible(false)
            .build();
        let group = adw::PreferencesGroup::builder()
            .title(gettext("Servers"))
            .description(gettext(
                "MCP servers give models more tools, such as your issues or notes",
            ))
            .build();
        let add = gtk::MenuButton::builder()
            .icon_name("list-add-symbolic")
            .tooltip_text(gettext("Add Servers"))
            .valign(gtk::Align::Center)
            .css_classes(["flat"])
            .menu_model(&menu())
            .build();
        accessible::set_label(&add, &gettext("Add Servers"));
        group.set_header_suffix(Some(&add));
        page.add(&problems);
        page.add(&group);
        page.add(&share_group(context));
        let none = plain_row(
            &gettext("No servers yet"),
            &gettext(
                "Add one, paste it as its documentation shows it, or import another program’s",
            ),
        );
        let inner = Rc::new(Inner {
            context: context.clone(),
            group,
            rows: RefCell::default(),
            none,
            has_none: Cell::new(false),
            problems,
            problem_rows: RefCell::default(),
            shown_problems: RefCell::default(),
        });
        inner.add_actions(&add);
        let this = Self(inner);
        this.fill();
        this.follow();
        this
    }

    /// Reads the file, and shows the servers as they are from now on.
    fn follow(&self) {
        let weak = Rc::downgrade(&self.0);
        let servers = self.0.context.servers.clone();
        let mut changes = servers.servers.changes();
        let following = glib::spawn_future_local(async move {
            read(&servers).await;
            loop {
                let Some(inner) = weak.upgrade() else { return };
                Self(inner).fill();
                if changes.changed().await.is_err() {
                    return;
                }
            }
        });
        if let Some(window) = self.0.context.window.upgrade() {
            // Whoever comes back may have changed the file in an editor.
            let servers = self.0.context.servers.clone();
            window.connect_is_active_notify(move |window| {
                if window.is_active() {
                    let servers = servers.clone();
                    glib::spawn_future_local(async move { read(&servers).await });
                }
            });
            window.connect_close_request(move |_| {
                following.abort();
                glib::Propagation::Proceed
            });
        }
    }

    /// Shows the servers as they are now. Rows stay where they were, so that neither the keyboard nor the place moves.
    fn fill(&self) {
        let inner = &self.0;
        let config = inner.context.servers.servers.config();
        inner.show_problems(&config.problems);
        let names = || config.servers.iter().map(|server| server.name.as_str());
        let is_same = inner.rows.borrow().iter().map(Row::name).eq(names());
        if !is_same {
            let before = inner.rows.take();
            let focused = before.iter().position(|row| has_keyboard(row.widget()));
            for row in before {
                inner.group.remove(row.widget());
            }
            let rows: Vec<Row> = names().map(|name| Row::new(&inner.context, name)).collect();
            for row in &rows {
                inner.group.add(row.widget());
            }
            if let Some(row) = focused.and_then(|at| rows.get(at).or(rows.last())) {
                row.widget().grab_focus();
            }
            inner.rows.replace(rows);
        }
        let has_none = config.servers.is_empty();
        if inner.has_none.replace(has_none) != has_none {
            if has_none {
                inner.group.add(&inner.none);
            } else {
                inner.group.remove(&inner.none);
            }
        }
        for (row, server) in inner.rows.borrow().iter().zip(&config.servers) {
            let status = inner.context.servers.servers.status(&ServerKey::of_user(&server.name));
            row.show(server, status.as_ref());
        }
    }
}

impl Inner {
    fn add_actions(self: &Rc<Self>, button: &gtk::MenuButton) {
        let actions = gio::SimpleActionGroup::new();
        let add = |name: &str, act: fn(&Rc<Self>)| {
            let action = gio::SimpleAction::new(name, None);
            let weak = Rc::downgrade(self);
            action.connect_activate(move |_, _| {
                if let Some(inner) = weak.upgrade() {
                    act(&inner);
                }
            });
            actions.add_action(&action);
        };
        add("add", |inner| form::add(&inner.context));
        add("paste", |inner| adding::paste(&inner.context));
        add("import", |inner| adding::import(&inner.context));
        add("edit", Self::open_file);
        button.insert_action_group("servers", Some(&actions));
    }

    fn show_problems(&self, problems: &[Problem]) {
        if *self.shown_problems.borrow() == problems {
            return;
        }
        for row in self.problem_rows.take() {
            self.problems.remove(&row);
        }
        let rows: Vec<_> = problems.iter().map(problem_row).collect();
        for row in &rows {
            self.problems.add(row);
        }
        self.problems.set_visible(!rows.is_empty());
        self.problem_rows.replace(rows);
        self.shown_problems.replace(problems.to_vec());
    }

    /// Opens the file in the user's editor; a new one has an empty list.
    fn open_file(self: &Rc<Self>) {
        let this = Rc::clone(self);
        glib::spawn_future_local(async move {
            let path = this.context.servers.servers.file().path().to_owned();
            let made = path.clone();
            let made = this.context.servers.run_blocking(move || acts::begin_file(&made)).await;
            if !matches!(made, Some(Ok(()))) {
                return this.context.tell(&words::mcp_write_error(&unwritable()));
            }
            let uri = gio::File::for_path(path).uri();
            gtk::show_uri(this.context.window.upgrade().as_ref(), &uri, gtk::gdk::CURRENT_TIME);
        });
    }
}

/// Reads the file, and takes over what changed in it.
async fn read(servers: &ToolServers) {
    servers.run(|servers| async move { servers.refresh(None).await }).await;
}

/// How much of the context the tools of all servers may take.
fn share_group(context: &PreferencesContext) -> adw::PreferencesGroup {
    let group = adw::PreferencesGroup::new();
    group.add(&number_row(
        context,
        &gettext("Share of the context for tools"),
        &gettext(
            "In percent. If the tools of servers need more, models search for tools instead of getting all.",
        ),
        Range { least: 0, most: 100, step: 5 },
        |settings| u64::from(settings.tools.server_tools_percent),
        |settings, percent| {
            settings.tools.server_tools_percent = u32::try_from(percent).unwrap_or(u32::MAX);
        },
    ));
    group
}

fn menu() -> gio::Menu {
    let menu = gio::Menu::new();
    menu.append(Some(&gettext("_Add Server…")), Some("servers.add"));
    menu.append(Some(&gettext("_Paste JSON…")), Some("servers.paste"));
    menu.append(Some(&gettext("_Import…")), Some("servers.import"));
    let file = gio::Menu::new();
    file.append(Some(&gettext("_Edit mcp.json")), Some("servers.edit"));
    menu.append_section(None, &file);
    menu
}

fn unwritable() -> chat_mcp::config::WriteError {
    chat_mcp::config::WriteError::Io(std::io::ErrorKind::PermissionDenied.into())
}

fn problem_row(problem: &Problem) -> adw::ActionRow {
    let row = plain_row(&words::mcp_problem(problem), "");
    row.set_title_lines(0);
    row.add_prefix(&gtk::Image::from_icon_name("dialog-warning-symbolic"));
    row
}
