//! Converts text to tokens and back with a model's vocabulary.

use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::vocab::LlamaVocab;

use crate::prompt::guard::{Stretch, stretches};
use crate::prompt_cache::Token;

/// The text of a token; words of the model's own are written out.
pub(super) fn piece(vocab: &LlamaVocab<'_>, token: LlamaToken) -> Vec<u8> {
    // A vocabulary without such a word names it -1, at which llama.cpp throws.
    if token.0 < 0 { Vec::new() } else { vocab.token_to_piece(token, true, None) }
}

/// The words that are the model's own.
pub(super) fn words(model: &LlamaModel) -> Vec<String> {
    let vocab = model.vocab();
    let own = vocab.tokens().filter(|&token| vocab.is_control(token));
    own.filter_map(|token| String::from_utf8(piece(&vocab, token)).ok()).collect()
}

/// The tokens of a prompt, or of its end where the beginning is known.
pub(super) fn read(model: &LlamaModel, prompt: &str, from_start: bool) -> Vec<Token> {
    let vocab = model.vocab();
    let bos = vocab.bos();
    // Most templates write the first word themselves.
    let written = from_start && prompt.as_bytes().starts_with(&piece(&vocab, bos));
    let add_first = from_start && !written && vocab.should_add_bos();
    let mut out = Vec::new();
    if add_first && bos.0 >= 0 {
        out.push(Token { id: bos.0, piece: Vec::new(), special: true });
    }
    for stretch in stretches(prompt) {
        let (text, source, special) = match stretch {
            Stretch::Prompt(text) => (text, text, true),
            Stretch::Text { marked, text } => (text, marked, false),
        };
        let tokens = vocab.tokenize(text.as_bytes(), false, special);
        append(&vocab, &tokens, source, text, &mut out);
    }
    out
}

/// Adds tokens with the part of the source that each stands for.
fn append(
    vocab: &LlamaVocab<'_>,
    tokens: &[LlamaToken],
    source: &str,
    text: &str,
    out: &mut Vec<Token>,
) {
    let mut pieces: Vec<Vec<u8>> = tokens.iter().map(|&token| piece(vocab, token)).collect();
    let joined = pieces.concat();
    if joined != text.as_bytes() {
        // Some vocabularies put a space before the first word.
        let spaced = joined.strip_prefix(b" ") == Some(text.as_bytes());
        if let Some(first) = pieces.first_mut().filter(|_| spaced) {
            first.remove(0);
        } else {
            // Then the stretch is known as a whole or not at all.
            pieces.iter_mut().for_each(Vec::clear);
            if let Some(last) = pieces.last_mut() {
                text.as_bytes().clone_into(last);
            }
        }
    }
    if let Some((before, after)) = source.split_once(text).filter(|_| source != text) {
        if let Some(first) = pieces.first_mut() {
            first.splice(0..0, before.bytes());
        }
        if let Some(last) = pieces.last_mut() {
            last.extend_from_slice(after.as_bytes());
        }
    }
    let marked = source != text;
    out.extend(tokens.iter().zip(pieces).map(|(&token, piece)| Token {
        id: token.0,
        piece,
        special: !marked && vocab.is_control(token),
    }));
}
