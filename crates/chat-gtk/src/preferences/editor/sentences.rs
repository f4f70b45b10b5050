//! What the dialog of a connection says.

use chat_core::event::ConnectionState;
use chat_core::manager::TestReport;
use chat_core::settings::{ConnectionKind, KeySource};
use chat_edge::words;
use gettextrs::{gettext, ngettext};

/// Where the key is kept, in words.
pub(super) fn key(old: Option<&ConnectionState>) -> String {
    match old.map(|old| &old.connection.key) {
        Some(KeySource::None) | None => gettext(
            "Only where the server wants one. It is kept in your keyring; where there is none, only until Natter ends.",
        ),
        Some(source) => key_in_place(source),
    }
}

/// Where a key is that there is already, in words.
pub(in crate::preferences) fn key_in_place(source: &KeySource) -> String {
    match source {
        KeySource::Env(variable) => words::fill(
            &gettext(
                "The key is taken from the environment variable {name}. One that is typed here replaces that.",
            ),
            &[("name", variable)],
        ),
        KeySource::Command(_) => {
            gettext("The key is taken from a command. One that is typed here replaces that.")
        }
        KeySource::Keyring => {
            gettext("The key is in your keyring. One that is typed here replaces it.")
        }
        KeySource::None => String::new(),
    }
}

/// What a test found.
pub(super) fn report(report: &TestReport) -> String {
    if report.models.is_empty() && report.kind == ConnectionKind::OpenAi {
        return gettext(
            "The server answers but lists no models. Enter the names of those you want to use under “Models”.",
        );
    }
    let count = u32::try_from(report.models.len()).unwrap_or(u32::MAX);
    let text = ngettext(
        "It works: {kind}, {n} model, answered in {ms} ms.",
        "It works: {kind}, {n} models, answered in {ms} ms.",
        count,
    );
    let kind = match (report.program, report.kind) {
        (Some(program), _) => program.to_owned(),
        (None, kind) => words::speaks(kind),
    };
    words::fill(
        &text,
        &[("kind", &kind), ("n", &count.to_string()), ("ms", &report.took.as_millis().to_string())],
    )
}
