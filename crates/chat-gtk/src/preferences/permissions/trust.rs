//! Shows the projects whose agents, commands and skills the user trusts, with a button that takes the trust back.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use adw::prelude::*;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

use super::super::rows::{PreferencesContext, icon_button, plain_row};
use crate::{accessible, projects};

/// The group. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct TrustGroup(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    group: adw::PreferencesGroup,
    rows: RefCell<Vec<adw::ActionRow>>,
    shown: RefCell<Option<Vec<PathBuf>>>,
    context: PreferencesContext,
}

impl TrustGroup {
    pub(super) fn new(context: &PreferencesContext) -> Self {
        let group = adw::PreferencesGroup::builder()
            .title(gettext("Trusted Projects"))
            .description(gettext("Their own agents, commands, and skills can be used"))
            .build();
        let inner = Inner {
            group,
            rows: RefCell::default(),
            shown: RefCell::default(),
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
        let definitions = self.0.context.manager.definitions();
        glib::spawn_future_local(async move {
            let trusted = definitions.trusted().await;
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
        for row in self.rows.take() {
            self.group.remove(&row);
        }
        let mut rows: Vec<_> = trusted.iter().map(|root| self.row(root)).collect();
        if rows.is_empty() {
            rows.push(plain_row(
                &gettext("No trusted projects yet"),
                &gettext(
                    "To trust a project, choose “Review…” above the message in one of its chats",
                ),
            ));
        }
        for row in &rows {
            self.group.add(row);
        }
        self.rows.replace(rows);
        self.shown.replace(Some(trusted));
    }

    fn row(self: &Rc<Self>, root: &Path) -> adw::ActionRow {
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
        row
    }

    fn forget(self: Rc<Self>, root: PathBuf) {
        glib::spawn_future_local(async move {
            let definitions = self.context.manager.definitions();
            let forgotten = async { definitions.forget(&root).await };
            self.context.keep(forgotten).await;
            let trusted = definitions.trusted().await;
            self.show(trusted);
        });
    }
}
