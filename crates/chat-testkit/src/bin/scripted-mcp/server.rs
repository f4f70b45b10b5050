//! Answers messages, in both revisions of the protocol.

use std::collections::HashMap;
use std::io::BufRead;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard};
use std::thread::Scope;

use serde_json::{Value, json};

use super::output::{Output, refusal};
use super::{Eras, Mode, Options, bad, catalog, tools};

const OLD: &str = "2025-11-25";
const NEW: &str = "2026-07-28";
/// What names in `_meta` begin with.
const META: &str = "io.modelcontextprotocol";

pub struct Server {
    pub options: Options,
    pub output: Output,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Where to reach the calls that are running, by the JSON of their ids.
    calls: HashMap<String, Sender<News>>,
    /// The requests by which a client of the new revision hears of changes.
    subscriptions: Vec<Value>,
    /// What a client of the old revision can do, once it has connected.
    old_client: Option<Value>,
    has_changed: bool,
}

/// What a running call is told.
pub enum News {
    Cancelled,
    /// What the user answered.
    Answer(Value),
}

pub struct Request {
    pub id: Value,
    pub method: String,
    pub params: Value,
}

/// A running call of a tool.
pub struct Call<'a> {
    pub server: &'a Server,
    pub request: &'a Request,
    pub news: Receiver<News>,
}

impl Request {
    /// What the client says of itself in the new revision.
    fn meta(&self, name: &str) -> &Value {
        &self.params["_meta"][format!("{META}/{name}")]
    }

    pub fn is_new(&self) -> bool {
        self.meta("protocolVersion") == NEW
    }

    fn key(&self) -> String {
        self.id.to_string()
    }
}

impl Server {
    pub fn new(options: Options) -> Self {
        Self { options, output: Output::new(), state: Mutex::default() }
    }

    /// Serves until the input ends.
    pub fn serve(&self) {
        std::thread::scope(|scope| {
            for line in std::io::stdin().lock().lines().map_while(Result::ok) {
                match serde_json::from_str(&line) {
                    Ok(message) => self.take(scope, message),
                    Err(error) => eprintln!("no JSON ({error}): {line}"),
                }
            }
            // Calls that wait for something hear that nothing comes.
            self.state().calls.clear();
        });
    }

    fn take<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, mut message: Value) {
        if self.options.mode == Mode::Silent {
            return;
        }
        let (id, params) = (message["id"].take(), message["params"].take());
        let Some(method) = message["method"].as_str().map(str::to_owned) else {
            return self.hear(&id, message);
        };
        if id.is_null() {
            return self.note(&method, &params);
        }
        let request = Request { id, method, params };
        if bad::answer(self, &request) {
            return;
        }
        match request.method.as_str() {
            "tools/call" => {
                let (sender, news) = channel();
                self.state().calls.insert(request.key(), sender);
                scope.spawn(move || self.call(&request, news));
            }
            "subscriptions/listen" => self.listen(request),
            _ => {
                let answer = self.answer(&request);
                self.output.answer(&request.id, answer.map(|result| complete(&request, result)));
                if self.options.mode == Mode::ListsOnce && request.method == "tools/list" {
                    self.change();
                }
            }
        }
    }

    /// A client's answer to a question.
    fn hear(&self, id: &Value, message: Value) {
        let state = self.state();
        let call = id.as_str().and_then(|id| state.calls.get(id));
        if let Some(call) = call {
            let _ = call.send(News::Answer(message));
        }
    }

    /// A client's notification.
    fn note(&self, method: &str, params: &Value) {
        if method != "notifications/cancelled" {
            return;
        }
        let id = &params["requestId"];
        let mut state = self.state();
        state.subscriptions.retain(|subscription| subscription != id);
        if let Some(call) = state.calls.get(&id.to_string()) {
            let _ = call.send(News::Cancelled);
        }
    }

    fn answer(&self, request: &Request) -> Result<Value, Value> {
        match request.method.as_str() {
            "server/discover" => self.discover(),
            "initialize" => self.initialize(request),
            "ping" => Ok(json!({})),
            "tools/list" => self.tools(&request.params["cursor"]),
            _ => catalog::answer(request)
                .unwrap_or_else(|| Err(refusal(-32601, "There is no such method."))),
        }
    }

    fn discover(&self) -> Result<Value, Value> {
        if self.options.era == Eras::Old {
            return Err(refusal(-32601, "There is no such method."));
        }
        let mut result = about();
        result["supportedVersions"] = json!([NEW]);
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("private");
        result["resultType"] = json!("complete");
        result["_meta"] = json!({ format!("{META}/serverInfo"): result["serverInfo"].take() });
        result.as_object_mut().map(|result| result.remove("serverInfo"));
        Ok(result)
    }

    fn initialize(&self, request: &Request) -> Result<Value, Value> {
        if self.options.era == Eras::New {
            let mut error = refusal(-32022, "Unsupported protocol version");
            let requested = &request.params["protocolVersion"];
            error["data"] = json!({ "supported": [NEW], "requested": requested });
            return Err(error);
        }
        self.state().old_client = Some(request.params["capabilities"].clone());
        let mut result = about();
        result["protocolVersion"] = json!(OLD);
        Ok(result)
    }

    fn listen(&self, request: Request) {
        let filter = &request.params["notifications"];
        let wanted = filter["toolsListChanged"] == true;
        let accepted = if wanted { json!({ "toolsListChanged": true }) } else { json!({}) };
        let about = json!({ "_meta": subscription(&request.id), "notifications": accepted });
        self.output.notify("notifications/subscriptions/acknowledged", &about);
        if wanted {
            self.state().subscriptions.push(request.id);
        }
    }

    /// A page of the tools as they are now.
    fn tools(&self, cursor: &Value) -> Result<Value, Value> {
        if self.options.mode == Mode::BadTools {
            return tools::page(&bad::tools(), 0, cursor);
        }
        let is_updated = self.options.changed_if.as_ref().is_some_and(|file| file.exists());
        let has_changed = self.state().has_changed || is_updated;
        tools::page(&tools::all(has_changed), self.options.tools, cursor)
    }

    fn call(&self, request: &Request, news: Receiver<News>) {
        let answer = tools::call(&Call { server: self, request, news });
        self.state().calls.remove(&request.key());
        // Nobody waits for a call that was cancelled.
        if let Some(answer) = answer {
            self.output.answer(&request.id, answer.map(|result| complete(request, result)));
        }
        if self.options.mode == Mode::Changing {
            self.change();
        }
    }

    /// The tools are others from now on: says so to whoever wants to know, once.
    fn change(&self) {
        let (subscriptions, is_old) = {
            let mut state = self.state();
            if std::mem::replace(&mut state.has_changed, true) {
                return;
            }
            (state.subscriptions.clone(), state.old_client.is_some())
        };
        let method = "notifications/tools/list_changed";
        for id in subscriptions {
            self.output.notify(method, &json!({ "_meta": subscription(&id) }));
        }
        if is_old {
            self.output.notify(method, &json!({}));
        }
    }

    /// Whether it said that its tools are others.
    pub fn has_changed(&self) -> bool {
        self.state().has_changed
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while holding it")
    }
}

impl Call<'_> {
    /// Whether the client shows forms to the user.
    pub fn can_ask(&self) -> bool {
        let asks = |client: &Value| client.get("elicitation").is_some();
        if self.request.is_new() {
            return asks(self.request.meta("clientCapabilities"));
        }
        self.server.state().old_client.as_ref().is_some_and(asks)
    }

    /// The id of a question that this call asks: by it the answer finds the call.
    pub fn question_id(&self) -> String {
        self.request.key()
    }
}

/// What the server says of itself.
fn about() -> Value {
    json!({
        "serverInfo": { "name": "scripted", "title": "Scripted", "version": "1.0" },
        "capabilities": {
            "tools": { "listChanged": true },
            "resources": {},
            "prompts": {},
            "completions": {},
        },
        "instructions": "For tests. Call echo before anything else.",
    })
}

/// A result as its revision has it.
fn complete(request: &Request, mut result: Value) -> Value {
    if request.is_new() && result.get("resultType").is_none() {
        result["resultType"] = json!("complete");
        if request.method.ends_with("/list") || request.method == "resources/read" {
            result["ttlMs"] = json!(0);
            result["cacheScope"] = json!("private");
        }
    }
    result
}

fn subscription(id: &Value) -> Value {
    json!({ format!("{META}/subscriptionId"): id })
}
