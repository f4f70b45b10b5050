//! The floor of the benchmarks: llama.cpp through the same crate, and nothing around it.
//!
//! `bare_loop MODEL THREADS TOKENS`: reads what the person says from standard input, and prints how
//! long the first token took after the model was loaded, and each of the others, in milliseconds.

use std::io::Read;
use std::num::NonZeroU32;
use std::time::Instant;

use anyhow::{Context, Result};
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::sampling::LlamaSampler;

const BATCH: usize = 512;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().context("no model")?;
    let threads: i32 = arguments.next().context("no threads")?.parse()?;
    let tokens: usize = arguments.next().context("no number of tokens")?.parse()?;
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let prompt = format!(
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face\
         <|im_end|>\n<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n"
    );

    let mut backend = LlamaBackend::init()?;
    backend.void_logs();
    let model = LlamaModel::load_from_file(&backend, path, &LlamaModelParams::default())?;
    let params = LlamaContextParams::default()
        .with_n_ctx(NonZeroU32::new(4096))
        .with_n_batch(BATCH as u32)
        .with_n_ubatch(BATCH as u32)
        .with_n_threads(threads)
        .with_n_threads_batch(threads);
    let mut context = model.new_context(&backend, params)?;
    let mut sampler = LlamaSampler::chain_simple([LlamaSampler::greedy()]);
    let mut batch = LlamaBatch::new(BATCH, 1);

    let begun = Instant::now();
    let prompt = model.vocab().tokenize(prompt.as_bytes(), false, true);
    let mut place = 0;
    for piece in prompt.chunks(BATCH) {
        batch.clear();
        for &token in piece {
            place += 1;
            batch.add(token, place - 1, &[0], place as usize == prompt.len())?;
        }
        context.decode(&mut batch)?;
    }
    let mut next = sampler.sample(&context, batch.n_tokens() - 1);
    let first = begun.elapsed();
    let mut written = 0;
    let mut out = Vec::new();
    while written < tokens && !model.vocab().is_eog(next) {
        out.extend(model.vocab().token_to_piece(next, false, None));
        batch.clear();
        batch.add(next, place, &[0], true)?;
        place += 1;
        context.decode(&mut batch)?;
        next = sampler.sample(&context, 0);
        written += 1;
    }
    anyhow::ensure!(written > 0, "the model said nothing");
    let each = begun.elapsed().saturating_sub(first).as_secs_f64() * 1e3 / written as f64;
    println!("{} {each}", first.as_secs_f64() * 1e3);
    Ok(())
}
