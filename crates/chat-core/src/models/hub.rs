//! Searches Hugging Face, or a mirror of it, for models, and lists their files.
//!
//! The paths and fields are those of its public API: `GET /api/models?search=…&filter=gguf`,
//! `GET /api/models/{repo}/tree/{revision}?recursive=true` (each file's size, and its SHA-256 as
//! `lfs.oid`), and `GET /{repo}/resolve/{revision}/{file}`, which leads to the file on another
//! host. See <https://huggingface.co/docs/hub/api>.

mod http;
mod remote;

use std::time::Duration;

use serde::Deserialize;

use self::http::HubRequest;
pub use self::remote::{RemoteFile, RemoteModel};
use super::file_pattern::FilePattern;
use crate::error::{Error, Kind, Result};
use crate::settings::Key;

/// The branch of a repository that is looked at.
const REVISION: &str = "main";
/// How many repositories a search gives at most.
const SEARCH_LIMIT: usize = 50;
/// How many pages of a repository's list are read: some hundred files stand on each.
const PAGE_LIMIT: usize = 20;

/// Where models come from, and how patiently they are asked for.
#[derive(Clone, Debug)]
pub struct HubOptions {
    /// The address of the site.
    pub base: String,
    /// Who asks, for repositories that want it. Sent to the site alone.
    pub token: Option<Key>,
    /// How long to wait for a connection, for an answer, and for the next piece of a file.
    pub patience: Duration,
    /// How often a download that breaks off is gone on with by itself, without any progress.
    pub retries: u32,
    /// How long it rests before that, the first time; twice as long each further time.
    pub rest: Duration,
}

impl Default for HubOptions {
    fn default() -> Self {
        Self {
            base: "https://huggingface.co".to_owned(),
            token: None,
            patience: Duration::from_secs(30),
            retries: 4,
            rest: Duration::from_secs(1),
        }
    }
}

impl HubOptions {
    /// The same as Hugging Face's own programs: a mirror by `HF_ENDPOINT`, a token by `HF_TOKEN`.
    pub fn from_env() -> Self {
        let set = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let plain = Self::default();
        Self {
            base: set("HF_ENDPOINT").unwrap_or(plain.base),
            token: set("HF_TOKEN").map(|token| Key::new(&token)),
            ..plain
        }
    }
}

/// The site. Cheap to share; connects to nothing by itself.
#[derive(Debug)]
pub struct Hub {
    http: http::Http,
    pub(super) options: HubOptions,
}

/// A repository that a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// Its name, `owner/name`.
    pub name: String,
    /// How often it was downloaded of late.
    pub downloads: u64,
    /// How many people liked it.
    pub likes: u64,
    /// Its licence, in the site's words.
    pub licence: Option<String>,
    /// Whether its terms must be accepted first.
    pub closed: bool,
}

impl Hub {
    /// The site at an address.
    pub fn new(options: HubOptions) -> Self {
        Self { http: http::Http::new(&options), options }
    }

    /// Repositories that have GGUF files and fit what a person typed, the most downloaded first.
    /// Dropping the future ends the question.
    ///
    /// # Errors
    /// `HubUnreachable`, `HubFailed`, `HubTokenRefused`, `InvalidUrl` for the site's address.
    pub async fn search(&self, words: &str) -> Result<Vec<Repository>> {
        let limit = SEARCH_LIMIT.to_string();
        let mut url = self.http.url(&["api", "models"])?;
        url.query_pairs_mut().extend_pairs([
            ("search", words.trim()),
            ("filter", "gguf"),
            ("sort", "downloads"),
            ("direction", "-1"),
            ("limit", &limit),
        ]);
        let found: Vec<RepositoryEntry> = self.http.json(url, &HubRequest::Search).await?.0;
        let repositories = found.into_iter().filter_map(RepositoryEntry::repository);
        Ok(repositories.take(SEARCH_LIMIT).collect())
    }

    /// The models that a repository has: its GGUF files, parts taken together, by name.
    ///
    /// # Errors
    /// `RepositoryNotFound`, `RepositoryClosed`, and those of [`search`](Self::search).
    pub async fn models(&self, repository: &str) -> Result<Vec<RemoteModel>> {
        let asked = HubRequest::Repository(repository.to_owned());
        let Some((owner, name)) = repository.split_once('/').filter(|_| is_repository(repository))
        else {
            return Err(Kind::RepositoryNotFound { repository: repository.to_owned() }.into());
        };
        let mut url = self.http.url(&["api", "models", owner, name, "tree", REVISION])?;
        url.query_pairs_mut().append_pair("recursive", "true");
        let mut files = Vec::new();
        let mut next = Some(url);
        for _ in 0..PAGE_LIMIT {
            let Some(url) = next else { break };
            let (page, following): (Vec<Listed>, _) = self.http.json(url, &asked).await?;
            files.extend(page.into_iter().filter_map(Listed::file));
            next = following;
        }
        Ok(remote::models(repository, files))
    }

    /// The one model in a repository that a file's name or a pattern means: the file of just this
    /// path, or else the first that the pattern fits.
    ///
    /// # Errors
    /// `RepositoryFileNotFound`, and those of [`models`](Self::models).
    pub async fn model(&self, repository: &str, pattern: &str) -> Result<RemoteModel> {
        let models = self.models(repository).await?;
        let exact = models.iter().find(|model| model.has(|part| part.path == pattern));
        let meant = exact.or_else(|| {
            let pattern = FilePattern::new(pattern);
            models.iter().find(|model| model.has(|part| pattern.fits(&part.path)))
        });
        meant.cloned().ok_or_else(|| no_file(repository, pattern))
    }

    /// The model of just this file, as it is there now.
    ///
    /// # Errors
    /// As [`model`](Self::model).
    pub(super) async fn same_model(&self, repository: &str, file: &str) -> Result<RemoteModel> {
        let models = self.models(repository).await?;
        let same = models.into_iter().find(|model| model.file == file);
        same.ok_or_else(|| no_file(repository, file))
    }

    /// Asks for a file from a byte on. Gives the answer whatever its status is, when its head is
    /// there; it may come from another host, which never sees the token.
    pub(super) async fn open(
        &self,
        repository: &str,
        path: &str,
        from: u64,
    ) -> Result<reqwest::Response> {
        let segments: Vec<&str> =
            repository.split('/').chain(["resolve", REVISION]).chain(path.split('/')).collect();
        let url = self.http.url(&segments)?;
        let asked = HubRequest::File { repository: repository.to_owned(), file: path.to_owned() };
        self.http.file(url, from, &asked).await
    }
}

/// Whether a name is that of a repository: `owner/name`, of letters, digits, `.`, `_` and `-`.
pub(super) fn is_repository(name: &str) -> bool {
    let is_word = |word: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        (1..=96).contains(&word.len()) && word.chars().all(fits) && !word.starts_with('.')
    };
    name.split_once('/').is_some_and(|(owner, name)| is_word(owner) && is_word(name))
}

/// A repository as a search returns it. Everything but its name may be missing.
#[derive(Deserialize)]
struct RepositoryEntry {
    id: Option<String>,
    #[serde(default)]
    downloads: u64,
    #[serde(default)]
    likes: u64,
    #[serde(default)]
    tags: Vec<String>,
    /// `false`, or how one is let in.
    #[serde(default)]
    gated: serde_json::Value,
}

impl RepositoryEntry {
    fn repository(self) -> Option<Repository> {
        let name = self.id.filter(|name| is_repository(name))?;
        let licence = self.tags.iter().find_map(|tag| tag.strip_prefix("license:"));
        Some(Repository {
            name,
            downloads: self.downloads,
            likes: self.likes,
            licence: licence.map(str::to_owned),
            closed: !matches!(self.gated, serde_json::Value::Null | serde_json::Value::Bool(false)),
        })
    }
}

/// An entry of a repository's tree.
#[derive(Deserialize)]
struct Listed {
    #[serde(rename = "type")]
    kind: Option<String>,
    path: Option<String>,
    size: Option<u64>,
    lfs: Option<Stored>,
}

/// What is known of a file that is stored by its hash.
#[derive(Deserialize)]
struct Stored {
    oid: Option<String>,
    size: Option<u64>,
}

impl Listed {
    fn file(self) -> Option<RemoteFile> {
        if self.kind.is_some_and(|kind| kind != "file") {
            return None;
        }
        let (oid, stored) = self.lfs.map_or((None, None), |lfs| (lfs.oid, lfs.size));
        let sha256 = oid.map(|oid| oid.trim_start_matches("sha256:").to_ascii_lowercase());
        let is_hash =
            |hash: &String| hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit());
        Some(RemoteFile {
            path: self.path?,
            size: stored.or(self.size)?,
            sha256: sha256.filter(is_hash),
        })
    }
}

fn no_file(repository: &str, file: &str) -> Error {
    let (repository, file) = (repository.to_owned(), file.to_owned());
    Kind::RepositoryFileNotFound { repository, file }.into()
}

/// An answer that cannot be read, with where it went wrong.
fn unreadable(detail: impl Into<String>) -> Error {
    Error::new(Kind::HubFailed).with_detail(detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_repositories() {
        for name in ["Qwen/Qwen3-8B-GGUF", "a/b", "x.y/z_1"] {
            assert!(is_repository(name), "{name}");
        }
        for name in ["", "a", "a/", "/b", "a/b/c", "a/..", "../b", "a b/c", "a/b?x", "a/ü"] {
            assert!(!is_repository(name), "{name}");
        }
    }

    #[test]
    fn the_tree_is_read_as_far_as_it_makes_sense() {
        let tree = r#"[
            {"type":"directory","oid":"x","size":0,"path":"sub"},
            {"type":"file","oid":"x","size":1519,"path":".gitattributes"},
            {"type":"file","oid":"x","size":135,"path":"a.gguf",
             "lfs":{"oid":"A179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53","size":98362432,"pointerSize":133}},
            {"type":"file","path":"b.gguf","size":7,"lfs":{"oid":"short"}},
            {"type":"file","path":"no-size"}, {}
        ]"#;
        let listed: Vec<Listed> = serde_json::from_str(tree).unwrap();
        let files: Vec<_> = listed.into_iter().filter_map(Listed::file).collect();
        assert_eq!(files.len(), 3);
        assert_eq!(files[1].size, 98_362_432);
        assert!(files[1].sha256.as_deref().unwrap().starts_with("a179c"));
        assert_eq!((files[2].size, &files[2].sha256), (7, &None));
    }

    #[test]
    fn a_found_repository_may_say_little() {
        let found = r#"[{"id":"a/b"},{"id":"../x"},{},
            {"id":"c/d","downloads":5,"likes":2,"gated":"auto","tags":["gguf","license:mit"]}]"#;
        let found: Vec<RepositoryEntry> = serde_json::from_str(found).unwrap();
        let found: Vec<_> = found.into_iter().filter_map(RepositoryEntry::repository).collect();
        assert_eq!(found.len(), 2);
        assert!(!found[0].closed && found[1].closed);
        assert_eq!((found[1].licence.as_deref(), found[1].downloads), (Some("mit"), 5));
    }
}
