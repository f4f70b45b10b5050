//! Chooses the next token.

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::data::LlamaTokenData;
use llama_cpp_2::token::data_array::LlamaTokenDataArray;
use llama_cpp_2::token::logit_bias::LlamaLogitBias;

use super::Grammar;
use crate::failure::Failure;
use crate::request::Sampling;

/// At repeated sequences across these one does not mind (llama.cpp's own choice).
const BREAKERS: [&str; 4] = ["\n", ":", "\"", "*"];

/// llama.cpp's word for a new seed each time (`LLAMA_DEFAULT_SEED`).
const RANDOM: u32 = u32::MAX;

/// Chooses the tokens of one answer.
pub(super) struct Picker {
    chain: LlamaSampler,
    grammar: Option<LlamaSampler>,
    /// How many tokens before the answer its penalties look at.
    looks_back: usize,
}

impl Picker {
    pub fn new(
        model: &LlamaModel,
        sampling: &Sampling,
        grammar: Option<&Grammar>,
    ) -> Result<Self, Failure> {
        let grammar = match grammar.map(|grammar| (grammar, grammar.sampler(model))) {
            None => None,
            Some((_, Ok(sampler))) => Some(sampler),
            // What the model may do and need not goes without, and is read as it comes.
            Some((grammar, Err(error))) if !grammar.holds_all() => {
                tracing::warn!(?error, "calls are not held to their schemas");
                None
            }
            Some((_, Err(error))) => return Err(error),
        };
        Ok(Self { chain: chain(model, sampling), grammar, looks_back: looks_back(sampling) })
    }

    /// The prompt's tokens count for the penalties too.
    pub fn accept_prompt(&mut self, tokens: impl DoubleEndedIterator<Item = i32>) {
        let mut last: Vec<_> = tokens.rev().take(self.looks_back).collect();
        last.reverse();
        for token in last {
            self.chain.accept(LlamaToken(token));
        }
    }

    /// Chooses from the scores of an output of the last evaluation.
    pub fn pick(&mut self, context: &LlamaContext<'_>, output: i32) -> LlamaToken {
        let Some(grammar) = &mut self.grammar else { return self.chain.sample(context, output) };
        // A grammar is slow over a whole vocabulary, and mostly agrees with the choice.
        let mut all = context.token_data_array_ith(output);
        self.chain.apply(&mut all);
        let mut chosen = selected(&all);
        let mut one = LlamaTokenDataArray::new(vec![LlamaTokenData::new(chosen, 1.0, 0.0)], false);
        grammar.apply(&mut one);
        if one.data.first().is_none_or(|data| data.logit() == f32::NEG_INFINITY) {
            let mut all = context.token_data_array_ith(output);
            grammar.apply(&mut all);
            self.chain.apply(&mut all);
            chosen = selected(&all);
        }
        self.chain.accept(chosen);
        grammar.accept(chosen);
        chosen
    }
}

/// How many earlier tokens the penalties that are on look at.
fn looks_back(sampling: &Sampling) -> usize {
    // Below 0 is the whole window.
    let tokens = |count: i32| usize::try_from(count).unwrap_or(usize::MAX);
    let penalties = if penalises(sampling) { tokens(sampling.repeat_last_n) } else { 0 };
    let dry = if sampling.dry_multiplier > 0.0 { tokens(sampling.dry_penalty_last_n) } else { 0 };
    penalties.max(dry)
}

fn penalises(sampling: &Sampling) -> bool {
    let Sampling { repeat_penalty, presence_penalty, frequency_penalty, .. } = *sampling;
    (repeat_penalty, presence_penalty, frequency_penalty) != (1.0, 0.0, 0.0)
}

fn selected(all: &LlamaTokenDataArray) -> LlamaToken {
    let selected = all.selected_token();
    selected.or_else(|| all.data.first().map(LlamaTokenData::id)).unwrap_or(LlamaToken(0))
}

/// The samplers in llama.cpp's order (`common/sampling.cpp`).
fn chain(model: &LlamaModel, sampling: &Sampling) -> LlamaSampler {
    let seed = sampling.seed.map_or(RANDOM, |seed| seed as u32);
    let words = model.n_vocab();
    let mut chain = Vec::new();
    let biases: Vec<LlamaLogitBias> = sampling
        .logit_bias
        .iter()
        .filter_map(|(token, &bias)| {
            let token = token.parse().ok().filter(|&token| token >= 0 && token < words)?;
            Some(LlamaLogitBias::new(LlamaToken(token), bias))
        })
        .collect();
    if !biases.is_empty() {
        chain.push(LlamaSampler::logit_bias(words, &biases));
    }
    if penalises(sampling) {
        chain.push(LlamaSampler::penalties(
            words,
            sampling.repeat_last_n,
            sampling.repeat_penalty,
            sampling.frequency_penalty,
            sampling.presence_penalty,
        ));
    }
    if sampling.dry_multiplier > 0.0 {
        chain.push(LlamaSampler::dry(
            model,
            sampling.dry_multiplier,
            sampling.dry_base,
            sampling.dry_allowed_length,
            sampling.dry_penalty_last_n,
            BREAKERS,
        ));
    }
    if sampling.temperature <= 0.0 {
        chain.push(LlamaSampler::greedy());
        return LlamaSampler::chain(chain, true);
    }
    match sampling.mirostat {
        1 => {
            chain.push(LlamaSampler::temp(sampling.temperature));
            let Sampling { mirostat_tau: tau, mirostat_eta: eta, .. } = *sampling;
            chain.push(LlamaSampler::mirostat(words, seed, tau, eta, 100));
        }
        2 => {
            chain.push(LlamaSampler::temp(sampling.temperature));
            let Sampling { mirostat_tau: tau, mirostat_eta: eta, .. } = *sampling;
            chain.push(LlamaSampler::mirostat_v2(seed, tau, eta));
        }
        _ => {
            if sampling.top_n_sigma > 0.0 {
                chain.push(LlamaSampler::top_n_sigma(sampling.top_n_sigma));
            }
            if sampling.top_k > 0 {
                chain.push(LlamaSampler::top_k(sampling.top_k));
            }
            if sampling.typical_p < 1.0 {
                chain.push(LlamaSampler::typical(sampling.typical_p, 1));
            }
            if sampling.top_p < 1.0 {
                chain.push(LlamaSampler::top_p(sampling.top_p, 1));
            }
            if sampling.min_p > 0.0 {
                chain.push(LlamaSampler::min_p(sampling.min_p, 1));
            }
            if sampling.xtc_probability > 0.0 {
                let Sampling { xtc_probability: chance, xtc_threshold: from, .. } = *sampling;
                chain.push(LlamaSampler::xtc(chance, from, 1, seed));
            }
            chain.push(LlamaSampler::temp(sampling.temperature));
            chain.push(LlamaSampler::dist(seed));
        }
    }
    LlamaSampler::chain(chain, true)
}
