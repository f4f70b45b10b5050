//! Reads the file of servers that a project brings.

use std::io::Read;
use std::path::Path;

use chat_definitions::Origin;
use chat_permission::path::{Error, Guard, Kind, Project};

use super::{LARGEST_FILE, McpConfig, ProblemKind};

/// The file in a project's folder.
pub const PROJECT_FILE: &str = ".mcp.json";

/// The servers of a project. Anybody may have put them there: none may start before the user trusts it. A link that
/// leads out of the project is not followed. None if the project has no such file. Blocks.
pub fn read_project(project: &Project) -> Option<McpConfig> {
    match bytes(project) {
        Ok(None) => None,
        Ok(Some(bytes)) => Some(McpConfig::parse(&bytes, Origin::Project)),
        Err(kind) => Some(McpConfig::broken(None, kind)),
    }
}

fn bytes(project: &Project) -> Result<Option<Vec<u8>>, ProblemKind> {
    let is_link = || project.root().join(PROJECT_FILE).is_symlink();
    let resolved = match project.resolve_path(Path::new(PROJECT_FILE)) {
        Ok(resolved) => resolved,
        Err(Error::NotFound(_) | Error::NotAFolder(_)) if !is_link() => return Ok(None),
        Err(Error::NotFound(_) | Error::NotAFolder(_) | Error::Loop(_) | Error::MagicLink(_)) => {
            return Err(ProblemKind::LeadsOut);
        }
        Err(_) => return Err(ProblemKind::Unreadable),
    };
    if !resolved.is_inside() || resolved.guard() == Guard::Own {
        return Err(ProblemKind::LeadsOut);
    }
    if resolved.kind() == Kind::Missing {
        return if is_link() { Err(ProblemKind::LeadsOut) } else { Ok(None) };
    }
    let file = project.open_file(&resolved).map_err(|_| ProblemKind::Unreadable)?;
    let mut bytes = Vec::new();
    let most = LARGEST_FILE as u64 + 1;
    file.take(most).read_to_end(&mut bytes).map_err(|_| ProblemKind::Unreadable)?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use chat_permission::path::PathEnvironment;

    use super::*;

    const FILE: &str = r#"{"mcpServers": {"a": {"command": "x", "cwd": "tools"}}}"#;

    fn read(folder: &Path) -> Option<McpConfig> {
        read_project(&Project::open(folder, &PathEnvironment::default()).unwrap())
    }

    #[test]
    fn a_project_has_servers_of_its_own_with_paths_in_it() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()), None);
        fs::write(folder.path().join(PROJECT_FILE), FILE).unwrap();
        let config = read(folder.path()).unwrap();
        assert_eq!((config.servers.len(), config.problems), (1, Vec::new()));
    }

    #[test]
    fn links_are_followed_only_within_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        fs::create_dir(&project).unwrap();
        fs::write(folder.path().join("outside.json"), FILE).unwrap();
        let link = project.join(PROJECT_FILE);
        for target in ["../outside.json", "nowhere.json", PROJECT_FILE] {
            symlink(target, &link).unwrap();
            let config = read(&project).unwrap();
            assert_eq!(config.problems[0].kind, ProblemKind::LeadsOut, "{target}");
            assert_eq!(config.servers, []);
            fs::remove_file(&link).unwrap();
        }
        fs::write(project.join("inside.json"), FILE).unwrap();
        symlink("inside.json", &link).unwrap();
        assert_eq!(read(&project).unwrap().servers.len(), 1);
    }

    #[test]
    fn what_is_no_file_or_too_large_is_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(PROJECT_FILE)).unwrap();
        assert_eq!(read(folder.path()).unwrap().problems[0].kind, ProblemKind::Unreadable);
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(PROJECT_FILE), " ".repeat(LARGEST_FILE + 1)).unwrap();
        let kind = ProblemKind::TooLarge { limit: LARGEST_FILE };
        assert_eq!(read(folder.path()).unwrap().problems[0].kind, kind);
    }
}
