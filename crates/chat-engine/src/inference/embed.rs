//! Computes embeddings of texts.

use std::num::NonZeroU32;

use llama_cpp_2::context::params::{LlamaContextParams, LlamaPoolingType};
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;

use super::{Embedded, Limits};
use crate::failure::Failure;

/// The longest text, where the model allows longer ones: what stands behind would not matter much.
pub const LONGEST: u32 = 8192;

/// Gives up between two texts where `given_up` says so.
pub(super) fn embed(
    backend: &LlamaBackend,
    model: &LlamaModel,
    limits: Limits,
    texts: &[String],
    given_up: &mut dyn FnMut() -> bool,
) -> Result<Embedded, Failure> {
    let vocab = model.vocab();
    let read: Vec<_> =
        texts.iter().map(|text| vocab.tokenize(text.as_bytes(), true, false)).collect();
    let window = model.n_ctx_train().clamp(1, LONGEST);
    if let Some(tokens) = read.iter().map(Vec::len).find(|&len| len > window as usize) {
        return Err(Failure::TooLong { tokens, window });
    }
    let longest = read.iter().map(Vec::len).max().unwrap_or(0).max(1) as u32;
    let params = LlamaContextParams::default()
        .with_n_ctx(NonZeroU32::new(longest))
        .with_n_batch(longest)
        .with_n_ubatch(longest)
        .with_n_threads(limits.threads)
        .with_n_threads_batch(limits.threads)
        .with_embeddings(true);
    // A model for chat has no way of its own.
    let pooled = model.meta_val_str("general.architecture").is_ok_and(|architecture| {
        model.meta_val_str(&format!("{architecture}.pooling_type")).is_ok()
    });
    let params = if pooled { params } else { params.with_pooling_type(LlamaPoolingType::Mean) };
    let failed = |error: &dyn std::fmt::Display| Failure::Compute(error.to_string());
    let mut context = model.new_context(backend, params).map_err(|error| failed(&error))?;
    let mut batch = LlamaBatch::new(longest as usize, 1);
    let mut vectors = Vec::with_capacity(read.len());
    let tokens = read.iter().map(Vec::len).sum();
    for text in &read {
        if given_up() {
            return Err(Failure::Gone);
        }
        batch.clear();
        for (at, &token) in text.iter().enumerate() {
            batch.add(token, at as i32, &[0], true).map_err(|error| failed(&error))?;
        }
        if text.is_empty() {
            return Err(Failure::Request("a text has no tokens".to_owned()));
        }
        context.clear_kv_cache();
        context.decode(&mut batch).map_err(|error| failed(&error))?;
        let vector = context.embeddings_seq_ith(0).map_err(|error| failed(&error))?;
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        vectors.push(vector.iter().map(|x| x / length).collect());
    }
    Ok(Embedded { vectors, tokens })
}
