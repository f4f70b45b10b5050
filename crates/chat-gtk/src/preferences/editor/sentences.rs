//! Defines the texts of the connection dialog.

use chat_core::event::ConnectionState;
use chat_core::manager::TestReport;
use chat_core::settings::{ConnectionKind, KeySource};
use chat_presentation::words;
use gettextrs::{gettext, ngettext};

/// Where the key is stored.
pub(super) fn key(old: Option<&ConnectionState>) -> String {
    match old.map(|old| &old.connection.key) {
        Some(KeySource::None) | None => gettext(
            "Only needed if the server asks for one. It’s saved in your keyring or, if you don’t have one, kept until you quit Natter.",
        ),
        Some(source) => key_in_place(source),
    }
}

/// What a known server's key is for.
pub(super) fn key_of_preset() -> String {
    gettext(
        "Paste your key. It’s saved in your keyring or, if you don’t have one, kept until you quit Natter.",
    )
}

/// Where an existing key is stored.
pub(in crate::preferences) fn key_in_place(source: &KeySource) -> String {
    match source {
        KeySource::Env(variable) => words::fill(
            &gettext(
                "The key comes from the environment variable {name}. A key you enter here replaces it.",
            ),
            &[("name", variable)],
        ),
        KeySource::Command(_) => {
            gettext("The key comes from a command. A key you enter here replaces it.")
        }
        KeySource::Keyring => {
            gettext("The key is in your keyring. A key you enter here replaces it.")
        }
        KeySource::None => String::new(),
    }
}

/// The result of a test.
pub(super) fn report(report: &TestReport) -> String {
    if report.models.is_empty() && report.kind != ConnectionKind::Ollama {
        return gettext(
            "The server responds but doesn’t list any models. Enter the names of the models you want to use under “Models”.",
        );
    }
    let count = u32::try_from(report.models.len()).unwrap_or(u32::MAX);
    let text = ngettext(
        "The server responded in {ms} ms ({kind}, {n} model).",
        "The server responded in {ms} ms ({kind}, {n} models).",
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
