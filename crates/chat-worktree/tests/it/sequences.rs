//! Tests random sequences of what an agent and a user do: whatever is merged or removed, no content
//! of either is lost.

use std::collections::BTreeSet;
use std::fs;

use chat_worktree::{Error, MergeOutcome, Worktree};
use proptest::prelude::*;

use crate::world::{NEVER, World, contents, files, git, write};

const FILES: [&str; 4] = ["a", "b", "sub/c", "new/d"];

#[derive(Clone, Debug)]
enum Step {
    /// The agent writes a file, or deletes it.
    Agent(usize, bool),
    AgentCommits,
    CommitAll,
    /// The user writes a file, or deletes it.
    User(usize, bool),
    UserStages,
    UserCommits,
    Merge,
    RemoveAndRestore,
}

fn step() -> impl Strategy<Value = Step> {
    let file = 0..FILES.len();
    let writes = prop::bool::weighted(0.8);
    prop_oneof![
        4 => (file.clone(), writes).prop_map(|(file, writes)| Step::Agent(file, writes)),
        1 => Just(Step::AgentCommits),
        2 => Just(Step::CommitAll),
        3 => (file, writes).prop_map(|(file, writes)| Step::User(file, writes)),
        1 => Just(Step::UserStages),
        1 => Just(Step::UserCommits),
        3 => Just(Step::Merge),
        1 => Just(Step::RemoveAndRestore),
    ]
}

/// Each text is written once, so that what is lost can be told.
fn change(folder: &std::path::Path, file: usize, writes: bool, number: usize, who: &str) {
    let name = FILES[file];
    if writes {
        let _ = fs::remove_file(folder.join("new"));
        write(folder, name, &format!("{who} {number}\n"));
    } else {
        let _ = fs::remove_file(folder.join(name));
    }
}

/// The texts of all files that are not committed in the user's checkout.
fn uncommitted(world: &World) -> BTreeSet<(String, Option<String>)> {
    let status =
        world.git(&["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"]);
    let names = status.split('\0').filter(|entry| entry.len() > 3).map(|entry| &entry[3..]);
    names.map(|name| (name.to_owned(), fs::read_to_string(world.path(name)).ok())).collect()
}

fn run(steps: &[Step]) {
    let world = World::new();
    let mut worktree: Worktree = world.create("x");
    for (number, step) in steps.iter().enumerate() {
        let folder = worktree.folder().to_owned();
        match step {
            Step::Agent(file, writes) => change(&folder, *file, *writes, number, "agent"),
            Step::User(file, writes) => change(&world.project(), *file, *writes, number, "user"),
            Step::AgentCommits => {
                git(&folder, &["add", "-A"]);
                git(&folder, &["commit", "-q", "--allow-empty", "-m", "agent"]);
            }
            Step::CommitAll => {
                let files = contents(&folder);
                match world.worktrees.commit(&worktree, "all", &crate::world::fallback(), &NEVER) {
                    Ok(_) => assert_eq!(git(&folder, &["status", "--porcelain"]), ""),
                    Err(error) => assert!(matches!(error, Error::NothingToCommit), "{error}"),
                }
                assert_eq!(contents(&folder), files);
            }
            Step::UserStages => drop(world.git(&["add", "-A"])),
            Step::UserCommits => {
                world.git(&["add", "-A"]);
                world.git(&["commit", "-q", "--allow-empty", "-m", "user"]);
            }
            Step::Merge => merge(&world, &worktree),
            Step::RemoveAndRestore => {
                let head = git(&folder, &["rev-parse", "HEAD"]);
                let (expected, parent) = (contents(&folder), world.parent_state());
                let snapshot = world.remove(&worktree).snapshot;
                assert_eq!(world.parent_state(), parent);
                let restored =
                    world.worktrees.restore(&snapshot.id, &world.project(), &NEVER).unwrap();
                worktree = restored.worktree;
                assert_eq!(contents(worktree.folder()), expected);
                assert_eq!(git(worktree.folder(), &["rev-parse", "HEAD"]), head);
                assert_eq!(world.parent_state(), parent);
            }
        }
    }
}

fn merge(world: &World, worktree: &Worktree) {
    let of_agent = files(worktree.folder());
    let (before, mine) = (files(&world.project()), uncommitted(world));
    let old = world.git(&["rev-parse", "HEAD"]);
    let work = git(worktree.folder(), &["rev-parse", "HEAD"]);
    let outcome = world.merge(worktree);
    assert_eq!(files(worktree.folder()), of_agent);
    match outcome {
        Ok(MergeOutcome::Merged { commit, .. }) => {
            assert_eq!(world.git(&["rev-parse", "HEAD"]), commit);
            for tip in [old, work] {
                world.git(&["merge-base", "--is-ancestor", &tip, &commit]);
            }
            // What was not committed is still there, and still not committed.
            assert_eq!(uncommitted(world), mine);
        }
        Ok(MergeOutcome::UpToDate | MergeOutcome::Conflicts(_) | MergeOutcome::Blocked(_))
        | Err(Error::Uncommitted) => {
            let mut after = files(&world.project());
            // Looking at it may refresh the index.
            after.remove(std::path::Path::new(".git/index"));
            let mut before = before;
            before.remove(std::path::Path::new(".git/index"));
            let is_object = |path: &std::path::Path| path.starts_with(".git/objects");
            after.retain(|path, _| !is_object(path));
            before.retain(|path, _| !is_object(path));
            assert_eq!(after, before);
        }
        Err(error) => panic!("{error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, max_shrink_iters: 40, ..ProptestConfig::default() })]

    #[test]
    fn no_content_is_lost(steps in prop::collection::vec(step(), 4..14)) {
        run(&steps);
    }
}
