//! Tests that the file is whole and private, and that nobody's changes are lost.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::config::{ServerConfig, StdioServer, Template, Transport};

fn server(name: &str) -> Server {
    let command = Template::parse("x").unwrap();
    let (args, env, cwd) = Default::default();
    let transport = Transport::Stdio(StdioServer { command, args, env, cwd });
    Server { name: name.to_owned(), config: ServerConfig::new(transport) }
}

fn add(name: &str) -> Change {
    Change::Add(server(name))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_new_file_is_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("natter/mcp.json");
    let file = ConfigFile::new(&path);
    let (config, version) = file.read();
    assert_eq!(config, McpConfig::default());
    assert!(!path.exists(), "reading makes nothing");
    let (config, version) = file.change(version, &add("a")).unwrap();
    assert_eq!(config.servers, [server("a")]);
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(file.read(), (config, version));
    // Rights that the user gave stay.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    file.change(version, &add("b")).unwrap();
    assert_eq!(mode(&path), 0o640);
    let left: Vec<_> =
        fs::read_dir(path.parent().unwrap()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "the file and its lock: {left:?}");
}

#[test]
fn what_somebody_else_wrote_meanwhile_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.json");
    let file = ConfigFile::new(&path);
    let (_, none) = file.read();
    fs::write(&path, "{}").unwrap();
    assert!(matches!(file.change(none, &add("a")), Err(WriteError::Changed)));
    let (_, version) = file.read();
    fs::write(&path, "{ }").unwrap();
    assert!(matches!(file.change(version, &add("a")), Err(WriteError::Changed)));
    assert_eq!(fs::read_to_string(&path).unwrap(), "{ }");
    let (_, version) = file.read();
    let (_, version) = file.change(version, &add("a")).unwrap();
    file.change(version, &add("b")).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(matches!(file.change(version, &add("c")), Err(WriteError::Changed)));
}

#[test]
fn of_two_who_change_at_once_one_must_look_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = ConfigFile::new(folder.path().join("mcp.json"));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let file = &file;
            scope.spawn(move || {
                for n in 0..5 {
                    let name = format!("s{thread}-{n}");
                    while let Err(error) = file.change(file.read().1, &add(&name)) {
                        assert!(matches!(error, WriteError::Changed), "{error}");
                    }
                }
            });
        }
    });
    assert_eq!(file.read().0.servers.len(), 20);
}

#[test]
fn a_link_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("mcp.json"), folder.path().join("dotfiles.json"));
    fs::write(&target, "// mine\n{}").unwrap();
    symlink(&target, &path).unwrap();
    let file = ConfigFile::new(&path);
    file.change(file.read().1, &add("a")).unwrap();
    assert!(path.is_symlink());
    assert!(fs::read_to_string(&target).unwrap().starts_with("// mine\n"));
}

#[test]
fn a_file_that_cannot_be_read_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.json");
    let file = ConfigFile::new(&path);
    for broken in [&b"{"[..], b"\xff", b"[]"] {
        fs::write(&path, broken).unwrap();
        let (config, version) = file.read();
        assert_eq!(config.problems.len(), 1);
        assert!(matches!(file.change(version, &add("a")), Err(WriteError::Broken)));
        assert_eq!(fs::read(&path).unwrap(), broken);
    }
    fs::write(&path, vec![b' '; LARGEST_FILE + 1]).unwrap();
    let (config, version) = file.read();
    assert_eq!(config.problems[0].kind, ProblemKind::TooLarge { limit: LARGEST_FILE });
    assert!(file.change(version, &add("a")).is_err());
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let (config, version) = file.read();
    assert_eq!(config.problems[0].kind, ProblemKind::Unreadable);
    assert!(matches!(file.change(version, &add("a")), Err(WriteError::Broken)));
}

#[test]
fn a_file_never_grows_beyond_what_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.json");
    fs::write(&path, format!("{{}}{}", " ".repeat(LARGEST_FILE - 4))).unwrap();
    let file = ConfigFile::new(&path);
    assert!(matches!(file.change(file.read().1, &add("a")), Err(WriteError::TooLarge)));
}
