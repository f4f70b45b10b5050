//! Defines the window with the list of worktrees and the page of one of them.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::error::{Error, Result};
use chat_core::manager::{Manager, WorktreeRow};
use chat_core::message::Fid;
use chat_core::worktree::Snapshot;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

use super::details::Details;
use super::list::ListPage;
use super::sentences;
use crate::accessible;
use crate::preferences::icon_button;

/// The window's size, in pixels at the default font.
const SIZE: (i32, i32) = (600, 640);
/// The names of the pages.
const LOADING: &str = "loading";
const LIST: &str = "list";

/// What there is, at one moment.
#[derive(Debug, Default)]
pub(super) struct Overview {
    pub(super) worktrees: Vec<WorktreeRow>,
    pub(super) snapshots: Vec<Snapshot>,
    /// The titles of all chats.
    titles: HashMap<Fid, String>,
}

/// What had the keyboard, and what has it in its place.
struct Stand {
    action: glib::WeakRef<gtk::Widget>,
    stand_in: Option<gtk::Widget>,
}

/// The window.
pub(super) struct Dialog {
    pub(super) window: adw::Window,
    pub(super) manager: Manager,
    title: adw::WindowTitle,
    back: gtk::Button,
    spinner: gtk::Spinner,
    /// Why the last action failed.
    error: gtk::Label,
    stack: gtk::Stack,
    toasts: adw::ToastOverlay,
    said: RefCell<Option<adw::Toast>>,
    list: ListPage,
    overview: RefCell<Overview>,
    /// The page of a worktree, while it is shown.
    details: RefCell<Option<Rc<Details>>>,
    /// Whether something is being done.
    is_busy: Cell<bool>,
    /// The rows with actions, which cannot be used meanwhile.
    actions: RefCell<Vec<glib::WeakRef<gtk::Widget>>>,
    /// The action that had the keyboard, and what has it meanwhile.
    focused: RefCell<Option<Stand>>,
    /// How much is waited for.
    waits: Cell<usize>,
    show_chat: Box<dyn Fn(Fid)>,
}

/// Shows all worktrees above a window. `show_chat` shows a chat in that window.
pub(crate) fn open(
    parent: &adw::ApplicationWindow,
    manager: &Manager,
    show_chat: impl Fn(Fid) + 'static,
) {
    let dialog = Rc::new(Dialog::new(parent, manager.clone(), Box::new(show_chat)));
    dialog.connect();
    dialog.window.present();
    dialog.run(|this| async move {
        this.refresh().await?;
        this.list.focus(None);
        Ok(())
    });
}

impl Dialog {
    fn new(parent: &adw::ApplicationWindow, manager: Manager, show_chat: Box<dyn Fn(Fid)>) -> Self {
        let title = adw::WindowTitle::new(&gettext("Worktrees"), "");
        let header = adw::HeaderBar::builder().css_classes(["flat"]).title_widget(&title).build();
        let back = icon_button("go-previous-symbolic", &gettext("Back to the List"));
        back.set_visible(false);
        let spinner = gtk::Spinner::new();
        accessible::set_label(&spinner, &gettext("Working…"));
        header.pack_start(&back);
        header.pack_end(&spinner);
        let error = gtk::Label::builder()
            .accessible_role(gtk::AccessibleRole::Alert)
            .xalign(0.0)
            .wrap(true)
            .wrap_mode(gtk::pango::WrapMode::WordChar)
            .selectable(true)
            .visible(false)
            .margin_top(12)
            .margin_start(18)
            .margin_end(18)
            .css_classes(["error"])
            .build();
        let list = ListPage::new();
        let stack = gtk::Stack::builder().vexpand(true).build();
        let looking = gtk::Label::builder()
            .label(gettext("Looking for worktrees…"))
            .css_classes(["dim-label"])
            .build();
        stack.add_named(&looking, Some(LOADING));
        stack.add_named(&list.page, Some(LIST));
        let toasts = adw::ToastOverlay::new();
        toasts.set_child(Some(&stack));
        let content = gtk::Box::new(gtk::Orientation::Vertical, 0);
        content.append(&header);
        content.append(&error);
        content.append(&toasts);
        let window = adw::Window::builder()
            .transient_for(parent)
            .modal(true)
            .destroy_with_parent(true)
            .default_width(SIZE.0)
            .default_height(SIZE.1)
            .title(gettext("Worktrees"))
            .content(&content)
            .build();
        Self {
            window,
            manager,
            title,
            back,
            spinner,
            error,
            stack,
            toasts,
            said: RefCell::default(),
            list,
            overview: RefCell::default(),
            details: RefCell::default(),
            is_busy: Cell::default(),
            actions: RefCell::default(),
            focused: RefCell::default(),
            waits: Cell::default(),
            show_chat,
        }
    }

    fn connect(self: &Rc<Self>) {
        // The window keeps this alive as long as it exists.
        let this = Cell::new(Some(Rc::clone(self)));
        self.window.connect_unrealize(move |_| drop(this.take()));
        let weak = Rc::downgrade(self);
        self.back.connect_clicked(move |_| {
            if let Some(this) = weak.upgrade() {
                this.show_list();
            }
        });
        let keys = gtk::EventControllerKey::new();
        let weak = Rc::downgrade(self);
        keys.connect_key_pressed(move |_, key, _, _| match weak.upgrade() {
            Some(this) if key == gtk::gdk::Key::Escape => {
                if this.details.borrow().is_some() {
                    this.show_list();
                } else {
                    this.window.close();
                }
                glib::Propagation::Stop
            }
            _ => glib::Propagation::Proceed,
        });
        self.window.add_controller(keys);
    }

    /// Does something, unless something else is being done. A failure is shown until the next action.
    pub(super) fn run<F: Future<Output = Result<()>> + 'static>(
        self: &Rc<Self>,
        action: impl FnOnce(Rc<Self>) -> F,
    ) {
        if self.is_busy.get() {
            return;
        }
        self.set_busy(true);
        self.show_error(None);
        let (this, work) = (Rc::clone(self), action(Rc::clone(self)));
        glib::spawn_future_local(async move {
            if let Err(error) = work.await {
                this.show_error(Some(&error));
            }
            this.set_busy(false);
        });
    }

    /// Adds a row with actions, which cannot be used while something is being done.
    pub(super) fn add_actions(&self, row: &impl IsA<gtk::Widget>) {
        row.set_sensitive(!self.is_busy.get());
        let mut actions = self.actions.borrow_mut();
        actions.retain(|row| row.upgrade().is_some());
        actions.push(row.upcast_ref().downgrade());
    }

    /// The keyboard leaves an action that cannot be used for a while, and comes back to it.
    fn set_busy(&self, is_busy: bool) {
        self.is_busy.set(is_busy);
        let rows: Vec<_> =
            self.actions.borrow().iter().filter_map(glib::WeakRef::upgrade).collect();
        let is_in_row =
            |focus: &gtk::Widget| rows.iter().any(|row| focus == row || focus.is_ancestor(row));
        let focus = GtkWindowExt::focus(&self.window);
        if let Some(action) = focus.as_ref().filter(|focus| is_busy && is_in_row(focus)) {
            if self.details.borrow().is_some() {
                self.back.grab_focus();
            } else {
                self.list.focus(None);
            }
            let stand_in = GtkWindowExt::focus(&self.window);
            self.focused.replace(Some(Stand { action: action.downgrade(), stand_in }));
        }
        for row in &rows {
            row.set_sensitive(!is_busy);
        }
        let stand = if is_busy { None } else { self.focused.take() };
        let Some(stand) = stand.filter(|stand| stand.stand_in == focus) else { return };
        // Neither where the user has moved it since, nor where the action is gone.
        match (stand.action.upgrade().filter(WidgetExt::is_mapped), self.details()) {
            (Some(action), _) if action.is_sensitive() => {
                action.grab_focus();
            }
            (Some(_), Some(details)) => details.focus_message(),
            _ => {}
        }
    }

    /// Waits for the engine, and shows that.
    pub(super) async fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.waits.set(self.waits.get() + 1);
        self.spinner.start();
        let done = work.await;
        self.waits.set(self.waits.get() - 1);
        if self.waits.get() == 0 {
            self.spinner.stop();
        }
        done
    }

    /// Shows a message briefly, instead of the one before.
    pub(super) fn say(&self, words: &str) {
        let toast = adw::Toast::new(&glib::markup_escape_text(words));
        if let Some(former) = self.said.replace(Some(toast.clone())) {
            former.dismiss();
        }
        self.toasts.add_toast(toast);
    }

    fn show_error(&self, error: Option<&Error>) {
        self.error.set_label(&error.map(words::sentence).unwrap_or_default());
        self.error.set_visible(error.is_some());
    }

    /// Loads the list again.
    pub(super) async fn refresh(self: &Rc<Self>) -> Result<()> {
        let worktrees = self.manager.worktrees();
        let listed = self.wait(worktrees.list()).await.inspect_err(|_| self.end_loading())?;
        let sessions = self.wait(self.manager.sessions().list()).await?;
        let title = |session: chat_core::event::SessionPlaceholder| {
            (session.fid.clone(), session.title.clone())
        };
        let titles = sessions.into_iter().map(title).collect();
        let snapshots = self.wait(worktrees.snapshots()).await;
        // The worktrees are shown even if the snapshots cannot be read.
        let (snapshots, failed) = match snapshots {
            Ok(snapshots) => (snapshots, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let overview = Overview { worktrees: listed, snapshots, titles };
        self.list.fill(&overview, self);
        self.overview.replace(overview);
        self.end_loading();
        failed.map_or(Ok(()), Err)
    }

    fn end_loading(&self) {
        if self.details.borrow().is_none() {
            self.stack.set_visible_child_name(LIST);
        }
    }

    /// Shows the list instead of the page of a worktree.
    pub(super) fn show_list(&self) {
        let shown = self.details.take();
        self.stack.set_visible_child_name(LIST);
        self.back.set_visible(false);
        self.set_title(&gettext("Worktrees"));
        self.show_error(None);
        self.list.focus(shown.as_ref().map(|details| &*details.row.path));
        if let Some(details) = shown {
            self.stack.remove(&details.page);
        }
    }

    /// Shows the page of a worktree.
    pub(super) fn open_details(self: &Rc<Self>, row: WorktreeRow) {
        self.show_error(None);
        let (this, details) = (Rc::clone(self), self.show_details(row));
        self.back.grab_focus();
        glib::spawn_future_local(async move {
            let loaded = details.load(&this).await;
            let is_shown = this.details().is_some_and(|shown| Rc::ptr_eq(&shown, &details));
            if let (Err(error), true) = (loaded, is_shown) {
                this.show_error(Some(&error));
            }
        });
    }

    fn show_details(self: &Rc<Self>, row: WorktreeRow) -> Rc<Details> {
        let shown = self.details.take();
        self.set_title(&sentences::name(&row));
        let details = Rc::new(Details::new(row, &self.overview.borrow().titles, self));
        self.stack.add_child(&details.page);
        self.stack.set_visible_child(&details.page);
        self.back.set_visible(true);
        if let Some(shown) = shown {
            self.stack.remove(&shown.page);
        }
        self.details.replace(Some(Rc::clone(&details)));
        details
    }

    /// The page of a worktree, if it is shown.
    pub(super) fn details(&self) -> Option<Rc<Details>> {
        self.details.borrow().clone()
    }

    /// The list changed: shows the page of this worktree as it is now.
    pub(super) async fn reopen(self: &Rc<Self>, details: &Details) -> Result<()> {
        self.refresh().await?;
        let found = {
            let overview = self.overview.borrow();
            overview.worktrees.iter().find(|row| row.path == details.row.path).cloned()
        };
        // Meanwhile the user may have gone back.
        let is_shown = self.details().is_some_and(|shown| shown.row.path == details.row.path);
        match found {
            Some(row) if is_shown => {
                let details = self.show_details(row);
                self.back.grab_focus();
                return details.load(self).await;
            }
            None if is_shown => self.show_list(),
            _ => {}
        }
        Ok(())
    }

    /// Focuses the row of a worktree, or the first one: the row with the focus is gone.
    pub(super) fn focus_row_of(&self, folder: &Path) {
        self.list.focus(Some(folder));
    }

    /// Shows a chat in the window below.
    pub(super) fn open_chat(&self, fid: Fid) {
        self.window.close();
        (self.show_chat)(fid);
    }

    fn set_title(&self, title: &str) {
        self.title.set_title(title);
        self.window.set_title(Some(title));
    }
}

#[cfg(test)]
mod tests;
