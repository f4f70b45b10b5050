//! Keeps the tools that a server had when it last ran, so that it need not run before one of them is called.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use rmcp::model::Tool;
use serde::{Deserialize, Serialize};

use crate::client::ToolList;
use crate::config::Server;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 64 << 20;

#[derive(Deserialize)]
struct Stored {
    /// The hash of what was started.
    server: String,
    tools: Vec<Tool>,
}

#[derive(Serialize)]
struct Storing<'a> {
    server: String,
    tools: &'a [Tool],
}

/// The tools that this server had, if it is still the same.
pub(super) fn read(path: &Path, server: &Server) -> Option<Arc<ToolList>> {
    let found = fs::metadata(path).ok()?;
    if !found.is_file() || found.len() > LARGEST {
        return None;
    }
    let stored: Stored = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let is_same = stored.server == server.digest().to_string();
    is_same.then(|| Arc::new(ToolList { tools: stored.tools, ..ToolList::default() }))
}

pub(super) fn write(path: &Path, server: &Server, list: &ToolList) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let storing = Storing { server: server.digest().to_string(), tools: &list.tools };
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&serde_json::to_vec(&storing)?)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
