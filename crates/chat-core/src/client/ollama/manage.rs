//! Fetches, removes and unloads the models of an Ollama server (its `docs/api.md`: "Pull a Model", "Delete
//! a Model", "List Running Models", "Unload a model").

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream::{self, BoxStream, StreamExt};
use reqwest::{Method, Response};
use serde_json::{Value, json};

use super::Ollama;
use crate::client::frames::{Frames, Framing};
use crate::client::http::{Http, transport};
use crate::client::json::{count, tokens, value, words};
use crate::client::model_server::{LoadedModel, ModelServer, PullStage, Pulled};
use crate::client::refusal::{self, SentRequest};
use crate::error::{Error, Kind, Result};

#[async_trait]
impl ModelServer for Ollama {
    async fn pull(&self, model: &str) -> Result<BoxStream<'static, Result<Pulled>>> {
        let body = json!({ "model": model, "stream": true }).to_string().into_bytes();
        let response = self.http.follow(Method::POST, "api/pull", body, model).await?;
        let pulling = Pulling {
            http: Arc::clone(&self.http),
            response,
            frames: Frames::new(Framing::Lines),
            parts: BTreeMap::new(),
            ready: VecDeque::new(),
            asked: SentRequest::about(model, &self.http),
            over: false,
        };
        Ok(stream::unfold(pulling, |mut pulling| async {
            pulling.next().await.map(|next| (next, pulling))
        })
        .boxed())
    }

    async fn remove(&self, model: &str) -> Result<()> {
        let body = json!({ "model": model }).to_string().into_bytes();
        self.http.follow(Method::DELETE, "api/delete", body, model).await.map(drop)
    }

    async fn loaded(&self) -> Result<Vec<LoadedModel>> {
        let answer: Value = self.http.get("api/ps").await?;
        let models = answer["models"].as_array();
        let models = models.ok_or_else(|| self.http.named(Kind::WrongUrl.into()))?;
        Ok(models.iter().map(loaded).collect())
    }

    async fn unload(&self, model: &str) -> Result<()> {
        let body = json!({ "model": model, "keep_alive": 0 }).to_string().into_bytes();
        self.http.post::<Value>("api/generate", body, model).await.map(drop)
    }
}

fn loaded(entry: &Value) -> LoadedModel {
    let until = entry["expires_at"].as_str().and_then(|text| text.parse().ok());
    // A model that stays for ever has a time long ago, or far away.
    let now = jiff::Timestamp::now();
    let soon = |until: &jiff::Timestamp| {
        *until > now && until.duration_since(now) < jiff::SignedDuration::from_hours(24 * 365)
    };
    LoadedModel {
        name: words(&entry["name"]).or_else(|| words(&entry["model"])).unwrap_or_default(),
        size: count(&entry["size"]).unwrap_or(0),
        graphics: count(&entry["size_vram"]).unwrap_or(0),
        context_window: tokens(&entry["context_length"]),
        until: until.filter(soon),
    }
}

/// An answer to a request to pull, as far as it was read.
struct Pulling {
    http: Arc<Http>,
    response: Response,
    frames: Frames,
    /// What arrived and what there is of each part, by its digest.
    parts: BTreeMap<String, (u64, u64)>,
    ready: VecDeque<Result<Pulled>>,
    asked: SentRequest,
    over: bool,
}

impl Pulling {
    async fn next(&mut self) -> Option<Result<Pulled>> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                self.over |=
                    !matches!(&ready, Ok(Pulled { stage, .. }) if *stage != PullStage::Done);
                return Some(ready.map_err(|error| self.http.named(error)));
            }
            if self.over {
                return None;
            }
            // The server reports several times a second while it downloads, and says nothing while it
            // checks gigabytes: only a connection that breaks ends this.
            let mut lines = Vec::new();
            let mut take = |line: &[u8]| {
                lines.push(value(line));
                Ok(())
            };
            let read = match self.response.chunk().await {
                Ok(Some(bytes)) => self.frames.feed(&bytes, &mut take),
                Ok(None) => self.frames.end(&mut take).and(Err(Kind::Cut.into())),
                Err(error) => Err(transport(&error)),
            };
            for line in lines {
                let pulled = self.line(&line);
                self.ready.push_back(pulled);
            }
            if let Err(error) = read {
                self.ready.push_back(Err(error));
            }
        }
    }

    fn line(&mut self, line: &Value) -> Result<Pulled> {
        if !line["error"].is_null() {
            return Err(refusal_of(line, &self.asked));
        }
        let status = line["status"].as_str().ok_or_else(|| Error::new(Kind::InvalidResponse))?;
        if let (Some(digest), Some(total)) = (line["digest"].as_str(), count(&line["total"])) {
            let received = count(&line["completed"]).unwrap_or(0).min(total);
            self.parts.insert(digest.to_owned(), (received, total));
        }
        let stage = match status {
            "success" => PullStage::Done,
            _ if status.starts_with("verifying") || status.starts_with("writing") => {
                PullStage::Verifying
            }
            _ if line["digest"].is_string() => PullStage::Fetching,
            _ => PullStage::Preparing,
        };
        let sum = |of: fn(&(u64, u64)) -> u64| self.parts.values().map(of).sum();
        Ok(Pulled { stage, received: sum(|part| part.0), total: sum(|part| part.1) })
    }
}

/// Why a model cannot be had. What its registry does not have is said in words of its own.
fn refusal_of(line: &Value, asked: &SentRequest) -> Error {
    let error = refusal::of_object(line, asked);
    let missing = ["file does not exist", "manifest unknown", "not found"];
    let words = error.detail.as_deref().unwrap_or_default().to_ascii_lowercase();
    if error.kind == Kind::ServerFailed && missing.iter().any(|saying| words.contains(saying)) {
        return Error { kind: Kind::ModelNotFound { model: asked.model.clone() }, ..error };
    }
    error
}
