//! Paths in real folders: where they lead, and that nothing which is swapped in between check and use is reached.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::{Decision, Entry, Mode, Request, Scope, Why, decide};

mod entries;
mod kept;
mod properties;
mod swapped;

/// A project beside a folder whose name begins alike, in a folder of its own, with a home and Natter's own folder.
struct Place {
    folder: tempfile::TempDir,
    project: Project,
}

impl Place {
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
        let surroundings = Surroundings {
            home: Some(at("home")),
            own: vec![at("home/.config/natter"), at("home/data/natter")],
        };
        let project = Project::open(&at("project"), &surroundings).unwrap();
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

impl Place {
    /// Nothing of a file that took another's place is left.
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
    let place = Place::new();
    assert!(place.is_inside("src/main.rs"));
    assert!(place.is_inside("."));
    assert!(place.is_inside(place.at("project/src").to_str().unwrap()));
    assert!(!place.is_inside("../project2/secret"));
    assert!(!place.is_inside(place.at("project2/secret").to_str().unwrap()));
    assert!(!place.is_inside(place.at("project2/new").to_str().unwrap()));
    assert!(!place.is_inside(".."));
    assert!(!place.is_inside("/"));
}

#[test]
fn a_path_is_what_it_really_is() {
    let place = Place::new();
    symlink("src", place.at("project/in")).unwrap();
    symlink("../project2", place.at("project/out")).unwrap();
    symlink("../project2/new", place.at("project/dangling")).unwrap();
    symlink(place.at("project/src"), place.at("project2/back")).unwrap();
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
            if given.starts_with("//") { PathBuf::from("/src/main.rs") } else { place.at(real) };
        let found = place.resolve(given);
        assert_eq!(found.real(), expected, "{given}");
        assert_eq!(found.is_inside(), expected.starts_with(place.at("project")), "{given}");
    }
    let found = place.resolve("in/main.rs");
    assert_eq!(
        (found.relative(), found.shown()),
        (Some(Path::new("src/main.rs")), Path::new("src/main.rs"))
    );
    assert_eq!(place.resolve("src/..").shown(), Path::new("."));
    let note = place.resolve("~/notes/a");
    assert_eq!((note.beneath_home(), note.shown()), (Some(Path::new("notes/a")), note.real()));
    assert_eq!(place.resolve_in_src("main.rs").relative(), Some(Path::new("src/main.rs")));
    assert_eq!(place.project.resolve_entry("in").unwrap().real(), place.at("project/in"));
    assert_eq!(place.project.resolve_entry("in").unwrap().kind(), Kind::Link);
    assert_eq!(place.project.resolve_entry("in/").unwrap().real(), place.at("project/src"));
    assert_eq!(
        place.project.resolve_entry("in/main.rs").unwrap().real(),
        place.at("project/src/main.rs")
    );
    assert_eq!(place.project.root(), place.at("project"));
}

impl Place {
    fn resolve_in_src(&self, given: &str) -> ResolvedPath {
        self.project.resolve_in(&self.resolve("src"), given).unwrap()
    }
}

#[test]
fn what_lies_there_is_told() {
    let place = Place::new();
    pipe(&place.at("project/pipe"));
    for (given, kind) in [
        ("src/main.rs", Kind::File),
        ("src", Kind::Folder),
        ("none", Kind::Missing),
        ("pipe", Kind::Special),
    ] {
        assert_eq!(place.resolve(given).kind(), kind, "{given}");
    }
    assert!(!place.resolve("src/main.rs").has_several_links());
    assert!(!place.resolve("src").has_several_links(), "a folder's links are its own");
    fs::hard_link(place.at("project2/secret"), place.at("project/linked")).unwrap();
    assert!(place.resolve("linked").has_several_links());
    let error = place.project.open_file(&place.resolve("pipe")).unwrap_err();
    assert!(matches!(error, Error::NotAFile(_)), "{error}");
    assert!(matches!(place.project.open_file(&place.resolve("src")), Err(Error::NotAFile(_))));
}

#[test]
fn what_leads_nowhere_is_an_error() {
    let place = Place::new();
    symlink("loop2", place.at("project/loop1")).unwrap();
    symlink("loop1", place.at("project/loop2")).unwrap();
    let error = |given: &str| place.project.resolve(given).unwrap_err();
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
    assert_eq!(place.resolve(&"a".repeat(255)).kind(), Kind::Missing);
    assert_eq!(place.resolve(&format!("{}b", "./".repeat(2047))).kind(), Kind::Missing);
    // What was given is short enough, but not the whole.
    assert!(matches!(error(&format!("{}a", "a/".repeat(2040))), Error::TooLong));
    let room = 4095 - place.at("project").as_os_str().len() - 1;
    let whole = format!("{}{}", "a/".repeat(room / 2 - 1), "b".repeat(room - (room / 2 - 1) * 2));
    assert_eq!(place.resolve(&whole).real().as_os_str().len(), 4095);
    assert!(matches!(error(&format!("{whole}b")), Error::TooLong));
    // Nothing is there that the system could refuse.
    assert!(matches!(error(&format!("none/{}", "a".repeat(256))), Error::TooLong));
    let homeless = Project::open(&place.at("project"), &Surroundings::default()).unwrap();
    assert!(matches!(homeless.resolve("~/a"), Err(Error::NoHome)));
}

#[test]
fn a_link_may_demand_a_folder() {
    let place = Place::new();
    for (name, target) in [
        ("to-file-dot", "src/main.rs/."),
        ("to-file-slash", "src/main.rs/"),
        ("to-none-dot", "none/."),
        ("to-none-slash", "none/"),
        ("to-folder-dot", "src/."),
        ("to-folder-slash", "src/"),
        ("to-demand", "to-file-slash"),
    ] {
        symlink(target, place.at(&format!("project/{name}"))).unwrap();
    }
    for given in ["to-file-dot", "to-file-slash", "to-demand", "to-file-slash/x", "to-file-dot/.."]
    {
        let error = place.project.resolve(given).unwrap_err();
        assert!(matches!(error, Error::NotAFolder(_)), "{given}: {error}");
        let kernel = fs::metadata(place.at("project").join(given)).unwrap_err();
        assert_eq!(kernel.kind(), std::io::ErrorKind::NotADirectory, "{given}");
    }
    for given in ["to-none-dot", "to-none-slash"] {
        let error = place.project.resolve(given).unwrap_err();
        assert!(matches!(error, Error::NotFound(_)), "{given}: {error}");
        assert!(fs::write(place.at("project").join(given), "").is_err(), "{given}");
    }
    for given in ["to-folder-dot", "to-folder-slash", "to-folder-dot/../src"] {
        assert_eq!(place.resolve(given).real(), place.at("project/src"), "{given}");
    }
    assert_eq!(place.resolve("to-none-slash/x").real(), place.at("project/none/x"));
}

#[test]
fn forty_links_are_followed_and_no_more() {
    let place = Place::new();
    symlink("src", place.at("project/l0")).unwrap();
    for at in 1..=40 {
        symlink(format!("l{}", at - 1), place.at(&format!("project/l{at}"))).unwrap();
    }
    assert_eq!(place.resolve("l39/main.rs").real(), place.at("project/src/main.rs"));
    assert!(fs::metadata(place.at("project/l39")).is_ok());
    assert!(matches!(place.project.resolve("l40"), Err(Error::Loop(_))));
    assert!(fs::metadata(place.at("project/l40")).is_err(), "the kernel follows as many");
}

/// Whether a rule lets reading of `given` pass.
fn passes(place: &Place, entry: Entry, given: &str) -> bool {
    let rules = place.project.follow_denied(vec![entry]);
    let request = Request::Read { path: place.resolve(given) };
    decide(&rules, Mode::Ask, &request) == Decision::Pass
}

#[test]
fn a_denied_path_is_denied_where_its_links_lead() {
    let place = Place::new();
    fs::create_dir_all(place.at("project/store/keys/deep")).unwrap();
    fs::write(place.at("project/store/keys/a.key"), "").unwrap();
    symlink("store", place.at("project/link")).unwrap();
    symlink("src/main.rs", place.at("project/start.rs")).unwrap();
    symlink(place.at("project/store"), place.at("home/vault")).unwrap();
    symlink(place.at("project"), place.at("elsewhere")).unwrap();
    let absolute = format!("read:{}/store", place.at("elsewhere").display());
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
        // And by its own name, as ever.
        ("read:store/keys", "link/keys/a.key"),
    ] {
        let entry = Entry::deny(rule.parse().unwrap(), Scope::Project);
        assert!(!passes(&place, entry.clone(), given), "{rule} and {given}");
        let request = Request::Read { path: place.resolve(given) };
        let rules = place.project.follow_denied(vec![entry.clone()]);
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
        // What stands behind a wildcard is not looked up.
        ("read:l*/keys", "store/keys"),
    ] {
        let entry = Entry::deny(rule.parse().unwrap(), Scope::Project);
        assert!(passes(&place, entry, given), "{rule} and {given}");
    }
}

#[test]
fn a_link_widens_no_rule_that_allows() {
    let place = Place::new();
    symlink("../project2", place.at("project/out")).unwrap();
    for rule in ["read:out/**", "read:out"] {
        let entry = Entry::allow(rule.parse().unwrap(), Scope::Project);
        assert!(!passes(&place, entry, "out/secret"), "{rule}");
    }
}

#[test]
fn links_of_the_kernels_are_never_followed() {
    let place = Place::new();
    let outside = fs::File::open(place.at("project2/secret")).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&outside);
    symlink("/proc/self/root", place.at("project/root")).unwrap();
    for given in [
        format!("/proc/self/root{}", place.at("project/src").display()),
        format!("/proc/{}/root/etc/hosts", std::process::id()),
        format!("/proc/{}/fd/{number}", std::process::id()),
        format!("/proc/{}/cwd", std::process::id()),
        "/dev/fd/0".to_owned(),
        "/dev/stdin".to_owned(),
        "root/etc/hosts".to_owned(),
    ] {
        let error = place.project.resolve(&given).unwrap_err();
        assert!(matches!(error, Error::MagicLink(_)), "{given}: {error}");
    }
    // Without this they lead there.
    assert!(fs::metadata(format!("/proc/self/fd/{number}")).is_ok());
    assert!(place.project.resolve(&format!("/proc/{}/status", std::process::id())).is_ok());
}

fn pipe(path: &Path) {
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, rustix::fs::Mode::RWXU, 0).unwrap();
}

#[test]
fn files_are_made_replaced_moved_and_removed() {
    let place = Place::new();
    let project = &place.project;
    project.create(&place.resolve("new/deep/file"), b"one").unwrap();
    assert_eq!(text(project.open_file(&place.resolve("new/deep/file")).unwrap()), "one");
    assert!(matches!(project.create(&place.resolve("new/deep/file"), b""), Err(Error::Exists(_))));

    let permissions = fs::Permissions::from_mode(0o751);
    fs::set_permissions(place.at("project/new/deep/file"), permissions).unwrap();
    project.replace(&place.resolve("new/deep/file"), b"two").unwrap();
    assert_eq!(fs::read_to_string(place.at("project/new/deep/file")).unwrap(), "two");
    assert_eq!(
        fs::metadata(place.at("project/new/deep/file")).unwrap().permissions().mode() & 0o7777,
        0o751
    );
    assert!(matches!(project.replace(&place.resolve("none"), b""), Err(Error::NotAFile(_))));
    assert!(matches!(project.replace(&place.resolve("src"), b""), Err(Error::NotAFile(_))));

    project.rename(&place.resolve("new/deep/file"), &place.resolve("other/file")).unwrap();
    assert!(!place.at("project/new/deep/file").exists());
    assert_eq!(fs::read_to_string(place.at("project/other/file")).unwrap(), "two");
    let taken = project.rename(&place.resolve("other/file"), &place.resolve("src/main.rs"));
    assert!(matches!(taken, Err(Error::Exists(_))));

    project.create(&place.resolve("top"), b"").unwrap();
    project.remove(&place.resolve("top")).unwrap();
    project.remove(&place.resolve("other/file")).unwrap();
    project.remove(&place.resolve("other")).unwrap();
    assert!(!place.at("project/other").exists());
    assert!(project.remove(&place.resolve("src")).is_err(), "it is not empty");
    assert!(project.remove(&place.resolve("none")).is_err());
    assert!(project.remove(&place.resolve(".")).is_err());
    assert!(matches!(project.parent(&place.resolve("a/b/c")), Err(Error::Changed(_))));

    // Outside, where a rule may allow it.
    project.create(&place.resolve("../project2/made"), b"three").unwrap();
    assert_eq!(text(project.open_file(&place.resolve("../project2/made")).unwrap()), "three");
    let (_, name) = project.parent(&place.resolve("../project2/made")).unwrap();
    assert_eq!(name, "made");
    for folder in ["project", "project/src", "project/new/deep", "project2"] {
        place.has_nothing_beside(folder);
    }
    let folder = project.open_folder(&place.resolve("src")).unwrap();
    assert!(rustix::fs::statat(&folder, "main.rs", rustix::fs::AtFlags::empty()).is_ok());
    assert!(project.open_folder(&place.resolve(".")).is_ok());
    assert!(project.open_folder(&place.resolve("src/main.rs")).is_err());
}

#[test]
fn a_replaced_file_keeps_its_owner_where_that_may_be() {
    use std::os::unix::fs::{MetadataExt, chown};
    let place = Place::new();
    let file = place.at("project/src/main.rs");
    // Only the system's administrator can have such a file; anybody's own stays their own.
    let owner = if chown(&file, Some(65_534), Some(65_534)).is_ok() {
        65_534
    } else {
        fs::metadata(&file).unwrap().uid()
    };
    place.project.replace(&place.resolve("src/main.rs"), b"new").unwrap();
    assert_eq!(fs::metadata(&file).unwrap().uid(), owner);
}
