//! Tests `run_command`: what the model gets, and that nothing is left behind.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use chat_core::message::{CommandExit, CommandLimit, Preview, ToolView};
use chat_permission::{Mode, Why};
use serde_json::json;

use crate::processes;
use crate::world::World;

fn world() -> World {
    let world = World::new();
    world.host.allows();
    world
}

#[tokio::test]
async fn both_streams_and_the_status_are_told() {
    let world = world();
    let output = world
        .call("run_command", json!({ "command": "echo out; echo wrong >&2; exit 3" }))
        .await
        .unwrap();
    assert!(output.text.starts_with("Exit status 3, after "), "{}", output.text);
    assert!(output.text.ends_with(".\nout\nwrong"), "{}", output.text);
    let Some(ToolView::Ran { command, exit, output: None, .. }) = output.view else {
        panic!("{:?}", output.view)
    };
    assert_eq!(
        (&*command, exit),
        ("echo out; echo wrong >&2; exit 3", Some(CommandExit::Status(3)))
    );
    assert_eq!(World::names(&world.context.outputs), Vec::<String>::new());
    let said = world.says("run_command", json!({ "command": "true" })).await;
    assert!(said.starts_with("Exit status 0, after ") && said.ends_with(" No output."), "{said}");
}

#[tokio::test]
async fn both_streams_stand_in_the_order_in_which_they_were_written() {
    let world = world();
    let command = "for n in 1 2 3 4 5; do echo out $n; echo err $n >&2; done";
    let said = world.says("run_command", json!({ "command": command })).await;
    let (status, output) = said.split_once('\n').unwrap();
    assert!(status.starts_with("Exit status 0"), "{said}");
    let expected: Vec<_> = (1..6).flat_map(|n| [format!("out {n}"), format!("err {n}")]).collect();
    assert_eq!(output.lines().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_small_window_gets_less_of_an_output() {
    let mut world = world();
    world.context.most = 2_000;
    let said = world.says("run_command", json!({ "command": "seq 1 5000" })).await;
    assert!(said.len() < 2_500, "{}", said.len());
    assert!(said.contains("fetch_output") && said.contains("\n5000\n"), "{said}");
}

#[tokio::test]
async fn a_signal_is_told() {
    let world = world();
    let output = world.call("run_command", json!({ "command": "kill -9 $$" })).await.unwrap();
    assert!(output.text.starts_with("Terminated by signal 9 (killed)"), "{}", output.text);
    assert!(matches!(output.view, Some(ToolView::Ran { exit: Some(CommandExit::Signal(9)), .. })));
}

#[tokio::test]
async fn a_status_that_a_shell_gives_for_a_signal_stays_a_status() {
    let world = world();
    let output = world.call("run_command", json!({ "command": "exit 137" })).await.unwrap();
    assert!(output.text.starts_with("Exit status 137, in a shell"), "{}", output.text);
    assert!(matches!(
        output.view,
        Some(ToolView::Ran { exit: Some(CommandExit::Status(137)), .. })
    ));
}

#[tokio::test]
async fn too_much_memory_is_told_as_that() {
    let mut world = world();
    Arc::make_mut(&mut world.context.settings).command_memory_mb = 50;
    let eat = "head -c 200000000 /dev/zero | tail | (sleep 600; cat)";
    let output = world.call("run_command", json!({ "command": eat })).await.unwrap();
    assert!(output.text.starts_with("Stopped because it used too much memory"), "{}", output.text);
    let memory = CommandExit::Limit(CommandLimit::Memory);
    assert!(matches!(output.view, Some(ToolView::Ran { exit: Some(exit), .. }) if exit == memory));
}

#[tokio::test]
async fn what_a_new_repository_would_run_is_quarantined_and_reported() {
    let world = world();
    std::fs::create_dir_all(world.project.join("src")).unwrap();
    let make = "git init -q src/sub && git -C src/sub config core.fsmonitor evil";
    let output = world.call("run_command", json!({ "command": make })).await.unwrap();
    let told = "src/sub/.git/config can make Git run programs or write outside the sandbox: \
        it was quarantined as config.put-aside-1.";
    assert!(output.text.contains(told), "{}", output.text);
    let Some(ToolView::Ran { quarantined, .. }) = output.view else { panic!("{:?}", output.view) };
    assert!(quarantined[0].ends_with("src/sub/.git/config.put-aside-1"), "{quarantined:?}");
}

#[tokio::test]
async fn a_command_ends_at_its_limit_with_all_that_it_began() {
    let world = world();
    let seconds = processes::seconds();
    let command = format!("echo begun; (sleep {seconds} &) ; sleep {seconds}");
    let output =
        world.call("run_command", json!({ "command": command, "seconds": 1 })).await.unwrap();
    assert!(output.text.starts_with("Stopped at its time limit of 1 s"), "{}", output.text);
    assert!(output.text.contains("begun"));
    assert!(matches!(output.view, Some(ToolView::Ran { exit: Some(CommandExit::TimedOut), .. })));
    processes::wait(&seconds, false).await;
}

#[tokio::test]
async fn the_limit_of_the_settings_holds_where_the_call_says_none() {
    let mut world = world();
    Arc::make_mut(&mut world.context.settings).command_seconds = 1;
    let said = world.says("run_command", json!({ "command": "sleep 60" })).await;
    assert!(said.starts_with("Stopped at its time limit of 1 s"), "{said}");
}

#[tokio::test]
async fn of_a_long_output_head_and_tail_are_told_and_the_rest_is_kept() {
    let world = world();
    let output = world.call("run_command", json!({ "command": "seq 1 100000" })).await.unwrap();
    assert!(
        output.text.contains("\n1\n2\n") && output.text.contains("\n100000\n"),
        "{}",
        output.text
    );
    assert!(output.text.len() < 40_000 && output.text.contains("omitted here"));
    assert!(output.text.ends_with("[Read the full output with fetch_output: id out1.]"));
    assert!(matches!(&output.view, Some(ToolView::Ran { output: Some(id), .. }) if id == "out1"));
    let said =
        world.says("fetch_output", json!({ "id": "out1", "from": 50_000, "to": 50_001 })).await;
    assert_eq!(
        said,
        "50000\t50000\n50001\t50001\n[Lines 50000 to 50001 of 100000. Continue with from: 50002.]\n"
    );
}

#[tokio::test]
async fn colours_and_progress_are_not_told() {
    let world = world();
    let command = r"printf '\033[31mred\033[0m\n10 %%\r20 %%\rdone\n'";
    let said = world.says("run_command", json!({ "command": command })).await;
    assert!(said.ends_with("\nred\ndone"), "{said}");
}

#[tokio::test]
async fn an_escape_sequence_without_an_end_hides_nothing_for_good() {
    let world = world();
    let command = r"printf 'a\033Phidden\nb\n'; echo wrong >&2";
    let said = world.says("run_command", json!({ "command": command })).await;
    assert!(said.contains("\na\nb\n") && said.contains("wrong"), "{said}");
    assert!(said.ends_with("[Read the full output with fetch_output: id out1.]"), "{said}");
    let kept = world.says("fetch_output", json!({ "id": "out1" })).await;
    assert!(kept.contains("hidden"), "{kept}");
}

#[tokio::test]
async fn of_a_very_long_output_it_is_told_what_is_lost() {
    let world = world();
    let command = "yes | head -c 70000000";
    let said = world.says("run_command", json!({ "command": command })).await;
    let lost = 70_000_000 - (64 << 20);
    assert!(said.contains(&format!("[Lost in the middle of the output: {lost} bytes.")), "{said}");
}

#[tokio::test]
async fn what_it_writes_is_shown_while_it_runs_and_stop_ends_it() {
    let world = world();
    let seconds = processes::seconds();
    let command = format!("echo ready; sleep {seconds} & sleep {seconds}");
    let stop = async {
        world.host.sees("ready").await;
        processes::wait(&seconds, true).await;
        world.context.cancel.cancel();
    };
    let (output, ()) = tokio::join!(world.call("run_command", json!({ "command": command })), stop);
    let output = output.unwrap();
    assert!(
        output.text.starts_with("Stopped, after ") && output.text.contains("ready"),
        "{}",
        output.text
    );
    processes::wait(&seconds, false).await;
}

#[tokio::test]
async fn a_call_that_is_dropped_leaves_nothing_running() {
    let world = world();
    let seconds = processes::seconds();
    let command = format!("setsid sleep {seconds} & echo ready; sleep {seconds}");
    tokio::select! {
        _ = world.call("run_command", json!({ "command": command })) => panic!("it ended"),
        () = async {
            world.host.sees("ready").await;
            processes::wait(&seconds, true).await;
        } => {}
    }
    processes::wait(&seconds, false).await;
}

#[tokio::test]
async fn the_whole_command_is_asked_for_first() {
    let world = World::new();
    let command = "echo one\necho two > made";
    let said = world.fails("run_command", json!({ "command": command, "network": true })).await;
    assert!(said.starts_with("This needs the user's permission"), "{said}");
    assert_eq!(world.host.was_asked(), [format!("run {command}")]);
    let previews = world.host.previews.lock().unwrap();
    let [Preview::Command { text, folder, network: true, .. }] = &previews[..] else {
        panic!("{previews:?}")
    };
    assert_eq!((&**text, &**folder), (command, &*world.project));
    assert!(!world.project.join("made").exists());
}

#[tokio::test]
async fn whether_it_runs_in_the_background_and_how_long_is_asked_for_as_it_runs() {
    let mut world = World::new();
    Arc::make_mut(&mut world.context.settings).command_seconds = 120;
    for (more, expected) in [
        (json!({}), (false, Some(120))),
        (json!({ "seconds": 600 }), (false, Some(600))),
        (json!({ "background": true }), (true, None)),
        (json!({ "background": true, "seconds": 30 }), (true, Some(30))),
    ] {
        let mut call = json!({ "command": "make" });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        world.fails("run_command", call).await;
        let shown = match world.host.previews.lock().unwrap().last() {
            Some(Preview::Command { background, limit, .. }) => {
                (*background, limit.map(|limit| limit.as_secs()))
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(shown, expected, "{more}");
    }
}

#[tokio::test]
async fn a_rule_for_a_command_lets_it_into_the_background_only_if_it_says_so() {
    let world = World::new();
    world.host.has_mode(Mode::Ask);
    world.host.allowed("run:sleep *");
    let behind = json!({ "command": "sleep 0", "background": true });
    world.call("run_command", json!({ "command": "sleep 0" })).await.unwrap();
    assert!(world.host.was_asked().is_empty());
    world.fails("run_command", behind.clone()).await;
    assert_eq!(world.host.was_asked(), ["run sleep 0"]);
    world.host.allowed("run+background:sleep *");
    world.call("run_command", behind).await.unwrap();
    assert!(world.host.was_asked().is_empty());
}

#[tokio::test]
async fn it_runs_in_a_folder_of_the_project_alone() {
    let world = world();
    world.put("sub/a", "");
    world.put_outside("other/a", "");
    let said = world.says("run_command", json!({ "command": "pwd", "folder": "sub" })).await;
    assert!(said.ends_with(&format!("\n{}/sub", world.project.display())), "{said}");
    for folder in ["..", "../other", "/"] {
        let said = world.fails("run_command", json!({ "command": "pwd", "folder": folder })).await;
        assert!(said.starts_with("Commands can run only in a folder of the project"), "{said}");
    }
    assert_eq!(
        world.fails("run_command", json!({ "command": "pwd", "folder": "sub/a" })).await,
        "sub/a is not a folder."
    );
    assert_eq!(
        world.fails("run_command", json!({ "command": " " })).await,
        "The command is empty."
    );
}

#[tokio::test]
async fn a_command_that_asks_hears_nothing() {
    let world = world();
    let said = world.says("run_command", json!({ "command": "read answer || echo none" })).await;
    assert!(said.ends_with("\nnone"), "{said}");
}

#[tokio::test]
async fn a_command_that_cannot_begin_says_why_and_leaves_nothing() {
    let world = world();
    let said = world.fails("run_command", json!({ "command": "echo a\0b" })).await;
    assert!(said.starts_with("The command did not run: "), "{said}");
    assert_eq!(World::names(&world.context.outputs), Vec::<String>::new());
}

#[tokio::test]
async fn a_secret_is_hidden_from_commands_that_do_not_name_it() {
    let world = world();
    world.put(".env", "KEY=correct-horse\n");
    world.put("code", "horse\n");
    world.host.has_mode(chat_permission::Mode::Unattended);
    let said =
        world.says("run_command", json!({ "command": "grep -r horse .; cat *env* .e*" })).await;
    assert!(said.contains("code:horse") && !said.contains("correct"), "{said}");
    // Nobody is asked in this mode.
    let refused = world.fails("run_command", json!({ "command": "cat .env" })).await;
    assert!(refused.contains(".env may contain secrets"), "{refused}");
}

#[tokio::test]
async fn a_command_that_names_a_secret_asks_for_it_and_sees_it() {
    let world = world();
    world.put(".env", "KEY=correct-horse\n");
    world.put("other/.env", "KEY=other\n");
    let text = "cat .env; cat other/.e*";
    let said = world.says("run_command", json!({ "command": text })).await;
    assert_eq!(world.host.was_asked(), [format!("run {text}, read .env")]);
    assert!(said.contains("correct-horse") && !said.contains("KEY=other"), "{said}");
    world.host.answers(|_| Err(chat_core::tool::Denied::Nobody));
    world.fails("run_command", json!({ "command": "cat .env" })).await;
    world.host.was_asked();
    // A rule that names it grants it to every command.
    world.host.allowed("read:./.env");
    world.host.allowed("run:cat *");
    let said = world.says("run_command", json!({ "command": "cat .env" })).await;
    assert!(said.contains("correct-horse") && world.host.was_asked().is_empty(), "{said}");
}

#[tokio::test]
async fn reading_commands_run_unasked_and_nothing_else_does() {
    let world = World::new();
    world.put("notes.txt", "apples\n");
    for mode in [Mode::Ask, Mode::Plan] {
        world.host.has_mode(mode);
        let call = world.call("run_command", json!({ "command": "cat notes.txt | head -1" }));
        let output = call.await.unwrap();
        assert!(output.text.contains("apples"), "{}", output.text);
        assert!(world.call("run_command", json!({ "command": "rm notes.txt" })).await.is_err());
        assert!(world.call("run_command", json!({ "command": "cat ../x" })).await.is_err());
    }
    assert_eq!(world.host.was_asked(), ["run rm notes.txt", "run cat ../x"]);
    assert!(world.project.join("notes.txt").exists());
}

#[tokio::test]
async fn a_command_leaves_the_sandbox_only_where_the_person_says_so() {
    let world = world();
    let made = world.root.join("made");
    let touch = || world.call("run_command", json!({ "command": "touch ../made" }));
    touch().await.unwrap();
    assert!(!made.exists());
    world.host.leaves_sandbox.store(true, Ordering::Relaxed);
    let output = touch().await.unwrap();
    assert!(made.exists(), "{}", output.text);
    assert!(matches!(output.view, Some(ToolView::Ran { sandboxed: false, .. })));
    // A mode that runs commands freely asks for it, one that asks nobody refuses it.
    world.host.leaves_sandbox.store(false, Ordering::Relaxed);
    let leave = json!({ "command": "rm ../made", "outside_sandbox": true });
    world.host.was_asked();
    world.host.has_mode(Mode::Unattended);
    assert!(world.call("run_command", leave.clone()).await.is_err());
    assert!(made.exists() && world.host.was_asked().is_empty());
    world.host.has_mode(Mode::Auto);
    world.call("run_command", json!({ "command": "touch inside" })).await.unwrap();
    assert!(world.host.was_asked().is_empty() && world.project.join("inside").exists());
    world.call("run_command", leave).await.unwrap();
    assert_eq!(world.host.was_asked(), ["run rm ../made"]);
    assert!(!made.exists());
    let previews = world.host.previews.lock().unwrap();
    assert!(matches!(previews.last(), Some(Preview::Command { sandboxed: false, .. })));
}

/// Why the command that was asked for last cannot leave the sandbox.
fn stays_inside(world: &World) -> Option<Why> {
    match world.host.previews.lock().unwrap().last() {
        Some(Preview::Command { stays_inside, .. }) => stays_inside.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn leaving_the_sandbox_is_not_offered_where_a_rule_denies_the_network() {
    let denied = |rule: &str| Some(Why::Denied(rule.to_owned()));
    for (rule, expected) in [
        ("network:*", denied("network:*")),
        ("run+network:touch *", denied("run+network:touch *")),
        // Whether it would reach that one is not known: the person may let it.
        ("network:example.org", None),
        ("run:rm *", None),
    ] {
        let world = world();
        world.host.denies(rule);
        let touch = json!({ "command": "touch made ../made" });
        world.call("run_command", touch.clone()).await.unwrap();
        assert_eq!(stays_inside(&world), expected, "{rule}");
        assert!(world.project.join("made").exists() && !world.root.join("made").exists());
        // The answer comes all the same.
        world.host.leaves_sandbox.store(true, Ordering::Relaxed);
        let result = world.call("run_command", touch).await;
        assert_eq!(world.root.join("made").exists(), expected.is_none(), "{rule}");
        if expected.is_some() {
            let failure = result.unwrap_err().text;
            let said = format!("it could use the network, and the rule {rule} denies that.");
            assert!(failure.ends_with(&said), "{failure}");
        }
    }
    // What no sandbox holds cannot leave one.
    let mut world = self::world();
    world.sandbox = chat_sandbox::Preference::None;
    world.call("run_command", json!({ "command": "touch made" })).await.unwrap();
    assert_eq!(stays_inside(&world), None);
}

#[tokio::test]
async fn what_keeps_a_command_in_the_sandbox_is_told_as_what_it_is() {
    // A rule that denies the command itself comes while the person is asked.
    let world = world();
    let host = Arc::clone(&world.host);
    world.host.leaves_sandbox.store(true, Ordering::Relaxed);
    world.host.answers(move |_| {
        host.denies("network:*");
        host.denies("run:touch *");
        Ok(())
    });
    let touch = json!({ "command": "touch made" });
    let failure = world.fails("run_command", touch).await;
    assert_eq!(stays_inside(&world), None);
    assert_eq!(failure, "This is not allowed here: the rule run:touch * denies it.");
    assert!(!world.project.join("made").exists());

    // The mode Plan lets what only reads run in the sandbox alone.
    let world = self::world();
    world.put("a", "");
    world.put(".env", "KEY=correct-horse\n");
    world.host.has_mode(Mode::Plan);
    world.host.leaves_sandbox.store(true, Ordering::Relaxed);
    let failure = world.fails("run_command", json!({ "command": "cat a < .env" })).await;
    assert_eq!(stays_inside(&world), Some(Why::Mode));
    let said =
        "This is not allowed here: the permission mode of this conversation does not allow it.";
    assert_eq!(failure, said);
}
