//! Runs the scripted model server as a program: for benchmarks, and for trying the window by hand.
//!
//! Prints its port as the first line, then serves until it is killed. Every chat request gets the
//! same reply, set by the options; without options the server echoes the message.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chat_testkit::server::{Model, Protocol, Script, Server, Split, text};
use clap::{Parser, ValueEnum};

/// Speaks Ollama's, OpenAI's and Anthropic's protocols and says what it is told to.
#[derive(Debug, Parser)]
#[command(name = "scripted-llm")]
struct Options {
    /// The port; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Speak one protocol only.
    #[arg(long)]
    only: Option<Only>,
    /// A model's name; may be given several times.
    #[arg(long = "model", default_value = "scripted")]
    models: Vec<String>,
    /// Want this key.
    #[arg(long)]
    key: Option<String>,
    /// How many chunks a reply has.
    #[arg(long)]
    chunks: Option<usize>,
    /// How many chunks a second; without it they go as fast as they can.
    #[arg(long)]
    rate: Option<f64>,
    /// How many bytes of Markdown a reply has; without it each chunk is a short word.
    #[arg(long)]
    bytes: Option<usize>,
    /// How many blocks of code are in these bytes.
    #[arg(long, default_value_t = 0)]
    code_blocks: usize,
    /// How many chunks of thinking come before the reply.
    #[arg(long, default_value_t = 0)]
    thinking: usize,
    /// How many milliseconds pass before the first chunk.
    #[arg(long, default_value_t = 0)]
    delay: u64,
    /// What goes wrong after the chunks.
    #[arg(long)]
    fault: Option<Fault>,
    /// Tear the bytes apart at random places, the same for the same seed.
    #[arg(long)]
    split_seed: Option<u64>,
    /// A file that gets every request and every answer's end as lines of JSON.
    #[arg(long)]
    requests_log: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Only {
    Ollama,
    Openai,
    Anthropic,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Fault {
    /// An error object in mid-stream.
    Error,
    /// The connection is closed.
    Cut,
    /// The connection is reset.
    Reset,
    /// Nothing more comes.
    Stall,
    /// The model ends at its limit of tokens.
    Length,
    /// The server refuses at once: 503.
    Busy,
    /// The server refuses at once: 429, try again in 2 seconds.
    RateLimited,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let mut server = Server::start_on(options.port)
        .with_models(options.models.iter().map(|name| Model::new(name)));
    if let Some(only) = options.only {
        server = server.only(match only {
            Only::Ollama => Protocol::Ollama,
            Only::Openai => Protocol::OpenAi,
            Only::Anthropic => Protocol::Anthropic,
        });
    }
    if let Some(key) = &options.key {
        server = server.with_key(key);
    }
    if let Some(file) = &options.requests_log {
        server = server.with_log(file);
    }
    if let Some(script) = script(&options) {
        server.always(script);
    }

    let mut out = std::io::stdout();
    writeln!(out, "{}", server.port())?;
    out.flush()?;
    // Serves until it is ended from outside.
    loop {
        std::thread::park();
    }
}

/// The reply to everything; none where no option speaks of it.
fn script(options: &Options) -> Option<Script> {
    match options.fault {
        Some(Fault::Busy) => return Some(Script::status(503, r#"{"error":"server busy"}"#)),
        Some(Fault::RateLimited) => {
            let refusal = Script::status(429, r#"{"error":"too many requests"}"#);
            return Some(refusal.header("retry-after", "2"));
        }
        _ => {}
    }
    let said = options.chunks.is_some() || options.bytes.is_some() || options.fault.is_some();
    if !said && options.thinking == 0 && options.delay == 0 {
        return None;
    }
    let mut script = Script::new();
    if options.delay > 0 {
        script = script.pause(Duration::from_millis(options.delay));
    }
    if options.thinking > 0 {
        let thoughts: Arc<[String]> = words(options.thinking).into();
        script = script.thinking_pieces(thoughts, options.rate);
    }
    let pieces = match options.bytes {
        Some(bytes) => {
            let text = text::markdown(bytes, options.code_blocks);
            text::pieces(&text, options.chunks.unwrap_or(bytes / 20 + 1))
        }
        None => words(options.chunks.unwrap_or(10)),
    };
    script = match options.rate {
        Some(rate) => script.paced(pieces, rate),
        None => script.flat_out(pieces),
    };
    script = match options.fault {
        Some(Fault::Error) => script.error("the model runner has stopped unexpectedly"),
        Some(Fault::Cut) => script.cut(),
        Some(Fault::Reset) => script.reset(),
        Some(Fault::Stall) => script.stall(),
        Some(Fault::Length) => script.finish("length"),
        _ => script,
    };
    if let Some(seed) = options.split_seed {
        script = script.split(Split::Random(seed));
    }
    Some(script)
}

/// Short pieces as a model's tokens are, in lines of a dozen.
fn words(count: usize) -> Vec<String> {
    let end = |n: usize| if n.is_multiple_of(12) { "\n\n" } else { " " };
    (1..=count).map(|n| text::word(n) + end(n)).collect()
}
