//! Tests `/commands` in `chat`: built-in ones, and those from files.

use chat_testkit::server::{Model, Script, Server};

use crate::home::Home;
use crate::prompts::Seat;
use crate::tools::{RIGHT, Scene, WRONG, edits};

fn write(home: &Home, path: &str, text: &str) {
    let path = home.path(path);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    std::fs::write(path, text).expect("written");
}

#[test]
fn a_command_from_a_file_and_a_skill_go_with_their_message() {
    let server = Server::start().with_models([Model::new("scripted"), Model::new("other")]);
    let home = Home::new(&server);
    let command = "---\ndescription: Fix an issue\nmodel: other\n---\nFix issue $1.\n";
    write(&home, "config/natter/commands/fix.md", command);
    let skill = "---\nname: pdf\ndescription: PDF files\n---\nUse pypdf.\n";
    write(&home, "config/natter/skills/pdf/SKILL.md", skill);
    write(&home, "config/natter/skills/pdf/fonts.md", "Fonts.");
    let run = home.run_with(["chat"], "/fix 12\n/pdf a report\nthanks\n/help\n").ok();
    let chats = server.chats();
    let last = |at: usize| chats[at].texts_of("user").pop().expect("a message");
    assert!(last(0).contains("Fix issue 12.") && last(0).ends_with("/fix 12"), "{}", last(0));
    assert_eq!(chats[0].model(), "other");
    assert!(last(1).contains("Use pypdf.") && last(1).contains("- fonts.md"), "{}", last(1));
    assert_eq!(last(2), "thanks");
    let said: Vec<_> = home.transcript().into_iter().map(|(_, text)| text).collect();
    assert_eq!([&said[0], &said[2]], ["/fix 12", "/pdf a report"]);
    assert!(run.stderr.contains("Fix an issue") && run.stderr.contains("/pdf"), "{}", run.stderr);
    let shown = home.run(["show", &home.fid(), "--markdown"]).ok().stdout;
    assert!(shown.contains("<summary>/fix</summary>\n\n```\nFix issue 12.\n```"), "{shown}");
}

#[test]
fn a_mistyped_command_is_not_sent_and_two_slashes_send_it() {
    let server = Server::start();
    let home = Home::new(&server);
    write(&home, "config/natter/commands/review.md", "Another review.");
    let input = "/modle x\n/help me\n/compact now\n//tmp is full\n/etc/hosts is wrong\n/help\n";
    let run = home.run_with(["chat"], input).ok();
    assert!(run.stderr.contains("Did you mean /model?"), "{}", run.stderr);
    assert!(run.stderr.contains("/help takes no arguments."), "{}", run.stderr);
    assert!(run.stderr.contains("“now” isn’t valid for /compact."), "{}", run.stderr);
    assert!(run.stderr.contains("these names are taken: /review"), "{}", run.stderr);
    let chats = server.chats();
    let said: Vec<_> = chats.iter().filter_map(|chat| chat.texts_of("user").pop()).collect();
    assert_eq!(said, ["/tmp is full", "/etc/hosts is wrong"]);
}

#[test]
fn what_a_project_brings_is_no_command_before_it_is_trusted() {
    let server = Server::start();
    let scene = Scene::new(&server);
    write(&scene.home, "work/.natter/commands/deploy.md", "Deploy it.");
    let project = scene.project.to_str().expect("a path");
    let run = scene.home.run_with(["chat", "--project", project], "/deploy\n").ok();
    assert!(
        run.stderr
            .contains("The command /deploy belongs to this project, which you don’t trust yet."),
        "{}",
        run.stderr
    );
    assert!(server.chats().is_empty());
}

#[test]
fn changes_are_listed_and_undone_and_the_chat_is_exported() {
    let server = Server::start();
    let scene = Scene::new(&server);
    server.push(edits("one"));
    server.push(Script::new().text("It adds now."));
    let project = scene.project.to_str().expect("a path");
    let file = scene.home.path("chat.md");
    let path = file.to_str().expect("a path");
    let input = format!("fix it\n/review\n/export {path}\n/export {path}\n");
    let args = ["chat", "--project", project, "--mode", "edits"];
    let run = scene.home.run_with(args, &input);
    assert!(run.stdout.contains("src/add.sh +1 −1"), "{} {}", run.stdout, run.stderr);
    assert!(run.stderr.contains("already exists. Choose another name."), "{}", run.stderr);
    let exported = std::fs::read_to_string(&file).expect("exported");
    assert!(exported.contains("It adds now."), "{exported}");
    assert_eq!(scene.read("src/add.sh"), RIGHT);
    let fid = scene.home.fid();
    let run = scene.home.run_with(["chat", "--session", &fid], "/undo\n/review\n").ok();
    assert!(run.stderr.contains("Restored 1 file"), "{}", run.stderr);
    assert!(run.stderr.contains("There are no changes to review."), "{}", run.stderr);
    assert_eq!(scene.read("src/add.sh"), WRONG);
}

#[test]
fn plan_mode_and_agent_hold_from_the_next_message_on() {
    let server = Server::start();
    let scene = Scene::new(&server);
    server.push(edits("one"));
    server.push(Script::new().text("I may not."));
    let project = scene.project.to_str().expect("a path");
    let input = "/agent\n/agent nobody\n/agent code-assistant\n/plan fix it\n";
    let run = scene.home.run_with(["chat", "--project", project], input).ok();
    assert!(run.stdout.contains("just-ask  Chats with the model"), "{}", run.stdout);
    assert!(run.stderr.contains("“nobody” isn’t valid for /agent."), "{}", run.stderr);
    assert!(run.stdout.contains("I may not."), "{}", run.stdout);
    assert_eq!(server.chats()[0].texts_of("user").pop().as_deref(), Some("fix it"));
    assert_eq!(scene.read("src/add.sh"), WRONG);
}

#[test]
fn a_question_can_begin_with_a_command_or_a_skill() {
    let server = Server::start().with_models([Model::new("scripted"), Model::new("other")]);
    let home = Home::new(&server);
    write(&home, "config/natter/commands/fix.md", "---\nmodel: other\n---\nFix issue $1.\n");
    let skill = "---\nname: pdf\ndescription: PDF files\n---\nUse pypdf.\n";
    write(&home, "config/natter/skills/pdf/SKILL.md", skill);
    for question in [
        &["/fix 12"][..],
        &["--model", "Test/scripted", "/fix 13"],
        &["/pdf a report"],
        &["//fix is a word"],
        &["/etc/hosts is wrong"],
    ] {
        home.run([&["ask"][..], question].concat()).ok();
    }
    home.run_with(["ask", "-"], "/fix from a pipe").ok();
    let chats = server.chats();
    let last = |at: usize| chats[at].texts_of("user").pop().expect("a message");
    assert!(last(0).contains("Fix issue 12.") && last(0).ends_with("/fix 12"), "{}", last(0));
    assert!(last(1).contains("Fix issue 13."), "{}", last(1));
    assert_eq!((chats[0].model(), chats[1].model()), ("other", "scripted"));
    assert!(last(2).contains("Use pypdf."), "{}", last(2));
    assert_eq!(last(3), "/fix is a word");
    assert_eq!(last(4), "/etc/hosts is wrong");
    assert_eq!(last(5), "/fix from a pipe");

    for (question, told) in [
        ("/fxi 12", "There is no command /fxi. Did you mean /fix?"),
        ("/nothing", "There is no command /nothing. To send it as text, start with //."),
        ("/compact", "/compact works only in a chat."),
    ] {
        let run = home.run(["ask", question]);
        assert!(run.code == Some(2) && run.stderr.contains(told), "{run:#?}");
    }
    assert_eq!(server.chats().len(), 6);
}

#[test]
fn tab_completes_the_name_of_a_command() {
    let server = Server::start();
    let home = Home::new(&server);
    write(&home, "config/natter/commands/explain.md", "Explain $1.");
    server.push(Script::new().text("It is clear."));
    let mut seat = Seat::whole(&home, &["chat"]);
    seat.wait_for("> ");
    seat.type_in("/expl\tit\r");
    seat.wait_for("It is clear.");
    seat.wait_for("> ");
    seat.type_in("/sess\t\r");
    seat.wait_for("explain it");
    seat.wait_for("> ");
    seat.type_in("\x04");
    seat.end().ok();
    let sent = server.chats().pop().expect("a request").texts_of("user").concat();
    assert!(sent.contains("Explain it."), "{sent}");
}
