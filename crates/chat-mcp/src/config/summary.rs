//! Says what a server would start, for the question whether to trust it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use chat_definitions::Digest;

use super::{Reference, Server, ServerOptions, StdioServer, Template, Transport};

/// From where the paths of a file are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathBase {
    /// The user's home folder.
    pub home: PathBuf,
    /// The project's real path, if the file is one's.
    pub project: Option<PathBuf>,
}

impl PathBase {
    /// The folder that a path of the file means. None if a relative one is not a project's.
    pub fn folder(&self, path: &str) -> Option<PathBuf> {
        match path.strip_prefix('~') {
            Some("") => Some(self.home.clone()),
            Some(rest) if rest.starts_with('/') => {
                Some(self.home.join(rest.trim_start_matches('/')))
            }
            _ if path.starts_with('/') => Some(PathBuf::from(path)),
            // A folder whose name begins with `~` is written `./~name`.
            Some(_) => None,
            None => self.project.as_ref().map(|project| project.join(path)),
        }
    }

    /// The project, if a program in the sandbox may read it besides these folders.
    pub(crate) fn readable_project(&self, options: &ServerOptions) -> Option<&PathBuf> {
        let project = self.project.as_ref().filter(|_| options.sandbox)?;
        let granted = self.folders(&options.folders).into_iter();
        let mut granted = granted.chain(self.folders(&options.read_folders));
        (!granted.any(|folder| project.starts_with(folder))).then_some(project)
    }

    /// The folders that paths of the file mean.
    pub fn folders(&self, paths: &[String]) -> Vec<PathBuf> {
        paths.iter().filter_map(|path| self.folder(path)).collect()
    }
}

/// What a server would start. Texts are as the file has them: references are not replaced, and all may contain
/// anything, so show them with hidden characters made visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartSummary {
    /// The server's name.
    pub name: String,
    /// What is started.
    pub action: StartAction,
    /// The variables and secrets that it would get.
    pub references: BTreeSet<Reference>,
}

/// What is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartAction {
    /// A program.
    Program {
        /// The program.
        program: String,
        /// Its arguments.
        args: Vec<String>,
        /// The names of the variables that the file sets.
        variables: Vec<String>,
        /// The folder in which it starts, if the file names one or is a project's. Else a program in the sandbox starts in
        /// a folder of its own.
        folder: Option<PathBuf>,
        /// Whether it runs in the sandbox. If not, it may do everything that the user may.
        sandbox: bool,
        /// Whether it has the network.
        network: bool,
        /// Folders that it may change.
        folders: Vec<PathBuf>,
        /// Folders that it may read.
        read_folders: Vec<PathBuf>,
    },
    /// An address to which requests go.
    Address {
        /// The address.
        url: String,
        /// The names of the headers that the file sets.
        headers: Vec<String>,
    },
}

impl StartSummary {
    /// The same with the real paths of the folders that exist, so that no link hides where they lead. Blocks.
    #[must_use]
    pub fn resolved(mut self, base: &PathBase) -> Self {
        if let StartAction::Program { folder, folders, read_folders, .. } = &mut self.action {
            for path in folder.iter_mut().chain(folders).chain(read_folders) {
                if let Ok(real) = base.real(path) {
                    *path = real;
                }
            }
        }
        self
    }
}

impl Server {
    /// What it would start.
    pub fn start_summary(&self, base: &PathBase) -> StartSummary {
        let action = match &self.config.transport {
            Transport::Stdio(server) => program(server, &self.config.options, base),
            Transport::Http(server) => StartAction::Address {
                url: server.url.source().to_owned(),
                headers: server.headers.keys().cloned().collect(),
            },
        };
        let references = self.config.templates().flat_map(Template::references).cloned().collect();
        StartSummary { name: self.name.clone(), action, references }
    }

    /// The hash of all that decides what it starts, with the values of variables and headers as the file has them. Its
    /// name is part of it, since rules name servers. Whether it is switched off, its switched-off tools and its time
    /// limit are not.
    pub fn digest(&self) -> Digest {
        let mut parts = Parts::default();
        parts.text("mcp server 2");
        parts.text(&self.name);
        match &self.config.transport {
            Transport::Stdio(server) => {
                parts.text("stdio");
                parts.text(server.command.source());
                parts.list(server.args.iter().map(Template::source));
                parts.list(server.env.iter().flat_map(|(name, it)| [name.as_str(), it.source()]));
                parts.list(server.cwd.as_deref());
                let options = &self.config.options;
                parts.list(
                    [(options.sandbox, "sandbox"), (options.network, "network")]
                        .into_iter()
                        .filter_map(|(is_on, word)| is_on.then_some(word)),
                );
                parts.list(options.folders.iter().map(String::as_str));
                parts.list(options.read_folders.iter().map(String::as_str));
            }
            Transport::Http(server) => {
                parts.text("http");
                parts.text(server.url.source());
                parts.list(
                    server.headers.iter().flat_map(|(name, it)| [name.as_str(), it.source()]),
                );
            }
        }
        Digest::of(parts.0.iter().map(Vec::as_slice))
    }
}

/// Texts and lists of texts of which no two sequences are the same.
#[derive(Default)]
struct Parts(Vec<Vec<u8>>);

impl Parts {
    fn text(&mut self, text: &str) {
        self.0.push(text.as_bytes().to_vec());
    }

    fn list<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) {
        let at = self.0.len();
        self.0.push(Vec::new());
        texts.into_iter().for_each(|text| self.text(text));
        self.0[at] = (self.0.len() - at).to_le_bytes().to_vec();
    }
}

fn program(server: &StdioServer, options: &ServerOptions, base: &PathBase) -> StartAction {
    let folder = server.cwd.as_deref().and_then(|path| base.folder(path));
    let project = base.readable_project(options).cloned();
    StartAction::Program {
        program: server.command.source().to_owned(),
        args: server.args.iter().map(|arg| arg.source().to_owned()).collect(),
        variables: server.env.keys().cloned().collect(),
        folder: folder.or_else(|| base.project.clone()),
        sandbox: options.sandbox,
        // Outside of the sandbox nobody takes it away.
        network: options.network || !options.sandbox,
        folders: base.folders(&options.folders),
        read_folders: project.into_iter().chain(base.folders(&options.read_folders)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use chat_definitions::{Origin, Severity};

    use super::*;
    use crate::config::McpConfig;

    fn server(json: &str) -> Server {
        let file = format!("{{\"mcpServers\": {{\"notes\": {json}}}}}");
        let config = McpConfig::parse(file.as_bytes(), Origin::Project);
        assert!(config.problems.iter().all(|it| it.severity() == Severity::Note), "{config:?}");
        config.servers.into_iter().next().unwrap()
    }

    fn base() -> PathBase {
        PathBase { home: "/home/ada".into(), project: Some("/projects/app".into()) }
    }

    const PROGRAM: &str = r#"{"command": "npx", "args": ["-y", "notes"], "env": {"TOKEN": "sk-1", "A": "${B}"},
        "cwd": "tools", "natter": {"network": true, "folders": ["~/notes", "data"], "readFolders": ["/srv"]}}"#;

    #[test]
    fn a_program_is_described_without_values() {
        let summary = server(PROGRAM).start_summary(&base());
        let path = |path: &str| PathBuf::from(path);
        assert_eq!(
            summary.action,
            StartAction::Program {
                program: "npx".to_owned(),
                args: vec!["-y".to_owned(), "notes".to_owned()],
                variables: vec!["A".to_owned(), "TOKEN".to_owned()],
                folder: Some(path("/projects/app/tools")),
                sandbox: true,
                network: true,
                folders: vec![path("/home/ada/notes"), path("/projects/app/data")],
                read_folders: vec![path("/projects/app"), path("/srv")],
            }
        );
        let names: Vec<_> = summary.references.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["${env:B}"]);
        assert!(!format!("{summary:?}").contains("sk-1"));
    }

    #[test]
    fn a_program_outside_of_the_sandbox_has_the_network_and_starts_in_the_project() {
        let outside = server(r#"{"command": "x", "natter": {"sandbox": false}}"#);
        match outside.start_summary(&base()).action {
            StartAction::Program { sandbox, network, folder, .. } => {
                assert_eq!((sandbox, network, folder), (false, true, Some("/projects/app".into())));
            }
            StartAction::Address { .. } => panic!("a program"),
        }
    }

    #[test]
    fn the_project_may_be_read_by_its_programs_in_the_sandbox_alone() {
        let reads = |base: &PathBase, options: &str| {
            let program = server(&format!("{{\"command\": \"x\", \"natter\": {{{options}}}}}"));
            match program.start_summary(base).action {
                StartAction::Program { read_folders, .. } => read_folders,
                StartAction::Address { .. } => panic!("a program"),
            }
        };
        let project = [PathBuf::from("/projects/app")];
        assert_eq!(reads(&base(), ""), project);
        assert_eq!(reads(&base(), "\"folders\": [\"data\"]"), project);
        assert_eq!(
            reads(&base(), "\"readFolders\": [\"./\"]"),
            [PathBuf::from("/projects/app/./")]
        );
        for options in
            ["\"folders\": [\".\"]", "\"folders\": [\"/projects\"]", "\"sandbox\": false"]
        {
            assert!(reads(&base(), options).is_empty(), "{options}");
        }
        assert!(reads(&PathBase { project: None, ..base() }, "").is_empty());
    }

    #[test]
    fn a_link_is_shown_as_where_it_leads() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        std::fs::create_dir(root.join("data")).unwrap();
        std::os::unix::fs::symlink("data", root.join("link")).unwrap();
        let base = PathBase { home: "/home/ada".into(), project: Some(root.clone()) };
        let program = server(r#"{"command": "x", "natter": {"folders": ["link", "none"]}}"#);
        match program.start_summary(&base).resolved(&base).action {
            StartAction::Program { folders, .. } => {
                assert_eq!(folders, [root.join("data"), root.join("none")]);
            }
            StartAction::Address { .. } => panic!("a program"),
        }
    }

    #[test]
    fn an_address_is_described_without_values() {
        let http = r#"{"url": "https://${HOST}/mcp", "headers": {"Authorization": "Bearer ${keyring:k}"}}"#;
        let summary = server(http).start_summary(&base());
        let url = "https://${HOST}/mcp".to_owned();
        let headers = vec!["Authorization".to_owned()];
        assert_eq!(summary.action, StartAction::Address { url, headers });
        assert_eq!(summary.references.len(), 2);
    }

    #[test]
    fn the_hash_follows_all_that_is_started_and_nothing_else() {
        let hash = |json: &str| server(json).digest();
        let same = [
            PROGRAM.replace("\"command\"", "// why\n\"type\": \"stdio\", \"command\""),
            PROGRAM.replace("\"cwd\"", "\"disabled\": true, \"alwaysAllow\": [], \"cwd\""),
            PROGRAM.replace(
                "\"network\"",
                "\"timeLimit\": 9, \"disabledTools\": [\"x\"], \"network\"",
            ),
        ];
        for json in same {
            assert_eq!(hash(&json), hash(PROGRAM), "{json}");
        }
        let other = [
            PROGRAM.replace("npx", "npm"),
            PROGRAM.replace("\"-y\", ", ""),
            PROGRAM.replace("\"-y\", \"notes\"", "\"-ynotes\""),
            PROGRAM.replace("sk-1", "sk-2"),
            PROGRAM.replace("${B}", "${C}"),
            PROGRAM.replace("tools", "tool"),
            PROGRAM.replace("\"network\": true", "\"network\": false"),
            PROGRAM.replace("\"network\"", "\"sandbox\": false, \"network\""),
            PROGRAM.replace(", \"data\"], \"readFolders\": [", "], \"readFolders\": [\"data\", "),
        ];
        let mut all: BTreeSet<_> = other.iter().map(|json| hash(json)).collect();
        all.insert(hash(PROGRAM));
        let mut renamed = server(PROGRAM);
        renamed.name = "other".to_owned();
        all.insert(renamed.digest());
        assert_eq!(all.len(), other.len() + 2, "all differ");
    }

    #[test]
    fn paths_mean_folders_of_the_user_and_of_the_project() {
        let user = PathBase { project: None, ..base() };
        for (path, of_user, of_project) in [
            ("/srv", Some("/srv"), Some("/srv")),
            ("~", Some("/home/ada"), Some("/home/ada")),
            ("~//x", Some("/home/ada/x"), Some("/home/ada/x")),
            ("x/y", None, Some("/projects/app/x/y")),
            ("~bob/x", None, None),
        ] {
            assert_eq!(user.folder(path), of_user.map(PathBuf::from), "{path}");
            assert_eq!(base().folder(path), of_project.map(PathBuf::from), "{path}");
        }
    }
}
