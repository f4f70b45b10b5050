//! Parses a server's address as a person types it.

use std::net::IpAddr;

use reqwest::Url;

use crate::error::{Error, Kind, Result};

/// Reads an address. Without a scheme it is plain HTTP on this machine and private networks, and
/// with a port, and HTTPS elsewhere. Query and fragment are dropped.
pub(super) fn parse(typed: &str) -> Result<Url> {
    let typed = typed.trim();
    let invalid = || Error::new(Kind::InvalidUrl);
    if !typed.contains("://") && has_torn_scheme(typed) {
        return Err(invalid());
    }
    let mut url = if typed.contains("://") {
        Url::parse(typed).map_err(|_| invalid())?
    } else {
        let mut url = Url::parse(&format!("http://{typed}")).map_err(|_| invalid())?;
        if !is_private(&url) && url.port().is_none() {
            url = Url::parse(&format!("https://{typed}")).map_err(|_| invalid())?;
        }
        url
    };
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(invalid());
    }
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

/// Whether an address begins with a scheme that lacks its slashes (`htp:/bla`): what stands behind a
/// host's colon is a number.
fn has_torn_scheme(typed: &str) -> bool {
    let host = typed.split('/').next().unwrap_or_default();
    let port = host.rsplit_once('@').map_or(host, |(_, host)| host).split_once(':');
    !host.contains('[')
        && port.is_some_and(|(_, port)| !port.starts_with(|c: char| c.is_ascii_digit()))
}

/// The address without these path ends, if it has one of them, and without a slash at its end.
pub(super) fn without_ends(mut url: Url, ends: &[&str]) -> Url {
    let path = url.path().trim_end_matches('/');
    let path = ends.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path);
    let path = path.trim_end_matches('/').to_owned();
    url.set_path(&path);
    url
}

/// The address with more of a path.
pub(super) fn join(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}/{path}", base.path().trim_end_matches('/')));
    url
}

/// Whether the server is on this machine: no proxy is asked for it.
pub(super) fn is_loopback(url: &Url) -> bool {
    match address(url) {
        Some(address) => address.is_loopback() || address.is_unspecified(),
        None => domain(url) == "localhost",
    }
}

/// Whether the server is somebody's own: on this machine or in a private network.
pub(super) fn is_private(url: &Url) -> bool {
    if is_loopback(url) {
        return true;
    }
    match address(url) {
        Some(IpAddr::V4(v4)) => v4.is_private() || v4.is_link_local(),
        Some(IpAddr::V6(v6)) => v6.is_unique_local() || v6.is_unicast_link_local(),
        // A name without a domain is a neighbour's.
        None => matches!(domain(url), "" | "local" | "lan" | "internal"),
    }
}

/// Whether the server's name is this domain or stands below it.
pub(super) fn is_within(url: &Url, domain: &str) -> bool {
    let rest = url.host_str().and_then(|host| host.strip_suffix(domain));
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// The last word of a host's name, `localhost` also where it is the only one.
fn domain(url: &Url) -> &str {
    match url.host_str().unwrap_or_default().rsplit_once('.') {
        Some((_, domain)) => domain,
        None if url.host_str() == Some("localhost") => "localhost",
        None => "",
    }
}

fn address(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("localhost:11434", "http://localhost:11434/")]
    #[case(" 127.0.0.1:8080/v1/ ", "http://127.0.0.1:8080/v1/")]
    #[case("[::1]:8080", "http://[::1]:8080/")]
    #[case("box:8000", "http://box:8000/")]
    #[case("example.org:8000", "http://example.org:8000/")]
    #[case("api.openai.com/v1", "https://api.openai.com/v1")]
    #[case("me:secret@box:8000/v1", "http://me:secret@box:8000/v1")]
    #[case("https://openrouter.ai/api/v1?x=1#y", "https://openrouter.ai/api/v1")]
    fn addresses_are_read_as_they_are_typed(#[case] typed: &str, #[case] meant: &str) {
        assert_eq!(parse(typed).unwrap().as_str(), meant);
    }

    #[rstest]
    #[case("")]
    #[case("ftp://example.org")]
    #[case("http://")]
    #[case("file:///etc/passwd")]
    #[case("http://host:99999")]
    #[case("two words")]
    #[case("htp:/bla")]
    #[case("http:/localhost:11434")]
    #[case("http:localhost")]
    #[case("htp://bla")]
    #[case("localhost:")]
    fn what_is_no_address_is_refused(#[case] typed: &str) {
        assert_eq!(parse(typed).unwrap_err().kind, Kind::InvalidUrl);
    }

    #[rstest]
    #[case("http://localhost", true, true)]
    #[case("http://127.5.5.5", true, true)]
    #[case("http://0.0.0.0:11434", true, true)]
    #[case("http://[::1]", true, true)]
    #[case("http://192.168.1.7", false, true)]
    #[case("http://box", false, true)]
    #[case("http://box.local", false, true)]
    #[case("http://api.openai.com", false, false)]
    #[case("http://8.8.8.8", false, false)]
    #[case("http://localhost.example.org", false, false)]
    fn near_and_far(#[case] url: &str, #[case] loopback: bool, #[case] private: bool) {
        let url = parse(url).unwrap();
        assert_eq!((is_loopback(&url), is_private(&url)), (loopback, private));
    }

    #[test]
    fn paths_are_cut_and_joined() {
        let url = parse("https://h/x/v1/chat/completions/").unwrap();
        let base = without_ends(url, &["/chat/completions", "/models"]);
        assert_eq!(base.as_str(), "https://h/x/v1");
        assert_eq!(join(&base, "models").as_str(), "https://h/x/v1/models");
        let root = without_ends(parse("http://h:1/").unwrap(), &[]);
        assert_eq!(join(&root, "api/tags").as_str(), "http://h:1/api/tags");
    }
}
