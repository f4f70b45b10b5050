//! Shows the page with the models on this computer, and where to get more.

mod found;
mod installed;
mod offers;
mod search;

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::manager::Manager;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

use super::rows::PreferencesContext;
use crate::models::Stock;
use found::FoundModels;
use installed::InstalledModels;
use offers::Offers;
use search::Search;

/// The page's name in the window.
pub(super) const PAGE: &str = "models";

/// Creates the empty page.
pub(super) fn page() -> adw::PreferencesPage {
    adw::PreferencesPage::builder()
        .title(gettext("Models"))
        .icon_name("natter-computer-symbolic")
        .name(PAGE)
        .build()
}

/// The content of the page. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct ModelsPage {
    inner: Rc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Whether the user came for a model and waits to be led to one.
    to_models: Rc<Cell<bool>>,
    installed: InstalledModels,
    found: FoundModels,
    offers: Offers,
    search: Search,
    manager: Manager,
    /// Counts refreshes: results of an earlier one are ignored.
    looks: Cell<u32>,
}

impl ModelsPage {
    /// `to_models`: whether the first model that can be downloaded is focused once it is known.
    pub(super) fn new(
        page: &adw::PreferencesPage,
        context: &PreferencesContext,
        to_models: Rc<Cell<bool>>,
    ) -> Self {
        let manager = &context.manager;
        let installed = InstalledModels::new(context);
        let found = FoundModels::new(manager);
        let offers = Offers::new(manager);
        let search = Search::new(manager);
        page.add(installed.widget());
        page.add(found.widget());
        page.add(search.widget());
        page.add(offers.widget());
        page.add(offers.too_large());
        let (manager, looks) = (manager.clone(), Cell::default());
        let inner = Inner { to_models, installed, found, offers, search, manager, looks };
        Self { inner: Rc::new(inner) }
    }

    /// Adds files; the page shows the outcome.
    pub(super) fn add(&self, files: Vec<PathBuf>) {
        self.inner.installed.add(files);
    }

    /// Focuses the first model that can be downloaded, or the button that adds a file, if the user
    /// came for models and has done nothing else since.
    fn lead(&self) {
        let inner = &self.inner;
        if inner.to_models.take() && !inner.offers.focus() {
            inner.installed.focus();
        }
    }

    /// Refreshes the models here and those of other programs. Reading folders takes a while.
    pub(super) async fn look_around(&self) {
        self.refresh().await;
        self.inner.found.look().await;
    }

    /// Refreshes the models here and the downloads.
    pub(super) async fn refresh(&self) {
        let inner = &self.inner;
        let look = inner.looks.get() + 1;
        inner.looks.set(look);
        let stock = Stock::take(&inner.manager).await;
        if inner.looks.get() != look {
            return;
        }
        match stock {
            Ok(stock) => {
                let offered = |it: &chat_core::models::Download| inner.offers.has(it);
                inner.installed.show(&stock, offered);
                inner.offers.show(&stock);
                inner.search.show(&stock);
                let page = self.clone();
                // A focused widget is scrolled to only after the layout.
                glib::idle_add_local_once(move || page.lead());
            }
            Err(error) => inner.installed.say(&words::sentence(&error)),
        }
    }
}
