//! Adds a server of tools. What looks like a secret goes into the keyring.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chat_core::settings::KeyStorage;
use chat_mcp::config::{
    HttpServer, ProblemKind, Server, ServerConfig, ServerOptions, StdioServer, Template, Transport,
};
use chat_mcp::import::plain_secrets;
use chat_mcp::servers::{AddError, NewServer};
use chat_presentation::words;

use super::{named, remark};
use crate::args::AddServer;
use crate::engine::Program;
use crate::error::{CliError, Outcome, Result};
use crate::request;
use crate::say;

/// Adds a server, which is not started yet.
pub(super) async fn add(new: AddServer, program: &Program) -> Result<Outcome> {
    let server = server(&new)?;
    server.check().map_err(|problem| CliError::Usage(words::mcp_problem_sentence(&problem)))?;
    let name = server.name.clone();
    let secrets = plain_secrets(Some(&name), &server.config);
    let new = NewServer { server, secrets, inputs: Vec::new() };
    let kept = program.servers.add(new).await.map_err(|error| match error {
        AddError::Write(error) => named(error),
        AddError::Keyring(error) => error.into(),
    })?;
    if let Some(storage @ KeyStorage::ThisRun(_)) = kept {
        remark(&words::key_storage(storage));
        remark(&say::server_secrets_will_be_lost());
    }
    remark(&say::server_added(&name));
    Ok(Outcome::Done)
}

fn server(new: &AddServer) -> Result<Server> {
    let AddServer { name, url, headers, variables, command, .. } = new;
    let transport = if let Some(url) = url {
        Transport::Http(HttpServer { url: template(url)?, headers: map(headers)? })
    } else {
        let mut words = command.iter().map(|word| template(word));
        // The command line asks for one.
        let command = words.next().unwrap_or_else(|| template(""))?;
        let args = words.collect::<Result<_>>()?;
        Transport::Stdio(StdioServer { command, args, env: map(variables)?, cwd: None })
    };
    let options = ServerOptions {
        sandbox: !new.no_sandbox,
        network: new.network,
        folders: folders(&new.folders)?,
        read_folders: folders(&new.read_folders)?,
        ..ServerOptions::default()
    };
    let config = ServerConfig { options, ..ServerConfig::new(transport) };
    Ok(Server { name: name.clone(), config })
}

fn map(pairs: &[(String, String)]) -> Result<BTreeMap<String, Template>> {
    pairs.iter().map(|(name, value)| Ok((name.clone(), template(value)?))).collect()
}

fn template(text: &str) -> Result<Template> {
    Template::parse(text).map_err(|invalid| {
        // The rest of the text may be a secret.
        let problem = ProblemKind::UnknownReference { text: invalid.0 };
        CliError::Usage(words::mcp_problem_sentence(&problem))
    })
}

/// The file has full paths: what is given here is seen from the current folder.
fn folders(given: &[PathBuf]) -> Result<Vec<String>> {
    let path = |given: &PathBuf| Ok(request::folder(given)?.to_string_lossy().into_owned());
    given.iter().map(path).collect()
}
