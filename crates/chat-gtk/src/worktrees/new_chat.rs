//! Asks how to create a worktree for a new chat, and creates it.

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::error::Error;
use chat_core::manager::{Manager, NewWorktree};
use chat_core::worktree::{Created, Worktree};
use chat_presentation::words::{self, fill, one_line};
use gettextrs::gettext;
use gtk::glib;

use crate::close_keys::close_with_escape;
use crate::preferences::plain_row;
use crate::{accessible, projects};

/// The dialog's size, in pixels at the default font.
const SIZE: (i32, i32) = (480, 520);
/// The default name. It is also that of a branch, so it is the same in all languages.
const NAME: &str = "chat";

/// The dialog.
struct NewChat {
    window: adw::Window,
    name: adw::EntryRow,
    with_changes: gtk::Switch,
    branch: adw::EntryRow,
    base: adw::EntryRow,
    create: gtk::Button,
    /// Why nothing was created.
    result: gtk::Label,
    project: PathBuf,
    manager: Manager,
    is_creating: Cell<bool>,
    /// Whether the user closed the window.
    is_closed: Cell<bool>,
    done: Box<dyn Fn(Outcome)>,
}

/// What came of the question.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// There is a new worktree.
    Created(Created),
    /// The user gave up, but the worktree is still there. These words say so.
    Stays(String),
}

/// Asks above a window for a worktree of a project. `done` is called once there is one; not if the
/// user gives up and nothing is left of it.
pub(crate) fn ask(
    parent: &adw::ApplicationWindow,
    manager: &Manager,
    project: PathBuf,
    done: impl Fn(Outcome) + 'static,
) {
    let new = Rc::new(NewChat::new(parent, manager.clone(), project, Box::new(done)));
    new.connect();
    new.window.present();
    new.name.grab_focus();
    new.name.select_region(0, -1);
}

impl NewChat {
    fn new(
        parent: &adw::ApplicationWindow,
        manager: Manager,
        project: PathBuf,
        done: Box<dyn Fn(Outcome)>,
    ) -> Self {
        let name = entry(&gettext("Name"));
        name.set_text(NAME);
        let with_changes = gtk::Switch::builder().valign(gtk::Align::Center).build();
        let title = gettext("Include Uncommitted Changes");
        let changes = plain_row(&title, &gettext("Copies them. Your own files stay as they are."));
        changes.add_suffix(&with_changes);
        changes.set_activatable_widget(Some(&with_changes));
        let text =
            gettext("The chat works on a branch and in a folder of its own, made from {project}.");
        let text = fill(&text, &[("project", &one_line(&projects::name(&project)))]);
        let group =
            adw::PreferencesGroup::builder().description(glib::markup_escape_text(&text)).build();
        group.add(&name);
        group.add(&changes);

        let branch = entry(&gettext("Branch (optional)"));
        let base = entry(&gettext("Start from branch or commit (optional)"));
        let expander = adw::ExpanderRow::builder().title(gettext("Branch")).build();
        expander.set_subtitle(&gettext(
            "Commands in the sandbox can commit only if its name has a slash, like natter/fix.",
        ));
        expander.add_row(&branch);
        expander.add_row(&base);
        let more = adw::PreferencesGroup::new();
        more.add(&expander);

        let result = gtk::Label::builder()
            .accessible_role(gtk::AccessibleRole::Alert)
            .visible(false)
            .xalign(0.0)
            .wrap(true)
            .wrap_mode(gtk::pango::WrapMode::WordChar)
            .selectable(true)
            .build();
        let column = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .spacing(18)
            .margin_top(18)
            .margin_bottom(24)
            .margin_start(18)
            .margin_end(18)
            .build();
        column.append(&group);
        column.append(&more);
        column.append(&result);
        let scroller = gtk::ScrolledWindow::builder()
            .child(&column)
            .hscrollbar_policy(gtk::PolicyType::Never)
            .propagate_natural_height(true)
            .vexpand(true)
            .build();

        let heading = gettext("New Chat in a Worktree");
        let header = adw::HeaderBar::builder()
            .css_classes(["flat"])
            .show_start_title_buttons(false)
            .show_end_title_buttons(false)
            .title_widget(&adw::WindowTitle::new(&heading, ""))
            .build();
        let cancel = gtk::Button::builder().label(gettext("_Cancel")).use_underline(true).build();
        cancel.set_action_name(Some("window.close"));
        let create = gtk::Button::builder()
            .label(gettext("C_reate"))
            .use_underline(true)
            .css_classes(["suggested-action"])
            .build();
        header.pack_start(&cancel);
        header.pack_end(&create);
        let content = gtk::Box::new(gtk::Orientation::Vertical, 0);
        content.append(&header);
        content.append(&scroller);
        let window = adw::Window::builder()
            .transient_for(parent)
            .modal(true)
            .destroy_with_parent(true)
            .default_width(SIZE.0)
            .default_height(SIZE.1)
            .title(&heading)
            .content(&content)
            .build();
        Self {
            window,
            name,
            with_changes,
            branch,
            base,
            create,
            result,
            project,
            manager,
            is_creating: Cell::default(),
            is_closed: Cell::default(),
            done,
        }
    }

    fn connect(self: &Rc<Self>) {
        // The window keeps this alive as long as it exists.
        let this = Cell::new(Some(Rc::clone(self)));
        self.window.connect_unrealize(move |_| drop(this.take()));
        let weak = Rc::downgrade(self);
        self.window.connect_close_request(move |_| {
            if let Some(this) = weak.upgrade() {
                this.is_closed.set(true);
            }
            glib::Propagation::Proceed
        });
        let weak = Rc::downgrade(self);
        self.create.connect_clicked(move |_| {
            if let Some(this) = weak.upgrade() {
                this.run();
            }
        });
        for row in [&self.name, &self.branch, &self.base] {
            let create = self.create.clone();
            row.connect_entry_activated(move |_| {
                if create.is_sensitive() {
                    create.emit_clicked();
                }
            });
        }
        close_with_escape(&self.window);
    }

    fn run(self: &Rc<Self>) {
        if self.is_creating.replace(true) {
            return;
        }
        self.create.set_sensitive(false);
        self.say(&gettext("Creating the worktree…"), true);
        let this = Rc::clone(self);
        glib::spawn_future_local(async move {
            let created = this.create().await;
            this.is_creating.set(false);
            this.create.set_sensitive(true);
            match created {
                Ok(created) if this.is_closed.get() => this.undo(&created.worktree).await,
                Ok(created) => {
                    this.window.close();
                    (this.done)(Outcome::Created(created));
                }
                Err(error) => {
                    this.say(&words::sentence(&error), false);
                    // The button had the keyboard.
                    if GtkWindowExt::focus(&this.window).is_none() {
                        this.name.grab_focus();
                    }
                }
            }
        });
    }

    async fn create(&self) -> Result<Created, Error> {
        let typed = |row: &adw::EntryRow| {
            Some(row.text().trim().to_owned()).filter(|text| !text.is_empty())
        };
        let worktrees = self.manager.worktrees();
        // A chat in a worktree gets a second one of the same project.
        let containing = worktrees.containing(&self.project).await?;
        let project = containing
            .map_or_else(|| self.project.clone(), |worktree| worktree.parent_project().to_owned());
        let new = NewWorktree {
            branch: typed(&self.branch),
            base: typed(&self.base),
            with_changes: self.with_changes.is_active(),
        };
        let name = typed(&self.name).unwrap_or_else(|| NAME.to_owned());
        worktrees.create(&project, &name, new).await
    }

    /// The user gave up while it was created. Only copies of files are in it.
    async fn undo(&self, worktree: &Worktree) {
        let worktrees = self.manager.worktrees();
        match worktrees.discard(worktree).await {
            Ok(removed) => {
                if let Err(error) = worktrees.delete_snapshot(&removed.snapshot.id).await {
                    tracing::warn!(%error, "the snapshot of a worktree that nobody wants stays");
                }
            }
            Err(error) => {
                tracing::warn!(%error, "a worktree that nobody wants any more stays");
                let words = gettext(
                    "Couldn’t remove the worktree “{name}”. Discard it in the list of worktrees.",
                );
                (self.done)(Outcome::Stays(fill(&words, &[("name", &one_line(worktree.name()))])));
            }
        }
    }

    fn say(&self, words: &str, well: bool) {
        // A screen reader reads an alert when it appears.
        self.result.set_visible(false);
        self.result.set_label(words);
        self.result.set_css_classes(if well { &[] } else { &["error"] });
        self.result.set_visible(true);
    }
}

fn entry(title: &str) -> adw::EntryRow {
    let row = adw::EntryRow::builder().title(title).build();
    if let Some(text) = row.delegate() {
        accessible::set_label(&text, title);
    }
    row
}

#[cfg(test)]
mod tests;
