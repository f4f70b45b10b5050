//! Commands that run in a worktree and try to have an operation of ours act outside of it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use chat_worktree::{DiffLimits, Error, Worktree};

use crate::world::{NEVER, World, fallback, files, git, set_traps, trap, write};

/// Does something evil, given the worktree's folder and its git folder.
type Evil<'a> = &'a dyn Fn(&World, &Path, &Path);

/// Runs every operation on a worktree, whether or not it succeeds. Removing comes last.
fn operate(world: &World, worktree: &Worktree) -> Vec<Result<(), Error>> {
    let worktrees = &world.worktrees;
    let mut results = vec![
        worktrees.status(worktree, &NEVER).map(drop),
        worktrees.diff(worktree, DiffLimits::default(), &NEVER).map(drop),
        worktrees.commit(worktree, "x", &fallback(), &NEVER).map(drop),
        worktrees.preview_merge(worktree, None, &NEVER).map(drop),
        worktrees.preview_removal(worktree, &NEVER).map(drop),
        worktrees.access(worktree).map(drop),
    ];
    results.push(worktrees.remove(worktree, true, &NEVER).map(drop));
    results
}

/// A worktree in which somebody did something evil, next to another repository.
fn attempt(evil: impl Fn(&World, &Path, &Path)) -> (World, Vec<Result<(), Error>>) {
    let world = World::new();
    let worktree = world.create("x");
    let other = world.beside("other");
    fs::create_dir(&other).unwrap();
    git(&other, &["init", "-q", "-b", "main"]);
    write(&other, "secret", "secret\n");
    git(&other, &["-c", "user.name=a", "-c", "user.email=a@b", "add", "."]);
    git(&other, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "other"]);
    write(worktree.folder(), "a", "work\n");
    let own = world.own(&worktree);
    evil(&world, worktree.folder(), &own);
    let before = (world.parent_state(), files(&other));
    let results = operate(&world, &worktree);
    assert_eq!(world.parent_state(), before.0);
    assert_eq!(files(&other), before.1);
    (world, results)
}

fn is_foreign(result: &Result<(), Error>) -> bool {
    matches!(result, Err(Error::Foreign(_)))
}

#[test]
fn a_git_file_that_leads_elsewhere_is_noticed() {
    let evils: [Evil; 6] = [
        &|world, folder, _| {
            let text = format!("gitdir: {}\n", world.beside("other/.git").display());
            fs::write(folder.join(".git"), text).unwrap();
        },
        &|world, folder, _| {
            let text = format!("gitdir: {}\n", world.path(".git").display());
            fs::write(folder.join(".git"), text).unwrap();
        },
        &|world, folder, _| {
            fs::remove_file(folder.join(".git")).unwrap();
            symlink(world.path(".git"), folder.join(".git")).unwrap();
        },
        &|_, folder, own| {
            fs::remove_file(folder.join(".git")).unwrap();
            symlink(own, folder.join(".git")).unwrap();
        },
        &|_, folder, _| {
            fs::remove_file(folder.join(".git")).unwrap();
            git(folder, &["init", "-q"]);
        },
        &|_, folder, _| fs::remove_file(folder.join(".git")).unwrap(),
    ];
    for evil in evils {
        let (world, mut results) = attempt(evil);
        // It can be removed all the same, and the work is stored.
        results.pop().unwrap().unwrap();
        assert!(results.iter().all(is_foreign), "{results:?}");
        let snapshot = &world.worktrees.snapshots(&NEVER).unwrap()[0];
        let restored = world.worktrees.restore(&snapshot.id, &world.project(), &NEVER).unwrap();
        assert_eq!(crate::world::read(restored.worktree.folder(), "a"), "work\n");
    }
}

#[test]
fn a_git_folder_that_leads_elsewhere_is_noticed() {
    let evils: [Evil; 5] = [
        &|world, _, own| {
            fs::write(own.join("commondir"), world.beside("other/.git").to_str().unwrap()).unwrap();
        },
        &|world, _, own| {
            fs::write(own.join("gitdir"), world.beside("other/.git").to_str().unwrap()).unwrap();
        },
        &|_, _, own| fs::remove_file(own.join("gitdir")).unwrap(),
        &|world, _, own| {
            fs::remove_file(own.join("commondir")).unwrap();
            symlink(world.beside("other/.git"), own.join("commondir")).unwrap();
        },
        &|world, _, own| {
            fs::remove_file(own.join("HEAD")).unwrap();
            symlink(world.path(".git/HEAD"), own.join("HEAD")).unwrap();
        },
    ];
    for evil in evils {
        let (_, results) = attempt(evil);
        assert!(results[..6].iter().all(is_foreign), "{results:?}");
    }
    let (_, results) = attempt(|world, _, own| {
        fs::remove_dir_all(own).unwrap();
        symlink(world.beside("other/.git"), own).unwrap();
    });
    assert!(results.iter().all(is_foreign), "{results:?}");
}

/// Where `git -C`, `--git-dir` and the environment lead a command is for the sandbox to bound. They
/// give an operation of ours no other place to act.
#[test]
fn what_a_command_does_in_another_repository_stays_there() {
    let (_, results) = attempt(|world, folder, _| {
        let other = world.beside("other");
        let other = other.to_str().unwrap();
        git(folder, &["-C", other, "status"]);
        git(folder, &["--git-dir", &format!("{other}/.git"), "--work-tree", ".", "status"]);
        let output = std::process::Command::new("git")
            .args(["add", "a"])
            .current_dir(folder)
            .env("GIT_DIR", world.beside("other/.git"))
            .env("GIT_WORK_TREE", folder)
            .output();
        assert!(output.unwrap().status.success());
    });
    assert!(results.iter().all(Result::is_ok), "{results:?}");
}

#[test]
fn links_in_the_worktree_are_stored_as_links() {
    let (world, results) = attempt(|world, folder, _| {
        symlink(world.beside("other/secret"), folder.join("link")).unwrap();
        symlink(world.beside("other"), folder.join("folder")).unwrap();
        fs::remove_dir_all(folder.join("sub")).unwrap();
        symlink(world.beside("other"), folder.join("sub")).unwrap();
        symlink("/dev/zero", folder.join("endless")).unwrap();
    });
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    let snapshot = &world.worktrees.snapshots(&NEVER).unwrap()[0];
    let shadow = world.beside("state/worktrees/sha1.git");
    let tree = format!("refs/natter/worktrees/{}:files", snapshot.id);
    let listed = git(&shadow, &["ls-tree", "-r", &tree]);
    assert_eq!(listed.lines().filter(|line| line.starts_with("120000")).count(), 4, "{listed}");
    let link = git(&shadow, &["cat-file", "blob", &format!("{tree}/link")]);
    assert_eq!(Path::new(&link), world.beside("other/secret"));
}

#[test]
fn a_branch_that_stands_for_another_moves_nothing() {
    let evils: [Evil; 2] = [
        &|world, _, _| {
            fs::write(world.path(".git/refs/heads/natter/x"), "ref: refs/heads/main\n").unwrap();
        },
        &|world, _, _| {
            let folder = world.path(".git/refs/heads/natter");
            fs::remove_dir_all(&folder).unwrap();
            fs::copy(world.path(".git/refs/heads/main"), world.beside("x")).unwrap();
            symlink(world.beside(""), &folder).unwrap();
        },
    ];
    for evil in evils {
        let (_, results) = attempt(evil);
        assert!(is_foreign(&results[2]), "{results:?}");
        assert!(is_foreign(&results[3]), "{results:?}");
    }
}

#[test]
fn a_log_that_is_a_link_is_not_written() {
    let (world, results) = attempt(|world, _, own| {
        for log in [own.join("logs/HEAD"), world.path(".git/logs/refs/heads/natter/x")] {
            fs::create_dir_all(log.parent().unwrap()).unwrap();
            let _ = fs::remove_file(&log);
            symlink(world.beside("victim"), &log).unwrap();
        }
        fs::write(world.beside("victim"), "").unwrap();
        // The log of the branch that is merged into.
        fs::remove_file(world.path(".git/logs/HEAD")).unwrap();
        symlink(world.beside("victim"), world.path(".git/logs/HEAD")).unwrap();
    });
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    let snapshot = &world.worktrees.snapshots(&NEVER).unwrap()[0];
    let restored = world.worktrees.restore(&snapshot.id, &world.project(), &NEVER).unwrap();
    world.merge(&restored.worktree).unwrap();
    assert_eq!(fs::read_to_string(world.beside("victim")).unwrap(), "");
}

/// An index with a path that leads out of the worktree: git would delete that file if it updated
/// files by such an index.
#[test]
fn an_index_with_paths_outside_deletes_nothing() {
    let (world, results) = attempt(|world, folder, own| {
        let name = "../../../victim!";
        let plain = "a".repeat(name.len());
        fs::write(world.beside("victim!"), "mine\n").unwrap();
        write(folder, &plain, "x\n");
        git(folder, &["add", &plain]);
        let index = fs::read(own.join("index")).unwrap();
        let at = index.windows(plain.len()).position(|part| part == plain.as_bytes()).unwrap();
        let mut evil = index.clone();
        evil[at..at + name.len()].copy_from_slice(name.as_bytes());
        fs::write(own.join("index"), evil).unwrap();
    });
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(fs::read_to_string(world.beside("victim!")).unwrap(), "mine\n");
}

/// Git looks into a submodule with a git of its own, which believes the settings there.
#[test]
fn settings_of_a_repository_inside_run_nothing() {
    let (world, _) = attempt(|world, folder, own| {
        let (program, _) = trap(world);
        git(folder, &["init", "-q", "-b", "main", "nested"]);
        let nested = folder.join("nested");
        let user = ["-c", "user.name=a", "-c", "user.email=a@b"];
        git(&nested, &[&user[..], &["commit", "-q", "--allow-empty", "-m", "x"]].concat());
        git(folder, &["-c", "advice.addEmbeddedRepo=false", "add", "nested"]);
        git(folder, &["commit", "-q", "-m", "a submodule"]);
        write(&nested, "file", "x\n");
        git(&nested, &["config", "core.fsmonitor", program.to_str().unwrap()]);
        git(&nested, &["config", "filter.trap.clean", program.to_str().unwrap()]);
        write(&nested, ".gitattributes", "* filter=trap\n");
        fs::write(
            own.join("config.worktree"),
            format!("[core]\nfsmonitor={}\n", program.display()),
        )
        .unwrap();
        set_traps(world, &program);
    });
    assert!(!world.beside("ran").exists());
}
