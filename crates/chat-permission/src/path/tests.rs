//! Tests paths in real folders: where they lead, and that nothing that is swapped in between check
//! and use is reached.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::{Decision, Entry, Mode, Request, Scope, Why, decide};

mod entries;
mod kept;
mod properties;
mod swapped;

/// A project next to a folder with a similar name, in a temporary folder, with a home folder and
/// Natter's own folder.
struct Fixture {
    folder: tempfile::TempDir,
    project: Project,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["project/src", "project2", "home/.config/natter", "home/notes"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        for name in [
            "project/src/main.rs",
            "project2/secret",
            "home/notes/a",
            "home/.config/natter/config.toml",
        ] {
            fs::write(at(name), name).unwrap();
        }
        let environment = PathEnvironment {
            home: Some(at("home")),
            own: vec![at("home/.config/natter"), at("home/data/natter")],
        };
        let project = Project::open(&at("project"), &environment).unwrap();
        Self { folder, project }
    }

    fn at(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap().join(name)
    }

    fn resolve(&self, given: &str) -> ResolvedPath {
        self.project.resolve(given).unwrap_or_else(|error| panic!("{given}: {error}"))
    }

    fn is_inside(&self, given: &str) -> bool {
        self.resolve(given).is_inside()
    }
}

impl Fixture {
    /// No leftovers remain of a file that replaced another one.
    fn has_nothing_beside(&self, folder: &str) {
        let entries = fs::read_dir(self.at(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        let left: Vec<_> =
            names.filter(|name| name.to_string_lossy().starts_with(".natter-")).collect();
        assert!(left.is_empty(), "{folder}: {left:?}");
    }
}

fn text(mut file: fs::File) -> String {
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_neighbour_whose_name_begins_alike_is_outside() {
    let fixture = Fixture::new();
    assert!(fixture.is_inside("src/main.rs"));
    assert!(fixture.is_inside("."));
    assert!(fixture.is_inside(fixture.at("project/src").to_str().unwrap()));
    assert!(!fixture.is_inside("../project2/secret"));
    assert!(!fixture.is_inside(fixture.at("project2/secret").to_str().unwrap()));
    assert!(!fixture.is_inside(fixture.at("project2/new").to_str().unwrap()));
    assert!(!fixture.is_inside(".."));
    assert!(!fixture.is_inside("/"));
}

#[test]
fn a_path_is_what_it_really_is() {
    let fixture = Fixture::new();
    symlink("src", fixture.at("project/in")).unwrap();
    symlink("../project2", fixture.at("project/out")).unwrap();
    symlink("../project2/new", fixture.at("project/dangling")).unwrap();
    symlink(fixture.at("project/src"), fixture.at("project2/back")).unwrap();
    for (given, real) in [
        ("src/../src/./main.rs", "project/src/main.rs"),
        ("in/main.rs", "project/src/main.rs"),
        ("in/../x", "project/x"),
        ("out/secret", "project2/secret"),
        ("out/../x", "x"),
        ("dangling", "project2/new"),
        ("out/back/main.rs", "project/src/main.rs"),
        ("new/deep/er", "project/new/deep/er"),
        ("//src//main.rs", "//src//main.rs"),
        ("src/", "project/src"),
        ("~", "home"),
        ("~/notes/a", "home/notes/a"),
        ("./~/a", "project/~/a"),
        ("~me/a", "project/~me/a"),
    ] {
        let expected =
            if given.starts_with("//") { PathBuf::from("/src/main.rs") } else { fixture.at(real) };
        let found = fixture.resolve(given);
        assert_eq!(found.real(), expected, "{given}");
        assert_eq!(found.is_inside(), expected.starts_with(fixture.at("project")), "{given}");
    }
    let found = fixture.resolve("in/main.rs");
    assert_eq!(
        (found.relative(), found.display_path()),
        (Some(Path::new("src/main.rs")), Path::new("src/main.rs"))
    );
    assert_eq!(fixture.resolve("src/..").display_path(), Path::new("."));
    let note = fixture.resolve("~/notes/a");
    assert_eq!(
        (note.beneath_home(), note.display_path()),
        (Some(Path::new("notes/a")), note.real())
    );
    assert_eq!(fixture.resolve_in_src("main.rs").relative(), Some(Path::new("src/main.rs")));
    assert_eq!(fixture.project.resolve_entry("in").unwrap().real(), fixture.at("project/in"));
    assert_eq!(fixture.project.resolve_entry("in").unwrap().kind(), Kind::Link);
    assert_eq!(fixture.project.resolve_entry("in/").unwrap().real(), fixture.at("project/src"));
    assert_eq!(
        fixture.project.resolve_entry("in/main.rs").unwrap().real(),
        fixture.at("project/src/main.rs")
    );
    assert_eq!(fixture.project.root(), fixture.at("project"));
}

impl Fixture {
    fn resolve_in_src(&self, given: &str) -> ResolvedPath {
        self.project.resolve_in(&self.resolve("src"), given).unwrap()
    }
}

#[test]
fn what_lies_there_is_told() {
    let fixture = Fixture::new();
    pipe(&fixture.at("project/pipe"));
    for (given, kind) in [
        ("src/main.rs", Kind::File),
        ("src", Kind::Folder),
        ("none", Kind::Missing),
        ("pipe", Kind::Special),
    ] {
        assert_eq!(fixture.resolve(given).kind(), kind, "{given}");
    }
    assert!(!fixture.resolve("src/main.rs").has_several_links());
    assert!(!fixture.resolve("src").has_several_links(), "a folder's links are its own");
    fs::hard_link(fixture.at("project2/secret"), fixture.at("project/linked")).unwrap();
    assert!(fixture.resolve("linked").has_several_links());
    let error = fixture.project.open_file(&fixture.resolve("pipe")).unwrap_err();
    assert!(matches!(error, Error::NotAFile(_)), "{error}");
    assert!(matches!(fixture.project.open_file(&fixture.resolve("src")), Err(Error::NotAFile(_))));
}

#[test]
fn what_leads_nowhere_is_an_error() {
    let fixture = Fixture::new();
    symlink("loop2", fixture.at("project/loop1")).unwrap();
    symlink("loop1", fixture.at("project/loop2")).unwrap();
    let error = |given: &str| fixture.project.resolve(given).unwrap_err();
    assert!(matches!(error(""), Error::Empty));
    assert!(matches!(error("a\0b"), Error::Nul));
    assert!(matches!(error(&"a".repeat(256)), Error::TooLong));
    assert!(matches!(error(&"a/".repeat(2048)), Error::TooLong));
    assert!(matches!(error("loop1"), Error::Loop(_)));
    assert!(matches!(error("none/../src"), Error::NotFound(_)));
    assert!(matches!(error("none/"), Error::NotFound(_)));
    assert!(matches!(error("src/main.rs/"), Error::NotAFolder(_)));
    assert!(matches!(error("src/main.rs/."), Error::NotAFolder(_)));
    assert!(matches!(error("src/main.rs/.."), Error::NotAFolder(_)));
    assert!(matches!(error("src/main.rs/x"), Error::NotAFolder(_)));
    assert_eq!(fixture.resolve(&"a".repeat(255)).kind(), Kind::Missing);
    assert_eq!(fixture.resolve(&format!("{}b", "./".repeat(2047))).kind(), Kind::Missing);
    // The given path is short enough, but the full one is not.
    assert!(matches!(error(&format!("{}a", "a/".repeat(2040))), Error::TooLong));
    let room = 4095 - fixture.at("project").as_os_str().len() - 1;
    let whole = format!("{}{}", "a/".repeat(room / 2 - 1), "b".repeat(room - (room / 2 - 1) * 2));
    assert_eq!(fixture.resolve(&whole).real().as_os_str().len(), 4095);
    assert!(matches!(error(&format!("{whole}b")), Error::TooLong));
    // Nothing exists that the system could reject.
    assert!(matches!(error(&format!("none/{}", "a".repeat(256))), Error::TooLong));
    let homeless = Project::open(&fixture.at("project"), &PathEnvironment::default()).unwrap();
    assert!(matches!(homeless.resolve("~/a"), Err(Error::NoHome)));
}

#[test]
fn a_link_may_demand_a_folder() {
    let fixture = Fixture::new();
    for (name, target) in [
        ("to-file-dot", "src/main.rs/."),
        ("to-file-slash", "src/main.rs/"),
        ("to-none-dot", "none/."),
        ("to-none-slash", "none/"),
        ("to-folder-dot", "src/."),
        ("to-folder-slash", "src/"),
        ("to-demand", "to-file-slash"),
    ] {
        symlink(target, fixture.at(&format!("project/{name}"))).unwrap();
    }
    for given in ["to-file-dot", "to-file-slash", "to-demand", "to-file-slash/x", "to-file-dot/.."]
    {
        let error = fixture.project.resolve(given).unwrap_err();
        assert!(matches!(error, Error::NotAFolder(_)), "{given}: {error}");
        let kernel = fs::metadata(fixture.at("project").join(given)).unwrap_err();
        assert_eq!(kernel.kind(), std::io::ErrorKind::NotADirectory, "{given}");
    }
    for given in ["to-none-dot", "to-none-slash"] {
        let error = fixture.project.resolve(given).unwrap_err();
        assert!(matches!(error, Error::NotFound(_)), "{given}: {error}");
        assert!(fs::write(fixture.at("project").join(given), "").is_err(), "{given}");
    }
    for given in ["to-folder-dot", "to-folder-slash", "to-folder-dot/../src"] {
        assert_eq!(fixture.resolve(given).real(), fixture.at("project/src"), "{given}");
    }
    assert_eq!(fixture.resolve("to-none-slash/x").real(), fixture.at("project/none/x"));
}

#[test]
fn forty_links_are_followed_and_no_more() {
    let fixture = Fixture::new();
    symlink("src", fixture.at("project/l0")).unwrap();
    for at in 1..=40 {
        symlink(format!("l{}", at - 1), fixture.at(&format!("project/l{at}"))).unwrap();
    }
    assert_eq!(fixture.resolve("l39/main.rs").real(), fixture.at("project/src/main.rs"));
    assert!(fs::metadata(fixture.at("project/l39")).is_ok());
    assert!(matches!(fixture.project.resolve("l40"), Err(Error::Loop(_))));
    assert!(fs::metadata(fixture.at("project/l40")).is_err(), "the kernel follows as many");
}

/// Whether a rule allows reading `given`.
fn passes(fixture: &Fixture, entry: Entry, given: &str) -> bool {
    let rules = fixture.project.follow_denied(vec![entry]);
    let request = Request::Read { path: fixture.resolve(given) };
    decide(&rules, Mode::Ask, &request) == Decision::Pass
}

#[test]
fn a_denied_path_is_denied_where_its_links_lead() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.at("project/store/keys/deep")).unwrap();
    fs::write(fixture.at("project/store/keys/a.key"), "").unwrap();
    symlink("store", fixture.at("project/link")).unwrap();
    symlink("src/main.rs", fixture.at("project/start.rs")).unwrap();
    symlink(fixture.at("project/store"), fixture.at("home/vault")).unwrap();
    symlink(fixture.at("project"), fixture.at("elsewhere")).unwrap();
    let absolute = format!("read:{}/store", fixture.at("elsewhere").display());
    for (rule, given) in [
        ("read:link/keys", "store/keys/a.key"),
        ("read:link/keys", "link/keys/a.key"),
        ("read:link/*/*.key", "store/keys/a.key"),
        ("read:link/**", "store/new"),
        ("read:link", "store/keys"),
        ("read:./link", "store"),
        ("read:start.rs", "src/main.rs"),
        ("read:~/vault/keys", "store/keys/deep"),
        (&absolute, "store/keys/a.key"),
        // And by its own name, as always.
        ("read:store/keys", "link/keys/a.key"),
    ] {
        let entry = Entry::deny(rule.parse().unwrap(), Scope::Project);
        assert!(!passes(&fixture, entry.clone(), given), "{rule} and {given}");
        let request = Request::Read { path: fixture.resolve(given) };
        let rules = fixture.project.follow_denied(vec![entry.clone()]);
        assert_eq!(rules, [entry], "it is the same rule");
        let why = Why::Denied(rule.to_owned());
        assert_eq!(
            decide(&rules, Mode::Ask, &request),
            Decision::Refuse { why, allowed_by: Vec::new() }
        );
    }
    for (rule, given) in [
        ("read:link/keys", "store/other"),
        ("read:link/*.key", "store/keys/deep"),
        ("read:link/*/*.key", "src/main.rs"),
        ("read:none/keys", "store/keys"),
        ("read:start.rs/x", "src/main.rs"),
        ("write:link/keys", "store/keys"),
        // What follows a wildcard is not looked up.
        ("read:l*/keys", "store/keys"),
    ] {
        let entry = Entry::deny(rule.parse().unwrap(), Scope::Project);
        assert!(passes(&fixture, entry, given), "{rule} and {given}");
    }
}

#[test]
fn a_link_widens_no_rule_that_allows() {
    let fixture = Fixture::new();
    symlink("../project2", fixture.at("project/out")).unwrap();
    for rule in ["read:out/**", "read:out"] {
        let entry = Entry::allow(rule.parse().unwrap(), Scope::Project);
        assert!(!passes(&fixture, entry, "out/secret"), "{rule}");
    }
}

#[test]
fn links_of_the_kernels_are_never_followed() {
    let fixture = Fixture::new();
    let outside = fs::File::open(fixture.at("project2/secret")).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&outside);
    symlink("/proc/self/root", fixture.at("project/root")).unwrap();
    for given in [
        format!("/proc/self/root{}", fixture.at("project/src").display()),
        format!("/proc/{}/root/etc/hosts", std::process::id()),
        format!("/proc/{}/fd/{number}", std::process::id()),
        format!("/proc/{}/cwd", std::process::id()),
        "/dev/fd/0".to_owned(),
        "/dev/stdin".to_owned(),
        "root/etc/hosts".to_owned(),
    ] {
        let error = fixture.project.resolve(&given).unwrap_err();
        assert!(matches!(error, Error::MagicLink(_)), "{given}: {error}");
    }
    // Without the check they lead there.
    assert!(fs::metadata(format!("/proc/self/fd/{number}")).is_ok());
    assert!(fixture.project.resolve(&format!("/proc/{}/status", std::process::id())).is_ok());
}

fn pipe(path: &Path) {
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, rustix::fs::Mode::RWXU, 0).unwrap();
}

#[test]
fn files_are_made_replaced_moved_and_removed() {
    let fixture = Fixture::new();
    let project = &fixture.project;
    project.create(&fixture.resolve("new/deep/file"), b"one").unwrap();
    assert_eq!(text(project.open_file(&fixture.resolve("new/deep/file")).unwrap()), "one");
    assert!(matches!(
        project.create(&fixture.resolve("new/deep/file"), b""),
        Err(Error::Exists(_))
    ));

    let permissions = fs::Permissions::from_mode(0o751);
    fs::set_permissions(fixture.at("project/new/deep/file"), permissions).unwrap();
    project.replace(&fixture.resolve("new/deep/file"), b"two").unwrap();
    assert_eq!(fs::read_to_string(fixture.at("project/new/deep/file")).unwrap(), "two");
    assert_eq!(
        fs::metadata(fixture.at("project/new/deep/file")).unwrap().permissions().mode() & 0o7777,
        0o751
    );
    assert!(matches!(project.replace(&fixture.resolve("none"), b""), Err(Error::NotAFile(_))));
    assert!(matches!(project.replace(&fixture.resolve("src"), b""), Err(Error::NotAFile(_))));

    project.rename(&fixture.resolve("new/deep/file"), &fixture.resolve("other/file")).unwrap();
    assert!(!fixture.at("project/new/deep/file").exists());
    assert_eq!(fs::read_to_string(fixture.at("project/other/file")).unwrap(), "two");
    let taken = project.rename(&fixture.resolve("other/file"), &fixture.resolve("src/main.rs"));
    assert!(matches!(taken, Err(Error::Exists(_))));

    project.create(&fixture.resolve("top"), b"").unwrap();
    project.remove(&fixture.resolve("top")).unwrap();
    project.remove(&fixture.resolve("other/file")).unwrap();
    project.remove(&fixture.resolve("other")).unwrap();
    assert!(!fixture.at("project/other").exists());
    assert!(project.remove(&fixture.resolve("src")).is_err(), "it is not empty");
    assert!(project.remove(&fixture.resolve("none")).is_err());
    assert!(project.remove(&fixture.resolve(".")).is_err());
    assert!(matches!(project.parent(&fixture.resolve("a/b/c")), Err(Error::Changed(_))));

    // Outside, where a rule may allow it.
    project.create(&fixture.resolve("../project2/made"), b"three").unwrap();
    assert_eq!(text(project.open_file(&fixture.resolve("../project2/made")).unwrap()), "three");
    let (_, name) = project.parent(&fixture.resolve("../project2/made")).unwrap();
    assert_eq!(name, "made");
    for folder in ["project", "project/src", "project/new/deep", "project2"] {
        fixture.has_nothing_beside(folder);
    }
    let folder = project.open_folder(&fixture.resolve("src")).unwrap();
    assert!(rustix::fs::statat(&folder, "main.rs", rustix::fs::AtFlags::empty()).is_ok());
    assert!(project.open_folder(&fixture.resolve(".")).is_ok());
    assert!(project.open_folder(&fixture.resolve("src/main.rs")).is_err());
}

#[test]
fn a_replaced_file_keeps_its_owner_where_that_may_be() {
    use std::os::unix::fs::{MetadataExt, chown};
    let fixture = Fixture::new();
    let file = fixture.at("project/src/main.rs");
    // Only root can have such a file; otherwise the owner stays the same.
    let owner = if chown(&file, Some(65_534), Some(65_534)).is_ok() {
        65_534
    } else {
        fs::metadata(&file).unwrap().uid()
    };
    fixture.project.replace(&fixture.resolve("src/main.rs"), b"new").unwrap();
    assert_eq!(fs::metadata(&file).unwrap().uid(), owner);
}
