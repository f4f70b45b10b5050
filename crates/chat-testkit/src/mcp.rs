//! Finds servers of the Model Context Protocol for tests: the scripted one, and some that others wrote.
//!
//! The scripted one is the program `scripted-mcp` of this crate. The others are fetched by `scripts/lib/mcp-servers`, and
//! are not there on each machine.

use std::path::{Path, PathBuf};

use crate::fetched::fetched;
use crate::files::built_program;

/// The variable with the path of Node.
pub const NODE: &str = "NATTER_TEST_NODE";
/// The variable with the path of the folder `node_modules` in which the servers for Node are.
pub const NODE_MODULES: &str = "NATTER_TEST_NODE_MODULES";
/// The variable with the path of a Python that has the official SDK.
pub const PYTHON: &str = "NATTER_TEST_MCP_PYTHON";

/// The program and arguments that start a server over standard input and output.
pub type ServerCommand = Vec<String>;

/// The scripted server with these arguments: a mode, and options.
///
/// # Panics
/// Where it is not built.
pub fn scripted(arguments: &[&str]) -> ServerCommand {
    let program = built_program("scripted-mcp");
    command(&program, None, arguments)
}

/// Servers that others wrote, and the conformance checks of the protocol's authors.
#[derive(Debug)]
pub struct OtherServers {
    node: PathBuf,
    modules: PathBuf,
    python: PathBuf,
}

impl OtherServers {
    /// Where they are. None if they are missing and not required; says so on standard error.
    ///
    /// # Panics
    /// If they are missing with `CI=true`.
    pub fn find() -> Option<Self> {
        let found = fetched("MCP servers of others", [NODE, NODE_MODULES, PYTHON])?;
        let [node, modules, python] = found;
        Some(Self { node, modules, python })
    }

    /// The protocol's server of everything that there is. `streamableHttp` as its argument makes it serve HTTP at the
    /// path `/mcp`, on the port in its variable `PORT`. Speaks 2025-11-25.
    pub fn everything(&self, arguments: &[&str]) -> ServerCommand {
        self.package("server-everything", arguments)
    }

    /// The server of files in these folders. Speaks 2025-11-25.
    pub fn filesystem(&self, folders: &[&str]) -> ServerCommand {
        self.package("server-filesystem", folders)
    }

    /// The server that remembers, in the file of its variable `MEMORY_FILE_PATH`. Speaks 2025-11-25.
    pub fn memory(&self) -> ServerCommand {
        self.package("server-memory", &[])
    }

    /// A small server with the official SDK for Python, which speaks both revisions. With the arguments `http` and a
    /// port it serves HTTP at the path `/mcp`.
    pub fn tiny(&self, arguments: &[&str]) -> ServerCommand {
        command(&self.python, Some(&servers().join("tiny.py")), arguments)
    }

    /// The folders that they need: a sandbox must show these.
    pub fn folders(&self) -> Vec<PathBuf> {
        // It has packages, and may be a link to a Python elsewhere. One of the system is shown anyway.
        let linked = self.python.canonicalize().expect("it is there");
        let pythons = [&self.python, &linked].map(|it| it.ancestors().nth(2));
        let pythons = pythons.into_iter().flatten().filter(|it| !it.starts_with("/usr"));
        let others = [self.modules.clone(), servers()];
        pythons.map(Path::to_owned).chain(others).collect()
    }

    /// The conformance checks. `client --command COMMAND …` judges a client. Their servers listen on loopback alone.
    pub fn conformance(&self, arguments: &[&str]) -> ServerCommand {
        let mut command = self.package("conformance", arguments);
        let loopback = path_text(&servers().join("loopback.cjs"));
        command.insert(1, format!("--require={loopback}"));
        command
    }

    fn package(&self, name: &str, arguments: &[&str]) -> ServerCommand {
        let script = self.modules.join("@modelcontextprotocol").join(name).join("dist/index.js");
        command(&self.node, Some(&script), arguments)
    }
}

/// The folder with what belongs to servers that others wrote.
fn servers() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../chat-mcp/tests/servers");
    folder.canonicalize().expect("it is there")
}

fn path_text(path: &Path) -> String {
    path.to_str().expect("paths of tests are text").to_owned()
}

fn command(program: &Path, script: Option<&Path>, arguments: &[&str]) -> ServerCommand {
    let paths = [Some(program), script].into_iter().flatten().map(path_text);
    paths.chain(arguments.iter().map(|&argument| argument.to_owned())).collect()
}
