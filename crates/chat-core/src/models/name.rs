//! Makes the names of models: short ones that people type, `smollm2-135m` for
//! `SmolLM2-135M-Instruct.Q4_1.gguf`, and the one that every program shows for a model.

use std::path::Path;

use super::{CONNECTION, offer};
use crate::message::ModelRef;

/// The longest name, in bytes.
const LIMIT: usize = 60;

/// Words at the end of a file's name that say nothing of which model it is.
const USUAL: [&str; 6] = ["instruct", "it", "chat", "gguf", "imat", "hf"];

/// The name that people read for a model, the same everywhere; its id is `ModelRef`'s text.
pub fn display_name(model: &ModelRef) -> &str {
    if model.connection == CONNECTION { title(&model.model) } else { without_path(&model.model) }
}

/// The same for a model on this computer, by the name under which it is installed: what its makers call it,
/// where the catalogue knows that.
pub fn title(installed: &str) -> &str {
    offer(installed).map_or_else(|| without_path(installed), |offer| offer.title.as_str())
}

/// The server of llama.cpp names a model by the path of its file.
fn without_path(model: &str) -> &str {
    let Some(path) = model.strip_suffix(".gguf") else { return model };
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    if file.is_empty() { model } else { file }
}

/// The name of a model that a file holds. Never empty, and of letters, digits, `.`, `_` and `-`.
pub(super) fn of_file(path: &Path) -> String {
    let first = chat_gguf::parts(path).and_then(|parts| parts.into_iter().next());
    let name = first.as_deref().unwrap_or(path).file_name().unwrap_or_default();
    let name = name.to_string_lossy().to_lowercase();
    let stem = name.strip_suffix(".gguf").unwrap_or(&name);
    let stem = if first.is_some() { &stem[..stem.len() - "-00001-of-00001".len()] } else { stem };
    cleaned(shortened(stem))
}

/// A name that somebody else gave: `Qwen3:8B` of Ollama becomes `qwen3-8b`.
pub(super) fn of_words(words: &str) -> String {
    cleaned(&words.to_lowercase())
}

/// The same name with a number, or with how the model is quantised, where it is taken.
pub(super) fn free(name: &str, quantization: Option<&str>, taken: impl Fn(&str) -> bool) -> String {
    let quantised = quantization.map(|kind| format!("{name}-{}", kind.to_lowercase()));
    let numbered = (2..).map(|n| format!("{name}-{n}"));
    let all = std::iter::once(name.to_owned()).chain(quantised).chain(numbered);
    all.into_iter().find(|name| !taken(name)).unwrap_or_default()
}

/// Removes the quantization and common suffixes.
fn shortened(stem: &str) -> &str {
    let mut stem = stem;
    while let Some((rest, last)) = stem.rsplit_once(['-', '.']) {
        if rest.is_empty() || !(USUAL.contains(&last) || is_quantization(last)) {
            break;
        }
        stem = rest;
    }
    stem
}

/// Whether a word names a quantisation: `q4_k_m`, `iq3_xxs`, `bf16`, `mxfp4`, or belongs to one
/// (`ud` for one that differs from layer to layer).
fn is_quantization(word: &str) -> bool {
    let word = word.strip_prefix('i').unwrap_or(word);
    matches!(word, "f16" | "f32" | "bf16" | "fp16" | "mxfp4" | "nvfp4" | "ud" | "mixed")
        || ["q", "tq"].iter().any(|start| {
            word.strip_prefix(start)
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        })
}

fn cleaned(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c {
            'a'..='z' | '0'..='9' | '.' | '_' => out.push(c),
            _ if out.ends_with('-') => {}
            _ => out.push('-'),
        }
    }
    out.truncate(LIMIT);
    // A point at the beginning would hide its folder.
    let out = out.trim_matches(['-', '.', '_']);
    if out.is_empty() { "model".to_owned() } else { out.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Server", "/home/ada/models/SmolLM2-135M.Q4_1.gguf", "SmolLM2-135M.Q4_1")]
    #[case("Server", "C:\\models\\qwen.gguf", "qwen")]
    #[case("Server", "qwen.gguf", "qwen")]
    #[case("Server", "qwen3:8b", "qwen3:8b")]
    #[case("Server", "openai/gpt-oss-20b", "openai/gpt-oss-20b")]
    #[case("Server", "models/.gguf", "models/.gguf")]
    #[case("Server", "smollm2-135m", "smollm2-135m")]
    #[case(CONNECTION, "smollm2-135m", "SmolLM2 135M")]
    #[case(CONNECTION, "nimble", "nimble")]
    fn a_model_has_one_name_for_people(
        #[case] connection: &str,
        #[case] model: &str,
        #[case] shown: &str,
    ) {
        assert_eq!(display_name(&ModelRef::new(connection, model)), shown);
    }

    #[test]
    fn names_are_short() {
        for (file, name) in [
            ("SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2-135m"),
            ("SmolLM2-135M-Instruct-Q4_K_M.gguf", "smollm2-135m"),
            ("qwen2.5-coder-7b-instruct-q4_k_m.gguf", "qwen2.5-coder-7b"),
            ("gemma-3-270m-it-UD-IQ3_XXS.gguf", "gemma-3-270m"),
            ("gpt-oss-20b-mxfp4.gguf", "gpt-oss-20b"),
            ("Big-Q4_0-00002-of-00003.gguf", "big"),
            ("Phi-4-mini-instruct-BF16.gguf", "phi-4-mini"),
            ("My model (draft).gguf", "my-model-draft"),
            ("模型.gguf", "model"),
            ("q4_0.gguf", "q4_0"),
            ("..gguf", "model"),
            ("model", "model"),
        ] {
            assert_eq!(of_file(Path::new(file)), name, "{file}");
        }
        assert_eq!(of_words("Qwen3:8B"), "qwen3-8b");
    }

    #[test]
    fn a_taken_name_gets_what_tells_it_apart() {
        let taken = |names: &'static [&'static str]| move |name: &str| names.contains(&name);
        assert_eq!(free("a", Some("Q8_0"), taken(&[])), "a");
        assert_eq!(free("a", Some("Q8_0"), taken(&["a"])), "a-q8_0");
        assert_eq!(free("a", Some("Q8_0"), taken(&["a", "a-q8_0", "a-2"])), "a-3");
        assert_eq!(free("a", None, taken(&["a"])), "a-2");
    }

    proptest! {
        #[test]
        fn every_name_is_fit_for_a_folder(file in "\\PC{0,80}") {
            for name in [of_file(Path::new(&file)), of_words(&file)] {
                prop_assert!(!name.is_empty() && name.len() <= LIMIT);
                prop_assert!(!name.starts_with('.') && !name.contains('/'), "{}", name);
            }
        }
    }
}
