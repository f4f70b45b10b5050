//! Reads the facts about a model from its metadata. The names of the entries are those of ggml's
//! `docs/gguf.md` and of llama.cpp's `llama-arch.cpp`.

use crate::header::Header;
use crate::tensor;
use crate::value::Value;

/// Architectures that make vectors and no text.
const EMBEDDERS: [&str; 10] = [
    "bert",
    "eurobert",
    "gemma-embedding",
    "jina-bert-v2",
    "jina-bert-v3",
    "modern-bert",
    "neo-bert",
    "nomic-bert",
    "nomic-bert-moe",
    "t5encoder",
];

impl Header {
    /// The architecture, in llama.cpp's words: `llama`, `qwen3`, `gemma3`.
    pub fn architecture(&self) -> Option<&str> {
        self.text("general.architecture")
    }

    /// What its makers call it, for people.
    pub fn name(&self) -> Option<&str> {
        self.text("general.name").filter(|name| !name.trim().is_empty())
    }

    /// Under which licence it is, in its makers' words: `apache-2.0`.
    pub fn license(&self) -> Option<&str> {
        self.text("general.license")
    }

    /// How large it is, in its makers' words: `135M`, `8x7B`.
    pub fn size_label(&self) -> Option<&str> {
        self.text("general.size_label").filter(|label| !label.trim().is_empty())
    }

    /// The longest window that it was trained with, in tokens.
    pub fn context_length(&self) -> Option<u32> {
        self.of_architecture("context_length")
    }

    /// Its chat template, in Jinja. A blank one is none.
    pub fn chat_template(&self) -> Option<&str> {
        self.text("tokenizer.chat_template").filter(|source| !source.trim().is_empty())
    }

    /// How many parameters it has.
    pub fn parameters(&self) -> u64 {
        self.weights.elements
    }

    /// How many bytes its tensors have.
    pub fn weights(&self) -> u64 {
        self.weights.bytes
    }

    /// How it was quantised (`Q4_K_M`): as the file says, or the type that most of it has.
    pub fn quantization(&self) -> Option<&'static str> {
        if let Some(name) = self.number("general.file_type").and_then(file_type) {
            return Some(name);
        }
        let most = self.weights.by_kind.iter().max_by_key(|(kind, bytes)| (**bytes, **kind));
        most.and_then(|(kind, _)| tensor::name(*kind))
    }

    /// The length of a token's vector.
    pub fn embedding_length(&self) -> Option<u32> {
        self.of_architecture("embedding_length")
    }

    /// The length of the vectors between the two halves of a layer; the longest, where layers
    /// differ.
    pub fn feed_forward_length(&self) -> Option<u32> {
        self.list("feed_forward_length").and_then(|lengths| lengths.into_iter().max())
    }

    /// How many layers it has.
    pub fn layers(&self) -> Option<u32> {
        self.of_architecture("block_count")
    }

    /// How many heads its attention has; the most, where layers differ.
    pub fn heads(&self) -> Option<u32> {
        self.list("attention.head_count").and_then(|heads| heads.into_iter().max())
    }

    /// How many heads of each layer keep keys and values: one number for all layers, or one for
    /// each. Layers with 0 keep none of any window.
    pub fn kv_heads(&self) -> Option<Vec<u32>> {
        self.list("attention.head_count_kv").or_else(|| self.list("attention.head_count"))
    }

    /// The length of a head's keys and of its values.
    pub fn head_lengths(&self) -> Option<(u32, u32)> {
        let plain = || Some(self.embedding_length()? / self.heads().filter(|heads| *heads > 0)?);
        let keys = self.of_architecture("attention.key_length").or_else(plain)?;
        let values = self.of_architecture("attention.value_length").or_else(plain)?;
        Some((keys, values))
    }

    /// How many tokens its vocabulary has.
    pub fn vocabulary(&self) -> Option<u64> {
        match self.entries.get("tokenizer.ggml.tokens") {
            Some(Value::List(count)) => Some(*count),
            _ => self.of_architecture("vocab_size").map(u64::from),
        }
    }

    /// Whether it makes vectors or judges texts, and cannot hold a conversation.
    pub fn is_embedding(&self) -> bool {
        // 0 says that nothing is pooled.
        self.of_architecture("pooling_type").is_some_and(|pooling| pooling != 0)
            || self.architecture().is_some_and(|name| EMBEDDERS.contains(&name))
    }

    /// Whether it is a model at all, and not what belongs to one: a picture's projector, an
    /// adapter, a bare vocabulary. Nor a `clef`, which writes nothing, but scores what it is asked.
    pub fn is_model(&self) -> bool {
        self.architecture().is_some_and(|name| !matches!(name, "clip" | "clef"))
            && self.text("general.type").is_none_or(|kind| kind == "model")
    }

    /// In how many files it was made to be. 1 for most.
    pub fn files(&self) -> u32 {
        let count = self.number("split.count").unwrap_or(1);
        u32::try_from(count).unwrap_or(1).max(1)
    }

    /// A text among the metadata, by its whole name.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.entries.get(key) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A number among the metadata that is whole and not negative, by its whole name.
    pub fn number(&self, key: &str) -> Option<u64> {
        match self.entries.get(key) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// Yes or no among the metadata, by its whole name.
    pub fn flag(&self, key: &str) -> Option<bool> {
        match self.entries.get(key) {
            Some(Value::Bool(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// A number that stands below the architecture's name. One that no real model has is none.
    pub(crate) fn of_architecture(&self, key: &str) -> Option<u32> {
        let number = self.number(&format!("{}.{key}", self.architecture()?))?;
        i32::try_from(number).is_ok().then_some(number as u32)
    }

    /// One number for all layers, or one for each.
    pub(crate) fn list(&self, key: &str) -> Option<Vec<u32>> {
        let small = |number: &u64| i32::try_from(*number).is_ok().then_some(*number as u32);
        match self.entries.get(&format!("{}.{key}", self.architecture()?))? {
            Value::Number(number) => Some(vec![small(number)?]),
            Value::Numbers(numbers) => numbers.iter().map(small).collect(),
            _ => None,
        }
    }
}

/// `enum llama_ftype` of `llama.h`.
fn file_type(number: u64) -> Option<&'static str> {
    Some(match number {
        0 => "F32",
        1 => "F16",
        2 => "Q4_0",
        3 => "Q4_1",
        7 => "Q8_0",
        8 => "Q5_0",
        9 => "Q5_1",
        10 => "Q2_K",
        11 => "Q3_K_S",
        12 => "Q3_K_M",
        13 => "Q3_K_L",
        14 => "Q4_K_S",
        15 => "Q4_K_M",
        16 => "Q5_K_S",
        17 => "Q5_K_M",
        18 => "Q6_K",
        19 => "IQ2_XXS",
        20 => "IQ2_XS",
        21 => "Q2_K_S",
        22 => "IQ3_XS",
        23 => "IQ3_XXS",
        24 => "IQ1_S",
        25 => "IQ4_NL",
        26 => "IQ3_S",
        27 => "IQ3_M",
        28 => "IQ2_S",
        29 => "IQ2_M",
        30 => "IQ4_XS",
        31 => "IQ1_M",
        32 => "BF16",
        36 => "TQ1_0",
        37 => "TQ2_0",
        38 => "MXFP4",
        39 => "NVFP4",
        40 => "Q1_0",
        41 => "Q2_0",
        _ => return None,
    })
}
