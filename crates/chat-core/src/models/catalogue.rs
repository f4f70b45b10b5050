//! Reads the catalogue of recommended models, `data/models.toml`, which ships inside the program. It
//! says where to look; the repository says what is there now.

use std::path::Path;
use std::sync::LazyLock;

use serde::Deserialize;

use super::file_pattern::FilePattern;
use super::hub::RemoteModel;
use super::library::{Installed, Source};
use crate::message::{Sampling, Thinking};

/// A model of the catalogue. What the fields mean stands at the head of `data/models.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// What people type. Short and unique.
    pub name: String,
    /// What its makers call it.
    pub title: String,
    /// What it is good for: one line, in English; front ends translate it.
    pub good_for: String,
    /// How many parameters it has, as its makers count them: `1.5B`.
    pub parameters: String,
    /// How many bytes of memory it needs with a window of 8,192 tokens.
    pub memory: u64,
    /// Its licence, by its SPDX name where it has one.
    pub licence: String,
    /// The longest window that it was made for, in tokens.
    pub context: u32,
    /// Whether it calls tools.
    pub tools: bool,
    /// Whether it sees pictures.
    pub vision: bool,
    /// Whether it can think before it answers.
    pub thinking: bool,
    /// Where its file is: `owner/name`.
    pub repository: String,
    /// Which file it is there: a pattern.
    pub file: String,
    /// How many bytes it had when the entry was made.
    pub size: u64,
    /// How its makers recommend that its tokens are chosen; what they do not say the engine decides.
    #[serde(default)]
    pub sampling: Sampling,
    /// The same where it is not to think; as usual where that is not said.
    #[serde(default)]
    pub sampling_without_thinking: Option<Sampling>,
    /// Where these facts were found, and when.
    pub source: String,
}

#[derive(Deserialize)]
struct Shipped {
    model: Vec<Offer>,
}

/// All models of the catalogue, the smallest first.
pub fn catalogue() -> &'static [Offer] {
    static OFFERS: LazyLock<Vec<Offer>> = LazyLock::new(|| {
        let shipped = toml::from_str::<Shipped>(include_str!("../../../../data/models.toml"));
        // A test reads it: what ships can be read.
        shipped.map(|shipped| shipped.model).unwrap_or_default()
    });
    &OFFERS
}

/// The model of the catalogue that has this name, whichever case its letters have.
pub fn offer(name: &str) -> Option<&'static Offer> {
    catalogue().iter().find(|offer| offer.name.eq_ignore_ascii_case(name))
}

/// Whether a name is that of a model of the catalogue and this is not known to be that one.
pub(super) fn is_of_another(name: &str, model: &Installed) -> bool {
    offer(name).is_some_and(|offer| match &model.source {
        Some(source) => !offer.is_from(source),
        None => !offer.is_copy(&model.path, model.size),
    })
}

/// What is recommended for a model on this machine; nothing for one that the catalogue does not have.
pub fn recommended(model: &Installed, thinking: Thinking) -> Sampling {
    let file = model.path.file_name().unwrap_or_default().to_string_lossy();
    let source = model.source.as_ref();
    let is_of = |offer: &&Offer| match source {
        Some(source) => offer.is_from(source),
        None => offer.is_file(&file),
    };
    let Some(offer) = catalogue().iter().find(is_of) else { return Sampling::default() };
    match offer.sampling_without_thinking {
        Some(sampling) if thinking == Thinking::Off => sampling,
        _ => offer.sampling,
    }
}

impl Offer {
    /// Whether this is the file that the entry means.
    pub fn means(&self, model: &RemoteModel) -> bool {
        self.repository.eq_ignore_ascii_case(&model.repository) && self.is_file(&model.file)
    }

    /// Whether it was downloaded from where the entry says.
    fn is_from(&self, source: &Source) -> bool {
        self.repository.eq_ignore_ascii_case(&source.repository) && self.is_file(&source.file)
    }

    /// Whether a file that came some other way is the one that the entry means: anybody may give a file its name,
    /// so that it must have its size too.
    pub(super) fn is_copy(&self, path: &Path, size: u64) -> bool {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        size == self.size && self.is_file(&file)
    }

    /// Whether a file of this name is the one that the entry means, wherever it came from.
    pub(super) fn is_file(&self, path: &str) -> bool {
        FilePattern::new(&self.file).fits(path)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs;

    use chat_gguf::write::Writer;

    use super::*;
    use crate::models::{Facts, hub, name};

    #[test]
    fn what_ships_can_be_read_and_makes_sense() {
        let shipped = toml::from_str::<Shipped>(include_str!("../../../../data/models.toml"));
        shipped.map_err(|error| error.to_string()).unwrap();
        let offers = catalogue();
        assert!(offers.len() >= 8, "{}", offers.len());
        let names: HashSet<_> = offers.iter().map(|offer| offer.name.as_str()).collect();
        assert_eq!(names.len(), offers.len(), "names are unique");
        for offer in offers {
            assert_eq!(name::of_words(&offer.name), offer.name);
            assert!(hub::is_repository(&offer.repository), "{}", offer.name);
            let kind = offer.file.rsplit('.').next();
            assert_eq!(kind, Some("gguf"), "{}", offer.name);
            assert!(offer.memory > offer.size, "{}", offer.name);
            assert!(offer.context >= 2_048 && offer.size > 50_000_000, "{}", offer.name);
            for words in [&offer.title, &offer.good_for, &offer.licence, &offer.source] {
                assert!(!words.trim().is_empty(), "{}", offer.name);
            }
            assert!(!offer.good_for.contains('\n'), "{}", offer.name);
            let both = [Some(offer.sampling), offer.sampling_without_thinking];
            for sampling in both.into_iter().flatten() {
                let within = |value: Option<f64>, most: f64| {
                    value.is_none_or(|value| (0.0..=most).contains(&value))
                };
                let fits = within(sampling.temperature, 2.0)
                    && within(sampling.top_p, 1.0)
                    && within(sampling.min_p, 1.0)
                    && within(sampling.repeat_penalty, 2.0)
                    && within(sampling.presence_penalty, 2.0);
                assert!(fits, "{}", offer.name);
                let is_sourced =
                    sampling == Sampling::default() || offer.source.contains("sampling:");
                assert!(is_sourced, "{}", offer.name);
            }
        }
    }

    #[test]
    fn an_entry_is_found_by_its_name_and_knows_its_file() {
        let smallest = offer("SmolLM2-135M").unwrap();
        assert!(smallest.is_file("SmolLM2-135M-Instruct.Q4_1.gguf"));
        assert!(!smallest.is_file("SmolLM2-360M-Instruct.Q4_1.gguf"));
        assert!(offer("nothing").is_none());
    }
    /// What a file's header says of its memory is what the catalogue says, for the kinds whose
    /// layers do not all keep the same. The numbers are those that the catalogue notes.
    #[test]
    fn a_header_needs_as_much_memory_as_the_catalogue_says() {
        let qwen = |layers: u32, heads: u32, width: u32| {
            Writer::new()
                .text("general.architecture", "qwen35")
                .number("qwen35.block_count", layers)
                .number("qwen35.full_attention_interval", 4)
                .number("qwen35.attention.head_count_kv", heads)
                .number("qwen35.attention.key_length", 256)
                .number("qwen35.attention.value_length", 256)
                .number("qwen35.ssm.inner_size", width)
                .number("qwen35.ssm.state_size", 128)
                .number("qwen35.ssm.conv_kernel", 4)
                .number("qwen35.vocab_size", 248_320)
        };
        let gemma = |heads: &[u32]| {
            // Of six layers the last looks back all the way.
            let near: Vec<u32> = (0..heads.len()).map(|layer| u32::from(layer % 6 != 5)).collect();
            Writer::new()
                .text("general.architecture", "gemma4")
                .number("gemma4.block_count", heads.len() as u32)
                .numbers("gemma4.attention.head_count_kv", heads)
                .numbers("gemma4.attention.sliding_window_pattern", &near)
                .number("gemma4.attention.key_length", 512)
                .number("gemma4.attention.value_length", 512)
                .number("gemma4.attention.key_length_swa", 256)
                .number("gemma4.attention.value_length_swa", 256)
                .number("gemma4.vocab_size", 262_144)
        };
        let heads: Vec<u32> = (0..48).map(|layer| if layer % 6 == 5 { 1 } else { 8 }).collect();
        for (name, header) in [
            ("qwen3.5-2b", qwen(24, 2, 2_048)),
            ("qwen3.5-4b", qwen(32, 4, 4_096)),
            ("qwen3.5-9b", qwen(32, 4, 4_096)),
            ("gemma-4-e4b", gemma(&[2; 42]).number("gemma4.attention.shared_kv_layers", 18)),
            ("gemma-4-12b", gemma(&heads)),
        ] {
            let offer = offer(name).unwrap();
            let file = tempfile::NamedTempFile::new().unwrap();
            let header = header.tensor("t", &[offer.size / 4], 0).header();
            fs::write(file.path(), &header).unwrap();
            // As long as it says, and with nothing in it.
            file.as_file().set_len(header.len() as u64 + offer.size).unwrap();
            let said = Facts::read(file.path()).unwrap().memory.with_window(8_192);
            let apart = said.abs_diff(offer.memory);
            assert!(apart * 100 < offer.memory, "{name}: {said} and not {}", offer.memory);
        }
    }
}
