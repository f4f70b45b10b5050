//! Words models on this machine and where they come from.

use std::path::Path;

use chat_core::error::{FileFault, Kind};
use chat_core::models::{DownloadStage, Offer, are_names_alike, is_named_like_engine};
use gettextrs::{gettext, ngettext};

use super::{fill, tenths};

/// Whether people would take a connection of this name for the built-in engine, which they know by
/// its name in their own language.
pub fn is_engine_name(name: &str) -> bool {
    is_named_like_engine(name) || are_names_alike(name, &gettext("On this computer"))
}

/// Says what happened to a model, its file or its download, and what to do. Kinds that are about
/// something else have their sentences in `fault`, and get an empty one here.
pub fn sentence(kind: &Kind) -> String {
    match kind {
        Kind::EngineMissing => gettext(
            "The program that runs models on this computer, natter-engine, isn’t installed. Install it, or choose a model on a server.",
        ),
        Kind::EngineFailed => gettext(
            "Couldn’t start the engine for models on this computer. Try again, or see the details.",
        ),
        Kind::ProcessorTooOld { lacks } => fill(
            &gettext(
                "This computer’s processor can’t run models because it lacks {lacks}. Choose a model on a server.",
            ),
            &[("lacks", lacks)],
        ),
        Kind::ModelTooLarge { needed, available } => fill(
            &gettext(
                "This model needs {needed} of memory, but only {available} is free. Close other apps, use a smaller context window, or choose a smaller model.",
            ),
            &[("needed", &bytes(*needed)), ("available", &bytes(*available))],
        ),
        Kind::ModelNotLoaded => gettext(
            "Couldn’t load this model. Natter may not support its architecture, or its file may be damaged. Choose another model.",
        ),
        Kind::TemplateFailed => gettext(
            "This model’s chat template doesn’t accept the conversation. Choose another model, or see the details.",
        ),
        Kind::ModelFile { path, fault } => of_file(path, *fault),
        Kind::FileNotFound { path } => about(
            &gettext("Couldn’t find the file “{name}”. Check its name and folder, then try again."),
            &path.display().to_string(),
        ),
        Kind::ModelFileMissing { path } => about(
            &gettext("The file “{name}” is missing. Put it back, or add the model again."),
            &path.display().to_string(),
        ),
        Kind::ModelStorage => {
            gettext("Couldn’t read or save the list of models. Try again, or see the details.")
        }
        Kind::HubUnreachable => gettext(
            "Couldn’t reach Hugging Face, where models are downloaded from. Check your network, then try again.",
        ),
        Kind::HubFailed => gettext(
            "Hugging Face, where models are downloaded from, returned an error. Try again later, or see the details.",
        ),
        Kind::HubTokenRefused => gettext(
            "Hugging Face refused the token in HF_TOKEN. Restart Natter with a valid token, or without one.",
        ),
        Kind::RepositoryNotFound { repository } => about(
            &gettext("Couldn’t find “{name}” on Hugging Face. Choose another model."),
            repository,
        ),
        Kind::RepositoryClosed { repository } => about(
            &gettext(
                "“{name}” requires you to accept its terms. Accept them on huggingface.co and start Natter with HF_TOKEN set, or choose another model.",
            ),
            repository,
        ),
        Kind::RepositoryFileNotFound { repository, file } => fill(
            &gettext("“{name}” doesn’t have the file “{file}”. Choose another one."),
            &[("name", repository), ("file", file)],
        ),
        Kind::DiskTooSmall { needed, free } => fill(
            &gettext(
                "Not enough disk space: {needed} needed, {free} free. Free up some space, then try again.",
            ),
            &[("needed", &bytes(*needed)), ("free", &bytes(*free))],
        ),
        Kind::DownloadInterrupted => {
            gettext("The download was interrupted. Resume it to continue where it stopped.")
        }
        Kind::DownloadDiffers { file } => about(
            &gettext("The downloaded file doesn’t match “{name}”, so it was discarded. Try again."),
            file,
        ),
        Kind::DownloadElsewhere { file } => about(
            &gettext(
                "Another Natter window or terminal is downloading “{name}”. Wait until it’s done.",
            ),
            file,
        ),
        _ => String::new(),
    }
}

fn of_file(path: &Path, fault: FileFault) -> String {
    let name = path.display().to_string();
    match fault {
        FileFault::NotGguf => {
            about(&gettext("“{name}” isn’t a GGUF model. Choose a GGUF file."), &name)
        }
        FileFault::Truncated { expected, found } => fill(
            &gettext(
                "“{name}” is incomplete: it has {found}, but should have at least {expected}. Download it again.",
            ),
            &[("name", &name), ("found", &bytes(found)), ("expected", &bytes(expected))],
        ),
        FileFault::HeaderTooLarge | FileFault::Corrupt => {
            about(&gettext("“{name}” is damaged. Download it again."), &name)
        }
        FileFault::Version => about(
            &gettext(
                "“{name}” uses a version of GGUF that Natter can’t read. Look for another file of this model.",
            ),
            &name,
        ),
        FileFault::Alone => about(
            &gettext(
                "“{name}” is one part of a model that is split into several files, and the other parts are missing. Put all of them in one folder under their original names.",
            ),
            &name,
        ),
        FileFault::Name => about(
            &gettext(
                "Natter can’t store the name of “{name}” or of one of its folders. Rename it, then add it again.",
            ),
            &name,
        ),
        FileFault::NoModel => about(
            &gettext(
                "“{name}” belongs to a model, but isn’t a model itself. Choose the model’s own file.",
            ),
            &name,
        ),
    }
}

fn about(sentence: &str, name: &str) -> String {
    fill(sentence, &[("name", name)])
}

/// An amount of data, for people: 98.4 MB. Units are of 1,000, as disks and downloads have them.
pub fn bytes(count: u64) -> String {
    let amount = count as f64;
    let (text, sentence) = match count {
        0..1_000 => (count.to_string(), ngettext("{amount} byte", "{amount} bytes", count as u32)),
        1_000..999_500 => (format!("{:.0}", amount / 1e3), gettext("{amount} kB")),
        999_500..999_950_000 => (tenths(amount / 1e6), gettext("{amount} MB")),
        _ => (tenths(amount / 1e9), gettext("{amount} GB")),
    };
    fill(&sentence, &[("amount", &text)])
}

/// What a model of the catalogue is good for.
pub fn good_for(offer: &Offer) -> String {
    // The lines are taken out of the catalogue by scripts/lib/translations.
    gettext(offer.good_for.as_str())
}

/// What a download does just now. Empty while it fetches: its numbers say that.
pub fn download_stage(stage: DownloadStage) -> String {
    match stage {
        DownloadStage::Asking => gettext("Contacting Hugging Face"),
        DownloadStage::Fetching => String::new(),
        DownloadStage::Checking => gettext("Checking"),
        DownloadStage::Resting => gettext("Connection lost, retrying"),
    }
}
