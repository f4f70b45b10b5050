//! Tests the worktrees of agents in the terminal.

use std::path::Path;
use std::process::Command;

use chat_testkit::server::{Script, Server};
use serde_json::json;

use crate::home::{Home, Run};
use crate::prompts::Seat;

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"])
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("git");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

fn run(home: &Home, arguments: &[&str]) -> Run {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Run::of(home.command(arguments).env("PATH", path).spawn().expect("the program starts"))
}

/// A home whose agent `fixer` wrote into `a`, and the project.
fn fixed(server: &Server) -> (Home, tempfile::TempDir) {
    let (home, project, _) = asked(server);
    (home, project)
}

/// The same, and what it gave.
fn asked(server: &Server) -> (Home, tempfile::TempDir, Run) {
    let write = json!({ "path": "a", "content": "two\n" });
    asked_where_it(server, Script::new().tool_call("w1", "write_file", write))
}

/// The same where the agent did this after it had read the file.
fn asked_where_it(server: &Server, did: Script) -> (Home, tempfile::TempDir, Run) {
    let (home, project) = (Home::new(server), tempfile::tempdir().expect("a folder"));
    git(project.path(), &["init", "-q", "-b", "main"]);
    std::fs::write(project.path().join("a"), "one\n").expect("a file");
    git(project.path(), &["add", "-A"]);
    git(project.path(), &["commit", "-q", "-m", "first"]);
    let task = json!({ "name": "fixer", "task": "Fix a" });
    server.push(Script::new().tool_call("c1", "spawn_worktree", task));
    server.push(Script::new().tool_call("r1", "read_file", json!({ "path": "a" })));
    server.push(did);
    server.push(Script::new().text("Fixed."));
    server.push(Script::new().text("It is fixed."));
    let folder = project.path().to_str().expect("a path");
    let asked = run(&home, &["ask", "--project", folder, "--mode", "edits", "Have it fixed"]).ok();
    (home, project, asked)
}

#[test]
fn ask_names_the_worktree_that_an_agent_leaves_and_how_to_finish_it() {
    let server = Server::start();
    let (home, project, asked) = asked(&server);
    assert_eq!(asked.stdout, "It is fixed.\n");
    let finish = "natter-cli worktrees finish fixer commit, merge or discard\n";
    let lines: Vec<_> = asked.stderr.lines().filter(|line| line.contains("finish")).collect();
    assert!(lines.len() == 1 && asked.stderr.ends_with(finish), "{asked:?}");
    assert!(lines[0].starts_with("Agent “fixer” worked in the worktree “fixer”."), "{asked:?}");
    // Once it is finished, nothing is said.
    run(&home, &["worktrees", "finish", "--yes", "fixer", "discard"]).ok();
    let chats = run(&home, &["sessions", "--json"]).ok().events();
    let chat = chats.iter().find(|chat| chat.get("parent").is_none()).expect("a chat");
    server.push(Script::new().text("Yes."));
    let again = run(&home, &["ask", "--session", chat["fid"].as_str().expect("a fid"), "Sure?"]);
    assert!(!again.stderr.contains("worktrees finish"), "{again:?}");
    drop(project);
}

#[test]
fn where_an_agent_changed_nothing_there_is_nothing_to_finish_or_to_merge() {
    let server = Server::start();
    let again = Script::new().tool_call("r2", "read_file", json!({ "path": "a" }));
    let (home, project, asked) = asked_where_it(&server, again);
    assert_eq!(asked.stdout, "It is fixed.\n");
    assert!(!asked.stderr.contains("worktrees finish"), "{asked:?}");
    // Nobody is asked, and nothing is removed.
    let merged = run(&home, &["worktrees", "finish", "fixer", "merge"]).ok();
    let words = "There is nothing to merge, so the worktree “fixer” stays. Remove it with: \
                 natter-cli worktrees finish fixer discard\n";
    assert_eq!(merged.stderr, words);
    assert_eq!(run(&home, &["worktrees", "--json"]).ok().events().len(), 1);
    assert_eq!(run(&home, &["worktrees", "snapshots", "--json"]).ok().stdout, "");
    drop(project);
}

#[test]
fn the_work_of_an_agent_is_listed_shown_and_merged() {
    let server = Server::start();
    let (home, project) = fixed(&server);
    let listed = run(&home, &["worktrees", "--json"]).ok().events();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!((&listed[0]["name"], &listed[0]["state"]), (&json!("fixer"), &json!("whole")));
    assert_eq!(listed[0]["left_over"], false);
    let text = run(&home, &["worktrees"]).ok().stdout;
    assert!(text.starts_with("fixer\tnatter/fixer\t"), "{text}");
    let shown = run(&home, &["worktrees", "show", "fixer"]).ok();
    assert!(shown.stdout.contains("-one\n+two\n"), "{shown:?}");
    assert!(shown.stderr.contains("1 file not committed"), "{shown:?}");
    let view = run(&home, &["worktrees", "show", "--json", "fixer"]).ok().events();
    assert_eq!(view[0]["files"][0]["change"], "modified");

    // With nobody to ask nothing is merged.
    let refused = run(&home, &["worktrees", "finish", "fixer", "merge"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("--yes"), "{refused:?}");
    assert_eq!(git(project.path(), &["log", "-1", "--format=%s", "natter/fixer"]), "first");
    assert_eq!(std::fs::read_to_string(project.path().join("a")).expect("a"), "one\n");
    let merged = run(&home, &["worktrees", "finish", "--yes", "fixer", "merge"]).ok();
    assert!(merged.stderr.contains("Merged into main."), "{merged:?}");
    assert_eq!(std::fs::read_to_string(project.path().join("a")).expect("a"), "two\n");
    let none = run(&home, &["worktrees"]).ok();
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", "There are no worktrees.\n"));
    let gone = run(&home, &["worktrees", "show", "fixer"]);
    assert_eq!(gone.code, Some(1));
    assert!(gone.stderr.contains("Couldn’t find the worktree “fixer”."), "{gone:?}");
}

#[test]
fn nothing_is_committed_before_the_user_wants_to_merge() {
    let server = Server::start();
    let (home, project) = fixed(&server);
    let subject = || git(project.path(), &["log", "-1", "--format=%s", "natter/fixer"]);
    let seat = || {
        let mut command = home.command(["worktrees", "finish", "fixer", "merge", "-m", "Fix it"]);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        Seat::of(command, false)
    };
    let question = "Commit everything and merge it into main? This changes 1 file. [y/N] ";
    let mut refuses = seat();
    let shown = refuses.wait_for(question);
    assert!(!shown.contains("Committed as"), "{shown:?}");
    refuses.type_in("n\r");
    refuses.wait_for("Nothing was changed.");
    assert_eq!(refuses.end().code, Some(1));
    assert_eq!(subject(), "first");

    // What is committed is asked about as it is.
    run(&home, &["worktrees", "finish", "fixer", "commit", "-m", "Fix it"]).ok();
    let mut agrees = seat();
    agrees.wait_for("Merge into main? This changes 1 file. [y/N] ");
    agrees.type_in("y\r");
    agrees.wait_for("Merged into main.");
    agrees.end().ok();
    assert_eq!(git(project.path(), &["log", "-1", "--format=%s"]), "Fix it");
}

#[test]
fn a_conflict_with_what_is_not_committed_is_named_before_the_commit() {
    let server = Server::start();
    let (home, project) = fixed(&server);
    std::fs::write(project.path().join("a"), "mine\n").expect("a file");
    git(project.path(), &["commit", "-q", "-a", "-m", "mine"]);
    let conflict = run(&home, &["worktrees", "finish", "--yes", "fixer", "merge"]);
    assert_eq!(conflict.code, Some(1));
    assert!(conflict.stderr.contains("these files:\n  a"), "{conflict:?}");
    assert!(!conflict.stderr.contains("ommitted"), "{conflict:?}");
    assert_eq!(git(project.path(), &["log", "-1", "--format=%s", "natter/fixer"]), "first");
}

#[test]
fn a_worktree_whose_folder_was_deleted_is_listed_and_finished() {
    let server = Server::start();
    let (home, project) = fixed(&server);
    run(&home, &["worktrees", "finish", "fixer", "commit", "-m", "Fix it"]).ok();
    let delete = || {
        let listed = run(&home, &["worktrees", "--json"]).ok().events();
        std::fs::remove_dir_all(listed[0]["path"].as_str().expect("a path")).expect("deleted");
    };
    delete();
    let listed = run(&home, &["worktrees"]).ok().stdout;
    assert!(listed.contains("its folder is gone"), "{listed}");
    let shown = run(&home, &["worktrees", "show", "fixer"]);
    assert_eq!(shown.code, Some(1), "{shown:?}");
    assert!(shown.stderr.contains("was deleted. Merge or discard the worktree"), "{shown:?}");
    // The commits are there.
    let merged = run(&home, &["worktrees", "finish", "--yes", "fixer", "merge"]).ok();
    assert!(merged.stderr.contains("Its branch natter/fixer stays."), "{merged:?}");
    assert_eq!(git(project.path(), &["log", "-1", "--format=%s"]), "Fix it");
    assert_eq!(run(&home, &["worktrees"]).ok().stdout, "");

    let task = json!({ "name": "other", "task": "Look at a" });
    server.push(Script::new().tool_call("c2", "spawn_worktree", task));
    server.push(Script::new().text("All is well."));
    server.push(Script::new().text("It is well."));
    let folder = project.path().to_str().expect("a path");
    run(&home, &["ask", "--project", folder, "--mode", "edits", "Another one"]).ok();
    delete();
    let refused = run(&home, &["worktrees", "finish", "other", "discard"]);
    assert!(refused.stderr.contains("--yes"), "{refused:?}");
    let gone = run(&home, &["worktrees", "finish", "--yes", "other", "discard"]).ok();
    assert!(gone.stderr.contains("Removed from the list."), "{gone:?}");
    assert_eq!(run(&home, &["worktrees"]).ok().stdout, "");
}

#[test]
fn a_conflict_is_named_and_a_discarded_worktree_is_restored() {
    let server = Server::start();
    let (home, project) = fixed(&server);
    let message = ["worktrees", "finish", "fixer", "commit", "--message", "Fix it"];
    run(&home, &message).ok();
    assert_eq!(git(project.path(), &["log", "-1", "--format=%s", "natter/fixer"]), "Fix it");
    std::fs::write(project.path().join("a"), "mine\n").expect("a file");
    git(project.path(), &["commit", "-q", "-a", "-m", "mine"]);
    let conflict = run(&home, &["worktrees", "finish", "--yes", "fixer", "merge"]);
    assert_eq!(conflict.code, Some(1));
    assert!(conflict.stderr.contains("these files:\n  a"), "{conflict:?}");
    run(&home, &["worktrees", "finish", "--yes", "fixer", "discard"]).ok();
    let snapshots = run(&home, &["worktrees", "snapshots", "--json"]).ok().events();
    assert_eq!((snapshots.len(), &snapshots[0]["commits"]), (1, &json!(1)), "{snapshots:?}");
    let id = snapshots[0]["id"].as_str().expect("an id");
    assert!(run(&home, &["worktrees", "snapshots"]).ok().stdout.starts_with(id));
    run(&home, &["worktrees", "restore", id]).ok();
    let shown = run(&home, &["worktrees", "show", "fixer"]).ok();
    assert!(shown.stdout.contains("+two\n"), "{shown:?}");
    let again = run(&home, &["worktrees", "restore", id]);
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.stderr.contains("is restored already, as the worktree “fixer” in"), "{again:?}");
    let refused = run(&home, &["worktrees", "delete-snapshot", id]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("--yes"), "{refused:?}");
    let deleted = run(&home, &["worktrees", "delete-snapshot", "--yes", id]).ok();
    assert!(deleted.stderr.contains("The snapshot was deleted."), "{deleted:?}");
    let none = run(&home, &["worktrees", "snapshots"]).ok();
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", "There are no snapshots.\n"));
    let missing = run(&home, &["worktrees", "delete-snapshot", "--yes", id]);
    assert!(missing.stderr.contains("Couldn’t find the snapshot"), "{missing:?}");
}
