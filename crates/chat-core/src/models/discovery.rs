//! Discovers the models that other programs have on this machine. They are offered where they lie,
//! never copied.
//!
//! Ollama keeps a file by its hash and names it in a manifest; LM Studio, llama.cpp and Hugging
//! Face's cache keep files under the names that they have in their repositories.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::facts::{self, Facts};
use super::library::Library;
use super::name;
use crate::error::Result;

/// Folders are looked into so deep: `owner/repository/folder/file`, and what caches add to it.
const DEPTH: u32 = 6;
/// So many entries of folders are looked at, then it is enough: somebody's whole disk, say.
const ENTRIES: usize = 20_000;

/// Settings and manifests have some kilobytes; so many bytes are read at most.
const SMALL: u64 = 1 << 20;

/// A program that keeps models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Program {
    /// Ollama.
    Ollama,
    /// LM Studio.
    LmStudio,
    /// llama.cpp.
    LlamaCpp,
    /// Hugging Face's own tools.
    HuggingFace,
}

impl Program {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ollama => "Ollama",
            Self::LmStudio => "LM Studio",
            Self::LlamaCpp => "llama.cpp",
            Self::HuggingFace => "Hugging Face",
        }
    }
}

/// A model that another program has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveredModel {
    /// Which program.
    pub program: Program,
    /// What it would be called here.
    pub name: String,
    /// Its file; the first, where it has several.
    pub path: PathBuf,
    /// How many bytes its files have.
    pub size: u64,
    /// What it is.
    pub facts: Facts,
}

/// Where other programs keep their models. Folders that are not there do no harm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelFolders(pub Vec<(Program, PathBuf)>);

impl ModelFolders {
    /// The usual places, and those that the environment and the programs' settings name.
    pub fn from_env() -> Self {
        let home = directories::BaseDirs::new();
        let home = home.as_ref().map(directories::BaseDirs::home_dir);
        Self::of(home, |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from))
    }

    fn of(home: Option<&Path>, set: impl Fn(&str) -> Option<PathBuf>) -> Self {
        let home = |inside: &str| home.map(|home| home.join(inside));
        let cache = set("XDG_CACHE_HOME").or_else(|| home(".cache"));
        let below_cache = |inside: &str| cache.as_ref().map(|cache| cache.join(inside));
        let hub = set("HF_HUB_CACHE").or_else(|| set("HF_HOME").map(|path| path.join("hub")));
        let chosen = |folder: &str| lm_studio_choice(&home(folder)?.join("settings.json"));
        let all = [
            (Program::Ollama, set("OLLAMA_MODELS")),
            (Program::Ollama, home(".ollama/models")),
            (Program::Ollama, Some("/usr/share/ollama/.ollama/models".into())),
            (Program::Ollama, Some("/var/lib/ollama/models".into())),
            (Program::Ollama, Some("/var/lib/ollama".into())),
            (Program::LmStudio, chosen(".lmstudio")),
            (Program::LmStudio, chosen(".cache/lm-studio")),
            (Program::LmStudio, home(".lmstudio/models")),
            (Program::LmStudio, home(".cache/lm-studio/models")),
            (Program::LlamaCpp, set("LLAMA_CACHE")),
            (Program::LlamaCpp, below_cache("llama.cpp")),
            (Program::HuggingFace, hub),
            (Program::HuggingFace, below_cache("huggingface/hub")),
        ];
        Self(all.into_iter().filter_map(|(program, path)| Some((program, path?))).collect())
    }
}

/// What a program says of its models. More than any says, or no plain file, is nothing.
fn small_file(path: &Path) -> Option<Vec<u8>> {
    let about = fs::metadata(path).ok()?;
    (about.is_file() && about.len() <= SMALL).then(|| fs::read(path).ok()).flatten()
}

/// The folder that was chosen in LM Studio.
fn lm_studio_choice(settings: &Path) -> Option<PathBuf> {
    let settings: Value = serde_json::from_slice(&small_file(settings)?).ok()?;
    let folder = PathBuf::from(settings["downloadsFolder"].as_str()?);
    folder.is_absolute().then_some(folder)
}

/// The models in these places that the library does not have yet, by name. Each header is read and
/// verified; what is no model is left out. Blocks for some milliseconds a model.
///
/// # Errors
/// Those of [`Library::list`].
pub fn discover(library: &Library, places: &ModelFolders) -> Result<Vec<DiscoveredModel>> {
    let mut seen: HashSet<PathBuf> =
        library.list()?.iter().filter_map(|model| fs::canonicalize(&model.path).ok()).collect();
    let mut all = Vec::new();
    for (program, folder) in &places.0 {
        let candidates = match program {
            Program::Ollama => of_ollama(folder),
            _ => below(folder),
        };
        for (path, words) in candidates {
            let Ok(real) = fs::canonicalize(&path) else { continue };
            if !seen.insert(real) {
                continue;
            }
            let Ok(header) = facts::read(&path) else { continue };
            let name = words.map_or_else(|| name::of_file(&path), |words| name::of_words(&words));
            let (size, facts) = (header.size(), Facts::of(&header));
            all.push(DiscoveredModel { program: *program, name, path, size, facts });
        }
    }
    all.sort_by(|a, b| (&a.name, a.program, &a.path).cmp(&(&b.name, b.program, &b.path)));
    Ok(all)
}

type Candidate = (PathBuf, Option<String>);

/// What Ollama's manifests name, with the names that it has for them: `qwen3:8b`.
fn of_ollama(folder: &Path) -> Vec<Candidate> {
    let folders = fs::read_dir(folder).into_iter().flatten().flatten();
    let manifests = folders
        .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"manifest"))
        .flat_map(|entry| files_below(&entry.path()));
    let candidate = |manifest: PathBuf| {
        let about: Value = serde_json::from_slice(&small_file(&manifest)?).ok()?;
        let layers = about["layers"].as_array()?;
        let is_model = |layer: &&Value| layer["mediaType"] == "application/vnd.ollama.image.model";
        let digest = layers.iter().find(is_model)?["digest"].as_str()?;
        let hash = digest.strip_prefix("sha256:")?;
        // It becomes the name of a file: nothing else than a hash may.
        if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let tag = manifest.file_name()?.to_str()?;
        let model = manifest.parent()?.file_name()?.to_str()?;
        let words = if tag == "latest" { model.to_owned() } else { format!("{model}:{tag}") };
        Some((folder.join("blobs").join(format!("sha256-{hash}")), Some(words)))
    };
    manifests.filter_map(candidate).collect()
}

/// GGUF files below a folder; of a model in several its first.
fn below(folder: &Path) -> Vec<Candidate> {
    let is_first = |path: &PathBuf| {
        path.extension().is_some_and(|kind| kind == "gguf")
            && chat_gguf::parts(path).is_none_or(|parts| parts.first() == Some(path))
    };
    files_below(folder).into_iter().filter(is_first).map(|path| (path, None)).collect()
}

/// All files below a folder, in their order, without following links to folders.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    let mut looked_at = 0;
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            looked_at += 1;
            if looked_at > ENTRIES {
                files.sort();
                return files;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < DEPTH => {
                    folders.push((entry.path(), depth + 1));
                }
                Ok(kind) if kind.is_file() || kind.is_symlink() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use chat_gguf::write::Writer;

    use super::*;

    fn write(path: &Path, content: impl AsRef<[u8]>) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn tiny(fill: u8) -> Vec<u8> {
        Writer::tiny("Tiny", 64).filled_with(fill).bytes()
    }

    #[test]
    fn each_program_is_looked_into() {
        let root = tempfile::tempdir().unwrap();
        let home = root.path();
        // Ollama: a manifest, one that lies, one without a model, and one whose blob is gone.
        let hash = "ab".repeat(32);
        write(&home.join(format!(".ollama/models/blobs/sha256-{hash}")), tiny(1));
        let manifest = |digest: &str| {
            format!(
                "{{\"layers\":[{{\"mediaType\":\"application/vnd.ollama.image.license\",\"digest\":\"sha256:0\"}},\
                 {{\"mediaType\":\"application/vnd.ollama.image.model\",\"digest\":\"{digest}\"}}]}}"
            )
        };
        let library = ".ollama/models/manifests/registry.ollama.ai/library";
        let place = |inside: &str| home.join(library).join(inside);
        write(&place("qwen3/8b"), manifest(&format!("sha256:{hash}")));
        write(&place("evil/latest"), manifest("sha256:../../../secret"));
        write(&place("gone/latest"), manifest(&format!("sha256:{}", "cd".repeat(32))));
        write(&place("empty/latest"), "{}");
        // A pipe, that nobody writes to.
        let pipe = place("pipe/latest");
        fs::create_dir_all(pipe.parent().unwrap()).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        symlink(&pipe, place("pipe/link")).unwrap();
        // LM Studio, in its usual folder and in one that was chosen.
        write(&home.join(".lmstudio/models/ada/a/A-Q4_0.gguf"), tiny(2));
        write(&home.join(".lmstudio/models/ada/a/mmproj-A.gguf"), "GGUF no");
        write(&home.join("chosen/b/B.gguf"), tiny(3));
        let choice = format!("{{\"downloadsFolder\":\"{}\"}}", home.join("chosen").display());
        write(&home.join(".lmstudio/settings.json"), choice);
        // llama.cpp, in parts.
        let part = |n: u32| home.join(format!(".cache/llama.cpp/C-{n:05}-of-00002.gguf"));
        write(&part(1), Writer::tiny("C", 64).number("split.count", 2).bytes());
        write(&part(2), Writer::new().tensor("t", &[8], 0).bytes());
        // Hugging Face's cache: links to files by their hash.
        let hub = home.join(".cache/huggingface/hub/models--x--D");
        write(&hub.join("blobs/123"), tiny(4));
        fs::create_dir_all(hub.join("snapshots/abc")).unwrap();
        symlink("../../blobs/123", hub.join("snapshots/abc/D-Instruct-Q8_0.gguf")).unwrap();
        symlink("../../blobs/gone", hub.join("snapshots/abc/E.gguf")).unwrap();

        let mut places = ModelFolders::of(Some(home), |_| None);
        places.0.retain(|(_, path)| path.starts_with(home));
        let installed = Library::open(home.join("models"));
        let all = discover(&installed, &places).unwrap();
        let names: Vec<_> = all.iter().map(|f| (f.name.as_str(), f.program)).collect();
        let expected = [
            ("a", Program::LmStudio),
            ("b", Program::LmStudio),
            ("c", Program::LlamaCpp),
            ("d", Program::HuggingFace),
            ("qwen3-8b", Program::Ollama),
        ];
        assert_eq!(names, expected);
        assert_eq!(all[2].facts.parameters, 16 + 8);

        // What was taken is offered no more, and lies where it lay.
        let added = installed.add_as(&all[4].path, Some(&all[4].name)).unwrap();
        // The name alone is the catalogue's, whose file is another.
        assert_eq!(
            (added.name.as_str(), &added.path, added.owned),
            ("qwen3-8b-f32", &all[4].path, false)
        );
        assert_eq!(discover(&installed, &places).unwrap().len(), 4);
    }

    #[test]
    fn the_environment_names_places_first() {
        let set = |name: &str| match name {
            "OLLAMA_MODELS" => Some(PathBuf::from("/big/ollama")),
            "HF_HOME" => Some(PathBuf::from("/big/hf")),
            _ => None,
        };
        let places = ModelFolders::of(None, set).0;
        assert_eq!(places[0], (Program::Ollama, "/big/ollama".into()));
        assert!(places.contains(&(Program::HuggingFace, "/big/hf/hub".into())));
    }
}
