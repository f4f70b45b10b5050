//! Tests agents that work in worktrees of their own, on a real repository in a running engine.

mod merging;
mod removed;
mod world;

use chat_core::error::{Kind, WorktreeFault};
use chat_core::event::StopReason;
use chat_core::manager::{NewWorktree, WorktreeState};
use chat_core::message::{Answer, ChatRequest, Content, ModelRef};
use chat_core::permission::{Action, Effect, Mode, Rule, Why};
use chat_core::settings::Remembered;
use chat_sandbox::{Enforcement, Preference, Sandbox};
use chat_testkit::server::{Gate, Script, Server};
use serde_json::json;

use crate::agents::world::{last_text, reports};
use world::{answer, asked, call, command, finish, fixed, git, read, snapshot, why, world, write};

#[tokio::test]
async fn an_agents_work_is_shown_and_merged_with_what_came_to_the_base_meanwhile() {
    let server = Server::start();
    let mut world = world(&server, Mode::Edits).await;
    let project = world.project.path().to_owned();
    fixed(&server, "one\n2\nthree\n");
    finish(&server, "c2", "show");
    finish(&server, "c3", "merge");
    server.push(Script::new().text("Merged."));
    let fid = world.ask("Have it fixed").await;

    let ask = asked(&mut world, &fid).await;
    let text = command(&ask);
    assert!(text.starts_with("git merge natter/fixer\n"), "{text}");
    assert!(text.contains("# Commits everything on its branch first.\n"), "{text}");
    assert!(text.contains("# Changes 1 file in main:\n#   a +1 -1"), "{text}");
    assert_eq!(why(&ask), Why::Merges("main".to_owned()));
    let commits = || git(&project, &["rev-list", "--count", "natter/fixer"]);
    assert_eq!(commits(), "1", "nothing is committed unasked");
    assert_eq!(read(&project, "a"), "one\ntwo\nthree\n", "nothing is merged unasked");
    let fixer = world.agent(&fid, "fixer").await;
    let rows = world.manager.worktrees().list().await.unwrap();
    assert_eq!(rows.len(), 1);
    assert!(rows[0].sessions == [fixer.clone()] && !rows[0].is_left_over(), "{rows:?}");
    assert!(rows[0].size > 0 && !rows[0].path.starts_with(world.folder.path().join("data")));
    // The user's commit on the base.
    write(&project, "b", "mine\n");
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-q", "-m", "mine"]);
    answer(&world, &ask, Answer::Allow(None)).await;

    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    let results = world.results(&fid).await;
    assert_eq!(reports(&results[0])[0].name, "fixer");
    assert!(results[0].text.contains("is done:\nFixed."), "{results:?}");
    assert!(results[1].text.contains("-two\n+2\n"), "{results:?}");
    assert!(results[2].text.starts_with("Merged into main as "), "{results:?}");
    assert_eq!(
        (read(&project, "a"), read(&project, "b")),
        ("one\n2\nthree\n".into(), "mine\n".into())
    );
    assert_eq!(git(&project, &["status", "--porcelain"]), "");
    assert_eq!(git(&project, &["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(git(&project, &["log", "--format=%s", "--no-merges"]).lines().count(), 3);
    let worktrees = world.manager.worktrees();
    assert_eq!(worktrees.list().await.unwrap(), []);
    let snapshots = worktrees.snapshots().await.unwrap();
    assert_eq!(snapshots[0].id, snapshot(&results[2]));
    let fixer = world.manager.agents().find_by_name(&fid, "fixer").await.unwrap().unwrap();
    assert!(fixer.closed, "{fixer:?}");
    // Whoever was not told of the merge, since its call was stopped, reads it here.
    finish(&server, "c4", "merge");
    server.push(Script::new().text("It is merged."));
    world.say(&fid, "Is it merged?").await;
    world.finished(&fid).await;
    let result = world.results(&fid).await.pop().unwrap();
    assert!(result.text.contains("is merged into main already, and removed."), "{result:?}");
    // Its own requests were made in its own folder.
    let chats = server.chats();
    let of_fixer = chats[1].body["messages"].to_string();
    assert!(of_fixer.contains("-worktrees/"), "{of_fixer}");
}

#[tokio::test]
async fn a_conflict_is_named_and_a_discarded_worktree_comes_back() {
    let server = Server::start();
    let mut world = world(&server, Mode::Edits).await;
    let project = world.project.path().to_owned();
    fixed(&server, "one\n2\nthree\n");
    server.push(Script::new().text("It is fixed."));
    let fid = world.ask("Have it fixed").await;
    world.finished(&fid).await;
    write(&project, "a", "one\nzwei\nthree\n");
    git(&project, &["commit", "-q", "-a", "-m", "mine"]);

    finish(&server, "c2", "merge");
    finish(&server, "c3", "discard");
    server.push(Script::new().text("So be it."));
    world.say(&fid, "Merge it, or discard it").await;
    let ask = asked(&mut world, &fid).await;
    // The folder is this worktree's alone, while another one may have its name later.
    let rows = world.manager.worktrees().list().await.unwrap();
    let folder = rows[0].path.file_name().unwrap().to_str().unwrap();
    assert_ne!(folder, "fixer");
    let discards = format!("git worktree remove --force {folder}\n");
    assert!(command(&ask).starts_with(&discards), "{ask:?}");
    assert_eq!(why(&ask), Why::Discards("fixer".to_owned()));
    answer(&world, &ask, Answer::Deny { scope: None, message: None }).await;
    world.finished(&fid).await;
    let results = world.results(&fid).await;
    assert!(results[1].failed && results[1].text.contains("the same parts of: a."), "{results:?}");
    assert!(results[2].failed && results[2].text.contains("denied"), "{results:?}");
    assert_eq!(read(&project, "a"), "one\nzwei\nthree\n");
    assert_eq!(git(&project, &["status", "--porcelain"]), "");
    let worktrees = world.manager.worktrees();
    assert_eq!(worktrees.list().await.unwrap().len(), 1);
    assert_eq!(worktrees.snapshots().await.unwrap(), []);

    finish(&server, "c4", "discard");
    server.push(Script::new().text("It is gone."));
    world.say(&fid, "Discard it").await;
    let ask = asked(&mut world, &fid).await;
    assert!(command(&ask).contains("# Discards 1 changed file; "), "{ask:?}");
    answer(&world, &ask, Answer::Allow(None)).await;
    world.finished(&fid).await;
    let results = world.results(&fid).await;
    assert_eq!(worktrees.list().await.unwrap(), []);
    let restored = worktrees.restore(snapshot(&results[3]), None).await.unwrap();
    assert_eq!(read(restored.worktree.folder(), "a"), "one\n2\nthree\n");
    let rows = worktrees.list().await.unwrap();
    // Its folder is that of the agent again.
    assert_eq!((rows.len(), rows[0].state), (1, WorktreeState::Whole));
    assert_eq!(rows[0].sessions, [world.agent(&fid, "fixer").await]);
    let again = worktrees.restore(snapshot(&results[3]), None).await.unwrap_err();
    let path = rows[0].path.clone();
    let fault = WorktreeFault::Restored { name: "fixer".to_owned(), path };
    assert_eq!(again.kind, Kind::Worktree { fault });
    assert_eq!(worktrees.list().await.unwrap().len(), 1);
    let unknown = worktrees.restore("1-2", None).await.unwrap_err();
    assert_eq!(unknown.kind.name(), "worktree");
}

#[tokio::test]
async fn plan_mode_creates_no_worktree_and_an_agent_without_one_has_none_to_finish() {
    let server = Server::start();
    let mut world = world(&server, Mode::Plan).await;
    server.push(call("c1", "spawn_worktree", json!({ "name": "fixer", "task": "Fix a" })));
    server.push(call("c2", "spawn_agent", json!({ "name": "fixer" })));
    finish(&server, "c3", "show");
    finish(&server, "c4", "discard");
    server.push(Script::new().text("No."));
    let fid = world.ask("Have it fixed").await;
    world.finished(&fid).await;
    let results = world.results(&fid).await;
    assert!(results[0].failed && results[0].text.contains("the permission mode"), "{results:?}");
    assert!(results[2].text.contains("has no worktree"), "{results:?}");
    assert!(results[3].text.contains("has no worktree"), "{results:?}");
    assert_eq!(world.manager.worktrees().list().await.unwrap(), []);
    assert_eq!(git(world.project.path(), &["branch", "--format=%(refname:short)"]), "main");
}

#[tokio::test]
async fn a_worktree_that_cannot_be_created_says_why_and_leaves_no_agent() {
    let server = Server::start();
    let mut world = world(&server, Mode::Edits).await;
    let task = json!({ "name": "fixer", "task": "Fix a", "base": "nowhere" });
    server.push(call("c1", "spawn_worktree", task));
    let task = json!({ "name": "fixer", "task": "Fix a", "branch": "main/fix" });
    server.push(call("c2", "spawn_worktree", task));
    server.push(Script::new().text("No."));
    let fid = world.ask("Have it fixed").await;
    world.finished(&fid).await;
    let results = world.results(&fid).await;
    assert!(
        results[0].failed && results[0].text.contains("nowhere names no commit"),
        "{results:?}"
    );
    assert!(results[1].failed && results[1].text.contains("branch main exists"), "{results:?}");
    assert_eq!(world.manager.agents().list(Some(&fid)).await.unwrap(), []);
    assert_eq!(world.manager.worktrees().list().await.unwrap(), []);
}

/// What an agent's commands reach of the repository, whatever they try.
#[tokio::test]
async fn commands_in_a_worktree_commit_there_and_nowhere_else() {
    if Sandbox::probe(Preference::Best).await.enforcement() != Enforcement::Bubblewrap {
        return;
    }
    let server = Server::start();
    let mut world = world(&server, Mode::Unattended).await;
    let project = world.project.path().canonicalize().unwrap();
    let at = project.display();
    let as_somebody = "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=A \
                       GIT_COMMITTER_EMAIL=a";
    let escapes = [
        format!("git -C {at} commit --allow-empty -m evil"),
        format!("git --git-dir {at}/.git commit --allow-empty -m evil"),
        format!("GIT_DIR={at}/.git git update-ref refs/heads/main HEAD~1"),
        "git update-ref refs/heads/main $(git commit-tree -m evil HEAD^{tree})".to_owned(),
        format!("ln -s {at} link; cp a link/.git/HEAD"),
        format!("cp a {at}/.git/hooks/pre-commit"),
        "git config core.fsmonitor evil".to_owned(),
        format!("cat {at}/a"),
    ];
    let task = json!({ "name": "fixer", "task": "Fix a", "branch": "fix" });
    server.push(call("c1", "spawn_worktree", task));
    for (number, text) in escapes.iter().enumerate() {
        let text = format!("{as_somebody}; {text}");
        server.push(call(&format!("e{number}"), "run_command", json!({ "command": text })));
    }
    let text = format!(
        "{as_somebody}; sed -i s/two/2/ a && rm -f link && git commit -q -a -m work && git status"
    );
    server.push(call("w1", "run_command", json!({ "command": text })));
    server.push(Script::new().text("Fixed."));
    finish(&server, "c2", "show");
    server.push(Script::new().text("Good."));
    let main = git(&project, &["rev-parse", "HEAD"]);
    let fid = world.ask("Have it fixed").await;
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    let fixer = world.agent(&fid, "fixer").await;
    let results = world.results(&fixer).await;
    for (text, result) in escapes.iter().zip(&results) {
        let ran = result.text.starts_with("Exit status ");
        assert!(ran && !result.text.starts_with("Exit status 0"), "{text}: {}", result.text);
    }
    let worked = results.last().unwrap();
    assert!(!worked.failed && worked.text.contains("working tree clean"), "{}", worked.text);
    assert_eq!(git(&project, &["rev-parse", "HEAD"]), main);
    assert_eq!(git(&project, &["status", "--porcelain"]), "");
    assert!(!project.join(".git/hooks/pre-commit").exists());
    let shown = &world.results(&fid).await[1].text;
    assert!(shown.starts_with("Branch natter/fix from main: 1 commit, "), "{shown}");
}

#[tokio::test]
async fn rules_of_the_project_hold_in_a_chats_worktree() {
    let server = Server::start();
    let mut world = world(&server, Mode::Edits).await;
    let project = world.project.path().to_owned();
    let rule = Rule::new(Action::Write, "a").unwrap();
    let of = Some(project.canonicalize().unwrap());
    let denied = Remembered { rule, effect: Effect::Deny, project: of };
    let change = move |settings: &mut chat_core::settings::Settings| {
        settings.permissions.rules.push(denied);
    };
    world.manager.settings().change(change).await.unwrap();
    write(&project, "c", "mine\n");
    let with_changes = NewWorktree { with_changes: true, ..NewWorktree::default() };
    let created = world.manager.worktrees().create(&project, "try", with_changes).await.unwrap();
    let worktree = created.worktree;
    assert_eq!(read(&worktree.project(), "c"), "mine\n");
    for (id, name) in [("w1", "a"), ("w2", "c")] {
        server.push(call(&format!("r{id}"), "read_file", json!({ "path": name })));
        server.push(call(id, "write_file", json!({ "path": name, "content": "x" })));
    }
    server.push(Script::new().text("Done."));
    let request = ChatRequest {
        model: Some(ModelRef::new("test", "scripted")),
        content: Content::text("Write"),
        project: Some(worktree.project()),
        ..ChatRequest::default()
    };
    let fid = world.manager.send(request).await.unwrap().fid;
    world.finished(&fid).await;
    let results = world.results(&fid).await;
    assert!(results[1].failed && results[1].text.contains("denies it"), "{results:?}");
    assert_eq!(read(&worktree.project(), "c"), "x");
    assert_eq!(read(&project, "c"), "mine\n");
    assert_eq!(world.manager.worktrees().left_over().await.unwrap(), []);

    // Without its chat it is left over, also after a restart.
    world.manager.sessions().delete(&fid).await.unwrap();
    let world = world.restart().await;
    let left = world.manager.worktrees().left_over().await.unwrap();
    assert_eq!((left.len(), left[0].state), (1, WorktreeState::Whole));
    assert!(left[0].size > 0, "{left:?}");
    let worktrees = world.manager.worktrees();
    let found = worktrees.find("try").await.unwrap();
    assert_eq!(found, worktree);
    let removed = worktrees.discard(&found).await.unwrap();
    assert!(removed.is_branch_deleted && removed.snapshot.files >= 2, "{removed:?}");
    assert_eq!(worktrees.list().await.unwrap(), []);
}

#[tokio::test]
async fn what_is_trusted_in_a_project_is_also_in_its_worktrees() {
    let server = Server::start();
    let mut world = world(&server, Mode::Edits).await;
    let project = world.project.path().canonicalize().unwrap();
    std::fs::create_dir_all(project.join(".natter/agents")).unwrap();
    write(&project, ".natter/agents/builder.md", "Build.");
    std::fs::create_dir_all(project.join(".agents/skills/release")).unwrap();
    let skill = "---\nname: release\ndescription: How releases are made\n---\n\nTag it.\n";
    write(&project, ".agents/skills/release/SKILL.md", skill);
    let definitions = world.manager.definitions();
    let seen = definitions.of_project(Some(&project)).await.project.clone().unwrap();
    definitions.trust(&seen).await.unwrap();
    let worktrees = world.manager.worktrees();
    let created = worktrees.create(&project, "try", NewWorktree::default()).await.unwrap();
    let worktree = created.worktree;
    // What stands in the worktree itself is not what the user has seen.
    std::fs::create_dir_all(worktree.folder().join(".natter/agents")).unwrap();
    write(worktree.folder(), ".natter/agents/builder.md", "Destroy.");
    server.push(call("s1", "use_skill", json!({ "name": "release" })));
    server.push(Script::new().text("Built."));
    let request = ChatRequest {
        agent: Some("builder".to_owned()),
        model: Some(ModelRef::new("test", "scripted")),
        content: Content::text("Build"),
        project: Some(worktree.project()),
        ..ChatRequest::default()
    };
    let fid = world.manager.send(request).await.unwrap().fid;
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    assert!(server.chats()[0].texts_of("system").concat().starts_with("Build."));
    let results = world.results(&fid).await;
    assert!(results[0].text.ends_with("Tag it."), "{results:?}");
}

#[tokio::test]
async fn a_chat_only_reads_in_a_worktree_whose_record_is_damaged() {
    let server = Server::start();
    let mut world = world(&server, Mode::Edits).await;
    let project = world.project.path().to_owned();
    let worktrees = world.manager.worktrees();
    let created = worktrees.create(&project, "try", NewWorktree::default()).await.unwrap();
    let worktree = created.worktree;
    std::fs::write(worktree.folder().with_extension("json"), "{").unwrap();
    server.push(call("r1", "read_file", json!({ "path": "a" })));
    server.push(call("w1", "write_file", json!({ "path": "a", "content": "x" })));
    server.push(Script::new().text("Done."));
    let request = ChatRequest {
        model: Some(ModelRef::new("test", "scripted")),
        content: Content::text("Write"),
        project: Some(worktree.project()),
        allow: vec![Rule::new(Action::Write, "a").unwrap()],
        ..ChatRequest::default()
    };
    let fid = world.manager.send(request).await.unwrap().fid;
    assert_eq!(world.finished(&fid).await, StopReason::Complete);
    let results = world.results(&fid).await;
    assert!(!results[0].failed && results[1].failed, "{results:?}");
    assert_eq!(read(&worktree.project(), "a"), "one\ntwo\nthree\n");
}

/// A program that is killed leaves what it was at.
#[tokio::test]
async fn what_a_kill_in_the_middle_leaves_is_found_and_nothing_of_it_is_lost() {
    let server = Server::start();
    let world = world(&server, Mode::Edits).await;
    let project = world.project.path().to_owned();
    let worktrees = world.manager.worktrees();
    let create = async |name: &str| {
        worktrees.create(&project, name, NewWorktree::default()).await.unwrap().worktree
    };
    let (removing, removed, begun) =
        (create("removing").await, create("removed").await, create("begun").await);
    // Killed while it looked whether anything was written meanwhile; while it deleted what is stored;
    // and before it had a link to the repository.
    let at =
        |worktree: &chat_core::worktree::Worktree, end: &str| worktree.folder().with_extension(end);
    std::fs::rename(removing.folder(), at(&removing, "removing")).unwrap();
    std::fs::rename(removed.folder(), at(&removed, "removed")).unwrap();
    std::fs::remove_file(at(&removed, "json")).unwrap();
    std::fs::remove_file(begun.folder().join(".git")).unwrap();
    let world = world.restart().await;
    let worktrees = world.manager.worktrees();
    let rows = loop {
        let rows = worktrees.left_over().await.unwrap();
        // What is cleared at the start is cleared.
        if rows.len() == 2 && rows.iter().all(|row| row.state != WorktreeState::FolderGone) {
            break rows;
        }
        tokio::task::yield_now().await;
    };
    let states: Vec<_> = rows.iter().map(|row| (row.path.clone(), row.state)).collect();
    let begun_state = (begun.folder().to_owned(), WorktreeState::Unlinked);
    assert!(states.contains(&begun_state), "{states:?}");
    assert!(states.contains(&(removing.folder().to_owned(), WorktreeState::Whole)), "{states:?}");
    worktrees.repair(&begun).await.unwrap();
    for worktree in [&begun, &removing] {
        worktrees.discard(worktree).await.unwrap();
    }
    assert_eq!(worktrees.snapshots().await.unwrap().len(), 2);
    assert!(!at(&removed, "removed").exists());
}

#[tokio::test]
async fn an_agent_at_work_keeps_its_worktree() {
    let server = Server::start();
    let mut world = world(&server, Mode::Edits).await;
    let gate = Gate::new();
    server.when("Fix a", Script::new().gate_first(&gate).text("Fixed."));
    let task = json!({ "name": "fixer", "task": "Fix a", "background": true });
    server.push(call("c1", "spawn_worktree", task));
    finish(&server, "c2", "discard");
    server.push(Script::new().text("It works."));
    server.push(Script::new().text("It has worked."));
    let fid = world.ask("Have it fixed").await;
    world.finished(&fid).await;
    let results = world.results(&fid).await;
    assert!(results[1].text.contains("still working"), "{results:?}");
    let worktrees = world.manager.worktrees();
    let worktree = worktrees.find("fixer").await.unwrap();
    let refused = worktrees.discard(&worktree).await.unwrap_err();
    assert_eq!(refused.kind.name(), "session_at_work");
    gate.open();
    world.finished(&fid).await;
    assert_eq!(last_text(&world.messages(&fid).await), "It has worked.");
    assert!(worktree.folder().join("a").exists());
}
