use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use chat_permission::path::PathEnvironment;

use super::*;

/// Runs git as the person would, without anybody's settings.
fn git(folder: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(status.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&status.stderr));
}

fn write(folder: &Path, name: &str, text: &str) {
    fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
    fs::write(folder.join(name), text).unwrap();
}

/// A repository with one commit.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q", "-b", "main"]);
    for name in ["a", "b", "sub/c"] {
        write(folder.path(), name, "one\n");
    }
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-q", "-m", "x"]);
    folder
}

fn found(folder: &Path) -> Result<Option<Repository>, GitError> {
    find(&Project::open(folder, &PathEnvironment::default()).unwrap())
}

fn state(folder: &Path) -> State {
    found(folder).unwrap().unwrap().state(&AtomicBool::new(false)).unwrap()
}

fn diff(folder: &Path, most: usize) -> Diff {
    found(folder).unwrap().unwrap().diff(most, &AtomicBool::new(false)).unwrap()
}

fn files(state: &State) -> Vec<(String, Change, bool)> {
    let told =
        |file: &Changed| (file.path.display().to_string(), file.change.clone(), file.is_staged);
    state.files.iter().map(told).collect()
}

#[test]
fn branch_and_changes_are_told() {
    let folder = repository();
    let root = folder.path();
    assert_eq!(state(root).head, Head::Branch("main".into()));
    assert!(state(root).files.is_empty());
    write(root, "a", "two\n");
    fs::remove_file(root.join("b")).unwrap();
    write(root, "new", "");
    write(root, "sub/ö\n", "");
    git(root, &["add", "new"]);
    assert_eq!(
        files(&state(root)),
        [
            ("a".into(), Change::Modified, false),
            ("b".into(), Change::Deleted, false),
            ("new".into(), Change::Added, true),
            ("sub/ö\n".into(), Change::Untracked, false),
        ]
    );
    // A project may be a part of a repository.
    let part = state(&root.join("sub"));
    assert_eq!(files(&part), [("ö\n".into(), Change::Untracked, false)]);
    assert!(diff(root, 10_000).text.contains("-one\n+two\n"));
    assert_eq!(diff(&root.join("sub"), 10_000), Diff::default());
    let cut = diff(root, 60);
    assert!(cut.is_cut && cut.text.len() <= 60 && cut.text.ends_with('\n'));
}

#[test]
fn a_head_is_told_whatever_it_is() {
    let folder = tempfile::tempdir().unwrap();
    assert!(found(folder.path()).unwrap().is_none());
    git(folder.path(), &["init", "-q", "-b", "start"]);
    assert_eq!(state(folder.path()).head, Head::Unborn("start".into()));
    write(folder.path(), "a", "one\n");
    git(folder.path(), &["add", "a"]);
    assert!(diff(folder.path(), 10_000).text.contains("+one\n"));
    let folder = repository();
    git(folder.path(), &["checkout", "-q", "--detach"]);
    assert!(matches!(state(folder.path()).head, Head::Detached(commit) if commit.len() == 40));
    git(folder.path(), &["pack-refs", "--all"]);
    git(folder.path(), &["checkout", "-q", "-b", "feature/x"]);
    assert_eq!(state(folder.path()).head, Head::Branch("feature/x".into()));
}

#[test]
fn a_conflict_a_work_tree_and_what_a_branch_follows_are_told() {
    let folder = repository();
    let root = folder.path();
    let others = tempfile::tempdir().unwrap();
    let clone = others.path().join("clone");
    git(root, &["clone", "-q", ".", clone.to_str().unwrap()]);
    write(&clone, "a", "two\n");
    git(&clone, &["commit", "-q", "-am", "y"]);
    let cloned = state(&clone);
    assert_eq!(cloned.upstream.as_deref(), Some("origin/main"));
    assert_eq!(cloned.ahead_behind, Some((1, 0)));
    let tree = others.path().join("tree");
    git(root, &["worktree", "add", "-q", "-b", "other", tree.to_str().unwrap()]);
    assert_eq!(state(&tree).head, Head::Branch("other".into()));
    write(&tree, "a", "three\n");
    git(&tree, &["commit", "-q", "-am", "z"]);
    assert!(state(&tree).files.is_empty());
    write(root, "a", "four\n");
    git(root, &["commit", "-q", "-am", "v"]);
    let merge = Command::new("git").current_dir(root).args(["merge", "-q", "other"]).output();
    assert!(!merge.unwrap().status.success());
    assert_eq!(files(&state(root)), [("a".into(), Change::Conflicted, false)]);
}

#[test]
fn no_program_that_a_project_names_is_run() {
    let folder = repository();
    let root = folder.path();
    let ran = tempfile::tempdir().unwrap();
    let program = ran.path().join("evil");
    fs::write(&program, format!("#!/bin/sh\ntouch {}/ran\ncat\n", ran.path().display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.to_str().unwrap();
    write(root, "included", &format!("[core]\n\tfsmonitor = {program}\n"));
    write(root, ".gitattributes", "* filter=evil diff=evil\n");
    for (key, value) in [
        ("core.fsmonitor", program),
        ("core.sshCommand", program),
        ("core.pager", program),
        ("core.gitProxy", program),
        ("core.alternateRefsCommand", program),
        ("core.hooksPath", ran.path().to_str().unwrap()),
        ("filter.evil.clean", program),
        ("filter.evil.smudge", program),
        ("filter.evil.process", program),
        ("filter.evil.required", "true"),
        ("diff.evil.textconv", program),
        ("diff.evil.command", program),
        ("diff.external", program),
        ("include.path", "../included"),
        ("remote.origin.url", &format!("ext::{program}")),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", program),
        ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
        ("extensions.partialClone", "origin"),
        ("branch.main.remote", "origin"),
        ("branch.main.merge", "refs/heads/main"),
        ("alias.status", &format!("!{program}")),
        ("alias.diff", &format!("!{program}")),
        ("gpg.program", program),
    ] {
        git(root, &["config", key, value]);
    }
    for hook in ["post-index-change", "fsmonitor-watchman", "reference-transaction"] {
        fs::copy(program, root.join(".git/hooks").join(hook)).unwrap();
        fs::copy(program, ran.path().join(hook)).unwrap();
    }
    // A program of git's name in the project itself.
    fs::copy(program, root.join("git")).unwrap();
    // Every file must be read again, one is others', and one object is missing.
    write(root, "a", "two\n");
    write(root, "b", "six\n");
    let mark = ran.path().join("ran");
    let told = state(root);
    assert!(told.files.iter().any(|file| file.path == Path::new("a")), "{told:?}");
    assert!(diff(root, 10_000).text.contains("+two\n"));
    assert!(!mark.exists());
    let object = fs::read_dir(root.join(".git/objects")).unwrap().flatten();
    for folder in object.filter(|entry| entry.file_name().len() == 2) {
        fs::remove_dir_all(folder.path()).unwrap();
    }
    let _ = found(root).unwrap().unwrap().diff(100, &AtomicBool::new(false));
    assert!(!mark.exists());
    // The control: the project's own settings would have run it.
    let _ = Command::new("git").current_dir(root).args(["-c", "alias.x=y", "status"]).output();
    assert!(mark.exists());
}

#[test]
fn a_repository_of_others_is_not_shown() {
    let secret = repository();
    let foreign = |folder: &Path| matches!(found(folder), Err(GitError::Foreign(_)));
    let hidden = secret.path().join(".git");
    let pointing = tempfile::tempdir().unwrap();
    write(pointing.path(), ".git", &format!("gitdir: {}\n", hidden.display()));
    assert!(foreign(pointing.path()));
    let linked = tempfile::tempdir().unwrap();
    symlink(&hidden, linked.path().join(".git")).unwrap();
    assert!(foreign(linked.path()));
    for part in ["objects", "refs", "HEAD", "objects/pack", "packed-refs"] {
        let patched = repository();
        let path = patched.path().join(".git").join(part);
        git(secret.path(), &["pack-refs", "--all"]);
        let _ = fs::remove_file(&path);
        let _ = fs::remove_dir_all(&path);
        symlink(hidden.join(part), &path).unwrap();
        assert!(foreign(patched.path()), "{part}");
    }
    let sharing = repository();
    write(
        sharing.path(),
        ".git/objects/info/alternates",
        &hidden.join("objects").display().to_string(),
    );
    assert!(foreign(sharing.path()));
    let common = repository();
    write(common.path(), ".git/commondir", hidden.to_str().unwrap());
    assert!(foreign(common.path()));
}

#[test]
fn a_repository_in_which_a_command_runs_is_the_projects_still() {
    let folder = repository();
    write(folder.path(), "a", "changed\n");
    write(folder.path(), ".git/commondir", "./.\n");
    let free = "# Natter keeps this place free while a command runs.\n";
    write(folder.path(), ".git/config.worktree", free);
    assert!(!state(folder.path()).files.is_empty());
    assert!(diff(folder.path(), 10_000).text.contains("+changed\n"));
    fs::remove_file(folder.path().join(".git/commondir")).unwrap();
    symlink(".", folder.path().join(".git/commondir")).unwrap();
    assert!(matches!(found(folder.path()), Err(GitError::Foreign(_))));
}

#[test]
fn a_submodule_and_long_hashes_are_read() {
    let module = repository();
    let folder = repository();
    git(folder.path(), &["submodule", "--quiet", "add", module.path().to_str().unwrap(), "module"]);
    git(folder.path(), &["commit", "-q", "-m", "m"]);
    let inner = folder.path().join("module");
    write(&inner, "a", "two\n");
    assert_eq!(files(&state(&inner)), [("a".into(), Change::Modified, false)]);
    assert!(state(folder.path()).files.is_empty());
    let long = tempfile::tempdir().unwrap();
    git(long.path(), &["init", "-q", "--object-format=sha256", "-b", "main"]);
    write(long.path(), "a", "one\n");
    git(long.path(), &["add", "a"]);
    assert!(diff(long.path(), 10_000).text.contains("+one\n"));
    git(long.path(), &["commit", "-q", "-m", "x"]);
    assert!(state(long.path()).files.is_empty());
}

#[test]
fn nobody_waits_for_what_was_given_up() {
    let folder = repository();
    let repository = found(folder.path()).unwrap().unwrap();
    assert!(matches!(repository.state(&AtomicBool::new(true)), Err(GitError::GivenUp)));
}

#[test]
fn what_was_found_while_the_repository_was_exchanged_is_not_believed() {
    let (folder, other) = (repository(), repository());
    let objects = folder.path().join(".git/objects");
    let aside = folder.path().join(".git/aside");
    let repository = found(folder.path()).unwrap().unwrap();
    let exchange = || {
        fs::rename(&objects, &aside).unwrap();
        symlink(other.path().join(".git/objects"), &objects).unwrap();
    };
    let and_back = || {
        fs::remove_file(&objects).unwrap();
        fs::rename(&aside, &objects).unwrap();
    };
    let mut looks = 0;
    let found = repository.steady(|| {
        looks += 1;
        if looks == 1 {
            exchange();
            and_back();
        }
        Ok(looks)
    });
    assert_eq!(found.unwrap(), 2);
    let never = repository.steady(|| {
        exchange();
        and_back();
        Ok(())
    });
    assert!(matches!(never, Err(GitError::Foreign(_))));
    let left = repository.steady(|| {
        exchange();
        Ok(())
    });
    assert!(matches!(left, Err(GitError::Foreign(_))));
}
