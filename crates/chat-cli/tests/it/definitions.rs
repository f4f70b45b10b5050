//! Tests what the terminal says of agents, commands and skills in files.

use std::path::PathBuf;

use chat_testkit::server::Server;

use crate::home::Home;
use crate::prompts::Seat;
use crate::tools::Scene;

fn write(home: &Home, path: &str, text: &str) -> PathBuf {
    let path = home.path(path);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    std::fs::write(&path, text).expect("written");
    path
}

#[test]
fn a_chat_says_that_a_file_broke_while_it_runs() {
    let server = Server::start();
    let home = Home::new(&server);
    let file = "config/natter/agents/pirate.md";
    write(&home, file, "---\ntools: []\n---\nTalk like a pirate.");
    let mut seat = Seat::of(home.command(["chat"]), false);
    let mut shown = seat.wait_for("> ");
    assert!(!shown.contains("pirate.md"), "{shown:?}");
    let path = write(&home, file, "---\ntols: []\n---\nTalk like a pirate.");
    // It is noticed after a while. Each line is a moment to say so.
    let line = format!("{}, line 2: “tols” is unknown. Did you mean “tools”?", path.display());
    while !shown.contains(&line) {
        seat.type_in("/agents\r");
        shown = seat.wait_for("> ");
    }
    seat.type_in("/agents\r");
    shown = seat.wait_for("> ");
    assert!(!shown.contains("pirate.md"), "only once: {shown:?}");
    seat.type_in("\x04");
    seat.end().ok();
}

#[test]
fn why_an_agent_cannot_be_used_is_said() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let home = &scene.home;
    write(home, "config/natter/agents/reviewer.md", "Review.");
    let path = write(home, "config/natter/agents/planner.md", "---\nmode: maybe\n---\nPlan.");
    write(home, "work/.natter/agents/builder.md", "Build.");
    write(home, "work/.natter/commands/deploy.md", "Deploy.");
    let broken = format!(
        "The agent “planner” can’t be used. {}, line 2: “maybe” isn’t a valid value of “mode”.",
        path.display()
    );
    for (agent, words) in [
        ("reveiwer", "There is no agent “reveiwer”. Did you mean “reviewer”?"),
        ("nobody", "There is no agent “nobody”. Choose another one."),
        ("builder", "The agent “builder” belongs to this project, which you don’t trust yet."),
        ("planner", &broken),
    ] {
        let run = scene.ask(&["--agent", agent]);
        assert!(run.code == Some(2) && run.stderr.contains(words), "{run:#?}");
    }
    let project = scene.project.to_str().expect("a path");
    let run = home.run_with(["chat", "--project", project], "/deploy\n/agent builder\n");
    for words in [
        "The command /deploy belongs to this project, which you don’t trust yet.",
        "The agent “builder” belongs to this project",
        "start natter-cli chat in its folder",
    ] {
        assert!(run.stderr.contains(words), "{words}: {run:#?}");
    }
    let run = home.run(["ask", "--project", project, "/deploy"]);
    assert!(run.code == Some(2) && run.stderr.contains("The command /deploy belongs"), "{run:#?}");
    assert!(server.chats().is_empty());
}

#[test]
fn what_is_to_be_trusted_can_be_read_and_changes_are_shown() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let home = &scene.home;
    let file = "work/.natter/agents/builder.md";
    write(home, "config/natter/agents/builder.md", "Mine.");
    write(home, file, "---\ntools: [read_*]\n---\nBuild.\nTest.\n");
    let project = scene.project.to_str().expect("a path");
    let question = "Trust and use them? [y/N, s shows them] ";
    let trust = |told: &[&str]| {
        let mut seat = Seat::of(home.command(["chat", "--project", project]), false);
        seat.wait_for(question);
        seat.type_in("s\r");
        let shown = seat.wait_for(question);
        for told in told {
            assert!(shown.contains(told), "{told:?}: {shown:?}");
        }
        seat.type_in("y\r");
        seat.wait_for("> ");
        seat.type_in("\x04");
        seat.end().ok();
    };
    trust(&[
        "Agent builder – tools: read_*\r\n  New, replaces your own agent of this name\r\n",
        "builder.md\r\n    ---\r\n    tools: [read_*]\r\n    ---\r\n    Build.\r\n    Test.\r\n",
    ]);
    write(home, file, "---\nmode: auto\n---\nBuild.\nTest.\n");
    let shown = home.run(["trust", "show", project]).ok().stdout;
    let told = [
        "Agent builder – all tools, at most “Auto”\n",
        "  Changed since you trusted it, replaces your own agent of this name\n",
        "    -tools: [read_*]\n    +mode: auto\n",
    ];
    for told in told {
        assert!(shown.contains(told), "{told:?}: {shown:?}");
    }
    trust(&["    -tools: [read_*]\r\n    +mode: auto\r\n"]);
    let shown = home.run(["trust", "show", project]).ok().stdout;
    assert!(shown.contains("  Trusted, replaces"), "{shown:?}");
    let elsewhere = home.path("config");
    let run = home.run(["trust", "show", elsewhere.to_str().expect("a path")]).ok();
    assert!(run.stderr.contains("has no agents, commands, or skills of its own."), "{run:#?}");
}

#[test]
fn problems_of_the_agent_in_use_come_first_and_the_others_are_counted() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let home = &scene.home;
    for number in 1..=5 {
        let file = format!("config/natter/agents/b{number}.md");
        write(home, &file, "---\nmode: maybe\n---\nPlan.");
    }
    let own = "---\ntools:\n  - read_file\n  - nosuch_a\n  - nosuch_b\n---\nRead.";
    write(home, "config/natter/agents/zebra.md", own);
    let run = scene.ask(&["--agent", "zebra"]).ok();
    let said: Vec<_> = run.stderr.lines().take(4).collect();
    assert!(said[0].ends_with("zebra.md, line 4: “nosuch_a” matches no tool."), "{said:#?}");
    assert!(said[1].ends_with("zebra.md, line 5: “nosuch_b” matches no tool."), "{said:#?}");
    assert!(said[2].contains("b1.md, line 2: “maybe” isn’t"), "{said:#?}");
    assert_eq!(said[3], "4 more problems in files of agents, commands, and skills.");
    // A chat has its agent without being told again.
    let run = home.run(["ask", "--session", &home.fid(), "And?"]).ok();
    let first = run.stderr.lines().next().unwrap_or_default();
    assert!(first.contains("zebra.md, line 4"), "{run:#?}");
}
