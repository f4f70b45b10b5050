//! `web_search`: returns the results of a search service. The tool is absent until one is set up.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chat_core::message::{Preview, ToolView};
use chat_core::settings::{Connection, KeyStore, SearchProvider, SearchSettings, ToolSettings};
use chat_core::tool::{
    Audience, CallData, Label, Labels, N_, OutputForm, Tense, Tool, ToolContext, ToolFailure,
    ToolGroup, ToolIcon, ToolInfo, ToolKind, ToolOutput,
};
use chat_permission::reach::Reach;
use chat_permission::{Action, Request as Wanted};
use reqwest::{Client, Request, StatusCode, Url};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::spec::{arguments, spec};
use crate::web::answer::Budget;
use crate::web::destination::{self, USER_AGENT, innermost, provide_tls};
use crate::web::error::WebError;
use crate::web::search::{self, Hit, Query};

/// The default number of results.
const COUNT: usize = 8;
/// The maximum number of results; no service returns more at once.
const MOST: usize = 20;
/// The largest answer that is read, in bytes; typical ones have some ten thousand.
const ANSWER: usize = 4 << 20;
/// The maximum time for connecting.
const CONNECT: Duration = Duration::from_secs(10);

/// What the tool takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// What to search for
    query: String,
    /// Results, 1 to 20; default 8
    #[schemars(range(min = 1, max = 20))]
    count: Option<usize>,
}

/// The tool.
pub struct WebSearch {
    info: ToolInfo,
    keys: Arc<KeyStore>,
}

impl Default for WebSearch {
    fn default() -> Self {
        Self::new(Arc::default())
    }
}

impl WebSearch {
    /// Creates the tool with the program's key store.
    pub fn new(keys: Arc<KeyStore>) -> Self {
        Self { info: info(), keys }
    }

    async fn search(
        &self,
        arguments: Arguments,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolFailure> {
        let words = arguments.query.trim().to_owned();
        if words.is_empty() {
            return Err(ToolFailure::new("The query is empty. Give words to search for."));
        }
        let settings = context.settings.search.as_ref();
        let settings = settings.ok_or_else(|| ToolFailure::new("No search service is set up."))?;
        let provider = settings.provider;
        let base = base(settings)?;
        let (host, _) = destination::by_name(&base)?;
        let key = self.key(settings).await?;
        let count = arguments.count.unwrap_or(COUNT).clamp(1, MOST);
        let query = Query { words, count };
        let client = client(&base)?;
        let request = search::question(provider, &client, &base, key.as_deref(), &query).build();
        // Only the user's own address, or an invalid key, can be wrong here.
        let request = request.map_err(|_| {
            ToolFailure::new("The search service's address or key in the settings is not valid.")
        })?;
        // The address is the user's own setting, so a service on their own machine is allowed.
        let wanted = Wanted::Network { host: host.clone(), private: false, leads_to: Vec::new() };
        context.permit(wanted, Preview::Address { url: request_line(&request) }).await?;
        let mut budget = Budget::new(context.settings.fetch_seconds, 0);
        let (status, body) = budget.within(&host, send(&client, request, &host)).await?;
        let hits = search::results(provider, status, &body, count);
        let hits = hits.map_err(|refusal| ToolFailure::new(refusal.to_string()))?;
        let view = ToolView::WebSearched { query: query.words, results: hits.len() as u64 };
        Ok(ToolOutput::text(result_list(&hits)).view(view))
    }

    /// The service's key, from the source in the settings.
    async fn key(&self, settings: &SearchSettings) -> Result<Option<String>, ToolFailure> {
        let provider = settings.provider;
        let connection = Connection {
            name: provider.key_name().to_owned(),
            kind: None,
            url: String::new(),
            key: settings.key.clone(),
            models: Vec::new(),
            requests: None,
            ..Connection::default()
        };
        let service = search::name(provider);
        match self.keys.get(&connection).await {
            Ok(None) if provider != SearchProvider::Searxng => Err(ToolFailure::new(format!(
                "{service} needs a key, but none is set. The user must set one in the settings."
            ))),
            Ok(key) => Ok(key.map(|key| key.expose().to_owned())),
            Err(error) => {
                let why = error.detail.as_deref().unwrap_or("it was not found");
                Err(ToolFailure::new(format!("The key of {service} is not available: {why}.")))
            }
        }
    }
}

fn info() -> ToolInfo {
    ToolInfo {
        spec: spec::<Arguments>("web_search", "Search the web for titles, addresses and excerpts."),
        title: N_("Search the Web").into(),
        summary: N_("Uses the provider chosen below").into(),
        group: ToolGroup::Web,
        kind: ToolKind::Fetches,
        icon: ToolIcon::Web,
        labels: Labels::Own(label),
        target: |_| None,
        permissions: &[Action::Network],
        needs_project: false,
        audience: Audience::Everyone,
        output: OutputForm::Text,
        aliases: &[],
        hints: &[],
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let what = match call.view {
        Some(ToolView::WebSearched { query, .. }) => query.clone(),
        _ => call.text("query"),
    };
    let sentence = match tense {
        Tense::ToDo => N_("Search the web for “{what}”"),
        Tense::Doing => N_("Searching the web for “{what}”"),
        Tense::Done => N_("Searched the web for “{what}”"),
        Tense::Failed => N_("Couldn’t search the web for “{what}”"),
    };
    Label::what(sentence, what)
}

#[async_trait]
impl Tool for WebSearch {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn is_set_up(&self, settings: &ToolSettings) -> bool {
        settings.search.as_ref().is_some_and(|search| {
            let has_key = search.provider == SearchProvider::Searxng || !search.key.is_none();
            has_key && base(search).is_ok()
        })
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let arguments = arguments(given)?;
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => Err(WebError::Stopped.into()),
            done = self.search(arguments, &context) => done,
        }
    }
}

/// The address of the service.
fn base(settings: &SearchSettings) -> Result<Url, ToolFailure> {
    let own = settings.url.as_deref().map(str::trim).filter(|url| !url.is_empty());
    let address = own.or(search::address(settings.provider));
    let address =
        address.ok_or_else(|| ToolFailure::new("The search service has no address yet."))?;
    destination::parse(address).map_err(|_| {
        ToolFailure::new(
            "The search service's address in the settings is not valid. The user must fix it.",
        )
    })
}

/// Uses the system's proxy like the user's other connections, and follows no redirects, which would
/// send the key elsewhere.
fn client(base: &Url) -> Result<Client, ToolFailure> {
    provide_tls();
    let mut client = Client::builder()
        .user_agent(USER_AGENT)
        .referer(false)
        .connect_timeout(CONNECT)
        .redirect(reqwest::redirect::Policy::none());
    if destination::by_name(base).is_ok_and(|(_, reach)| reach == Reach::ThisMachine) {
        client = client.no_proxy();
        if base.scheme() == "http" {
            client = client.tls_certs_only([]);
        }
    }
    client.build().map_err(|error| ToolFailure::new(innermost(&error)))
}

/// Everything that is sent except the key.
fn request_line(request: &Request) -> String {
    let body = request.body().and_then(reqwest::Body::as_bytes);
    match body {
        Some(body) => format!("{} {}", request.url(), String::from_utf8_lossy(body)),
        None => request.url().to_string(),
    }
}

async fn send(
    client: &Client,
    request: Request,
    host: &str,
) -> Result<(StatusCode, Vec<u8>), WebError> {
    let host = || host.to_owned();
    let response = client.execute(request).await;
    let mut response = response
        .map_err(|error| WebError::Unreachable { host: host(), words: innermost(&error) })?;
    let mut body = Vec::new();
    let broke_off = |words| WebError::BrokeOff { host: host(), words };
    while let Some(more) = response.chunk().await.map_err(|error| broke_off(innermost(&error)))? {
        if body.len() + more.len() > ANSWER {
            return Err(broke_off("the response is too long".to_owned()));
        }
        body.extend_from_slice(&more);
    }
    Ok((response.status(), body))
}

/// The results for the model.
fn result_list(hits: &[Hit]) -> String {
    if hits.is_empty() {
        return "Nothing was found. Try other or fewer words.".to_owned();
    }
    let told = hits.iter().enumerate().map(|(at, hit)| {
        let mut told = format!("{}. {}\n   {}", at + 1, hit.title, hit.url);
        if !hit.text.is_empty() {
            told.push_str("\n   ");
            told.push_str(&hit.text);
        }
        told
    });
    told.collect::<Vec<_>>().join("\n\n")
}
