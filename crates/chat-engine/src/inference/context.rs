//! Holds a model's memory, and evaluates tokens into it. llama.cpp asks between the steps of an
//! evaluation, some hundreds for a token, whether it is still wanted: one that nobody waits for ends
//! in its middle.

use std::ffi::c_void;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::{DecodeError, LlamaContextLoadError};
use llama_cpp_sys_2::llama_context_params;
use tokio::sync::mpsc::UnboundedSender;

use super::JobEvent;

/// What `llama_decode` gives where it was ended in its middle.
const ENDED: i32 = 2;

/// A model's memory.
#[derive(Debug)]
pub(super) struct Context<'a> {
    /// Goes first: it holds on to the place of what follows.
    context: LlamaContext<'a>,
    listeners: Box<Listeners>,
}

/// How an evaluation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evaluated {
    /// All of it is in memory.
    All,
    /// Nobody waited for it any more: part of it may be in memory.
    Ended,
}

/// Who waits for the evaluation at hand.
#[derive(Debug, Default)]
struct Listeners(Mutex<Vec<UnboundedSender<JobEvent>>>);

impl Listeners {
    fn set(&self, listeners: Vec<UnboundedSender<JobEvent>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = listeners;
    }

    fn have_gone(&self) -> bool {
        let listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        !listeners.is_empty() && listeners.iter().all(UnboundedSender::is_closed)
    }
}

impl<'a> Context<'a> {
    pub fn new(
        model: &'a LlamaModel,
        backend: &LlamaBackend,
        mut params: LlamaContextParams,
    ) -> Result<Self, LlamaContextLoadError> {
        let listeners = Box::<Listeners>::default();
        ask_between_steps(&mut params, &listeners);
        Ok(Self { context: model.new_context(backend, params)?, listeners })
    }

    /// Evaluates a batch for those who wait for it.
    pub fn evaluate(
        &mut self,
        batch: &mut LlamaBatch<'_>,
        listeners: Vec<UnboundedSender<JobEvent>>,
    ) -> Result<Evaluated, DecodeError> {
        self.listeners.set(listeners);
        let decoded = self.context.decode(batch);
        self.listeners.set(Vec::new());
        match decoded {
            Ok(()) => Ok(Evaluated::All),
            Err(DecodeError::Unknown(ENDED)) => Ok(Evaluated::Ended),
            Err(error) => Err(error),
        }
    }

    /// Takes a conversation's memory back to so many tokens. Gives whether that went; if not, it is
    /// as it was.
    pub fn take_back(&mut self, sequence: u32, tokens: usize) -> bool {
        self.context.clear_kv_cache_seq(Some(sequence), Some(tokens as u32), None) == Ok(true)
    }

    /// Forgets a conversation.
    pub fn forget(&mut self, sequence: u32) {
        // All of one can always be forgotten.
        let _ = self.context.clear_kv_cache_seq(Some(sequence), None, None);
    }
}

impl<'a> Deref for Context<'a> {
    type Target = LlamaContext<'a>;

    fn deref(&self) -> &Self::Target {
        &self.context
    }
}

/// Has llama.cpp ask between the steps of an evaluation whether these still listen.
#[expect(unsafe_code, reason = "the bindings have no safe way to llama.cpp's abort callback")]
fn ask_between_steps(params: &mut LlamaContextParams, listeners: &Listeners) {
    const {
        // So the bindings' type has llama.cpp's as its only field with a size.
        assert!(size_of::<LlamaContextParams>() == size_of::<llama_context_params>());
        assert!(align_of::<LlamaContextParams>() == align_of::<llama_context_params>());
    };
    let params: *mut llama_context_params = (&raw mut *params).cast();
    // SAFETY: it points to a `llama_context_params`, which is what `LlamaContextParams` consists of
    // (its source is pinned, its size and alignment are asserted), and nobody else uses it now.
    let params = unsafe { &mut *params };
    params.abort_callback = Some(have_gone);
    // `Context` keeps the listeners at this place for as long as llama.cpp has the pointer.
    params.abort_callback_data = std::ptr::from_ref(listeners).cast_mut().cast();
}

/// Whether nobody listens any more. Called by llama.cpp, which then ends.
#[expect(unsafe_code, reason = "what llama.cpp calls gets a bare pointer")]
unsafe extern "C" fn have_gone(listeners: *mut c_void) -> bool {
    // SAFETY: llama.cpp passes what it was given with this function by `ask_between_steps`: listeners
    // that live as long as the context, and that are only ever shared.
    let listeners = unsafe { &*listeners.cast::<Listeners>() };
    listeners.have_gone()
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use llama_cpp_2::model::params::LlamaModelParams;
    use tokio::sync::mpsc;

    use super::*;
    use crate::inference::load::backend;

    #[test]
    fn an_evaluation_that_nobody_waits_for_ends_and_leaves_the_memory_as_it_was() {
        let Some(path) = std::env::var_os(chat_testkit::real::MODEL) else {
            assert!(std::env::var_os("CI").is_none(), "the small model is missing");
            return;
        };
        let backend = backend().unwrap();
        let params = LlamaModelParams::default();
        let model = LlamaModel::load_from_file(backend, path, &params).unwrap();
        let text = model.vocab().tokenize("one two three ".repeat(20).as_bytes(), true, false);
        let scores = |ended: bool| {
            let params = LlamaContextParams::default()
                .with_n_ctx(NonZeroU32::new(256))
                .with_n_threads(1)
                .with_n_threads_batch(1);
            let mut context = Context::new(&model, backend, params).unwrap();
            let mut batch = LlamaBatch::new(text.len(), 1);
            let mut evaluate = |from: usize, to: usize, listens: bool| {
                batch.clear();
                for (at, &token) in text.iter().enumerate().take(to).skip(from) {
                    batch.add(token, at as i32, &[0], at + 1 == to).unwrap();
                }
                let (said, hear) = mpsc::unbounded_channel();
                let hear = Some(hear).filter(|_| listens);
                let evaluated = context.evaluate(&mut batch, vec![said]).unwrap();
                drop(hear);
                if evaluated == Evaluated::Ended {
                    assert!(context.take_back(0, from));
                }
                (evaluated, batch.n_tokens() - 1)
            };
            assert_eq!(evaluate(0, 20, true).0, Evaluated::All);
            if ended {
                assert_eq!(evaluate(20, text.len(), false).0, Evaluated::Ended);
            }
            let (evaluated, last) = evaluate(20, text.len(), true);
            assert_eq!(evaluated, Evaluated::All);
            context.get_logits_ith(last).to_vec()
        };
        assert_eq!(scores(true), scores(false));
    }
}
