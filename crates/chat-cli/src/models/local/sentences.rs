//! Defines the texts about models on this computer. xgettext needs plain literals on one line each,
//! without lone apostrophes.

use std::fmt::Write as _;

use chat_core::models::{Download, DownloadState, Facts, Fit, Installed, Offer};
use chat_presentation::words::{self, fill};
use gettextrs::gettext;

use crate::models::view::facts_line;

pub fn none_installed() -> String {
    gettext(
        "No models are installed yet. See what you can download with: natter-cli models list --offered",
    )
}

pub fn added(name: &str) -> String {
    fill(&gettext("Added as “{name}”."), &[("name", name)])
}

pub fn removed(name: &str, deleted: bool) -> String {
    let sentence = if deleted {
        gettext("Removed “{name}” and deleted its file.")
    } else {
        gettext("Removed “{name}”. Its file was kept.")
    };
    fill(&sentence, &[("name", name)])
}

/// A remark about a model of the catalog.
pub fn note(installed: bool, fit: Fit) -> Option<String> {
    match (installed, fit) {
        (true, _) => Some(gettext("installed")),
        (false, Fit::Well) => None,
        (false, Fit::Tight) => Some(gettext("leaves little free memory")),
        (false, Fit::TooLarge) => Some(gettext("too large for this computer")),
    }
}

/// The progress of a download.
pub fn arrived(download: &Download) -> String {
    let percent = download.received.saturating_mul(100) / download.total.max(1);
    let sentence = match download.state {
        DownloadState::Elsewhere => {
            gettext("being downloaded in another Natter window or terminal: {percent}%")
        }
        _ => gettext(
            "paused at {percent}%; resume with: natter-cli models pull {repository} --file {file}",
        ),
    };
    let percent = percent.to_string();
    let values = [
        ("percent", percent.as_str()),
        ("repository", &download.repository),
        ("file", &download.file),
    ];
    fill(&sentence, &values)
}

/// Describes an installed model.
pub fn of_installed(model: &Installed) -> String {
    let mut out = of_file(&model.name, &model.facts);
    line(&mut out, &gettext("File"), &model.path.display().to_string());
    line(&mut out, &gettext("Size"), &words::bytes(model.size));
    if let Some(source) = &model.source {
        line(&mut out, &gettext("Source"), &format!("{} ({})", source.repository, source.file));
    }
    if let Some(sha256) = &model.sha256 {
        line(&mut out, "SHA-256", sha256);
    }
    out
}

/// Describes a model by its file.
pub fn of_file(name: &str, facts: &Facts) -> String {
    let mut out = format!("{name}\n");
    if let Some(title) = &facts.title {
        line(&mut out, &gettext("Title"), title);
    }
    line(&mut out, &gettext("Type"), &format!("{}, {}", facts.architecture, facts_line(facts)));
    if let Some(licence) = &facts.licence {
        line(&mut out, &gettext("License"), licence);
    }
    line(&mut out, &gettext("Memory"), &super::memory(facts));
    out
}

/// Describes a model of the catalog.
pub fn of_offer(offer: &Offer) -> String {
    let mut out = format!("{}\n", offer.name);
    line(&mut out, &gettext("Title"), &offer.title);
    line(&mut out, &gettext("Good for"), &words::good_for(offer));
    line(&mut out, &gettext("License"), &offer.licence);
    line(&mut out, &gettext("Size"), &words::bytes(offer.size));
    line(&mut out, &gettext("Memory"), &words::bytes(offer.memory));
    line(&mut out, &gettext("Source"), &format!("{} ({})", offer.repository, offer.file));
    let get = gettext("Download it with: natter-cli models pull {name}");
    out.push_str(&fill(&get, &[("name", &offer.name)]));
    out.push('\n');
    out
}

fn line(out: &mut String, label: &str, value: &str) {
    // Writing into a string cannot fail.
    let _ = writeln!(out, "  {label:10}  {value}");
}
