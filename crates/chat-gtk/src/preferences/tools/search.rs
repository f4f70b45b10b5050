//! Shows the settings of web search: the service, its address, its key.

use std::cell::RefCell;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::settings::{Key, KeySource, KeyStorage, SearchProvider, SearchSettings};
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

use super::super::editor::sentences;
use super::super::rows::PreferencesContext;

/// The group. Cheap to clone; its widgets own it.
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
    context: PreferencesContext,
    /// The address that was last shown: if the entry differs, the user is typing.
    shown: RefCell<String>,
}

impl SearchGroup {
    pub(super) fn new(context: &PreferencesContext) -> Self {
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
        let (context, shown) = (context.clone(), RefCell::default());
        let inner = Rc::new(Inner { group, provider, url, key, context, shown });
        inner.connect();
        let weak = Rc::downgrade(&inner);
        inner.context.shows(move |settings| {
            if let Some(inner) = weak.upgrade() {
                inner.show(settings.tools.search.as_ref());
            }
        });
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
            if !this.context.is_showing() {
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
                this.clone().keep(Some(text));
            }
        });
        // The widgets own this as long as they exist.
        let this = Rc::downgrade(self);
        self.group.connect_destroy(move |_| drop(this.upgrade()));
    }

    fn settings(&self) -> Option<SearchSettings> {
        self.context.manager.settings().current().tools.search.clone()
    }

    /// The provider that is chosen in the row.
    fn chosen(&self) -> Option<SearchProvider> {
        let index = (self.provider.selected() as usize).checked_sub(1)?;
        SearchProvider::ALL.get(index).copied()
    }

    /// Shows the saved settings. What is being typed stays.
    fn show(&self, search: Option<&SearchSettings>) {
        let index = search.and_then(|search| {
            SearchProvider::ALL.iter().position(|provider| *provider == search.provider)
        });
        self.provider.set_selected(index.map_or(0, |index| index as u32 + 1));
        let kept = search.and_then(|search| search.url.clone()).unwrap_or_default();
        let shown = self.shown.replace(kept.clone());
        if self.url.text() == shown && shown != kept {
            self.url.set_text(&kept);
        }
        self.show_fields();
    }

    /// Shows the fields that the chosen provider needs.
    fn show_fields(&self) {
        let chosen = self.chosen();
        let wants_key = chosen.is_some_and(SearchProvider::wants_key);
        self.url.set_visible(chosen.is_some() && !wants_key);
        self.key.set_visible(wants_key);
        let kept = self.settings().filter(|kept| Some(kept.provider) == chosen);
        let words = match chosen {
            None => gettext("Choose a provider to let models search the web"),
            Some(_) if !wants_key => {
                gettext("The address of an instance with JSON results turned on")
            }
            Some(_) => match kept.map_or(KeySource::None, |kept| kept.key) {
                KeySource::None => gettext("Needs a key from the provider"),
                key => sentences::key_in_place(&key),
            },
        };
        self.group.set_description(Some(&words));
    }

    /// Saves the choice, with a key that was typed. A provider that needs an address is not used
    /// until there is one.
    fn keep(self: Rc<Self>, typed: Option<glib::GString>) {
        let provider = self.chosen();
        let url =
            provider.and_then(|chosen| address(chosen, self.settings().as_ref(), &self.url.text()));
        let key = typed.as_deref().map(Key::new);
        glib::spawn_future_local(async move {
            let (manager, kept_url) = (&self.context.manager, url.clone().unwrap_or_default());
            let keeping = self.context.keep(Box::pin(async {
                match provider {
                    Some(provider) => manager.web_search().save(provider, url, key).await,
                    None => manager.web_search().end().await.map(|()| None),
                }
            }));
            let Some(kept) = keeping.await else { return };
            if let Some(kept @ KeyStorage::ThisRun(_)) = kept {
                self.context.tell(&words::key_storage(kept));
            }
            // Something else may have been typed meanwhile.
            let text = self.url.text();
            if text != kept_url && text.trim() == kept_url {
                self.url.set_text(&kept_url);
            }
            if typed.is_some_and(|typed| typed == self.key.text()) {
                self.key.set_text("");
            }
        });
    }

    fn forget_key(self: Rc<Self>) {
        let Some(provider) = self.chosen() else { return };
        glib::spawn_future_local(async move {
            let search = self.context.manager.web_search();
            let forgetting = search.forget_key(provider);
            self.context.keep(Box::pin(forgetting)).await;
        });
    }
}

/// The address of the service: the typed one if the provider needs one, or the saved one of a
/// provider that is used at another address.
fn address(chosen: SearchProvider, kept: Option<&SearchSettings>, typed: &str) -> Option<String> {
    if chosen.wants_key() {
        return kept.filter(|kept| kept.provider == chosen)?.url.clone();
    }
    Some(typed.trim().to_owned()).filter(|url| !url.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_written_by_hand_stays_with_its_provider() {
        use SearchProvider::{Brave, Searxng, Tavily};
        let url = Some("https://search.example.org".to_owned());
        let kept = SearchSettings { provider: Brave, url: url.clone(), key: KeySource::Keyring };
        assert_eq!(address(Brave, Some(&kept), ""), url);
        assert_eq!(address(Tavily, Some(&kept), ""), None);
        assert_eq!(address(Tavily, None, "https://typed.example.org"), None);
        assert_eq!(address(Searxng, Some(&kept), " "), None);
        assert_eq!(address(Searxng, None, " http://host "), Some("http://host".to_owned()));
    }
}
