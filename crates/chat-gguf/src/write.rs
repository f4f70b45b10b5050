//! Makes small GGUF files, for tests: whole ones, and ones that lie.

/// A file in the making: its metadata, and the tensors behind it.
#[derive(Clone, Debug)]
pub struct Writer {
    version: u32,
    entries: Vec<Vec<u8>>,
    tensors: Vec<Tensor>,
    /// How many entries and tensors the file says that it has, where that is not the truth.
    claims: (Option<u64>, Option<u64>),
    fill: u8,
}

/// A tensor: what it is called, how it is shaped and what it holds.
#[derive(Clone, Debug)]
struct Tensor {
    name: String,
    shape: Vec<u64>,
    kind: u32,
    /// In bytes.
    size: u64,
    /// Its bytes; else it is filled with one.
    values: Option<Vec<u8>>,
}

impl Default for Writer {
    fn default() -> Self {
        Self {
            version: 3,
            entries: Vec::new(),
            tensors: Vec::new(),
            claims: (None, None),
            fill: 0x5a,
        }
    }
}

/// The alignment of tensors, in bytes.
const ALIGNMENT: usize = 32;

impl Writer {
    /// A file that holds nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// A tiny model of the architecture `llama` that could chat and call tools: whole and sound,
    /// with numbers of no meaning. `size` is how many bytes its one large tensor has, a multiple
    /// of 4.
    #[must_use]
    pub fn tiny(name: &str, size: u64) -> Self {
        Self::new()
            .text("general.architecture", "llama")
            .text("general.name", name)
            .text("general.license", "apache-2.0")
            .number("general.file_type", 0)
            .number("llama.context_length", 2_048)
            .number("llama.embedding_length", 64)
            .number("llama.block_count", 2)
            .number("llama.feed_forward_length", 128)
            .number("llama.attention.head_count", 4)
            .number("llama.attention.head_count_kv", 2)
            .text("tokenizer.chat_template", "{% for m in messages %}{{ m.content }}{% endfor %}")
            .texts("tokenizer.ggml.tokens", &["<s>", "</s>", "a", "b"])
            .tensor("token_embd.weight", &[size / 4], 0)
    }

    /// Another version of the format.
    #[must_use]
    pub fn version(mut self, version: u32) -> Self {
        self.version = version;
        self
    }

    /// An entry with a text.
    #[must_use]
    pub fn text(self, key: &str, value: &str) -> Self {
        self.entry(key, 8, &string(value))
    }

    /// An entry with a number of 4 bytes.
    #[must_use]
    pub fn number(self, key: &str, value: u32) -> Self {
        self.entry(key, 4, &value.to_le_bytes())
    }

    /// An entry with a list of numbers of 4 bytes.
    #[must_use]
    pub fn numbers(self, key: &str, values: &[u32]) -> Self {
        let mut bytes = 4_u32.to_le_bytes().to_vec();
        bytes.extend((values.len() as u64).to_le_bytes());
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self.entry(key, 9, &bytes)
    }

    /// An entry with a list of texts.
    #[must_use]
    pub fn texts(self, key: &str, values: &[&str]) -> Self {
        let mut bytes = 8_u32.to_le_bytes().to_vec();
        bytes.extend((values.len() as u64).to_le_bytes());
        bytes.extend(values.iter().flat_map(|value| string(value)));
        self.entry(key, 9, &bytes)
    }

    /// An entry of any type, with the bytes of its value.
    #[must_use]
    pub fn entry(mut self, key: &str, kind: u32, value: &[u8]) -> Self {
        let mut entry = string(key);
        entry.extend(kind.to_le_bytes());
        entry.extend(value);
        self.entries.push(entry);
        self
    }

    /// A tensor with this shape and type, and with room for it; put behind the last one.
    #[must_use]
    pub fn tensor(mut self, name: &str, shape: &[u64], kind: u32) -> Self {
        let (length, bytes) = crate::tensor::block(kind).unwrap_or((1, 0));
        let elements = shape.iter().fold(1_u64, |all, length| all.wrapping_mul(*length));
        let size = elements / length * bytes;
        let (name, shape) = (name.to_owned(), shape.to_vec());
        self.tensors.push(Tensor { name, shape, kind, size, values: None });
        self
    }

    /// A tensor of numbers of 4 bytes, of which `value` gives the one at each place.
    #[must_use]
    pub fn values(mut self, name: &str, shape: &[u64], value: impl FnMut(u64) -> f32) -> Self {
        self = self.tensor(name, shape, 0);
        if let Some(tensor) = self.tensors.last_mut() {
            let values = (0..tensor.size / 4).map(value);
            tensor.values = Some(values.flat_map(f32::to_le_bytes).collect());
        }
        self
    }

    /// Says that there are so many tensors and entries, whatever there is.
    #[must_use]
    pub fn claiming(mut self, tensors: Option<u64>, entries: Option<u64>) -> Self {
        self.claims = (tensors, entries);
        self
    }

    /// What the tensors hold, so that two files differ.
    #[must_use]
    pub fn filled_with(mut self, fill: u8) -> Self {
        self.fill = fill;
        self
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = self.header();
        let begin = out.len();
        for tensor in &self.tensors {
            pad(&mut out, begin);
            match &tensor.values {
                Some(values) => out.extend(values),
                None => out.resize(out.len() + tensor.size as usize, self.fill),
            }
        }
        out
    }

    /// The file up to where its tensors begin.
    pub fn header(&self) -> Vec<u8> {
        let (tensors, entries) = self.claims;
        let mut out = b"GGUF".to_vec();
        out.extend(self.version.to_le_bytes());
        out.extend(tensors.unwrap_or(self.tensors.len() as u64).to_le_bytes());
        out.extend(entries.unwrap_or(self.entries.len() as u64).to_le_bytes());
        out.extend(self.entries.iter().flatten());
        let mut offset = 0_u64;
        for Tensor { name, shape, kind, size, .. } in &self.tensors {
            out.extend(string(name));
            out.extend((shape.len() as u32).to_le_bytes());
            out.extend(shape.iter().flat_map(|length| length.to_le_bytes()));
            out.extend(kind.to_le_bytes());
            out.extend(offset.to_le_bytes());
            offset = (offset + size).next_multiple_of(ALIGNMENT as u64);
        }
        pad(&mut out, 0);
        out
    }
}

fn pad(out: &mut Vec<u8>, begin: usize) {
    let length = (out.len() - begin).next_multiple_of(ALIGNMENT);
    out.resize(begin + length, 0);
}

fn string(text: &str) -> Vec<u8> {
    let mut out = (text.len() as u64).to_le_bytes().to_vec();
    out.extend(text.as_bytes());
    out
}
