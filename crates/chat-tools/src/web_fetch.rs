//! `web_fetch`: fetches a page as Markdown or text, a picture, or a file into the project.

mod given;

use std::sync::Arc;

use async_trait::async_trait;
use chat_core::message::{Preview, ToolView};
use chat_core::tool::{
    Audience, CallData, Label, Labels, N_, OutputForm, Tense, Tool, ToolContext, ToolFailure,
    ToolGroup, ToolIcon, ToolInfo, ToolKind, ToolOutput,
};
use chat_permission::reach::Reach;
use chat_permission::{Action, Request, ResolvedPath};
use reqwest::Url;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::spec::{arguments, on_disk, size, spec, still_wanted};
use crate::web::answer::{Answer, Budget, Step, ask};
use crate::web::content::{PageContent, content_of, heading};
use crate::web::destination::{self, Destination};
use crate::web::error::WebError;
use crate::web::file_name;
use crate::web::long;
use crate::web::network::{Network, System};
use crate::web::page::Form;

pub use given::Pages;

/// How many redirects are followed. Each is judged like a new request.
const REDIRECTS: usize = 5;
/// The largest picture that a model gets, in bytes.
const PICTURE: u64 = 5 << 20;
/// How many names are tried for a file.
const NAMES: u32 = 100;

/// What the tool takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Full address, http or https
    url: String,
    /// markdown: the readable part (default); full: the whole page; text: without formatting; file:
    /// save unchanged in the project
    #[serde(default, rename = "as")]
    form: As,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum As {
    #[default]
    Markdown,
    Full,
    Text,
    File,
}

/// The tool.
pub struct WebFetch {
    info: ToolInfo,
    network: Arc<dyn Network>,
}

impl Default for WebFetch {
    fn default() -> Self {
        Self::new(Arc::new(System))
    }
}

impl WebFetch {
    /// Creates the tool for a network.
    pub fn new(network: Arc<dyn Network>) -> Self {
        Self { info: info(), network }
    }

    async fn fetch(
        &self,
        arguments: Arguments,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolFailure> {
        let url = destination::parse(&arguments.url)?;
        if matches!(arguments.form, As::File) {
            context.project()?;
        }
        let answer = self.follow(url.clone(), context).await?;
        let form = match arguments.form {
            As::File => return store(&url, answer, context).await,
            As::Markdown => Form::Markdown,
            As::Full => Form::Full,
            As::Text => Form::Text,
        };
        show(answer, form, context).await
    }

    /// Asks one server after the other until one answers. Each is judged, and the user asked,
    /// before any request is sent.
    async fn follow(&self, mut url: Url, context: &ToolContext) -> Result<Answer, ToolFailure> {
        let settings = &context.settings;
        let mut budget = Budget::new(settings.fetch_seconds, settings.fetch_kb);
        let mut allowed = Vec::new();
        for _ in 0..=REDIRECTS {
            let (host, by_name) = destination::by_name(&url)?;
            // A name is resolved only with permission, since the owner of its domain sees the
            // query.
            permit(&url, &host, by_name, &mut allowed, context).await?;
            let finding = Destination::find(&url, &*self.network);
            let destination = budget.within(&host, finding).await?;
            permit(&url, &host, destination.reach, &mut allowed, context).await?;
            refuse_denied(&host, &destination, context)?;
            match ask(&url, &destination, &mut budget).await? {
                Step::Redirect(next) => url = next,
                Step::Answer(answer) => return Ok(answer),
            }
        }
        Err(WebError::TooManyRedirects(REDIRECTS).into())
    }
}

fn info() -> ToolInfo {
    ToolInfo {
        spec: spec::<Arguments>("web_fetch", "Fetch a page, image or file from the web."),
        title: N_("Fetch Web Pages").into(),
        summary: N_("Fetches a page as text, or downloads a file to the project").into(),
        group: ToolGroup::Web,
        kind: ToolKind::Fetches,
        icon: ToolIcon::Web,
        labels: Labels::Own(label),
        target: |_| None,
        permissions: &[Action::Network, Action::Write],
        needs_project: false,
        audience: Audience::Everyone,
        output: OutputForm::Text,
        aliases: &[],
        hints: &[],
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let url = match call.view {
        Some(ToolView::Fetched { url, path: Some(path), .. }) => {
            let sentence = N_("Downloaded {from} to {to}");
            return Label::new(sentence).with("from", url).with("to", path);
        }
        Some(ToolView::Fetched { url, .. }) => url.clone(),
        _ => call.text("url"),
    };
    let sentence = match tense {
        Tense::ToDo => N_("Fetch {what}"),
        Tense::Doing => N_("Fetching {what}"),
        Tense::Done => N_("Fetched {what}"),
        Tense::Failed => N_("Couldn’t fetch {what}"),
    };
    Label::what(sentence, url)
}

#[async_trait]
impl Tool for WebFetch {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn only_reads(&self, arguments: &Value) -> bool {
        // An unknown form is refused, and writes nothing.
        arguments.get("as").is_none_or(|form| form != "file")
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let arguments = arguments(given)?;
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => Err(WebError::Stopped.into()),
            done = self.fetch(arguments, &context) => done,
        }
    }
}

impl From<WebError> for ToolFailure {
    fn from(trouble: WebError) -> Self {
        Self::new(trouble.to_string())
    }
}

/// Asks for permission to reach a host that leads there, once for each call.
async fn permit(
    url: &Url,
    host: &str,
    reach: Reach,
    allowed: &mut Vec<(String, Reach)>,
    context: &ToolContext,
) -> Result<(), ToolFailure> {
    let wanted = (host.to_owned(), reach);
    if allowed.contains(&wanted) {
        return Ok(());
    }
    let (host_name, private) = (host.to_owned(), !reach.is_public());
    let request = Request::Network { host: host_name, private, leads_to: Vec::new() };
    let asked = context.permit(request, Preview::Address { url: url.to_string() }).await;
    asked.map_err(|denied| {
        let words = denied.for_model();
        if reach.is_public() {
            return ToolFailure::new(words);
        }
        let place = reach.words();
        ToolFailure::new(format!(
            "{words} {host} is {place}. Only the user can allow it, with the rule `network:local \
             {host}`."
        ))
    })?;
    allowed.push(wanted);
    Ok(())
}

/// A rule that denies an address denies every name for it.
fn refuse_denied(
    host: &str,
    destination: &Destination,
    context: &ToolContext,
) -> Result<(), ToolFailure> {
    let (host, private) = (host.to_owned(), !destination.reach.is_public());
    let leads_to = destination.found.clone();
    if context.host.refuses(&Request::Network { host: host.clone(), private, leads_to }) {
        return Err(ToolFailure::new(format!(
            "{host} leads to an address that one of the user's rules denies."
        )));
    }
    Ok(())
}

/// The answer for the model.
async fn show(
    answer: Answer,
    form: Form,
    context: &ToolContext,
) -> Result<ToolOutput, ToolFailure> {
    // Converting a page takes a while, and a page may be designed to take long.
    let (shown, answer) = on_disk(move |_| Ok((content_of(&answer, form), answer))).await?;
    let bytes = answer.bytes.len() as u64;
    let length = size(bytes);
    let mut output = ToolOutput::default();
    let (title, body, note) = match shown {
        PageContent::Text { title, text, note } => (title, long::head(text, context).await, note),
        PageContent::Picture(mime) if context.sees && answer.cut.is_none() && bytes <= PICTURE => {
            output.pictures.push((mime.to_owned(), answer.bytes.into()));
            (None, format!("An image ({mime}, {length})."), None)
        }
        PageContent::Picture(mime) => {
            let why =
                if context.sees { "It is too large to show" } else { "You cannot see images" };
            (None, format!("An image ({mime}, {length}). {why}. {TO_FILE}"), None)
        }
        PageContent::Other(what) => {
            (None, format!("This is {what} ({length}), not text. {TO_FILE}"), None)
        }
    };
    output.text = format!("{}\n\n{body}", heading(&answer.url, title.as_deref(), answer.cut, note));
    let url = answer.url.to_string();
    Ok(output.view(ToolView::Fetched { url, title, bytes, path: None }))
}

/// How to get what cannot be shown.
const TO_FILE: &str = "Set `as` to `file` to save it in the project.";

/// Saves the answer as a new file in the project, named after the requested address, so that a
/// redirect cannot choose the name.
async fn store(
    asked: &Url,
    answer: Answer,
    context: &ToolContext,
) -> Result<ToolOutput, ToolFailure> {
    let project = context.project()?;
    if answer.cut.is_some() {
        let heading = heading(&answer.url, None, answer.cut, None);
        return Err(ToolFailure::new(format!("{heading}\nIncomplete files are not saved.")));
    }
    let (path, name) = free_path(context, &file_name::of(asked, &answer.mime))?;
    let preview = Preview::Store { url: answer.url.to_string(), bytes: answer.bytes.len() as u64 };
    context.permit(Request::Write { path: path.clone() }, preview).await?;
    let (project, changes) = (Arc::clone(project), context.changes.clone());
    on_disk(move |given_up| {
        let Answer { url, mime, bytes, .. } = answer;
        let failed = |error| ToolFailure::new(format!("{name} was not written: {error}."));
        changes.around(&path, || {
            still_wanted(given_up)?;
            project.create(&path, &bytes).map_err(failed)
        })?;
        let (url, bytes) = (url.to_string(), bytes.len() as u64);
        let text = format!("{url}\nSaved unchanged as {name} ({}, {mime}).", size(bytes));
        let view = ToolView::Fetched { url, title: None, bytes, path: Some(name) };
        Ok(ToolOutput::text(text).view(view))
    })
    .await
}

/// A free path in the project.
fn free_path(context: &ToolContext, name: &str) -> Result<(ResolvedPath, String), ToolFailure> {
    let project = context.project()?;
    for number in 1..=NAMES {
        let name = if number == 1 { name.to_owned() } else { file_name::numbered(name, number) };
        let path =
            project.resolve_entry(&name).map_err(|error| ToolFailure::new(error.to_string()))?;
        if path.kind() == chat_permission::path::Kind::Missing {
            return Ok((path, name));
        }
    }
    Err(ToolFailure::new(format!("{name} and {} more names like it already exist.", NAMES - 1)))
}
