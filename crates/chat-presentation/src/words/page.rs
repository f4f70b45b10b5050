//! Explains why a page that the user named could not be fetched.

use chat_core::error::PageFault;
use gettextrs::{gettext, ngettext};

use super::fill;

/// Says what happened and what to do.
pub(super) fn fault(url: &str, why: &PageFault) -> String {
    match why {
        PageFault::Address => fill(
            &gettext(
                "“{url}” isn’t a web address. Enter a full one without a password, such as https://example.org/page.",
            ),
            &[("url", url)],
        ),
        PageFault::Unreachable { host } => fill(
            &gettext("Couldn’t reach {host}. Check the address and your network."),
            &[("host", host)],
        ),
        PageFault::TooLate { host, seconds } => {
            let text = ngettext(
                "{host} didn’t respond within {count} second. Try again later.",
                "{host} didn’t respond within {count} seconds. Try again later.",
                u32::try_from(*seconds).unwrap_or(u32::MAX),
            );
            fill(&text, &[("host", host), ("count", &seconds.to_string())])
        }
        PageFault::Refused { host, status } => fill(
            &gettext("{host} returned an error for this page: {status}."),
            &[("host", host), ("status", status)],
        ),
        PageFault::Elsewhere => fill(
            &gettext(
                "Natter can’t fetch the page that “{url}” leads to. Open it in a browser and paste its text.",
            ),
            &[("url", url)],
        ),
        PageFault::NoText => fill(
            &gettext("The page at “{url}” isn’t text. Choose a page with text."),
            &[("url", url)],
        ),
    }
}
