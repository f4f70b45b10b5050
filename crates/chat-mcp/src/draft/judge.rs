//! Says what is wrong with a draft, part by part.

use std::collections::BTreeMap;

use super::{DraftField, DraftKind, DraftPair, DraftProblem, ServerDraft, split_command};
use crate::config::{
    HttpServer, McpConfig, ProblemKind, Server, ServerConfig, ServerOptions, StdioServer, Template,
    Transport, is_name, quoted,
};

/// A name that is allowed, for parts that are judged without the real one.
const NAME: &str = "x";

impl ServerDraft {
    /// What is wrong, at most one thing for each part that is used. `known` are the servers of the file, of which `old` is
    /// edited.
    pub fn problems(
        &self,
        known: &McpConfig,
        old: Option<&str>,
    ) -> Vec<(DraftField, DraftProblem)> {
        let mut parts = vec![(DraftField::Name, self.judge_name(known, old))];
        match self.kind {
            DraftKind::Program => parts.extend([
                (DraftField::Command, self.program().map(drop)),
                (DraftField::WorkingFolder, self.judge_working_folder()),
                (DraftField::Variables, self.judge_pairs()),
            ]),
            DraftKind::Address => parts.extend([
                (DraftField::Address, self.judge_url()),
                (DraftField::Headers, self.judge_pairs()),
            ]),
        }
        if self.kind == DraftKind::Program && self.sandbox {
            let folders = filled(&self.folders);
            let of = ServerOptions { folders, ..ServerOptions::default() };
            parts.push((DraftField::Folders, judge_options(of)));
            let read_folders = filled(&self.read_folders);
            let of = ServerOptions { read_folders, ..ServerOptions::default() };
            parts.push((DraftField::ReadFolders, judge_options(of)));
        }
        let wrong = |(field, judged): (_, Result<(), _>)| Some((field, judged.err()?));
        parts.into_iter().filter_map(wrong).collect()
    }

    fn judge_name(&self, known: &McpConfig, old: Option<&str>) -> Result<(), DraftProblem> {
        let name = self.name.trim();
        if name.is_empty() {
            Err(DraftProblem::Missing)
        } else if !is_name(name) {
            Err(DraftProblem::Invalid(ProblemKind::InvalidName))
        } else if old != Some(name) && known.server(name).is_some() {
            Err(DraftProblem::NameTaken { name: name.to_owned() })
        } else {
            Ok(())
        }
    }

    /// The program with its arguments, and with nothing else.
    pub(super) fn program(&self) -> Result<StdioServer, DraftProblem> {
        let words = split_command(&self.command).ok_or(DraftProblem::OpenQuote)?;
        let mut words = words.iter().map(|word| template(word));
        let command = words.next().ok_or(DraftProblem::Missing)??;
        let args = words.collect::<Result<_, _>>()?;
        let program = StdioServer { command, args, env: BTreeMap::new(), cwd: None };
        judge(Transport::Stdio(program.clone()))?;
        Ok(program)
    }

    /// The folder in which the program starts, if one is set.
    pub(super) fn cwd(&self) -> Option<String> {
        let folder = self.working_folder.trim();
        (!folder.is_empty()).then(|| folder.to_owned())
    }

    fn judge_working_folder(&self) -> Result<(), DraftProblem> {
        judge(Transport::Stdio(StdioServer { cwd: self.cwd(), ..any_program() }))
    }

    fn judge_url(&self) -> Result<(), DraftProblem> {
        let url = self.url.trim();
        if url.is_empty() {
            return Err(DraftProblem::Missing);
        }
        judge(Transport::Http(HttpServer { url: template(url)?, headers: BTreeMap::new() }))
    }

    fn judge_pairs(&self) -> Result<(), DraftProblem> {
        let pairs = self.pairs()?;
        judge(match self.kind {
            DraftKind::Program => Transport::Stdio(StdioServer { env: pairs, ..any_program() }),
            DraftKind::Address => {
                let url = Template::plain("http://localhost");
                Transport::Http(HttpServer { url, headers: pairs })
            }
        })
    }

    /// The variables or headers that are filled in.
    pub(super) fn filled_pairs(&self) -> impl Iterator<Item = &DraftPair> {
        let pairs = match self.kind {
            DraftKind::Program => &self.variables,
            DraftKind::Address => &self.headers,
        };
        pairs.iter().filter(|pair| !pair.is_blank())
    }

    /// The variables or headers as the file has them, with secrets written out.
    pub(super) fn pairs(&self) -> Result<BTreeMap<String, Template>, DraftProblem> {
        let mut pairs = BTreeMap::new();
        let mut seen = Vec::new();
        for pair in self.filled_pairs() {
            let name = pair.name.trim();
            if name.is_empty() {
                return Err(DraftProblem::Unnamed);
            }
            // Names of headers have no case.
            let same = match self.kind {
                DraftKind::Program => name.to_owned(),
                DraftKind::Address => name.to_ascii_lowercase(),
            };
            if seen.contains(&same) {
                let kind = ProblemKind::DuplicateKey { key: quoted(name) };
                return Err(DraftProblem::Invalid(kind));
            }
            seen.push(same);
            pairs.insert(name.to_owned(), template(&pair.source())?);
        }
        Ok(pairs)
    }
}

/// The texts that are filled in.
pub(super) fn filled(texts: &[String]) -> Vec<String> {
    let texts = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
    texts.map(str::to_owned).collect()
}

fn any_program() -> StdioServer {
    StdioServer {
        command: Template::plain(NAME),
        args: Vec::new(),
        env: BTreeMap::new(),
        cwd: None,
    }
}

fn template(text: &str) -> Result<Template, DraftProblem> {
    Template::parse(text).map_err(|invalid| {
        DraftProblem::Invalid(ProblemKind::UnknownReference { text: quoted(&invalid.0) })
    })
}

fn judge(transport: Transport) -> Result<(), DraftProblem> {
    judge_config(ServerConfig::new(transport))
}

fn judge_options(options: ServerOptions) -> Result<(), DraftProblem> {
    let config = ServerConfig::new(Transport::Stdio(any_program()));
    judge_config(ServerConfig { options, ..config })
}

fn judge_config(config: ServerConfig) -> Result<(), DraftProblem> {
    Server { name: NAME.to_owned(), config }.check().map_err(DraftProblem::Invalid)
}
