//! Words models on this machine and where they come from.

use std::path::Path;

use chat_core::error::{FileFault, Kind};
use chat_core::models::{DownloadStage, Offer};
use gettextrs::gettext;

use super::{fill, tenths};

/// Says what happened to a model, its file or its download, and what to do. Kinds that are about
/// something else have their sentences in `fault`, and get an empty one here.
pub fn sentence(kind: &Kind) -> String {
    match kind {
        Kind::EngineMissing => gettext(
            "The program natter-engine, which runs models on this computer, is not installed. Install it, or choose a model of a server.",
        ),
        Kind::EngineFailed => gettext(
            "The engine for models on this computer did not start. Try again; the details say more.",
        ),
        Kind::ProcessorTooOld { lacks } => fill(
            &gettext(
                "The processor of this computer cannot run models: it lacks {lacks}. Choose a model of a server.",
            ),
            &[("lacks", lacks)],
        ),
        Kind::ModelTooLarge { needed, available } => fill(
            &gettext(
                "This model needs {needed} of memory, and {available} are free. Close other programs, make its context window smaller, or choose a smaller model.",
            ),
            &[("needed", &bytes(*needed)), ("available", &bytes(*available))],
        ),
        Kind::ModelNotLoaded => gettext(
            "This model cannot be loaded: its architecture may be unknown to Natter, or its file is damaged. Choose another model.",
        ),
        Kind::TemplateFailed => gettext(
            "This model’s chat template does not accept the conversation. Choose another model; the details say more.",
        ),
        Kind::ModelFile { path, fault } => of_file(path, *fault),
        Kind::FileNotFound { path } => about(
            &gettext("There is no file “{name}”. Look at its name and its folder, then try again."),
            &path.display().to_string(),
        ),
        Kind::ModelFileMissing { path } => about(
            &gettext(
                "The file “{name}” is not there any more. Put it back, or add the model again.",
            ),
            &path.display().to_string(),
        ),
        Kind::ModelStorage => gettext(
            "The list of models could not be read or saved. Try again; the details say more.",
        ),
        Kind::HubUnreachable => gettext(
            "Hugging Face, where models come from, cannot be reached. Check the network, then try again.",
        ),
        Kind::HubFailed => gettext(
            "Hugging Face, where models come from, could not answer. Try again in a while; the details say more.",
        ),
        Kind::HubTokenRefused => gettext(
            "Hugging Face does not know the token in HF_TOKEN, or not any more. Start Natter with a new one, or without it.",
        ),
        Kind::RepositoryNotFound { repository } => about(
            &gettext("Hugging Face has no “{name}”, or not any more. Choose another model."),
            repository,
        ),
        Kind::RepositoryClosed { repository } => about(
            &gettext(
                "“{name}” wants its terms to be accepted first. Do so on huggingface.co, and start Natter with HF_TOKEN set; or choose another model.",
            ),
            repository,
        ),
        Kind::RepositoryFileNotFound { repository, file } => fill(
            &gettext("“{name}” has no file “{file}”, or not any more. Choose another one."),
            &[("name", repository), ("file", file)],
        ),
        Kind::DiskTooSmall { needed, free } => fill(
            &gettext(
                "The disk has too little room: {needed} are needed, and {free} are free. Make room, then try again.",
            ),
            &[("needed", &bytes(*needed)), ("free", &bytes(*free))],
        ),
        Kind::DownloadInterrupted => {
            gettext("The download broke off. What had arrived is kept: resume it.")
        }
        Kind::DownloadDiffers { file } => about(
            &gettext("What came is not “{name}” as it should be, and is not kept. Try again."),
            file,
        ),
        Kind::DownloadElsewhere { file } => {
            about(&gettext("Another Natter is downloading “{name}”. Wait until it is done."), file)
        }
        _ => String::new(),
    }
}

fn of_file(path: &Path, fault: FileFault) -> String {
    let name = path.display().to_string();
    match fault {
        FileFault::NotGguf => about(
            &gettext("“{name}” is no model in the format GGUF. Choose a file that is one."),
            &name,
        ),
        FileFault::Truncated { expected, found } => fill(
            &gettext(
                "“{name}” is not complete: it has {found} and should have at least {expected}. Download it again.",
            ),
            &[("name", &name), ("found", &bytes(found)), ("expected", &bytes(expected))],
        ),
        FileFault::HeaderTooLarge | FileFault::Corrupt => {
            about(&gettext("“{name}” is damaged. Download it again."), &name)
        }
        FileFault::Version => about(
            &gettext(
                "“{name}” is of a version of the format GGUF that Natter does not read. Look for another file of this model.",
            ),
            &name,
        ),
        FileFault::Alone => about(
            &gettext(
                "“{name}” is one of several files of a model, and the others are not beside it. Put them all into one folder, under the names that they came with.",
            ),
            &name,
        ),
        FileFault::Name => about(
            &gettext(
                "“{name}” has a name, or is in a folder with a name, that Natter cannot keep. Give it another one, then add it again.",
            ),
            &name,
        ),
        FileFault::NoModel => about(
            &gettext(
                "“{name}” belongs to a model and is none by itself. Choose the file of the model.",
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
        0..1_000 => (count.to_string(), gettext("{amount} bytes")),
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
        DownloadStage::Asking => gettext("Asking Hugging Face"),
        DownloadStage::Fetching => String::new(),
        DownloadStage::Checking => gettext("Checking"),
        DownloadStage::Resting => gettext("The connection broke; it goes on in a moment"),
    }
}
