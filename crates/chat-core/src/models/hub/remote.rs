//! Groups the files of a repository into models.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// A file in a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteFile {
    /// Where it is in the repository.
    pub path: String,
    /// How many bytes it has.
    pub size: u64,
    /// Its SHA-256, in small hexadecimal letters; the repository may not say.
    pub sha256: Option<String>,
}

impl RemoteFile {
    /// Its name without the folders it is in.
    pub fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

/// A model in a repository: one file, or all the parts of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteModel {
    /// The repository, `owner/name`.
    pub repository: String,
    /// The file; the first, where there are several.
    pub file: String,
    /// All files, in their order.
    pub parts: Vec<RemoteFile>,
}

impl RemoteModel {
    /// How many bytes all its files have.
    pub fn size(&self) -> u64 {
        self.parts.iter().map(|part| part.size).fold(0, u64::saturating_add)
    }

    /// Whether one of its files is such.
    pub(super) fn has(&self, is_such: impl Fn(&RemoteFile) -> bool) -> bool {
        self.parts.iter().any(is_such)
    }
}

/// Puts a repository's files together to models. Files that are no models, names that no file of
/// ours may have, and models of which a part is missing are left out.
pub(super) fn models(repository: &str, files: Vec<RemoteFile>) -> Vec<RemoteModel> {
    let mut by_path: BTreeMap<String, RemoteFile> = BTreeMap::new();
    for file in files.into_iter().filter(is_model) {
        by_path.insert(file.path.clone(), file);
    }
    let whole = by_path.values().filter_map(|file| {
        let parts = match chat_gguf::parts(Path::new(&file.path)) {
            None => vec![file.clone()],
            // The first stands for all.
            Some(paths) if paths.first().is_some_and(|first| first == Path::new(&file.path)) => {
                let part = |path: &std::path::PathBuf| by_path.get(path.to_str()?).cloned();
                paths.iter().map(part).collect::<Option<_>>()?
            }
            Some(_) => return None,
        };
        Some(RemoteModel { repository: repository.to_owned(), file: file.path.clone(), parts })
    });
    whole.collect()
}

fn is_model(file: &RemoteFile) -> bool {
    let name = file.file_name();
    let safe =
        |word: &str| !word.is_empty() && !word.starts_with('.') && !word.contains(['\\', '\0']);
    Path::new(name).extension().is_some_and(|kind| kind == "gguf")
        && name.len() < 200
        && file.path.split('/').all(safe)
        // What a model sees pictures with is no model by itself.
        && !name.to_ascii_lowercase().starts_with("mmproj")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_one_model_and_other_files_none() {
        let file = |path: &str| RemoteFile { path: path.to_owned(), size: 10, sha256: None };
        let files = [
            "README.md",
            "b-Q4_0.gguf",
            "mmproj-F16.gguf",
            "../evil.gguf",
            ".hidden.gguf",
            "a-Q8/a-00002-of-00002.gguf",
            "a-Q8/a-00001-of-00002.gguf",
            "lost-00001-of-00002.gguf",
        ];
        let models = models("x/y", files.into_iter().map(file).collect());
        let names: Vec<_> =
            models.iter().map(|model| (model.file.as_str(), model.size())).collect();
        assert_eq!(names, [("a-Q8/a-00001-of-00002.gguf", 20), ("b-Q4_0.gguf", 10)]);
        assert_eq!(models[0].parts[1].file_name(), "a-00002-of-00002.gguf");
    }
}
