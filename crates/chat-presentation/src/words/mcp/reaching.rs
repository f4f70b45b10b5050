//! Words why a server at an address can't be reached, and why nobody can sign in to it.

use chat_mcp::config::ProblemKind;
use chat_mcp::http::HttpFault;
use chat_mcp::oauth::OAuthFault;
use chat_mcp::transport::LONGEST_MESSAGE;
use gettextrs::gettext;

use super::mcp_problem_sentence;
use crate::words::{bytes, fill, one_line};

/// Why a server at an address can't be reached, and what to do.
pub fn mcp_http_fault(fault: &HttpFault) -> String {
    match fault {
        HttpFault::InvalidUrl => mcp_problem_sentence(&ProblemKind::InvalidUrl),
        HttpFault::ReservedHeader { name } => {
            mcp_problem_sentence(&ProblemKind::ReservedHeader { name: name.clone() })
        }
        HttpFault::InvalidHeader { name } => fill(
            &gettext("The header “{name}” can’t be sent. Check its name and its value."),
            &[("name", &one_line(name))],
        ),
        HttpFault::NoTls => gettext(
            "The system’s certificates can’t be read, so no secure connection is possible. Check that they are installed.",
        ),
        HttpFault::AddressRefused => gettext(
            "The server’s name leads to an address that isn’t allowed. Check the server’s address.",
        ),
        HttpFault::RedirectRefused => gettext(
            "The server redirects elsewhere, and Natter doesn’t follow. Check the server’s address.",
        ),
        HttpFault::Unreachable => {
            gettext("The server can’t be reached. Check its address and your network.")
        }
        HttpFault::TimedOut => gettext("The server didn’t answer in time. Try again later."),
        HttpFault::TooLarge => fill(
            &gettext("The server’s answer is larger than {size}, so Natter didn’t read it."),
            &[("size", &bytes(LONGEST_MESSAGE as u64))],
        ),
        HttpFault::Status(status) => status_sentence(*status),
        HttpFault::NotMcp => {
            gettext("This address doesn’t answer like an MCP server. Check the address.")
        }
        HttpFault::Authorization(fault) => mcp_oauth_fault(fault),
    }
}

fn status_sentence(status: u16) -> String {
    let text = match status {
        401 | 403 => {
            gettext("The server refused access (HTTP {status}). Check the server’s headers.")
        }
        404 | 405 | 410 => {
            gettext("There’s no MCP server at this address (HTTP {status}). Check the address.")
        }
        429 => gettext("The server gets too many requests (HTTP {status}). Try again later."),
        500.. => gettext("The server has a problem (HTTP {status}). Try again later."),
        _ => gettext("The server can’t be used (HTTP {status}). Check its address."),
    };
    fill(&text, &[("status", &status.to_string())])
}

/// Why nobody can sign in to a server, and what to do.
pub fn mcp_oauth_fault(fault: &OAuthFault) -> String {
    match fault {
        OAuthFault::Denied { description: None } => {
            gettext("You weren’t given access. Sign in again if that was a mistake.")
        }
        OAuthFault::Denied { description: Some(words) } => {
            of_words(&gettext("You weren’t given access. The reason given is: {words}"), words)
        }
        OAuthFault::Failed { code, description } => of_words(
            &gettext("Signing in failed. Try again. The reason given is: {words}"),
            description.as_ref().unwrap_or(code),
        ),
        OAuthFault::TimedOut => gettext("Signing in took too long. Try again."),
        OAuthFault::NoMetadata => gettext(
            "The server requires you to sign in, but doesn’t say where. Check its address, or set a token in “headers”.",
        ),
        OAuthFault::IssuerMismatch => gettext(
            "The answer didn’t come from the expected sign-in service, so Natter stopped. If this happens again, tell the server’s provider.",
        ),
        OAuthFault::ResourceMismatch => gettext(
            "The server claims to be a different one, so Natter didn’t sign in. Check the server’s address.",
        ),
        OAuthFault::RegistrationRefused => {
            gettext("The sign-in service doesn’t accept Natter. Set a token in “headers” instead.")
        }
        OAuthFault::TokenRefused => {
            gettext("The sign-in service gave Natter no access. Sign in again.")
        }
        OAuthFault::Unreachable => {
            gettext("The sign-in service can’t be reached. Check your network and try again.")
        }
        OAuthFault::NoTls => mcp_http_fault(&HttpFault::NoTls),
        OAuthFault::AddressRefused => gettext(
            "The server leads to an unencrypted or private address, so Natter didn’t sign in. Tell the server’s provider.",
        ),
        OAuthFault::Unsupported => gettext(
            "The sign-in service supports no secure way that Natter knows. Set a token in “headers” instead.",
        ),
        OAuthFault::NoKeyring => gettext(
            "The keyring with your sign-in is locked or doesn’t respond. Unlock it and try again.",
        ),
        OAuthFault::NoListener => {
            gettext("Natter can’t receive the browser’s answer. Restart Natter and try again.")
        }
        OAuthFault::NoBrowser => {
            gettext("Your browser can’t be opened. Choose a default browser and try again.")
        }
    }
}

fn of_words(text: &str, words: &str) -> String {
    fill(text, &[("words", &one_line(words))])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_reason_has_a_sentence_of_its_own() {
        let words = |text: &str| Some(text.to_owned());
        let sign_in = vec![
            OAuthFault::Denied { description: None },
            OAuthFault::Denied { description: words("Ask Ada") },
            OAuthFault::Failed { code: "server_error".to_owned(), description: None },
            OAuthFault::Failed { code: "x".to_owned(), description: words("Closed") },
            OAuthFault::TimedOut,
            OAuthFault::NoMetadata,
            OAuthFault::IssuerMismatch,
            OAuthFault::ResourceMismatch,
            OAuthFault::RegistrationRefused,
            OAuthFault::TokenRefused,
            OAuthFault::Unreachable,
            OAuthFault::AddressRefused,
            OAuthFault::Unsupported,
            OAuthFault::NoKeyring,
            OAuthFault::NoListener,
            OAuthFault::NoBrowser,
        ];
        let mut all = vec![
            HttpFault::InvalidUrl,
            HttpFault::ReservedHeader { name: "Host".to_owned() },
            HttpFault::InvalidHeader { name: "A B".to_owned() },
            HttpFault::NoTls,
            HttpFault::AddressRefused,
            HttpFault::RedirectRefused,
            HttpFault::Unreachable,
            HttpFault::TimedOut,
            HttpFault::TooLarge,
            HttpFault::NotMcp,
        ];
        all.extend([400, 401, 404, 429, 503].map(HttpFault::Status));
        all.extend(sign_in.into_iter().map(HttpFault::Authorization));
        let sentences: BTreeSet<_> = all.iter().map(mcp_http_fault).collect();
        assert_eq!(sentences.len(), all.len());
        for sentence in &sentences {
            assert!(sentence.len() > 20 && !sentence.contains('{'), "{sentence}");
        }
        assert!(sentences.iter().any(|it| it.ends_with("Ask Ada")));
    }

    #[test]
    fn the_words_of_others_are_seen_as_they_are() {
        let description = Some("no\nSigned in. \u{202e}".to_owned());
        let sentence = mcp_oauth_fault(&OAuthFault::Denied { description });
        assert!(!sentence.contains(['\n', '\u{202e}']), "{sentence:?}");
    }
}
