//! Defines the texts about models and their downloads.

use std::path::Path;

use chat_core::event::ModelEntry;
use chat_core::message::ModelRef;
use chat_core::models::{
    self, CONNECTION, Download, DownloadStage, DownloadState, Facts, Installed, Offer,
};
use chat_presentation::words::{self, bytes, fill, sentence};
use gettextrs::{gettext, ngettext};

use super::machine::{self, Room, WINDOW};

/// The name of a connection; that of the built-in engine is translated.
pub(crate) fn connection(name: &str) -> String {
    if name == CONNECTION { gettext("On this computer") } else { name.to_owned() }
}

/// The name of an installed model.
pub(crate) fn title(model: &Installed) -> String {
    models::title(&model.name).to_owned()
}

/// The name of a model among others: with its connection if another connection has a model of that
/// name, or its id if its own connection has one.
pub(crate) fn name_among(model: &ModelRef, others: &[ModelEntry]) -> String {
    let name = models::display_name(model);
    let is_twin = |entry: &&ModelEntry| {
        entry.model != *model
            && entry.info.capabilities.chat != Some(false)
            && models::display_name(&entry.model) == name
    };
    let mut twins = others.iter().filter(is_twin).peekable();
    if twins.peek().is_none() {
        return name.to_owned();
    }
    if twins.any(|twin| twin.model.connection == model.connection) {
        model.to_string()
    } else {
        format!("{name} · {}", connection(&model.connection))
    }
}

/// Three lines about an installed model: what it is, how much memory it needs, where it came from.
pub(crate) fn about(model: &Installed) -> String {
    let facts = &model.facts;
    let parameters = (facts.parameters > 0).then(|| parameters(&facts.parameters_label()));
    let can = Some(can(facts));
    let is = joined([Some(bytes(model.size)), parameters, facts.quantization.clone(), can]);
    format!("{is}\n{}\n{}", memory(need_of(facts)), origin(model))
}

/// What a model can do, according to its file.
pub(crate) fn can(facts: &Facts) -> String {
    let knows = |what: Option<bool>| what == Some(true);
    if facts.embedding {
        gettext("embeddings only")
    } else if facts.chat == Some(true) {
        abilities(knows(facts.tools), knows(facts.thinking))
    } else {
        gettext("no chat template")
    }
}

/// Two lines about a model of the catalog.
pub(crate) fn about_offer(offer: &Offer) -> String {
    let need = fill(&gettext("needs {need} of memory"), &[("need", &roughly(offer.memory))]);
    let can = abilities(offer.tools, offer.thinking);
    let is = joined([Some(bytes(offer.size)), Some(need), Some(can), Some(offer.licence.clone())]);
    format!("{}\n{is}", words::good_for(offer))
}

/// The same for a user without any model yet: which model it is, the size of the download, and what
/// it is good for.
pub(crate) fn invitation(offer: &Offer) -> String {
    let text = gettext("{model}, {size} download");
    let first = fill(&text, &[("model", &offer.title), ("size", &bytes(offer.size))]);
    format!("{first}\n{}", words::good_for(offer))
}

/// How much memory a model needs with the default context window, or with its own if that is
/// smaller.
pub(crate) fn need_of(facts: &Facts) -> u64 {
    let window = facts.context_length.map_or(WINDOW, |longest| longest.min(WINDOW));
    facts.memory.with_window(window)
}

/// How much memory is needed, and whether this machine has it.
pub(crate) fn memory(need: u64) -> String {
    let text = match machine::room(need) {
        None => gettext("Needs about {need} of memory"),
        Some(Room::Enough) => gettext("Needs about {need} of memory: fits this computer"),
        Some(Room::Little) => {
            gettext("Needs about {need} of your {all} of memory: leaves little for other apps")
        }
        Some(Room::TooLittle) => {
            gettext("Needs about {need} of memory: too large for this computer ({all})")
        }
    };
    let all = machine::memory().map(roughly).unwrap_or_default();
    fill(&text, &[("need", &roughly(need)), ("all", &all)])
}

/// An amount of memory, as precisely as it can be estimated.
pub(crate) fn roughly(count: u64) -> String {
    let amount = (count as f64 / 1e9).max(0.1);
    fill(&gettext("{amount} GB"), &[("amount", &words::tenths(amount))])
}

/// The state of a download: its progress if known, and a text.
pub(crate) fn download(it: &Download) -> (Option<f64>, String) {
    let fraction = (it.total > 0).then(|| (it.received as f64 / it.total as f64).min(1.0));
    let so_far = [("received", &*bytes(it.received)), ("total", &*bytes(it.total))];
    let text = match &it.state {
        DownloadState::Running { stage: DownloadStage::Fetching, speed } => {
            let amount = fill(&gettext("{received} of {total}"), &so_far);
            let (speed, left) = match speed.filter(|speed| *speed > 0) {
                Some(speed) => {
                    let left = it.total.saturating_sub(it.received) / speed;
                    let text = gettext("{amount}/s");
                    (Some(fill(&text, &[("amount", &bytes(speed))])), Some(time_left(left)))
                }
                None => (None, None),
            };
            joined([Some(amount), speed, left, None])
        }
        DownloadState::Running { stage, .. } => going_on(*stage),
        DownloadState::Paused => fill(&gettext("Paused at {received} of {total}"), &so_far),
        DownloadState::Failed(error) => sentence(error),
        DownloadState::Elsewhere => gettext("Another Natter window or terminal is downloading it"),
        DownloadState::Done { .. } => gettext("Installed"),
    };
    (fraction, text)
}

/// Shown while the hub is being asked.
pub(crate) fn asking() -> String {
    going_on(DownloadStage::Asking)
}

fn going_on(stage: DownloadStage) -> String {
    format!("{}…", words::download_stage(stage))
}

fn time_left(seconds: u64) -> String {
    let count = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let (text, n) = match seconds {
        0..60 => return gettext("less than a minute left"),
        60..5_400 => {
            let n = seconds.div_ceil(60);
            (ngettext("about {n} minute left", "about {n} minutes left", count(n)), n)
        }
        _ => {
            let n = seconds.div_ceil(3_600);
            (ngettext("about {n} hour left", "about {n} hours left", count(n)), n)
        }
    };
    fill(&text, &[("n", &n.to_string())])
}

fn parameters(count: &str) -> String {
    fill(&gettext("{count} parameters"), &[("count", count)])
}

fn abilities(tools: bool, thinking: bool) -> String {
    match (tools, thinking) {
        (false, false) => gettext("chat"),
        (true, false) => gettext("chat, tools"),
        (false, true) => gettext("chat, thinking"),
        (true, true) => gettext("chat, tools, thinking"),
    }
}

fn origin(model: &Installed) -> String {
    match &model.source {
        Some(source) => fill(&gettext("From {place}"), &[("place", &source.repository)]),
        None if model.owned => gettext("In Natter’s own folder"),
        None => short_path(&model.path),
    }
}

/// A path with `~` for the home folder.
pub(crate) fn short_path(path: &Path) -> String {
    let home = gtk::glib::home_dir();
    match path.strip_prefix(&home) {
        Ok(below) => format!("~/{}", below.display()),
        Err(_) => path.display().to_string(),
    }
}

/// Why a model cannot be used now, if so.
pub(crate) fn problem(model: &Installed) -> Option<String> {
    model.problem.as_ref().map(words::sentence)
}

fn joined<const N: usize>(parts: [Option<String>; N]) -> String {
    let there: Vec<String> = parts.into_iter().flatten().collect();
    there.join(" · ")
}

#[cfg(test)]
mod tests {
    use chat_core::client::ModelInfo;

    use super::*;

    fn coming(state: DownloadState) -> Download {
        Download {
            id: "id".to_owned(),
            name: "tiny".to_owned(),
            repository: "a/b".to_owned(),
            file: "tiny.gguf".to_owned(),
            received: 25_000_000,
            total: 100_000_000,
            state,
        }
    }

    #[test]
    fn a_download_says_how_far_how_fast_and_how_long() {
        let running =
            |speed| coming(DownloadState::Running { stage: DownloadStage::Fetching, speed });
        assert_eq!(
            download(&running(Some(500_000))),
            (Some(0.25), "25.0 MB of 100.0 MB · 500 kB/s · about 3 minutes left".to_owned())
        );
        assert_eq!(download(&running(None)).1, "25.0 MB of 100.0 MB");
        assert_eq!(download(&running(Some(0))).1, "25.0 MB of 100.0 MB");
        assert_eq!(download(&coming(DownloadState::Paused)).1, "Paused at 25.0 MB of 100.0 MB");
        assert_eq!(time_left(59), "less than a minute left");
        assert_eq!(time_left(7_201), "about 3 hours left");
    }

    #[test]
    fn models_of_one_name_are_told_apart() {
        let entry = |connection: &str, name: &str| ModelEntry {
            model: ModelRef::new(connection, name),
            info: ModelInfo { name: name.to_owned(), ..ModelInfo::default() },
        };
        let models =
            [entry("Home", "qwen3"), entry("Work", "qwen3"), entry("Home", "/models/Tiny.gguf")];
        assert_eq!(name_among(&models[0].model, &models), "qwen3 · Home");
        assert_eq!(name_among(&models[0].model, &models[..1]), "qwen3");
        assert_eq!(name_among(&models[2].model, &models), "Tiny");
    }

    #[test]
    fn nothing_is_divided_by_what_is_not_known() {
        let mut it = coming(DownloadState::Paused);
        it.total = 0;
        assert_eq!(download(&it).0, None);
    }
}
