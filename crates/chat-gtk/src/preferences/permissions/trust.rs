//! Shows the projects whose agents, commands and skills, or whose servers, the user trusts, with a button that takes the
//! trust back.

mod kind;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use adw::prelude::*;
use chat_core::definitions::ForgottenTrust;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

pub(super) use self::kind::Kind;

use super::super::rows::{PreferencesContext, icon_button, plain_row};
use crate::models::has_keyboard;
use crate::{accessible, projects};

/// The group. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct TrustGroup(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    group: adw::PreferencesGroup,
    /// The rows, each with its button if it has one.
    rows: RefCell<Vec<(adw::ActionRow, Option<gtk::Button>)>>,
    shown: RefCell<Option<Vec<PathBuf>>>,
    kind: Kind,
    context: PreferencesContext,
}

impl TrustGroup {
    pub(super) fn new(kind: Kind, context: &PreferencesContext) -> Self {
        let group = adw::PreferencesGroup::builder()
            .title(kind.title())
            .description(kind.description())
            .build();
        let inner = Inner {
            group,
            rows: RefCell::default(),
            shown: RefCell::default(),
            kind,
            context: context.clone(),
        };
        let this = Self(Rc::new(inner));
        this.fill();
        this
    }

    pub(super) fn widget(&self) -> &adw::PreferencesGroup {
        &self.0.group
    }

    /// Reads which projects are trusted, and shows them.
    pub(super) fn fill(&self) {
        let inner = Rc::downgrade(&self.0);
        let (kind, context) = (self.0.kind, self.0.context.clone());
        glib::spawn_future_local(async move {
            let trusted = kind.trusted(&context).await;
            if let Some(inner) = inner.upgrade() {
                inner.show(trusted);
            }
        });
    }
}

impl Inner {
    fn show(self: &Rc<Self>, trusted: Vec<PathBuf>) {
        if self.shown.borrow().as_ref() == Some(&trusted) {
            return;
        }
        let before = self.rows.take();
        let focused = before.iter().position(|(row, _)| has_keyboard(row));
        for (row, _) in before {
            self.group.remove(&row);
        }
        let mut rows: Vec<_> = trusted.iter().map(|root| self.row(root)).collect();
        if rows.is_empty() {
            let none = plain_row(&self.kind.none(), &self.kind.how_to());
            rows.push((none, None));
        }
        for (row, _) in &rows {
            self.group.add(row);
        }
        // The row with the keyboard is gone: the one in its place has it now.
        if let Some((row, button)) = focused.and_then(|at| rows.get(at).or(rows.last())) {
            match button {
                Some(button) => button.grab_focus(),
                None => row.grab_focus(),
            };
        }
        self.rows.replace(rows);
        self.shown.replace(Some(trusted));
    }

    fn row(self: &Rc<Self>, root: &Path) -> (adw::ActionRow, Option<gtk::Button>) {
        let folder = words::visible(&projects::display_path(root)).into_owned();
        let row = plain_row(&folder, "");
        let stop = icon_button("user-trash-symbolic", &gettext("Stop Trusting"));
        let text = gettext("Stop trusting {folder}");
        accessible::set_label(&stop, &words::fill(&text, &[("folder", &folder)]));
        let (weak, root) = (Rc::downgrade(self), root.to_owned());
        stop.connect_clicked(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.forget(root.clone());
            }
        });
        row.add_suffix(&stop);
        (row, Some(stop))
    }

    fn forget(self: Rc<Self>, root: PathBuf) {
        glib::spawn_future_local(async move {
            let forgotten = self.kind.forget(&self.context, &root).await;
            let trusted = self.kind.trusted(&self.context).await;
            self.show(trusted);
            if let Some(forgotten) = forgotten {
                self.offer_undo(forgotten, &root);
            }
        });
    }

    fn offer_undo(self: &Rc<Self>, forgotten: ForgottenTrust, root: &Path) {
        let Some(window) = self.context.window.upgrade() else { return };
        let folder = words::visible(&projects::display_path(root)).into_owned();
        let words =
            words::fill(&gettext("“{folder}” is no longer trusted"), &[("folder", &folder)]);
        let toast = adw::Toast::builder()
            .title(glib::markup_escape_text(&words))
            .button_label(gettext("Undo"))
            .timeout(10)
            .build();
        let weak = Rc::downgrade(self);
        toast.connect_button_clicked(move |_| {
            let (Some(inner), forgotten) = (weak.upgrade(), forgotten.clone()) else { return };
            glib::spawn_future_local(async move {
                inner.kind.restore(&inner.context, &forgotten).await;
                let trusted = inner.kind.trusted(&inner.context).await;
                inner.show(trusted);
            });
        });
        window.add_toast(toast);
    }
}

#[cfg(test)]
mod tests {
    use chat_core::manager::{Manager, StartOptions};
    use chat_core::settings::Folders;

    use super::*;
    use crate::main_loop::until;

    #[gtk::test]
    fn the_keyboard_goes_to_the_next_project_when_one_is_not_trusted_any_more() {
        crate::init();
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let options = StartOptions::new(Folders::below(folder.path()));
        let manager = runtime.block_on(Manager::start(options)).unwrap();
        let window = adw::PreferencesWindow::new();
        let trust = {
            let servers = crate::tool_servers::below(folder.path(), runtime.handle());
            let context = PreferencesContext::new(&window, &manager, &servers);
            TrustGroup::new(Kind::Definitions, &context)
        };
        let page = adw::PreferencesPage::new();
        page.add(trust.widget());
        window.add(&page);
        window.present();
        until("the group", || trust.widget().is_mapped() && trust.0.shown.borrow().is_some());
        let show = |names: &[&str]| trust.0.show(names.iter().map(PathBuf::from).collect());
        let row = |at: usize| trust.0.rows.borrow()[at].clone();

        show(&["/a", "/b", "/c"]);
        row(1).1.unwrap().grab_focus();
        show(&["/a", "/c"]);
        assert!(has_keyboard(&row(1).1.unwrap()), "the next one");
        show(&["/a"]);
        assert!(has_keyboard(&row(0).1.unwrap()), "the last one");
        show(&[]);
        assert!(has_keyboard(&row(0).0), "what says that there is none");
        window.destroy();
    }
}
