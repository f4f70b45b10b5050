//! Where the web is searched: by whom, at which address, with which key.

use std::cell::Cell;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::settings::{Kept, Key, KeySource, SearchProvider, SearchSettings};
use chat_edge::words;
use gettextrs::gettext;
use gtk::glib;

use super::super::editor::sentences;
use super::super::rows::Place;
use super::super::say;

/// The group. Cheap to clone; its widgets keep it.
#[derive(Clone, Debug)]
pub(super) struct SearchGroup {
    inner: Rc<Inner>,
}

#[derive(Debug)]
struct Inner {
    group: adw::PreferencesGroup,
    provider: adw::ComboRow,
    url: adw::EntryRow,
    key: adw::PasswordEntryRow,
    place: Place,
    /// Whether the widgets are being set, and not by a person.
    showing: Cell<bool>,
}

impl SearchGroup {
    pub(super) fn new(place: &Place) -> Self {
        let none = gettext("None");
        let titles = SearchProvider::ALL.map(SearchProvider::title);
        let names: Vec<&str> = [none.as_str()].into_iter().chain(titles).collect();
        let provider = adw::ComboRow::builder()
            .title(gettext("Provider"))
            .model(&gtk::StringList::new(&names))
            .build();
        let url =
            adw::EntryRow::builder().title(gettext("Address")).show_apply_button(true).build();
        url.set_input_purpose(gtk::InputPurpose::Url);
        let key =
            adw::PasswordEntryRow::builder().title(gettext("Key")).show_apply_button(true).build();
        let group = adw::PreferencesGroup::builder().title(gettext("Web Search")).build();
        group.add(&provider);
        group.add(&url);
        group.add(&key);
        let (place, showing) = (place.clone(), Cell::new(false));
        let inner = Rc::new(Inner { group, provider, url, key, place, showing });
        inner.show();
        inner.connect();
        Self { inner }
    }

    pub(super) fn widget(&self) -> &adw::PreferencesGroup {
        &self.inner.group
    }
}

impl Inner {
    fn connect(self: &Rc<Self>) {
        let this = Rc::clone(self);
        self.provider.connect_selected_notify(move |_| {
            if !this.showing.get() {
                this.show_fields();
                this.clone().keep(None);
            }
        });
        let this = Rc::clone(self);
        self.url.connect_apply(move |_| this.clone().keep(None));
        let this = Rc::clone(self);
        self.key.connect_apply(move |row| {
            let text = row.text();
            if text.trim().is_empty() {
                this.clone().forget_key();
            } else {
                this.clone().keep(Some(Key::new(&text)));
            }
        });
        // The widgets keep this for as long as they are there.
        let this = Rc::downgrade(self);
        self.group.connect_destroy(move |_| drop(this.upgrade()));
    }

    fn settings(&self) -> Option<SearchSettings> {
        self.place.manager.settings().tools.search.clone()
    }

    /// Who is chosen in the row.
    fn chosen(&self) -> Option<SearchProvider> {
        let place = (self.provider.selected() as usize).checked_sub(1)?;
        SearchProvider::ALL.get(place).copied()
    }

    /// Shows the settings as they are kept.
    fn show(&self) {
        self.showing.set(true);
        let search = self.settings();
        let place = search.as_ref().and_then(|search| {
            SearchProvider::ALL.iter().position(|provider| *provider == search.provider)
        });
        self.provider.set_selected(place.map_or(0, |place| place as u32 + 1));
        let url = search.and_then(|search| search.url).unwrap_or_default();
        self.url.set_text(&url);
        self.key.set_text("");
        self.show_fields();
        self.showing.set(false);
    }

    /// Shows what the chosen provider wants to know.
    fn show_fields(&self) {
        let chosen = self.chosen();
        let wants_key = chosen.is_some_and(SearchProvider::wants_key);
        self.url.set_visible(chosen.is_some() && !wants_key);
        self.key.set_visible(wants_key);
        let kept = self.settings().filter(|kept| Some(kept.provider) == chosen);
        let words = match chosen {
            None => gettext("With a provider, models can look things up in the web"),
            Some(_) if !wants_key => {
                gettext("The address of an instance that gives its results as JSON")
            }
            Some(_) => match kept.map_or(KeySource::None, |kept| kept.key) {
                KeySource::None => gettext("It answers nobody without a key, which you get there"),
                key => sentences::key_in_place(&key),
            },
        };
        self.group.set_description(Some(&words));
    }

    /// Keeps what is chosen. Until there is an address, one that wants one is not searched with.
    fn keep(self: Rc<Self>, key: Option<Key>) {
        let provider = self.chosen();
        let url = self.url.text().trim().to_owned();
        let wants_key = provider.is_some_and(SearchProvider::wants_key);
        let url = Some(url).filter(|url| !wants_key && !url.is_empty());
        glib::spawn_future_local(async move {
            let manager = &self.place.manager;
            let result = match provider {
                Some(provider) => manager.save_search(provider, url, key).await,
                None => manager.end_search().await.map(|()| None),
            };
            say(&self.place.window, &result);
            if let Ok(Some(kept @ Kept::ThisRun(_))) = result {
                self.place.tell(&words::kept(kept));
            }
            // Something else may have been chosen meanwhile.
            if result.is_ok() && self.chosen() == provider {
                self.show();
            }
        });
    }

    fn forget_key(self: Rc<Self>) {
        let Some(provider) = self.chosen() else { return };
        glib::spawn_future_local(async move {
            say(&self.place.window, &self.place.manager.forget_search_key(provider).await);
            self.show_fields();
        });
    }
}
