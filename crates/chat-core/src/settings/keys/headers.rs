//! Finds the values of the headers of connections where keys are.

use super::{Key, KeyStore, unavailable};
use crate::error::Result;
use crate::settings::{Connection, HeaderSource, KeySource};

impl KeyStore {
    /// The connection with the values of its headers in place of where they come from.
    ///
    /// # Errors
    /// `KeyUnavailable` where one should be somewhere and is not.
    pub async fn with_headers(&self, connection: &Connection) -> Result<Connection> {
        let mut connection = connection.clone();
        for (header, source) in &mut connection.headers {
            let key = match source {
                HeaderSource::Value(_) => continue,
                HeaderSource::Env { env } => KeySource::Env(env.clone()),
                HeaderSource::Command { command } => KeySource::Command(command.clone()),
                HeaderSource::Keyring(_) => KeySource::Keyring,
            };
            let name = header_key(&connection.name, header);
            let asked = Connection { name, key, ..Connection::default() };
            let value = self.get(&asked).await.map_err(|error| error.on(&connection.name))?;
            *source =
                HeaderSource::Value(value.map(|key| key.expose().to_owned()).unwrap_or_default());
        }
        Ok(connection)
    }

    /// The value of a connection's header, from the Secret Service.
    ///
    /// # Errors
    /// `KeyUnavailable` where it is not there.
    pub(crate) async fn header(&self, connection: &str, header: &str) -> Result<Key> {
        let name = header_key(connection, header);
        let asked = Connection { name, key: KeySource::Keyring, ..Connection::default() };
        let value = self.get(&asked).await.map_err(|error| error.on(connection))?;
        value.ok_or_else(|| unavailable("the keyring has no value for it").on(connection))
    }
}

/// The name under which the value of a connection's header is kept. No connection has a slash in its own.
pub(crate) fn header_key(connection: &str, header: &str) -> String {
    format!("{connection}/{}", header.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::error::Kind;

    #[tokio::test]
    async fn headers_get_their_values_from_where_they_are() {
        let headers = [
            ("X-A", HeaderSource::Value("a".to_owned())),
            ("X-B", HeaderSource::Env { env: "CARGO_PKG_NAME".to_owned() }),
            ("X-C", HeaderSource::Command { command: "echo c".to_owned() }),
            ("X-D", HeaderSource::KEYRING),
        ];
        KeyStore::of_this_run().insert(header_key("headed", "X-D"), Key::new("d"));
        let headers = headers.map(|(name, source)| (name.to_owned(), source)).into();
        let name = "headed".to_owned();
        let headed = Connection { name, headers, ..Connection::default() };
        let keys = KeyStore::default();
        let known = keys.with_headers(&headed).await.unwrap();
        let values: Vec<_> = known.headers.into_values().collect();
        let value = |text: &str| HeaderSource::Value(text.to_owned());
        assert_eq!(values, [value("a"), value("chat-core"), value("c"), value("d")]);
        let unset = HeaderSource::Env { env: "NATTER_TEST_UNSET".to_owned() };
        let unset = Connection { headers: BTreeMap::from([("X".to_owned(), unset)]), ..headed };
        let error = keys.with_headers(&unset).await.unwrap_err();
        assert_eq!(
            (error.kind, error.connection.as_deref()),
            (Kind::KeyUnavailable, Some("headed"))
        );
    }
}
