//! Tests whether a model's scores are the same, to the last bit, for several tokens in one
//! evaluation as for one after another. llama.cpp does not promise it: some of its kernels add in
//! another order. Where they are not, the words of an answer that one can ask for again would depend
//! on what was drafted.

use std::ops::RangeInclusive;

use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;

use super::context::{Context, Evaluated};
use super::{Job, Limits, worker};
use crate::draft::MOST;

/// With several threads llama.cpp parts a longer memory among them, but only for a single token: that is
/// added in another order. (`ggml_compute_forward_flash_attn_ext_f16`: from 512 on, in steps of 256.)
const UNDIVIDED: usize = 256;
/// A window for a few tokens.
const WINDOW: u32 = 256;
/// Tokens at these places are compared, from the end: kernels may take the first ones in groups, and the
/// last ones alone.
const COMPARED: [usize; 3] = [MOST, MOST / 2, 0];

/// Up to how many tokens in memory drafts change nothing. Takes as long as about seven tokens; nothing where
/// nobody waits for the job any more, or it cannot be found out.
pub(super) fn reach(
    backend: &LlamaBackend,
    model: &LlamaModel,
    limits: Limits,
    job: &Job,
) -> Option<usize> {
    // A graphics card's kernels are chosen by how much there is to compute.
    if cfg!(any(feature = "vulkan", feature = "cuda")) {
        return Some(0);
    }
    Some(match (is_exact(backend, model, limits, job)?, limits.threads) {
        (false, _) => 0,
        (true, 1) => usize::MAX,
        (true, _) => UNDIVIDED,
    })
}

fn is_exact(backend: &LlamaBackend, model: &LlamaModel, limits: Limits, job: &Job) -> Option<bool> {
    let params = worker::params(Limits { slots: 1, ..limits }, WINDOW);
    let mut context = Context::new(model, backend, params).ok()?;
    let mut batch = LlamaBatch::new(MOST + 1, 1);
    let mut scores = |places: RangeInclusive<usize>| {
        // What is evaluated again goes first.
        let ready = context.take_back(0, *places.start());
        batch.clear();
        for at in places.clone() {
            // Any tokens will do.
            let token = LlamaToken((37 * at as i32 + 11) % model.n_vocab().max(1));
            batch.add(token, at as i32, &[0], true).ok()?;
        }
        let evaluated = context.evaluate(&mut batch, vec![job.said.clone()]).ok()?;
        let outputs = 0..batch.n_tokens();
        (ready && evaluated == Evaluated::All)
            .then(|| outputs.map(|at| context.get_logits_ith(at).to_vec()).collect::<Vec<_>>())
    };
    let together = scores(0..=MOST)?;
    for at in COMPARED {
        if scores(at..=at)?[0] != together[at] {
            return Some(false);
        }
    }
    Some(true)
}
