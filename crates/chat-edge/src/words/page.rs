//! Explains why a page that the user named could not be fetched.

use chat_core::error::PageFault;
use gettextrs::{gettext, ngettext};

use super::fill;

/// Says what happened and what to do.
pub(super) fn fault(url: &str, why: &PageFault) -> String {
    match why {
        PageFault::Address => fill(
            &gettext(
                "“{url}” is no address of a page. Give a whole one without a password, such as https://example.org/page.",
            ),
            &[("url", url)],
        ),
        PageFault::Unreachable { host } => fill(
            &gettext("{host} cannot be reached. Check the address and the network."),
            &[("host", host)],
        ),
        PageFault::TooLate { host, seconds } => {
            let text = ngettext(
                "{host} did not answer within {count} second. Try again later.",
                "{host} did not answer within {count} seconds. Try again later.",
                u32::try_from(*seconds).unwrap_or(u32::MAX),
            );
            fill(&text, &[("host", host), ("count", &seconds.to_string())])
        }
        PageFault::Refused { host, status } => fill(
            &gettext("{host} does not give this page out: {status}."),
            &[("host", host), ("status", status)],
        ),
        PageFault::Elsewhere => fill(
            &gettext(
                "“{url}” leads to a place that is not fetched. Open it in a browser and paste its text.",
            ),
            &[("url", url)],
        ),
        PageFault::NoText => fill(&gettext("What lies at “{url}” is no text."), &[("url", url)]),
    }
}
