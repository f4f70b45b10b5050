//! Tests random trees with random links against the kernel's own way of resolving them.

use proptest::prelude::*;

use super::*;

/// Few names, so that paths often meet links.
fn path() -> impl Strategy<Value = String> {
    let name =
        prop::sample::select(vec!["a", "b", "c", "project", "project2", "..", "..", ".", ""]);
    (any::<bool>(), prop::collection::vec(name, 1..6)).prop_map(|(absolute, names)| {
        let path = names.join("/");
        if absolute { format!("/{path}") } else { path }
    })
}

#[derive(Clone, Debug)]
enum Thing {
    Folder(String),
    File(String),
    Link(String, String),
}

fn thing() -> impl Strategy<Value = Thing> {
    prop_oneof![
        path().prop_map(Thing::Folder),
        path().prop_map(Thing::File),
        (path(), path()).prop_map(|(at, to)| Thing::Link(at, to)),
        (path(), path()).prop_map(|(at, to)| Thing::Link(at, to)),
    ]
}

/// Within the test's folder: `/a` is relative to its top.
fn within(top: &Path, path: &str) -> String {
    match path.strip_prefix('/') {
        Some(rest) => format!("{}/{rest}", top.display()),
        None => path.to_owned(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_path_leads_where_the_kernel_leads(things in prop::collection::vec(thing(), 0..12), given in prop::collection::vec(path(), 1..12)) {
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        let root = top.join("project");
        fs::create_dir(&root).unwrap();
        fs::create_dir(top.join("project2")).unwrap();
        for thing in things {
            // What cannot be created does not exist.
            let _ = match thing {
                Thing::Folder(at) => fs::create_dir(root.join(within(&top, &at))),
                Thing::File(at) => fs::OpenOptions::new().create_new(true).write(true).open(root.join(within(&top, &at))).map(drop),
                Thing::Link(at, to) => symlink(within(&top, &to), root.join(within(&top, &at))),
            };
        }
        let project = Project::open(&root, &PathEnvironment::default()).unwrap();
        for given in given {
            let given = within(&top, &given);
            if given.is_empty() {
                continue;
            }
            let kernel = fs::canonicalize(root.join(&given));
            let found = project.resolve(&given);
            match (&kernel, &found) {
                (Ok(real), Ok(found)) => {
                    prop_assert_eq!(found.real(), real, "{}", given);
                    prop_assert_eq!(found.is_inside(), real.starts_with(&root), "{}", given);
                    prop_assert_ne!(found.kind(), Kind::Missing);
                    if found.kind() == Kind::File {
                        prop_assert!(project.open_file(found).is_ok());
                    }
                }
                (Ok(real), Err(error)) => prop_assert!(false, "{} is {}: {}", given, real.display(), error),
                // What does not exist yet would be created where the kernel would create it.
                (Err(_), Ok(found)) => {
                    prop_assert_eq!(found.kind(), Kind::Missing, "{}", &given);
                    if let Ok(parent) = fs::canonicalize(found.real().parent().unwrap()) {
                        let real = parent.join(found.real().file_name().unwrap());
                        prop_assert_eq!(found.real(), &real, "{}", &given);
                        if fs::write(root.join(&given), "made").is_ok() {
                            prop_assert_eq!(fs::canonicalize(root.join(&given)).unwrap(), real, "{}", given);
                            fs::remove_file(found.real()).unwrap();
                        }
                    }
                }
                (Err(_), Err(_)) => {}
            }
        }
    }
}
