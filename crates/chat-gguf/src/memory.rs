//! Estimates how much memory a model needs, before it is loaded.

use crate::header::Header;

/// How many tokens llama.cpp evaluates at once: the buffers for computing are made for so many.
const BATCH: u64 = 512;
/// Keys and values are kept as numbers of so many bytes.
const KEPT: u64 = 2;
/// What is computed are numbers of so many bytes.
const COMPUTED: u64 = 4;
/// What the engine needs beside: the vocabulary, the graph, its own code.
const ROOM: u64 = 32 << 20;
/// More layers than any model has.
const MOST_LAYERS: u32 = 4_096;

impl Header {
    /// How many bytes the model needs with a window of so many tokens: the weights, the keys and
    /// values of each token, and what it computes with. An estimate that is rather too high.
    pub fn memory(&self, context: u32) -> u64 {
        [self.weights(), self.kept(u64::from(context)), self.buffers(u64::from(context)), ROOM]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Keys and values for each token of the window, and the state of layers that keep one instead.
    fn kept(&self, context: u64) -> u64 {
        let layers = self.layers().unwrap_or(0);
        let heads = self.kv_heads().unwrap_or_default();
        let (keys, values) = self.head_lengths().unwrap_or((0, 0));
        let far = u64::from(keys) + u64::from(values);
        // Layers that look back only a little way keep the whole window, so that it can be gone
        // back to; but their heads may be shorter.
        let near = self.of_architecture("attention.key_length_swa").map_or(far, |keys| {
            let values = self.of_architecture("attention.value_length_swa").unwrap_or(keys);
            u64::from(keys) + u64::from(values)
        });
        let is_near = self.list("attention.sliding_window_pattern").filter(|list| list.len() > 1);
        let is_near = is_near.unwrap_or_default();
        let keeps_state = self.keeps_state();
        // The last layers may use what those before them keep.
        let shared = self.of_architecture("attention.shared_kv_layers").unwrap_or(0);
        let of_layer = |layer: u32| {
            let at = layer as usize;
            let heads = heads.get(if heads.len() == 1 { 0 } else { at }).copied().unwrap_or(0);
            let near_by = is_near.get(at).is_some_and(|near| *near != 0);
            if keeps_state(layer) {
                return 0;
            }
            u64::from(heads).saturating_mul(if near_by { near } else { far })
        };
        let own = layers.saturating_sub(shared).min(MOST_LAYERS);
        let token = (0..own).map(of_layer).fold(0, u64::saturating_add).saturating_mul(KEPT);
        token.saturating_mul(context).saturating_add(self.state(u64::from(layers)))
    }

    /// Whether a layer keeps a state instead of keys and values. Source: llama.cpp,
    /// `src/models/qwen35.cpp`.
    fn keeps_state(&self) -> impl Fn(u32) -> bool {
        let told = self.list("attention.recurrent_layers").filter(|list| list.len() > 1);
        let every = self.of_architecture("full_attention_interval").filter(|every| *every > 0);
        move |layer| match (&told, every) {
            (Some(told), _) => told.get(layer as usize).is_some_and(|state| *state != 0),
            (None, Some(every)) => !(layer + 1).is_multiple_of(every),
            (None, None) => false,
        }
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
