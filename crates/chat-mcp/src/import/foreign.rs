//! Reads files of the form that most programs share.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use chat_definitions::Origin;
use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;

use crate::config::{
    LONGEST_NAME, Lines, MOST_SERVERS, Problem, ProblemKind, Reader, Reference, ServerConfig,
    Template, clean_name, key, parse_root,
};

use super::grants::RequestedGrants;
use super::secrets::{PlainSecret, plain_secrets};
use super::variables::{Dialect, Variables, secret_name};

/// What a file or a pasted text has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignServers {
    /// The servers that can be taken, in their order.
    pub servers: Vec<ForeignServer>,
    /// What the program asks its user for, and that the servers need as secrets.
    pub inputs: Vec<RequestedInput>,
    /// What could not be taken, and why. Servers are named as in the file.
    pub problems: Vec<Problem>,
}

impl ForeignServers {
    /// A text of which nothing can be used.
    pub(super) fn broken(line: Option<usize>, kind: ProblemKind) -> Self {
        Self { problems: vec![Problem { server: None, line, kind }], ..Self::default() }
    }
}

/// A server that can be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignServer {
    /// A name for it that no other one here has. None if the user must choose one.
    pub name: Option<String>,
    /// The rest, which grants it nothing that others do not get.
    pub config: ServerConfig,
    /// What the text wants it to be allowed.
    pub grants: RequestedGrants,
    /// Secrets that are written out in it.
    pub secrets: Vec<PlainSecret>,
    /// The names of secrets to which the text refers as if they were in the keyring already: not those of inputs.
    pub references: BTreeSet<String>,
}

/// Something that a program asks its user for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedInput {
    /// The name of the secret that servers refer to instead.
    pub secret: String,
    /// What it is, in the words of whoever wrote the file.
    pub description: Option<String>,
    /// What is taken if the user answers nothing.
    pub default: Option<String>,
    /// Whether it must not be seen while it is typed.
    pub is_password: bool,
}

/// Reads a file that has its servers under a key.
pub(super) fn read(text: &str, servers: &str, dialect: Dialect, home: &Path) -> ForeignServers {
    let root = match parse_root(text) {
        Ok(None) => return ForeignServers::default(),
        Ok(Some(Value::Object(root))) => root,
        Ok(Some(_)) => return ForeignServers::broken(Some(1), ProblemKind::NotAFileOfServers),
        Err(line) => return ForeignServers::broken(Some(line), ProblemKind::Syntax),
    };
    match root.get(servers).map(|property| &property.value) {
        None => ForeignServers::default(),
        Some(Value::Object(servers)) => {
            let inputs = root.get_array("inputs").map(|list| list.elements.as_slice());
            read_servers(text, servers, inputs.unwrap_or_default(), dialect, home)
        }
        Some(_) => ForeignServers::broken(None, ProblemKind::NotAFileOfServers),
    }
}

/// Reads servers by their names.
pub(super) fn read_servers(
    text: &str,
    servers: &Object<'_>,
    inputs: &[Value<'_>],
    dialect: Dialect,
    home: &Path,
) -> ForeignServers {
    let named =
        servers.properties.iter().map(|property| (Some(key(&property.name)), &property.value));
    read_values(text, named, inputs, dialect, home, |reader, object| reader.server(object))
}

/// Reads values that are servers, with what makes a server of an object.
pub(super) fn read_values<'v, 't: 'v>(
    text: &str,
    values: impl IntoIterator<Item = (Option<&'v str>, &'v Value<'t>)>,
    inputs: &[Value<'_>],
    dialect: Dialect,
    home: &Path,
    mut server: impl FnMut(&mut Reader<'_>, &Object<'t>) -> Option<ServerConfig>,
) -> ForeignServers {
    let variables = Variables {
        dialect,
        home,
        inputs: inputs.iter().filter_map(input).collect(),
        used: RefCell::default(),
    };
    let translate = |text: &str| variables.translate(text);
    let mut reader = Reader::new(Lines::of(text), Origin::User, Some(&translate));
    let mut found = ForeignServers::default();
    let mut names = BTreeSet::new();
    for (at, (name, value)) in values.into_iter().enumerate() {
        reader.begin(name);
        let range = value.range();
        if at == MOST_SERVERS {
            reader.begin(None);
            reader.complain(range, ProblemKind::TooManyServers { limit: MOST_SERVERS });
            break;
        }
        let Value::Object(object) = value else {
            reader.complain(range, ProblemKind::NotAnObject { key: None });
            continue;
        };
        if let Some(mut config) = server(&mut reader, object) {
            let name = name.and_then(clean_name).map(|name| unused(&mut names, &name));
            let secrets = plain_secrets(name.as_deref(), &config);
            let grants = RequestedGrants::take(&mut config.options);
            let references = BTreeSet::new();
            found.servers.push(ForeignServer { name, config, grants, secrets, references });
        }
    }
    found.problems = reader.problems;
    found.inputs = used_inputs(&found.servers, variables);
    let is_input = |secret: &&str| found.inputs.iter().any(|input| input.secret == *secret);
    for server in &mut found.servers {
        let secrets = server.config.secrets().filter(|secret| !is_input(secret));
        server.references = secrets.map(str::to_owned).collect();
    }
    found
}

/// The inputs of servers that could be read.
fn used_inputs(servers: &[ForeignServer], mut variables: Variables<'_>) -> Vec<RequestedInput> {
    let references =
        servers.iter().flat_map(|it| it.config.templates()).flat_map(Template::references);
    let secrets: BTreeSet<&str> = references
        .filter_map(|reference| match reference {
            Reference::Secret { name } => Some(name.as_str()),
            Reference::Variable { .. } => None,
        })
        .collect();
    let used = variables.used.take();
    let input = |id: String| {
        let unknown =
            |secret| RequestedInput { secret, description: None, default: None, is_password: true };
        variables.inputs.remove(&id).flatten().or_else(|| secret_name(&id).map(unknown))
    };
    used.into_iter().filter_map(input).filter(|it| secrets.contains(it.secret.as_str())).collect()
}

/// An input by its name. One that a program answers has nothing to ask.
fn input(value: &Value<'_>) -> Option<(String, Option<RequestedInput>)> {
    let object = value.as_object()?;
    let text = |name: &str| object.get_string(name).map(|text| text.value.clone().into_owned());
    let id = text("id")?;
    if text("type").as_deref() == Some("command") {
        return Some((id, None));
    }
    let input = RequestedInput {
        secret: secret_name(&id)?,
        description: text("description").filter(|text| !text.trim().is_empty()),
        default: text("default").filter(|text| !text.is_empty()),
        is_password: object.get_boolean("password").is_some_and(|flag| flag.value),
    };
    Some((id, Some(input)))
}

/// The name, with a number if it is used already.
fn unused(names: &mut BTreeSet<String>, name: &str) -> String {
    let mut free = name.to_owned();
    let mut number = 1;
    while names.contains(&free) {
        number += 1;
        let end = format!("-{number}");
        free = name.chars().take(LONGEST_NAME - end.len()).chain(end.chars()).collect();
    }
    names.insert(free.clone());
    free
}
