//! Configures the web search and its key.

use super::{Connection, Key, KeySource, KeyStorage, Manager, Result, client};
use crate::settings::{SearchProvider, SearchSettings};

/// Where the web is searched, and the keys for it. From [`Manager::web_search`].
#[derive(Clone, Debug)]
pub struct WebSearchSetup(pub(super) Manager);

impl WebSearchSetup {
    /// Has the web be searched by this provider at this address; none is the provider's own. A key
    /// given goes to the Secret Service, or lasts for this run where there is none: the answer says
    /// which. Without one the key is taken that is kept for the provider, where there is one.
    ///
    /// # Errors
    /// `InvalidUrl`, and what [`SettingsStore::change`](super::SettingsStore::change) says.
    pub async fn save(
        &self,
        provider: SearchProvider,
        url: Option<String>,
        key: Option<Key>,
    ) -> Result<Option<KeyStorage>> {
        let mut found = search_connection(provider, url.clone(), KeySource::Keyring);
        if url.is_some() {
            client::check_address(&found)?;
        }
        let this = self.0.clone();
        self.0
            .run(async move {
                let keys = &this.inner.connections.keys;
                let kept = match key {
                    Some(key) => Some(keys.set(&found.name, key).await?),
                    None => None,
                };
                let known = this.settings().current().tools.search.clone();
                let known = known.filter(|known| known.provider == provider).map(|known| known.key);
                found.key = match known {
                    _ if kept.is_some() => KeySource::Keyring,
                    Some(known) if !known.is_none() => known,
                    _ if matches!(keys.get(&found).await, Ok(Some(_))) => KeySource::Keyring,
                    _ => KeySource::None,
                };
                let search = SearchSettings { provider, url, key: found.key };
                this.settings()
                    .change(move |settings| settings.tools.search = Some(search))
                    .await?;
                Ok(kept)
            })
            .await
    }

    /// Has the web not be searched any more. Keys stay where they are.
    ///
    /// # Errors
    /// What [`SettingsStore::change`](super::SettingsStore::change) says.
    pub async fn end(&self) -> Result<()> {
        self.0.settings().change(|settings| settings.tools.search = None).await
    }

    /// Forgets the key of a provider, here and in the Secret Service.
    ///
    /// # Errors
    /// `KeyUnavailable`, and what [`SettingsStore::change`](super::SettingsStore::change) says.
    pub async fn forget_key(&self, provider: SearchProvider) -> Result<()> {
        let this = self.0.clone();
        self.0
            .run(async move {
                this.settings()
                    .change(move |settings| {
                        let search = settings.tools.search.as_mut();
                        if let Some(search) = search.filter(|search| search.provider == provider) {
                            search.key = KeySource::None;
                        }
                    })
                    .await?;
                this.inner.connections.keys.remove(provider.key_name()).await
            })
            .await
    }
}

/// The provider, as keys and addresses are known by.
fn search_connection(provider: SearchProvider, url: Option<String>, key: KeySource) -> Connection {
    let name = provider.key_name().to_owned();
    Connection {
        name,
        kind: None,
        url: url.unwrap_or_default(),
        key,
        models: Vec::new(),
        requests: None,
        ..Connection::default()
    }
}
