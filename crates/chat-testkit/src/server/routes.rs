//! Answers the requests for each path.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, DefaultBodyLimit, State as Shared};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::encode::{Encoder, Protocol, anthropic_error};
use super::player::Player;
use super::record::{End, Log, Recorded, Writer, text_of};
use super::script::{Script, Step};
use super::socket::Peer;
use super::{Gate, Model};

/// A fixed answer of one path.
#[derive(Clone, Debug)]
pub struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Bytes,
    gate: Option<Gate>,
}

impl Answer {
    /// A status with a body.
    pub fn new(status: u16, body: impl Into<Bytes>) -> Self {
        Self { status, headers: Vec::new(), body: body.into(), gate: None }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Answers only once the gate is open.
    #[must_use]
    pub fn gate(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }
}

/// The reports of Ollama's server about a model of two parts, which it fetches.
const PULLED: &str = concat!(
    r#"{"status":"pulling manifest"}"#,
    "\n",
    r#"{"status":"pulling 6a0746a1ec1a","digest":"sha256:6a07","total":1000}"#,
    "\n",
    r#"{"status":"pulling 6a0746a1ec1a","digest":"sha256:6a07","total":1000,"completed":400}"#,
    "\n",
    r#"{"status":"pulling 6a0746a1ec1a","digest":"sha256:6a07","total":1000,"completed":1000}"#,
    "\n",
    r#"{"status":"pulling 4fa551d4f938","digest":"sha256:4fa5","total":24,"completed":24}"#,
    "\n",
    r#"{"status":"verifying sha256 digest"}"#,
    "\n",
    r#"{"status":"writing manifest"}"#,
    "\n",
    r#"{"status":"success"}"#,
    "\n",
);

/// The scripted answers, and the recorded requests.
#[derive(Debug, Default)]
pub(super) struct State {
    says: Mutex<Says>,
    pub log: Arc<Log>,
}

#[derive(Debug)]
pub(super) struct Says {
    pub only: Option<Protocol>,
    pub models: Vec<Model>,
    /// Names of the models in memory.
    pub loaded: Vec<String>,
    pub key: Option<String>,
    pub queue: VecDeque<Script>,
    pub rules: Vec<(String, Script)>,
    pub always: Option<Script>,
    pub answers: HashMap<String, Answer>,
}

impl Default for Says {
    fn default() -> Self {
        Self {
            only: None,
            models: vec![Model::new("scripted")],
            loaded: Vec::new(),
            key: None,
            queue: VecDeque::new(),
            rules: Vec::new(),
            always: None,
            answers: HashMap::new(),
        }
    }
}

impl State {
    pub fn change<T>(&self, change: impl FnOnce(&mut Says) -> T) -> T {
        change(&mut self.says.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Says {
    fn script_for(&mut self, said: &str) -> Script {
        if let Some((_, script)) = self.rules.iter().find(|(text, _)| said.contains(text)) {
            return script.clone();
        }
        let next = self.queue.pop_front().or_else(|| self.always.clone());
        next.unwrap_or_else(|| Script::echo(said))
    }
}

pub(super) fn router(state: Arc<State>) -> Router {
    Router::new().fallback(answer).layer(DefaultBodyLimit::disable()).with_state(state)
}

async fn answer(
    Shared(state): Shared<Arc<State>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = uri.path();
    let (request, writer) = state.log.begin(method.as_str(), path, plain(&headers), body);
    let protocol = match path {
        // Two protocols list their models there.
        _ if path.starts_with("/v1/") && headers.contains_key("anthropic-version") => {
            Protocol::Anthropic
        }
        "/v1/messages" => Protocol::Anthropic,
        _ if path.starts_with("/v1/") => Protocol::OpenAi,
        _ => Protocol::Ollama,
    };

    if let Some(answer) = state.change(|says| says.answers.get(path).cloned()) {
        if let Some(gate) = answer.gate {
            gate.pass().await;
        }
        return fixed(&writer, answer.status, &answer.headers, answer.body);
    }
    if state.change(|says| says.only.is_some_and(|only| only != protocol && path != "/")) {
        return refusal(&writer, 404, &Value::Null);
    }
    let (header, before) = match protocol {
        Protocol::Anthropic => ("x-api-key", ""),
        _ => ("authorization", "Bearer "),
    };
    let expected = state.change(|says| says.key.as_ref().map(|key| format!("{before}{key}")));
    if expected.is_some() && request.headers.get(header) != expected.as_ref() {
        return refusal(&writer, 401, &unauthorized(protocol));
    }

    let models = state.change(|says| says.models.clone());
    let named = |name: &str| models.iter().find(|model| model.answers_to(name)).cloned();
    match path {
        "/" if state.change(|says| says.only.is_none_or(|only| only == Protocol::Ollama)) => {
            fixed(&writer, 200, &[], Bytes::from_static(b"Ollama is running"))
        }
        "/api/version" => json_answer(&writer, 200, &json!({ "version": "0.12.3" })),
        "/api/tags" => {
            let tags: Vec<Value> = models.iter().map(Model::tag).collect();
            json_answer(&writer, 200, &json!({ "models": tags }))
        }
        "/api/show" => match named(request.model()).as_ref().map(Model::show) {
            Some(Some(shown)) => json_answer(&writer, 200, &shown),
            Some(None) => refusal(&writer, 500, &json!({ "error": "cannot read the model" })),
            None => refusal(&writer, 404, &unknown_model(protocol, request.model())),
        },
        "/api/ps" => {
            let loaded = state.change(|says| says.loaded.clone());
            let loaded =
                models.iter().filter(|model| loaded.iter().any(|name| model.answers_to(name)));
            json_answer(
                &writer,
                200,
                &json!({ "models": loaded.map(Model::loaded).collect::<Vec<_>>() }),
            )
        }
        "/api/pull" => {
            let name = request.model().to_owned();
            let script = state.change(|says| {
                let script = says.queue.pop_front();
                if script.is_none() && !says.models.iter().any(|model| model.answers_to(&name)) {
                    says.models.push(Model::new(&name));
                }
                script
            });
            // What the real server reports, in short.
            let lines = script.unwrap_or_else(|| Script::raw(PULLED));
            chat(protocol, &request, lines, writer, peer).await
        }
        "/api/delete" if method == Method::DELETE => {
            let name = request.model().to_owned();
            let removed = state.change(|says| {
                let before = says.models.len();
                says.models.retain(|model| !model.answers_to(&name));
                says.models.len() < before
            });
            if removed {
                fixed(&writer, 200, &[], Bytes::new())
            } else {
                refusal(&writer, 404, &unknown_model(protocol, &name))
            }
        }
        "/api/generate" if request.body["keep_alive"] == 0 => {
            let name = request.model().to_owned();
            if named(&name).is_none() {
                return refusal(&writer, 404, &unknown_model(protocol, &name));
            }
            state.change(|says| says.loaded.retain(|loaded| *loaded != name));
            json_answer(
                &writer,
                200,
                &json!({ "model": name, "done": true, "done_reason": "unload" }),
            )
        }
        "/v1/models" if protocol == Protocol::Anthropic => {
            let entries: Vec<Value> = models.iter().map(Model::listed).collect();
            let list =
                json!({ "data": entries, "has_more": false, "first_id": null, "last_id": null });
            json_answer(&writer, 200, &list)
        }
        "/v1/models" => {
            let entries: Vec<Value> = models.iter().map(Model::entry).collect();
            json_answer(&writer, 200, &json!({ "object": "list", "data": entries }))
        }
        "/api/chat" | "/v1/chat/completions" | "/v1/messages" => {
            if named(request.model()).is_none() {
                return refusal(&writer, 404, &unknown_model(protocol, request.model()));
            }
            // Results of tools may stand in messages of the user, without a text.
            let said = request.texts_of("user").into_iter().rev().find(|text| !text.is_empty());
            let said = said.unwrap_or_default();
            let script = state.change(|says| says.script_for(&said));
            chat(protocol, &request, script, writer, peer).await
        }
        _ => refusal(&writer, 404, &Value::Null),
    }
}

async fn chat(
    protocol: Protocol,
    request: &Recorded,
    script: Script,
    writer: Writer,
    peer: Peer,
) -> Response {
    if let Some(gate) = &script.first {
        gate.pass().await;
    }
    if let Some((status, body)) = &script.status {
        return fixed(&writer, *status, &script.headers, body.clone().into());
    }
    let mut encoder = Encoder::new(protocol, &request.body, &script);
    // Ollama streams unless it is told not to, OpenAI's protocol only if it is told to.
    let streams = request.body["stream"].as_bool().unwrap_or(protocol == Protocol::Ollama);
    let raw = script.steps.iter().any(|step| matches!(step, Step::Raw(_) | Step::LongLine(_)));
    if !streams && !raw {
        let error = script.steps.iter().find_map(|step| match step {
            Step::Error { message, code } => Some((message.clone(), *code)),
            _ => None,
        });
        if let Some((message, code)) = error {
            let body = match protocol {
                Protocol::Ollama => json!({ "error": message }),
                Protocol::OpenAi => json!({ "error": { "message": message, "code": code } }),
                Protocol::Anthropic => anthropic_error(&message, code),
            };
            return refusal(&writer, code, &body);
        }
        let whole = encoder.whole(&script);
        let text = match protocol {
            Protocol::Ollama => text_of(&whole["message"]["content"]),
            Protocol::OpenAi => text_of(&whole["choices"][0]["message"]["content"]),
            Protocol::Anthropic => text_of(&whole["content"]),
        };
        writer.text(&text, false);
        return json_answer(&writer, 200, &whole);
    }
    let kind = match protocol {
        _ if !streams => "application/json",
        Protocol::Ollama => "application/x-ndjson",
        Protocol::OpenAi | Protocol::Anthropic => "text/event-stream",
    };
    let mut response = Response::builder();
    if !script.headers.iter().any(|(name, _)| name == "content-type") {
        response = response.header(header::CONTENT_TYPE, kind);
    }
    for (name, value) in &script.headers {
        response = response.header(name, value);
    }
    let body = Player::new(encoder, script, writer, peer).body();
    response.body(body).expect("the script's headers are headers")
}

fn plain(headers: &HeaderMap) -> BTreeMap<String, String> {
    headers
        .iter()
        .map(|(name, value)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect()
}

fn unauthorized(protocol: Protocol) -> Value {
    match protocol {
        Protocol::Ollama => json!({ "error": "unauthorized" }),
        Protocol::OpenAi => json!({ "error": {
            "message": "Incorrect API key provided.", "type": "invalid_request_error",
            "param": null, "code": "invalid_api_key",
        } }),
        Protocol::Anthropic => anthropic_error("invalid x-api-key", 401),
    }
}

fn unknown_model(protocol: Protocol, name: &str) -> Value {
    match protocol {
        Protocol::Ollama => json!({ "error": format!("model '{name}' not found") }),
        Protocol::OpenAi => json!({ "error": {
            "message": format!("The model `{name}` does not exist or you do not have access to it."),
            "type": "invalid_request_error", "param": null, "code": "model_not_found",
        } }),
        Protocol::Anthropic => anthropic_error(&format!("model: {name}"), 404),
    }
}

fn json_answer(writer: &Writer, status: u16, body: &Value) -> Response {
    let kind = (header::CONTENT_TYPE.to_string(), "application/json".to_owned());
    fixed(writer, status, &[kind], body.to_string().into())
}

fn refusal(writer: &Writer, status: u16, body: &Value) -> Response {
    match body {
        Value::Null => fixed(writer, status, &[], Bytes::from_static(b"404 page not found")),
        body => json_answer(writer, status, body),
    }
}

fn fixed(writer: &Writer, status: u16, headers: &[(String, String)], body: Bytes) -> Response {
    writer.bytes(&body);
    writer.end(End::Complete);
    let status = StatusCode::from_u16(status).expect("a status");
    let json = body.first() == Some(&b'{') && !headers.iter().any(|(n, _)| n == "content-type");
    let mut response = (status, Body::from(body)).into_response();
    if json {
        let kind = header::HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
    }
    for (name, value) in headers {
        let name = header::HeaderName::from_bytes(name.as_bytes()).expect("a header's name");
        let value = header::HeaderValue::from_str(value).expect("a header's value");
        response.headers_mut().insert(name, value);
    }
    response
}
