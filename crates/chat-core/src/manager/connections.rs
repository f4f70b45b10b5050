//! Lists, tests, stores and removes connections, with their keys.

use std::sync::Arc;

use super::{
    Connection, ConnectionState, Key, KeySource, KeyStorage, Kind, Manager, Result, TestReport,
    client,
};
use crate::models::is_named_like_engine;
use crate::settings::{HeaderSource, header_key};

/// The connections to servers, and their keys. From [`Manager::connections`].
#[derive(Clone, Debug)]
pub struct Connections(pub(super) Manager);

impl Connections {
    /// The connections, configured ones first, then those found on this machine.
    pub fn list(&self) -> Vec<ConnectionState> {
        self.0.inner.connections.states()
    }

    /// Asks all connections for their models again, and looks for local servers again.
    pub fn refresh(&self) {
        self.0.inner.connections.refresh();
    }

    /// Asks one connection for its models again.
    pub fn refresh_one(&self, name: &str) {
        self.0.inner.connections.ask(name.to_owned());
    }

    /// Waits until every connection that is being asked now has answered or failed.
    pub async fn settled(&self) {
        self.0.inner.connections.settled().await;
    }

    /// Asks a server that need not be configured for its models. Without a key the one is taken
    /// that the connection names.
    pub async fn test(&self, connection: &Connection, key: Option<Key>) -> Result<TestReport> {
        let (connections, connection) = (Arc::clone(&self.0.inner.connections), connection.clone());
        // The way to a server takes much to decide; whoever waits for it need not carry that.
        Box::pin(self.0.run(async move { connections.test(&connection, key).await })).await
    }

    /// Stores a connection: adds it, or changes the one named `replaces`. A key given goes to the
    /// Secret Service, or lasts for this run where there is none: the answer says which.
    ///
    /// # Errors
    /// `InvalidUrl`, `InvalidProxy`, `InvalidHeader`, `CertificateFile`, `NameTaken` (also for the name of the built-in engine), `KeyUnavailable` where a connection is renamed and its key cannot
    /// be had now, and what [`SettingsStore::change`](super::SettingsStore::change) says.
    pub async fn save(
        &self,
        connection: Connection,
        key: Option<Key>,
        replaces: Option<&str>,
    ) -> Result<Option<KeyStorage>> {
        Box::pin(self.save_with(connection, key, Vec::new(), replaces)).await
    }

    /// The same with values of headers, by their names, which go where the key goes.
    ///
    /// # Errors
    /// As [`save`](Self::save).
    pub async fn save_with(
        &self,
        mut connection: Connection,
        key: Option<Key>,
        headers: Vec<(String, Key)>,
        replaces: Option<&str>,
    ) -> Result<Option<KeyStorage>> {
        let (this, replaces) = (self.0.clone(), replaces.map(str::to_owned));
        // A slash parts connection and model.
        connection.name = connection.name.trim().replace('/', "-");
        connection.headers.extend(headers.iter().map(|(header, value)| {
            // Checked as it is sent, and then kept elsewhere.
            (header.clone(), HeaderSource::Value(value.expose().to_owned()))
        }));
        client::check(&connection)?;
        for (header, _) in &headers {
            connection.headers.insert(header.clone(), HeaderSource::KEYRING);
        }
        if is_named_like_engine(&connection.name) {
            return Err(Kind::NameTaken { name: connection.name }.into());
        }
        self.0
            .run(async move {
                let name = connection.name.clone();
                let others = this.settings().current();
                let mut others = others
                    .connections
                    .iter()
                    .filter(|known| Some(&known.name) != replaces.as_ref());
                if others.any(|known| known.name == name) {
                    return Err(Kind::NameTaken { name }.into());
                }
                let renamed = replaces.clone().filter(|old| *old != name);
                let of_keyring = |known: &&Connection| {
                    Some(&known.name) == replaces.as_ref() && known.key == KeySource::Keyring
                };
                let had_key =
                    this.settings().current().connections.iter().any(|known| of_keyring(&known));
                // Keys are found by the connection's name.
                let key = match &renamed {
                    Some(old)
                        if key.is_none() && had_key && connection.key == KeySource::Keyring =>
                    {
                        let old = Connection { name: old.clone(), ..connection.clone() };
                        // Without its key it would be a connection that lost it.
                        this.inner.connections.keys.get(&old).await?
                    }
                    _ => key,
                };
                let mut kept = None;
                if let Some(key) = key {
                    kept = Some(this.inner.connections.keys.set(&name, key).await?);
                    connection.key = KeySource::Keyring;
                }
                let before = this.settings().current();
                let before =
                    before.connections.iter().find(|known| Some(&known.name) == replaces.as_ref());
                let old_headers = before.map(kept_headers).unwrap_or_default();
                let mut new_headers = headers;
                if let Some(old) = renamed.as_ref() {
                    for header in kept_headers(&connection) {
                        if !new_headers.iter().any(|(new, _)| new.eq_ignore_ascii_case(&header)) {
                            let value = this.inner.connections.keys.header(old, &header).await?;
                            new_headers.push((header, value));
                        }
                    }
                }
                for (header, value) in new_headers {
                    let place = header_key(&name, &header);
                    let stored = this.inner.connections.keys.set(&place, value).await?;
                    // What lasts for this run alone is what must be said.
                    if kept.is_none() || matches!(stored, KeyStorage::ThisRun(_)) {
                        kept = Some(stored);
                    }
                }
                // By their places: a name in other letters is the same header.
                let places = |name: &str, headers: &[String]| -> Vec<_> {
                    headers.iter().map(|header| header_key(name, header)).collect()
                };
                let still = places(&name, &kept_headers(&connection));
                let mut gone = places(replaces.as_deref().unwrap_or_default(), &old_headers);
                gone.retain(|place| !still.contains(place));
                let in_keyring = connection.key == KeySource::Keyring;
                this.settings()
                    .change(move |settings| {
                        let place = replaces.and_then(|old| {
                            settings.connections.iter().position(|c| c.name == old)
                        });
                        match place {
                            Some(place) => settings.connections[place] = connection,
                            None => settings.connections.push(connection),
                        }
                    })
                    .await?;
                // A key that nobody can name any more is a key too many. One that lasts for this run
                // alone is no reason to give up what the keyring has.
                let unused = match renamed {
                    Some(old) => (!in_keyring || kept == Some(KeyStorage::Keyring)).then_some(old),
                    None => (!in_keyring && had_key).then(|| name.clone()),
                };
                for place in gone {
                    if let Err(error) = this.inner.connections.keys.remove(&place).await {
                        tracing::warn!(%error, "a former header could not be removed");
                    }
                }
                if let Some(old) = unused
                    && let Err(error) = this.inner.connections.keys.remove(&old).await
                {
                    tracing::warn!(%error, "the former key could not be removed");
                }
                this.inner.connections.forget_client(&name);
                this.inner.connections.ask(name);
                Ok(kept)
            })
            .await
    }

    /// Removes a connection and its stored key. Chats that used it stay.
    ///
    /// # Errors
    /// `ConnectionMissing`, and what [`SettingsStore::change`](super::SettingsStore::change) says.
    pub async fn remove(&self, name: &str) -> Result<()> {
        let (this, name) = (self.0.clone(), name.to_owned());
        self.0
            .run(async move {
                let settings = this.settings().current();
                let known = settings.connections.iter().find(|known| known.name == name);
                let Some(known) = known else {
                    return Err(Kind::ConnectionMissing { name }.into());
                };
                let headers = kept_headers(known);
                let gone = name.clone();
                this.settings()
                    .change(move |settings| settings.connections.retain(|c| c.name != gone))
                    .await?;
                for header in headers {
                    this.inner.connections.keys.remove(&header_key(&name, &header)).await?;
                }
                this.inner.connections.keys.remove(&name).await
            })
            .await
    }
}

/// The headers of a connection whose values are in the Secret Service.
fn kept_headers(connection: &Connection) -> Vec<String> {
    let kept = connection.headers.iter();
    let kept = kept.filter(|(_, source)| matches!(source, HeaderSource::Keyring(_)));
    kept.map(|(header, _)| header.clone()).collect()
}
