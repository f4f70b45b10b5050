//! Loads a model. Its file is checked before llama.cpp sees it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use chat_gguf::Header;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::{LogOptions, send_logs_to_tracing};
use tokio::sync::watch;

use super::{Limits, Order, vocabulary, worker};
use crate::failure::Failure;
use crate::prompt::fallback;
use crate::prompt::guard::Guard;
use crate::prompt::template::Template;

/// This very program, also where another one was put in its place since.
const OURSELVES: &str = "/proc/self/exe";

/// What a loaded model is, for those who ask it.
#[derive(Debug)]
pub struct Facts {
    /// Its own template, or its architecture's; else why it cannot chat.
    pub template: Result<Template, Failure>,
    /// Its own words.
    pub guard: Guard,
    /// The longest window that it was made for, in tokens.
    pub trained_window: u32,
    /// Where orders go. The model is unloaded when all senders are gone.
    pub orders: mpsc::Sender<Order>,
}

/// How far a model is loaded.
#[derive(Clone, Debug)]
pub enum Progress {
    /// So much, of 1.
    Loading(f32),
    /// It can be asked.
    Ready(Arc<Facts>),
    /// It could not be loaded.
    Failed(Failure),
}

/// A model that is being loaded, or is.
#[derive(Debug)]
pub struct Loading {
    /// How far it is.
    pub progress: watch::Receiver<Progress>,
    /// Ends the loading where nobody waits any more, and what is computed where the engine ends.
    pub give_up: Arc<AtomicBool>,
    /// The model's thread: it ends when the model is unloaded.
    pub thread: JoinHandle<()>,
}

/// llama.cpp itself, begun once.
pub(super) fn backend() -> Result<&'static LlamaBackend, Failure> {
    static BACKEND: OnceLock<Result<LlamaBackend, Failure>> = OnceLock::new();
    let backend = BACKEND.get_or_init(|| {
        send_logs_to_tracing(LogOptions::default());
        #[cfg(target_arch = "x86_64")]
        ggml_repack::register();
        LlamaBackend::init().map_err(|error| Failure::Load(error.to_string()))
    });
    backend.as_ref().map_err(Clone::clone)
}

/// Loads a model in a thread of its own, which then computes with it.
///
/// # Errors
/// `Load` where no thread can be had.
pub fn load(path: PathBuf, header: Header, limits: Limits) -> Result<Loading, Failure> {
    let (tell, progress) = watch::channel(Progress::Loading(0.0));
    let give_up = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&give_up);
    let thread = std::thread::Builder::new()
        .name("model".to_owned())
        .spawn(move || run(&path, &header, limits, Arc::new(tell), &stopped))
        .map_err(|error| Failure::Load(error.to_string()))?;
    Ok(Loading { progress, give_up, thread })
}

fn run(
    path: &Path,
    header: &Header,
    limits: Limits,
    tell: Arc<watch::Sender<Progress>>,
    give_up: &Arc<AtomicBool>,
) {
    let loaded = backend().and_then(|backend| Ok((backend, weights(path, &tell, give_up)?)));
    let (backend, model) = match loaded {
        Ok(loaded) => loaded,
        Err(failure) => {
            tell.send_replace(Progress::Failed(failure));
            return;
        }
    };
    let (orders, taken) = mpsc::channel();
    let words = vocabulary::words(&model);
    let facts = Facts {
        template: template(&model, header, &words),
        guard: Guard::new(&words),
        trained_window: model.n_ctx_train().max(1),
        orders,
    };
    tell.send_replace(Progress::Ready(Arc::new(facts)));
    // What was told holds a way to order: none must be kept here.
    drop(tell);
    worker::run(backend, &model, limits, &taken, give_up);
}

fn weights(
    path: &Path,
    tell: &Arc<watch::Sender<Progress>>,
    give_up: &Arc<AtomicBool>,
) -> Result<LlamaModel, Failure> {
    let backend = backend()?;
    let told = Arc::clone(tell);
    let stopped = Arc::clone(give_up);
    let params = LlamaModelParams::default().with_progress_callback(move |progress| {
        told.send_replace(Progress::Loading(progress));
        !stopped.load(Ordering::Relaxed)
    });
    LlamaModel::load_from_file(backend, path, &params).map_err(|error| {
        if give_up.load(Ordering::Relaxed) {
            return Failure::Gone;
        }
        tracing::warn!(%error, "a model was not loaded");
        Failure::Load(
            "llama.cpp cannot load this model: its architecture may be unknown".to_owned(),
        )
    })
}

/// How one chats with a model.
fn template(model: &LlamaModel, header: &Header, words: &[String]) -> Result<Template, Failure> {
    if header.is_embedding() {
        return Err(Failure::CannotChat);
    }
    let vocab = model.vocab();
    let own = header.chat_template();
    let source = own.or_else(|| fallback::template(header.architecture()?, words));
    let source = source.ok_or(Failure::CannotChat)?;
    let word = |token| String::from_utf8_lossy(&vocabulary::piece(&vocab, token)).into_owned();
    let template = Template::new(source, &word(vocab.bos()), &word(vocab.eos()))?;
    Ok(template.run_by(OURSELVES))
}
