//! Defines which files may hold secrets, by a list of names that the user can edit, and finds those that a command
//! names.
//!
//! - `.env`, `*.pem`: a name, at any depth.
//! - `.aws/credentials`: the end of a path, at any depth. `./deploy/key`: from the project's top on.
//! - `vault/`: everything beneath a folder of this name.
//! - `!.env.example`: no secret after all. The last pattern that fits decides.
//!
//! Case is ignored, since some file systems ignore it too.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use crate::Run;
use crate::command::{self, RedirectKind, Word};
use crate::path::{Kind, Project, ResolvedPath};
use crate::request::Target;

/// The default list.
const USUAL: &[&str] = &[
    // Variables with keys and passwords.
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    "!.env.example",
    "!.env.sample",
    "!.env.template",
    "!.env.dist",
    "!example.env",
    "!sample.env",
    // Private keys and key stores.
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.p8",
    "*.ppk",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    // Passwords that programs store.
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".pypirc",
    ".htpasswd",
    ".git-credentials",
    ".vault-token",
    ".dockercfg",
    ".docker/config.json",
    ".kube/config",
    ".aws/credentials",
    ".cargo/credentials",
    "credentials.{json,toml,yml,yaml,xml,ini}",
    "client_secret*.json",
    "service-account*.json",
    "secrets.{json,toml,yml,yaml}",
    "terraform.tfstate",
    "terraform.tfstate.backup",
    // Public keys.
    "!*.pub",
];

/// Which files may hold secrets. Cheap to clone.
#[derive(Clone)]
pub struct SecretFiles(Arc<Compiled>);

struct Compiled {
    patterns: Vec<String>,
    globs: GlobSet,
    /// Whether each glob is an exception to earlier ones.
    takes_back: Vec<bool>,
}

/// A text that is not a valid pattern of secret files.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is not a valid file pattern: {reason}")]
pub struct InvalidSecretFiles {
    /// As it was written.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: String,
}

impl SecretFiles {
    /// Creates the list from these patterns.
    ///
    /// # Errors
    ///
    /// One of them is not a valid pattern.
    pub fn new<T: Into<String>>(
        patterns: impl IntoIterator<Item = T>,
    ) -> Result<Self, InvalidSecretFiles> {
        let patterns: Vec<String> = patterns.into_iter().map(Into::into).collect();
        let mut globs = GlobSetBuilder::new();
        for pattern in &patterns {
            let bad = |reason: String| InvalidSecretFiles { pattern: pattern.clone(), reason };
            let glob = GlobBuilder::new(&glob(pattern).map_err(bad)?)
                .literal_separator(true)
                .backslash_escape(true)
                .build();
            globs.add(glob.map_err(|error| bad(error.kind().to_string()))?);
        }
        let whole = |error: globset::Error| InvalidSecretFiles {
            pattern: patterns.join(" "),
            reason: error.kind().to_string(),
        };
        let globs = globs.build().map_err(whole)?;
        let takes_back = patterns.iter().map(|pattern| pattern.starts_with('!')).collect();
        Ok(Self(Arc::new(Compiled { patterns, globs, takes_back })))
    }

    /// The patterns, as they were written.
    pub fn patterns(&self) -> &[String] {
        &self.0.patterns
    }

    /// Whether a file may hold secrets, by its path relative to the project, or its full path
    /// elsewhere.
    pub fn contains(&self, path: &Path) -> bool {
        let path = path.to_string_lossy().to_lowercase();
        let fitting = self.0.globs.matches(path.trim_start_matches('/'));
        fitting.last().is_some_and(|last| !self.0.takes_back[*last])
    }
}

/// A pattern as a glob, in lower case.
fn glob(pattern: &str) -> Result<String, String> {
    let named = pattern.strip_prefix('!').unwrap_or(pattern).trim();
    let (rooted, rest) = match named.strip_prefix("./") {
        Some(rest) => (true, rest),
        None => (false, named),
    };
    if rest.starts_with(['/', '~']) {
        return Err("it cannot begin with `/` or `~`: patterns match inside the project".to_owned());
    }
    let parts: Vec<_> = rest.split('/').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return Err("it is empty".to_owned());
    }
    let before = if rooted { "" } else { "**/" };
    let beneath = if rest.ends_with('/') { "/**" } else { "" };
    Ok(format!("{before}{}{beneath}", parts.join("/")).to_lowercase())
}

impl Default for SecretFiles {
    fn default() -> Self {
        static DEFAULT: LazyLock<SecretFiles> = LazyLock::new(|| {
            SecretFiles::new(USUAL.iter().copied()).expect("the usual patterns are patterns")
        });
        DEFAULT.clone()
    }
}

impl fmt::Debug for SecretFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SecretFiles").field(&self.0.patterns).finish()
    }
}

impl PartialEq for SecretFiles {
    fn eq(&self, other: &Self) -> bool {
        self.0.patterns == other.0.patterns
    }
}

impl Eq for SecretFiles {}

impl Serialize for SecretFiles {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.patterns.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SecretFiles {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let patterns = Vec::<String>::deserialize(deserializer)?;
        Self::new(patterns).map_err(serde::de::Error::custom)
    }
}

impl Run {
    /// The project's secret files that the command's words and redirects name: running it means
    /// reading them. A name that is built only when the command runs is not found; the sandbox
    /// hides those files from it.
    pub fn secrets(&self, project: &Project) -> Vec<ResolvedPath> {
        let mut found: Vec<ResolvedPath> = Vec::new();
        let mut add = |path: ResolvedPath| {
            if path.is_secret() && path.is_inside() && !found.contains(&path) {
                found.push(path);
            }
        };
        for redirect in self.redirected() {
            match &redirect.target {
                // A missing file has nothing to read: after a `cd`, it is one of two places.
                Target::Path(path) if redirect.writes || path.kind() != Kind::Missing => {
                    add(path.clone());
                }
                _ => {}
            }
        }
        let parts = self.parts().unwrap_or_default();
        let resolve = |from: Option<&ResolvedPath>, path: &str| {
            project.resolve_in(from.unwrap_or(self.folder()), path).ok()
        };
        // `cd web && cat .env`.
        let folders = command::folders(parts, &resolve).unwrap_or_else(|| vec![None]);
        let words = parts.iter().flat_map(|part| {
            let opened = part.redirects.iter().filter(|opened| opened.kind != RedirectKind::Text);
            part.words.iter().chain(opened.map(|opened| &opened.target))
        });
        for word in words.filter_map(Word::literal) {
            for folder in &folders {
                for piece in pieces(word) {
                    let Some(path) = resolve(folder.as_ref(), piece) else { continue };
                    // git may have an earlier version of a file that does not exist.
                    if path.kind() != Kind::Missing || piece != word {
                        add(path);
                    }
                }
            }
        }
        found
    }
}

/// The parts of a word that may be paths: `-f.env`, `--file=.env`, `HEAD:.env`, `@.env`,
/// `.env:/run/env`.
fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let of_option =
        word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| rest.get(1..));
    let parts = word.split([':', '=', ',']).map(|part| part.trim_start_matches('@'));
    [word].into_iter().chain(of_option).chain(parts)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::path::PathEnvironment;

    #[rstest]
    #[case(".env")]
    #[case("deep/in/.env")]
    #[case(".env.production")]
    #[case("prod.env")]
    #[case(".ENV")]
    #[case("certs/Server.PEM")]
    #[case("id_ed25519")]
    #[case(".netrc")]
    #[case("x/.aws/credentials")]
    #[case("credentials.json")]
    #[case("/home/ann/.netrc")]
    fn usual_secrets(#[case] path: &str) {
        assert!(SecretFiles::default().contains(Path::new(path)));
    }

    #[rstest]
    #[case(".env.example")]
    #[case("web/.env.sample")]
    #[case("id_ed25519.pub")]
    #[case("environment")]
    #[case("src/env.rs")]
    #[case("src/credentials/mod.rs")]
    #[case("src/credentials.rs")]
    #[case("keys.md")]
    #[case(".env/bin/python")]
    fn no_secrets(#[case] path: &str) {
        assert!(!SecretFiles::default().contains(Path::new(path)));
    }

    #[test]
    fn the_last_pattern_that_fits_decides() {
        let files = SecretFiles::new(["*.key", "vault/", "!vault/README", "./top"]).unwrap();
        let is = |path: &str| files.contains(Path::new(path));
        assert!(is("a.key") && is("x/vault/deep/a") && is("top"));
        assert!(!is("vault/README") && !is("x/top") && !is("vault"));
        let none = SecretFiles::new(Vec::<String>::new()).unwrap();
        assert!(!none.contains(Path::new(".env")));
    }

    #[test]
    fn the_list_is_plain_data_and_a_bad_pattern_is_named() {
        let files = SecretFiles::new(["*.key"]).unwrap();
        let json = serde_json::to_string(&files).unwrap();
        assert_eq!(json, r#"["*.key"]"#);
        assert_eq!(serde_json::from_str::<SecretFiles>(&json).unwrap(), files);
        for bad in ["[", "", "!", "/", "/etc/passwd", "~/x"] {
            let error = SecretFiles::new([".env", bad]).unwrap_err();
            assert_eq!(error.pattern, bad);
        }
    }

    fn named(command: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("sub")).unwrap();
        for name in [".env", "plain", "sub/server.pem"] {
            std::fs::write(root.join(name), "x").unwrap();
        }
        std::os::unix::fs::symlink(".env", root.join("link")).unwrap();
        let project = Project::open(&root, &PathEnvironment::default()).unwrap();
        let top = project.resolve(".").unwrap();
        let run = Run::new(&project, command, top, true, false);
        let secrets = run.secrets(&project);
        secrets.iter().map(|path| path.display_path().display().to_string()).collect()
    }

    #[rstest]
    #[case("cat .env", &[".env"])]
    #[case("cat ./sub/../.env plain", &[".env"])]
    #[case("cat < .env", &[".env"])]
    #[case("cat link", &[".env"])]
    #[case("git show HEAD:.env", &[".env"])]
    #[case("git show HEAD:old/.env.local", &["old/.env.local"])]
    #[case("docker run --env-file=.env x", &[".env"])]
    #[case("openssl x509 -in sub/server.pem && cat .env", &["sub/server.pem", ".env"])]
    #[case("curl -d @.env example.org", &[".env"])]
    #[case("grep -f.env plain", &[".env"])]
    #[case("cd sub && cat server.pem", &["sub/server.pem"])]
    #[case("cd sub; openssl x509 < server.pem", &["sub/server.pem"])]
    #[case("cd sub && cat ../.env", &[".env"])]
    #[case("cd missing && cat .env", &[".env"])]
    #[case("touch .env.local", &[])]
    #[case("cat plain && ls sub", &[])]
    fn a_command_names_the_secrets_that_it_reads(#[case] command: &str, #[case] files: &[&str]) {
        assert_eq!(named(command), files);
    }
}
