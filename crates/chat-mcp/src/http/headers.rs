//! Takes the headers that a server's entry has for each request.

use std::collections::HashMap;

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};

use super::HttpFault;
use crate::config::{ResolvedEndpoint, is_reserved_header};

/// Whether a server's entry has the header in which a token would go. Nobody signs in there: the entry counts.
pub fn has_own_authorization(endpoint: &ResolvedEndpoint) -> bool {
    endpoint.headers.keys().any(|name| name.eq_ignore_ascii_case(AUTHORIZATION.as_str()))
}

/// The headers of each request. Their values are not shown.
pub(super) fn headers(
    endpoint: &ResolvedEndpoint,
) -> Result<HashMap<HeaderName, HeaderValue>, HttpFault> {
    let headers = endpoint.headers.iter().map(|(name, value)| {
        let invalid = || HttpFault::InvalidHeader { name: name.clone() };
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
        if is_reserved_header(header.as_str()) {
            return Err(HttpFault::ReservedHeader { name: name.clone() });
        }
        let mut value =
            HeaderValue::from_bytes(value.expose().as_bytes()).map_err(|_| invalid())?;
        value.set_sensitive(true);
        Ok((header, value))
    });
    headers.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::config::SecretText;

    fn endpoint(name: &str, value: &str) -> ResolvedEndpoint {
        let headers = BTreeMap::from([(name.to_owned(), SecretText::new(value))]);
        ResolvedEndpoint { url: SecretText::new("https://example.org/mcp"), headers }
    }

    #[test]
    fn the_headers_of_the_protocol_are_its_own() {
        for name in ["Host", "Mcp-Session-Id", "Mcp-Param-Region", "content-type"] {
            let fault = HttpFault::ReservedHeader { name: name.to_owned() };
            assert_eq!(headers(&endpoint(name, "x")).err(), Some(fault));
        }
        let fault = HttpFault::InvalidHeader { name: "A B".to_owned() };
        assert_eq!(headers(&endpoint("A B", "x")).err(), Some(fault));
        let fault = HttpFault::InvalidHeader { name: "A".to_owned() };
        assert_eq!(headers(&endpoint("A", "x\r\nB: y")).err(), Some(fault));
    }

    #[test]
    fn values_are_sent_and_not_shown() {
        let endpoint = endpoint("authorization", "Bearer hunter2");
        assert!(has_own_authorization(&endpoint));
        let headers = headers(&endpoint).unwrap();
        assert_eq!(headers[&AUTHORIZATION], "Bearer hunter2");
        assert!(!format!("{headers:?}{endpoint:?}").contains("hunter2"));
    }
}
