//! How much memory a model needs, before it is loaded.

use crate::header::Header;

/// How many tokens llama.cpp evaluates at once: the buffers for computing are made for so many.
const BATCH: u64 = 512;
/// Keys and values are kept as numbers of so many bytes.
const KEPT: u64 = 2;
/// What is computed are numbers of so many bytes.
const COMPUTED: u64 = 4;
/// What the engine needs beside: the vocabulary, the graph, its own code.
const ROOM: u64 = 32 << 20;

impl Header {
    /// How many bytes the model needs with a window of so many tokens: the weights, the keys and
    /// values of each token, and what it computes with. An estimate that is rather too high:
    /// layers that look back only a little way are counted as if they kept the whole window.
    pub fn memory(&self, context: u32) -> u64 {
        [self.weights(), self.kept(u64::from(context)), self.buffers(u64::from(context)), ROOM]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Keys and values for each token of the window, and the state of layers that keep one instead.
    fn kept(&self, context: u64) -> u64 {
        let layers = u64::from(self.layers().unwrap_or(0));
        let heads = match self.kv_heads() {
            Some(heads) if heads.len() == 1 => u64::from(heads[0]).saturating_mul(layers),
            Some(heads) => heads.into_iter().map(u64::from).fold(0, u64::saturating_add),
            None => 0,
        };
        let (keys, values) = self.head_lengths().unwrap_or((0, 0));
        let token = heads.saturating_mul(u64::from(keys) + u64::from(values)).saturating_mul(KEPT);
        token.saturating_mul(context).saturating_add(self.state(layers))
    }

    /// The state of a model such as Mamba, which does not grow with the window.
    fn state(&self, layers: u64) -> u64 {
        let of = |key| u64::from(self.of_architecture(key).unwrap_or(0));
        let inner = of("ssm.inner_size");
        let row = of("ssm.state_size").saturating_add(of("ssm.conv_kernel"));
        layers.saturating_mul(inner).saturating_mul(row).saturating_mul(COMPUTED)
    }

    /// What one batch is computed with: the scores of all words, or a layer's vectors, and which
    /// token sees which.
    fn buffers(&self, context: u64) -> u64 {
        let words = self.vocabulary().unwrap_or(0);
        let embedding = u64::from(self.embedding_length().unwrap_or(0));
        let inner = u64::from(self.feed_forward_length().unwrap_or(0));
        let layer = embedding.saturating_mul(8).saturating_add(inner.saturating_mul(3));
        let row = words.max(layer).saturating_add(context);
        row.saturating_mul(BATCH).saturating_mul(COMPUTED)
    }
}
