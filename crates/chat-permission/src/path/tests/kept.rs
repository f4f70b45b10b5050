//! Tests guarded paths: Natter's own data, and files that make git or Natter run something.

use super::*;

#[test]
fn a_project_that_holds_natters_own_data_is_refused() {
    let fixture = Fixture::new();
    let environment = PathEnvironment { home: None, own: vec![fixture.at("home/.config/natter")] };
    for name in ["home", "home/.config", "home/.config/natter", ""] {
        assert!(
            matches!(Project::open(&fixture.at(name), &environment), Err(Error::Own(_))),
            "{name}"
        );
    }
    symlink(fixture.at("home"), fixture.at("project2/home")).unwrap();
    let linked =
        PathEnvironment { home: None, own: vec![fixture.at("project2/home/.config/natter")] };
    assert!(matches!(Project::open(&fixture.at("home"), &linked), Err(Error::Own(_))));
    assert!(Project::open(&fixture.at("home/notes"), &environment).is_ok());
    assert!(matches!(Project::open(&fixture.at("none"), &environment), Err(Error::NotFound(_))));
    assert!(matches!(
        Project::open(&fixture.at("project2/secret"), &environment),
        Err(Error::NotAFolder(_))
    ));
    assert!(matches!(
        Project::open(&fixture.at(&"a".repeat(300)), &environment),
        Err(Error::TooLong)
    ));
}

/// A command may replace a folder that the user chose as another project by a link.
#[test]
fn a_project_is_not_what_a_link_leads_to_that_lies_in_its_place() {
    let fixture = Fixture::new();
    let environment = PathEnvironment { home: None, own: Vec::new() };
    fs::create_dir_all(fixture.at("project/web/src")).unwrap();
    let [web, source] = [fixture.at("project/web"), fixture.at("project/web/src")];
    assert!(Project::open(&web, &environment).is_ok());
    fs::rename(&web, fixture.at("project/was")).unwrap();
    symlink(fixture.at("home"), &web).unwrap();
    fs::create_dir(fixture.at("home/src")).unwrap();
    for folder in [&web, &source] {
        assert!(matches!(Project::open(folder, &environment), Err(Error::Changed(_))));
    }
}

/// Settings may be elsewhere, behind a link.
#[test]
fn a_project_that_holds_what_natters_own_file_leads_to_is_refused() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.at("project/natter")).unwrap();
    fs::write(fixture.at("project/natter/config.toml"), "").unwrap();
    let file = fixture.at("home/.config/natter/config.toml");
    let environment = PathEnvironment { home: None, own: vec![file.clone()] };
    assert!(Project::open(&fixture.at("project"), &environment).is_ok());
    let _ = fs::remove_file(&file);
    symlink(fixture.at("project/natter/config.toml"), &file).unwrap();
    for name in ["project", "project/natter", "home/.config"] {
        let opened = Project::open(&fixture.at(name), &environment);
        assert!(matches!(opened, Err(Error::Own(_))), "{name}");
    }
    // Whoever writes a link on the way decides what it leads to.
    fs::create_dir(fixture.at("kept")).unwrap();
    fs::rename(fixture.at("project/natter/config.toml"), fixture.at("kept/settings")).unwrap();
    symlink("../../kept/./settings", fixture.at("project/natter/config.toml")).unwrap();
    for name in ["project", "project/natter", "home/.config", "kept"] {
        let opened = Project::open(&fixture.at(name), &environment);
        assert!(matches!(opened, Err(Error::Own(_))), "{name}");
    }
    assert!(Project::open(&fixture.at("project2"), &environment).is_ok());
}

#[test]
fn kept_places_are_known_by_any_name() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.at("project/.git/hooks")).unwrap();
    fs::write(fixture.at("project/.git/config"), "").unwrap();
    symlink(".git", fixture.at("project/alias")).unwrap();
    for given in [
        ".git",
        ".git/config",
        ".git/hooks",
        ".git/hooks/pre-commit",
        ".git/hooks/deep/er",
        ".git/CONFIG",
        ".GIT/config",
        "alias/config",
        "alias/../.git/hooks/x",
        ".git/config.worktree",
        ".git/rebase-merge/git-rebase-todo",
        ".git/rebase-apply",
        ".git/modules/a/config",
        ".git/commondir",
        ".git/index",
        "sub/.git/config",
        "sub/.git",
        ".natter",
        ".natter/rules.toml",
        "sub/.natter/x",
        ".mcp.json",
        "sub/.mcp.json",
        ".",
        "..",
        "/",
        "~",
        "../project2/.git/hooks/x",
        "~/.config",
    ] {
        assert_eq!(fixture.resolve(given).guard(), Guard::Unwritable, "{given}");
    }
    for given in [
        "~/.config/natter",
        "~/.config/natter/config.toml",
        "~/data/natter/natter.db",
        "~/data/natter",
    ] {
        assert_eq!(fixture.resolve(given).guard(), Guard::Own, "{given}");
    }
    for given in [
        ".gitignore",
        ".github/x",
        "git/config",
        "src",
        "natter",
        "mcp.json",
        ".natter2",
        "~/notes",
        "~/.config/natter2",
    ] {
        assert_eq!(fixture.resolve(given).guard(), Guard::Nothing, "{given}");
    }
}

#[test]
fn a_project_may_itself_lie_beneath_a_kept_name() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.at("project2/.natter/tree/src")).unwrap();
    let project =
        Project::open(&fixture.at("project2/.natter/tree"), &PathEnvironment::default()).unwrap();
    assert_eq!(project.resolve("src/x").unwrap().guard(), Guard::Nothing);
    assert_eq!(project.resolve("../other").unwrap().guard(), Guard::Unwritable);
}

#[test]
fn git_folders_that_lie_elsewhere_are_kept_too() {
    for pointed in [false, true] {
        let fixture = Fixture::new();
        fs::create_dir_all(fixture.at("project/store/hooks")).unwrap();
        fs::create_dir_all(fixture.at("common/hooks")).unwrap();
        fs::write(fixture.at("project/store/commondir"), "../../common\n").unwrap();
        if pointed {
            fs::write(fixture.at("project/.git"), "gitdir: store\n").unwrap();
        } else {
            symlink("store", fixture.at("project/.git")).unwrap();
        }
        for given in [
            "store",
            "store/hooks/x",
            "store/config",
            "store/index",
            "../common/hooks/x",
            "../common/config",
        ] {
            assert_eq!(fixture.resolve(given).guard(), Guard::Unwritable, "{given}");
        }
        assert_eq!(fixture.resolve("hooks/x").guard(), Guard::Nothing);
        // A pipe must not block.
        fs::remove_file(fixture.at("project/store/commondir")).unwrap();
        pipe(&fixture.at("project/store/commondir"));
        assert_eq!(fixture.resolve("../common/config").guard(), Guard::Nothing);
    }
}

#[test]
fn a_file_that_points_to_git_is_read_up_to_its_limit() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.at("project/store/hooks")).unwrap();
    for (length, guard) in [(8192, Guard::Unwritable), (8193, Guard::Nothing)] {
        fs::write(fixture.at("project/.git"), format!("{:length$}", "gitdir: store")).unwrap();
        assert_eq!(fixture.resolve("store/hooks/x").guard(), guard);
    }
    fs::remove_file(fixture.at("project/.git")).unwrap();
    pipe(&fixture.at("project/.git"));
    assert_eq!(fixture.resolve("store/hooks/x").guard(), Guard::Nothing);
}

#[test]
fn a_work_tree_may_lie_in_the_folder_that_it_shares_with_others() {
    let fixture = Fixture::new();
    for folder in ["common/objects", "common/refs", "common/worktrees/tree", "common/tree/src"] {
        fs::create_dir_all(fixture.at(folder)).unwrap();
    }
    fs::write(fixture.at("common/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(fixture.at("common/worktrees/tree/commondir"), "../..\n").unwrap();
    fs::write(fixture.at("common/tree/.git"), "gitdir: ../worktrees/tree\n").unwrap();
    let project = Project::open(&fixture.at("common/tree"), &PathEnvironment::default()).unwrap();
    for (given, guard) in [
        ("src/x", Guard::Nothing),
        ("config", Guard::Nothing),
        (".git", Guard::Unwritable),
        ("../config", Guard::Unwritable),
        ("../worktrees/tree/HEAD", Guard::Unwritable),
    ] {
        assert_eq!(project.resolve(given).unwrap().guard(), guard, "{given}");
    }
}
