//! Reads all servers of a file.

use std::collections::{BTreeMap, BTreeSet};

use chat_definitions::{Origin, Severity};
use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Range;

use super::problem::quoted;
use super::{Lines, Problem, ProblemKind, Server, entries, is_name, parse_root, text_of};

/// Bytes of a file.
pub const LARGEST_FILE: usize = 1024 * 1024;
/// Servers of a file.
pub const MOST_SERVERS: usize = 200;
/// Problems of one server that are worth telling.
const MOST_PROBLEMS: usize = 20;

/// The key of the servers.
pub(crate) const SERVERS: &str = "mcpServers";
/// The key of the servers in files of VS Code.
pub(crate) const SERVERS_OF_VS_CODE: &str = "servers";

/// The servers of a file, and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpConfig {
    /// The servers that can be used, also those that are switched off, in the order of the file.
    pub servers: Vec<Server>,
    /// What is wrong, in the order of the file.
    pub problems: Vec<Problem>,
    /// All names of the file, with the secrets to which their texts refer, also those that cannot be used.
    pub(super) entries: BTreeMap<String, BTreeSet<String>>,
}

impl McpConfig {
    /// Reads a file's contents. In a project's file, paths of folders may be relative to the project.
    pub fn parse(bytes: &[u8], origin: Origin) -> Self {
        match text_of(bytes, LARGEST_FILE) {
            Ok(text) => Self::parse_text(text, origin),
            Err(kind) => Self::broken(None, kind),
        }
    }

    /// Whether nobody knows which servers the file has: it cannot be read, or not as a file of servers.
    pub fn is_unreadable(&self) -> bool {
        use ProblemKind::{NotAFileOfServers, NotUtf8, Syntax, TooLarge, Unreadable};
        let is_of_all = |problem: &Problem| {
            let kind = &problem.kind;
            matches!(kind, Unreadable | TooLarge { .. } | NotUtf8 | Syntax | NotAFileOfServers)
        };
        self.problems.iter().any(|problem| problem.server.is_none() && is_of_all(problem))
    }

    /// Has the servers of an earlier file, with what is wrong with this one.
    pub(crate) fn keep_servers(&mut self, earlier: Self) {
        (self.servers, self.entries) = (earlier.servers, earlier.entries);
    }

    /// The server of this name.
    pub fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.name == name)
    }

    /// A file of which nothing can be used.
    pub(crate) fn broken(line: Option<usize>, kind: ProblemKind) -> Self {
        let problems = vec![Problem { server: None, line, kind }];
        Self { problems, ..Self::default() }
    }

    fn parse_text(text: &str, origin: Origin) -> Self {
        let root = match parse_root(text) {
            Ok(None) => return Self::default(),
            Ok(Some(Value::Object(root))) => root,
            Ok(Some(_)) => return Self::broken(Some(1), ProblemKind::NotAFileOfServers),
            Err(line) => return Self::broken(Some(line), ProblemKind::Syntax),
        };
        let mut reader = Reader::new(Lines::of(text), origin, None);
        let (mut servers, mut entries) = (Vec::new(), BTreeMap::new());
        let keys = reader.keys(&root);
        let of = |name: &str| keys.iter().find(|(key, _)| *key == name).map(|(_, it)| *it);
        match (of(SERVERS), of(SERVERS_OF_VS_CODE)) {
            (Some(property), _) => match &property.value {
                Value::Object(object) => {
                    servers = reader.servers(object);
                    entries = entries::of(object);
                }
                _ => reader.complain(property.range, ProblemKind::NotAFileOfServers),
            },
            (None, Some(property)) => reader.complain(property.range, ProblemKind::FormOfVsCode),
            (None, None) => {}
        }
        Self { servers, problems: reader.problems, entries }
    }
}

/// Turns a text of another program's file into one of ours.
pub(crate) type Translate<'a> = &'a dyn Fn(&str) -> Result<String, ProblemKind>;

/// Reads servers, and notes what is wrong.
pub(crate) struct Reader<'a> {
    lines: Lines,
    origin: Origin,
    /// What is done with texts first.
    translate: Option<Translate<'a>>,
    /// The server that is read.
    server: Option<String>,
    /// How many problems of it are noted, and whether there was an error among all.
    noted: usize,
    has_error: bool,
    pub(crate) problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(lines: Lines, origin: Origin, translate: Option<Translate<'a>>) -> Self {
        Self {
            lines,
            origin,
            translate,
            server: None,
            noted: 0,
            has_error: false,
            problems: Vec::new(),
        }
    }

    /// From now on, reads the server of this name.
    pub(crate) fn begin(&mut self, server: Option<&str>) {
        self.server = server.map(quoted);
        self.noted = 0;
        self.has_error = false;
    }

    pub(crate) fn complain(&mut self, range: Range, kind: ProblemKind) {
        self.has_error |= kind.severity() == Severity::Error;
        if self.noted < MOST_PROBLEMS {
            self.noted += 1;
            let line = Some(self.lines.line(range));
            self.problems.push(Problem { server: self.server.clone(), line, kind });
        }
    }

    /// Whether the server that is read has an error.
    pub(super) fn has_error(&self) -> bool {
        self.has_error
    }

    pub(super) fn origin(&self) -> Origin {
        self.origin
    }

    pub(super) fn translate(&self, text: &str) -> Result<String, ProblemKind> {
        self.translate.map_or_else(|| Ok(text.to_owned()), |translate| translate(text))
    }

    /// The servers of an object, by their names.
    fn servers(&mut self, object: &Object<'_>) -> Vec<Server> {
        let mut names = BTreeSet::new();
        let mut servers = Vec::new();
        for property in &object.properties {
            let name = super::json::key(&property.name);
            self.begin(Some(name));
            if names.len() == MOST_SERVERS {
                self.begin(None);
                let kind = ProblemKind::TooManyServers { limit: MOST_SERVERS };
                self.complain(property.range, kind);
                break;
            }
            if !names.insert(name) {
                self.complain(property.range, ProblemKind::DuplicateName);
                continue;
            }
            if !is_name(name) {
                self.complain(property.range, ProblemKind::InvalidName);
                continue;
            }
            match &property.value {
                Value::Object(object) => {
                    let config = self.server(object);
                    servers.extend(config.map(|config| Server { name: name.to_owned(), config }));
                }
                _ => self.complain(property.range, ProblemKind::NotAnObject { key: None }),
            }
        }
        servers
    }
}

#[cfg(test)]
mod tests;
