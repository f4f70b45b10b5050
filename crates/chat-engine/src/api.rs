//! Serves the engine's HTTP API: OpenAI's protocol, and a lease.

pub mod reply;

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::stream;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::answer::{Answer, Event};
use crate::failure::Failure;
use crate::inference::{self, Order, Progress};
use crate::life::Life;
use crate::models::Models;
use crate::request::{ChatBody, EmbeddingsBody, Sampling};
use reply::Writer;

/// The longest request, in bytes: a whole window of text many times over.
const LONGEST: usize = 64 << 20;
/// The window where a request names none, in tokens.
const WINDOW: u32 = 8192;
/// Tokens that a model puts round a text that is to be embedded.
const AROUND: usize = 8;

/// What the answers are made with.
#[derive(Clone, Debug)]
pub struct Engine {
    /// The models.
    pub models: Arc<Models>,
    /// How long the engine lives.
    pub life: Arc<Life>,
}

/// All that can be asked.
pub fn router(engine: Engine) -> Router {
    Router::new()
        .route("/lease", get(lease))
        .route("/v1/models", get(models))
        .route("/v1/chat/completions", post(chat))
        .route("/v1/embeddings", post(embeddings))
        .layer(DefaultBodyLimit::max(LONGEST))
        .with_state(engine)
}

/// A front end that wants the engine to live as long as this is read.
async fn lease(State(engine): State<Engine>) -> Response {
    let lease = engine.life.lease();
    let hello = json!({ "pid": std::process::id() }).to_string() + "\n";
    let lines = stream::unfold((Some(hello), lease), async move |(hello, lease)| {
        if let Some(hello) = hello {
            return Some((Ok::<_, Infallible>(Bytes::from(hello)), (None, lease)));
        }
        lease.over().await;
        None
    });
    Body::from_stream(lines).into_response()
}

async fn models(State(engine): State<Engine>) -> Response {
    let list: Vec<_> = engine
        .models
        .paths()
        .iter()
        .map(
            |path| json!({ "id": path.to_string_lossy(), "object": "model", "owned_by": "natter" }),
        )
        .collect();
    answer(StatusCode::OK, &json!({ "object": "list", "data": list }))
}

async fn chat(State(engine): State<Engine>, body: Bytes) -> Response {
    match begin_chat(&engine, &body).await {
        Ok(response) => response,
        Err(failure) => refuse(&failure),
    }
}

async fn begin_chat(engine: &Engine, bytes: &Bytes) -> Result<Response, Failure> {
    let (body, sampling): (ChatBody, Sampling) = (read(bytes)?, read(bytes)?);
    let work = engine.life.work();
    let window = body.context_window.unwrap_or(WINDOW);
    let model = engine.models.get(&body.model, window).await?;
    let mut writer = Writer::new(&body.model.to_string_lossy());
    let streams = body.stream;
    let mut answering = Answer::new(model, body, sampling);
    if !streams {
        return whole(answering, &writer).await;
    }
    // What fails at once has a status of its own.
    let first = match answering.next().await {
        Some(Event::Failed(failure)) => return Err(failure),
        Some(first) => writer.write(&first),
        None => return Err(Failure::Gone),
    };
    let events = stream::unfold(
        (Some(first), answering, writer, work),
        async move |(first, mut answering, mut writer, work)| {
            let text = match first {
                Some(first) => first,
                None => writer.write(&answering.next().await?),
            };
            Some((Ok::<_, Infallible>(Bytes::from(text)), (None, answering, writer, work)))
        },
    );
    let kind = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")];
    Ok((kind, Body::from_stream(events)).into_response())
}

async fn whole(mut answering: Answer, writer: &Writer) -> Result<Response, Failure> {
    let mut pieces = Vec::new();
    while let Some(event) = answering.next().await {
        match event {
            Event::Piece(piece) => pieces.push(piece),
            Event::End { reason, timings } => {
                return Ok(answer(StatusCode::OK, &writer.whole(&pieces, reason, &timings)));
            }
            Event::Failed(failure) => return Err(failure),
            Event::Loading(_) | Event::Queued | Event::Reading { .. } | Event::Working => {}
        }
    }
    Err(Failure::Gone)
}

async fn embeddings(State(engine): State<Engine>, body: Bytes) -> Response {
    match embed(&engine, &body).await {
        Ok(value) => answer(StatusCode::OK, &value),
        Err(failure) => refuse(&failure),
    }
}

async fn embed(engine: &Engine, bytes: &Bytes) -> Result<Value, Failure> {
    let body: EmbeddingsBody = read(bytes)?;
    let name = body.model.to_string_lossy().into_owned();
    let texts = body.input.all();
    // Each answer stands at its text's place: none can be left out.
    if texts.is_empty() || texts.iter().any(String::is_empty) {
        return Err(Failure::Request("there is nothing to embed".to_owned()));
    }
    // A text has no more tokens than bytes, but for the words round it.
    let longest = texts.iter().map(String::len).max().unwrap_or(0);
    let window = u32::try_from(longest + AROUND).unwrap_or(u32::MAX).min(inference::LONGEST_TEXT);
    let mut model = engine.models.get(&body.model, window).await?;
    let facts = loop {
        let progress = model.progress.borrow_and_update().clone();
        match progress {
            Progress::Ready(facts) => break facts,
            Progress::Failed(failure) => return Err(failure),
            Progress::Loading(_) => model.progress.changed().await.map_err(|_| Failure::Gone)?,
        }
    };
    let (answer, got) = oneshot::channel();
    facts.orders.send(Order::Embed { texts, answer }).map_err(|_| Failure::Gone)?;
    drop(facts);
    let embedded = got.await.map_err(|_| Failure::Gone)??;
    let data: Vec<_> = embedded
        .vectors
        .iter()
        .enumerate()
        .map(
            |(index, vector)| json!({ "object": "embedding", "index": index, "embedding": vector }),
        )
        .collect();
    let usage = json!({ "prompt_tokens": embedded.tokens, "total_tokens": embedded.tokens });
    Ok(json!({ "object": "list", "model": name, "data": data, "usage": usage }))
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(bytes)
        .map_err(|error| Failure::Request(format!("the request cannot be read: {error}")))
}

fn refuse(failure: &Failure) -> Response {
    let status = StatusCode::from_u16(failure.status());
    answer(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), &failure.body())
}

fn answer(status: StatusCode, value: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}
