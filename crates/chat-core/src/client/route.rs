//! Applies what a connection says of the way to its server: headers, a proxy, certificates of its own.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, ClientBuilder};
use rustix::fs::OFlags;

use crate::error::{Error, Kind, Result};
use crate::net::{ChosenProxy, is_header_name};
use crate::settings::{Connection, HeaderSource};

/// The largest file of certificates, in bytes: those of a whole system have some hundred kilobytes.
const CERTIFICATES_LIMIT: u64 = 1 << 20;

/// The way to a server, as its connection has it.
#[derive(Clone)]
pub(super) struct Route {
    headers: Vec<(String, HeaderSource)>,
    proxy: Option<String>,
    ca: Option<PathBuf>,
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The proxy's address may hold a password.
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Route")
            .field("headers", &names)
            .field("ca", &self.ca)
            .finish_non_exhaustive()
    }
}

impl Route {
    pub fn of(connection: &Connection) -> Self {
        let headers = connection.headers.iter();
        Self {
            headers: headers.map(|(name, source)| (name.clone(), source.clone())).collect(),
            proxy: connection.proxy.clone(),
            ca: connection.ca.clone(),
        }
    }

    /// Whether the connection sends this header itself.
    pub fn has(&self, header: &str) -> bool {
        self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(header))
    }

    /// The headers of each request. A value that was not looked up is missing.
    pub fn headers(&self) -> Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        for (name, source) in &self.headers {
            let bad = || Error::new(Kind::InvalidHeader { name: name.clone() });
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
            let HeaderSource::Value(value) = source else {
                return Err(Kind::KeyUnavailable.into());
            };
            let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        Ok(headers)
    }

    /// The values of its headers: no error repeats them.
    pub fn secrets(&self) -> Vec<Arc<str>> {
        let values = self.headers.iter().filter_map(|(_, source)| match source {
            HeaderSource::Value(value) => Some(Arc::from(value.as_str())),
            _ => None,
        });
        values.collect()
    }

    /// The client with the proxy and, where the server is asked over TLS, the certificates.
    pub fn apply(&self, mut client: ClientBuilder, encrypted: bool) -> Result<ClientBuilder> {
        if let Some(proxy) = &self.proxy {
            client = match ChosenProxy::parse(proxy).ok_or(Kind::InvalidProxy)? {
                // Unlike the system's, one that was chosen for this server also counts on this machine.
                ChosenProxy::Over(proxy) => client.no_proxy().proxy(*proxy),
                ChosenProxy::None => client.no_proxy(),
            };
        }
        if let Some(path) = self.ca.as_ref().filter(|_| encrypted) {
            let failed = |detail: String| {
                Error::new(Kind::CertificateFile { path: path.clone() }).with_detail(detail)
            };
            let pem = read_certificates(path).map_err(|error| failed(error.to_string()))?;
            let certificates = Certificate::from_pem_bundle(&pem)
                .map_err(|_| failed("no PEM certificates".to_owned()))?;
            if certificates.is_empty() {
                return Err(failed("no PEM certificates".to_owned()));
            }
            client = client.tls_certs_merge(certificates);
        }
        Ok(client)
    }
}

/// The content of a file of certificates.
fn read_certificates(path: &Path) -> io::Result<Vec<u8>> {
    let mut how = File::options();
    // Opening a pipe that nobody writes to would block.
    let file = how.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut pem = Vec::new();
    file.take(CERTIFICATES_LIMIT + 1).read_to_end(&mut pem)?;
    if pem.len() as u64 > CERTIFICATES_LIMIT {
        return Err(io::Error::other("larger than 1 MiB"));
    }
    Ok(pem)
}

/// What is wrong with the way to a server, as far as it is known without asking it.
pub(super) fn check(connection: &Connection) -> Result<()> {
    if connection.proxy.as_deref().is_some_and(|proxy| ChosenProxy::parse(proxy).is_none()) {
        return Err(Kind::InvalidProxy.into());
    }
    for (name, source) in &connection.headers {
        let is_value = match source {
            HeaderSource::Value(value) => HeaderValue::from_str(value).is_ok(),
            _ => true,
        };
        if !is_value || !is_header_name(name) {
            return Err(Kind::InvalidHeader { name: name.clone() }.into());
        }
    }
    let route = Route { headers: Vec::new(), proxy: None, ca: connection.ca.clone() };
    route.apply(reqwest::Client::builder(), true).map(drop)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn headers_that_cannot_be_sent_are_named_without_their_values() {
        let with = |name: &str, value: &str| Connection {
            headers: BTreeMap::from([(name.to_owned(), HeaderSource::Value(value.to_owned()))]),
            ..Connection::default()
        };
        assert_eq!(check(&with("X-Team", "blue")), Ok(()));
        for (name, value) in [("X Team", "secret"), ("", "secret"), ("X-Team", "sec\nret")] {
            let error = check(&with(name, value)).unwrap_err();
            assert_eq!(error.kind, Kind::InvalidHeader { name: name.to_owned() });
            assert!(!format!("{error:?} {:?}", Route::of(&with(name, value))).contains("sec"));
        }
    }

    #[test]
    fn a_file_without_certificates_is_said() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "nothing of the kind").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let large = folder.path().join("large.pem");
        File::create(&large).unwrap().set_len(CERTIFICATES_LIMIT + 1).unwrap();
        // A pipe that nobody writes to, and a device without an end, are not even read.
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        for path in [
            file.path().to_owned(),
            PathBuf::from("/nowhere/ca.pem"),
            folder.path().to_owned(),
            large,
            pipe,
            PathBuf::from("/dev/zero"),
        ] {
            let connection = Connection { ca: Some(path.clone()), ..Connection::default() };
            assert_eq!(check(&connection).unwrap_err().kind, Kind::CertificateFile { path });
        }
    }
}
