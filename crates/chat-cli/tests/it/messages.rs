//! Tests the commands on single messages: another version, another reply, branches, forks, and what goes on.

use chat_testkit::server::{Model, Script, Server};
use serde_json::json;

use crate::home::{Home, chunks};

/// Text of each message that a chat shows.
fn texts(home: &Home, fid: &str) -> Vec<String> {
    let chat = home.show(fid);
    let messages = chat["messages"].as_array().expect("messages");
    messages.iter().map(|it| it["text"].as_str().unwrap_or_default().to_owned()).collect()
}

/// A chat of two questions with these replies.
fn two_questions(server: &Server, home: &Home) -> String {
    server.push(Script::new().text("1"));
    server.push(Script::new().text("2"));
    home.run(["ask", "one"]).ok();
    let fid = home.fid();
    home.run(["ask", "--session", &fid, "two"]).ok();
    fid
}

#[test]
fn an_edited_message_keeps_its_files_and_its_old_version_can_be_shown_again() {
    let server = Server::start();
    let home = Home::new(&server);
    let file = home.path("notes.txt");
    std::fs::write(&file, "the secret is 7").expect("a file");
    server.push(Script::new().text("1"));
    home.run(["ask", "--file", file.to_str().expect("a path"), "one"]).ok();
    let fid = home.fid();
    let none = home.run(["branches", &fid]).ok();
    assert_eq!(
        (none.stdout.as_str(), none.stderr.as_str()),
        ("", "No message has other versions.\n")
    );

    server.push(Script::new().text("uno"));
    assert_eq!(home.run(["edit", &fid, "1", "eins"]).ok().stdout, "uno\n");
    let sent = server.chats().pop().expect("a request").texts_of("user").concat();
    assert!(sent.contains("eins") && sent.contains("the secret is 7"), "{sent}");
    assert_eq!(texts(&home, &fid), ["eins", "uno"]);

    // The new text may come from a pipe, and the events are those of `ask`.
    server.push(Script::new().text("un"));
    let run = home.run_with(["edit", &fid, "#1", "--json"], "ichi\n").ok();
    let events = run.events();
    assert_eq!(chunks(&events, false), "un");
    assert_eq!(events.last().expect("an end")["reason"], "complete");
    assert_eq!(texts(&home, &fid), ["ichi", "un"]);

    let listed = home.run(["branches", &fid, "--json"]).ok().events();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!((&listed[0]["number"], &listed[0]["text"]), (&1.into(), &"ichi".into()));
    let versions = listed[0]["versions"].as_array().expect("versions");
    assert_eq!(versions.len(), 3);
    assert_eq!(versions[2], listed[0]["shown"]);
    let first = versions[0].as_str().expect("an id");
    let text = home.run(["branches", &fid]).ok().stdout;
    assert!(
        text.starts_with("#1  3/3  ichi\n") && text.contains(&format!("    {first}\n")),
        "{text}"
    );
    home.run(["branches", &fid, "--show", first]).ok();
    assert_eq!(texts(&home, &fid), ["one", "1"]);
    let text = home.run(["branches", &fid]).ok().stdout;
    assert!(text.contains(&format!("  * {first}\n")), "{text}");
}

#[test]
fn an_edited_message_keeps_files_whose_names_only_begin_a_mentioned_one() {
    let server = Server::start();
    let home = Home::new(&server);
    let project = home.path("bridge");
    std::fs::create_dir(&project).expect("a folder");
    for (name, text) in [("a", "the first"), ("ab.txt", "the second")] {
        std::fs::write(project.join(name), text).expect("a file");
    }
    let folder = project.to_str().expect("a path");
    home.run(["ask", "--project", folder, "See @a and @ab.txt"]).ok();
    let fid = home.fid();
    home.run(["edit", &fid, "1", "Only @ab.txt"]).ok();
    let sent = server.chats().pop().expect("a request").texts_of("user").concat();
    let counts = ["the first", "the second"].map(|text| sent.matches(text).count());
    assert_eq!(counts, [1, 1], "{sent}");
}

#[test]
fn a_reply_is_written_again_with_what_is_asked_for() {
    let server = Server::start().with_models([Model::new("scripted"), Model::new("other")]);
    let home = Home::new(&server);
    let fid = two_questions(&server, &home);
    server.push(Script::new().text("two again"));
    assert_eq!(home.run(["regenerate", &fid]).ok().stdout, "two again\n");
    assert_eq!(texts(&home, &fid), ["one", "1", "two", "two again"]);

    server.push(Script::new().text("one again"));
    let run = home.run(["regenerate", &fid, "2", "--model", "Test/other", "--json"]).ok();
    assert_eq!(chunks(&run.events(), false), "one again");
    assert_eq!(server.chats().pop().expect("a request").model(), "other");
    assert_eq!(texts(&home, &fid), ["one", "one again"]);
}

#[test]
fn a_reply_that_was_cut_off_goes_on_and_is_shown_as_one() {
    let server = Server::start();
    let home = Home::new(&server);
    server.push(Script::new().text("The quick brown fox").cut());
    assert_eq!(home.run(["ask", "Tell me"]).code, Some(1));
    let fid = home.fid();
    server.push(Script::new().text(" jumps over the lazy dog."));
    assert_eq!(home.run(["resume", &fid]).ok().stdout, " jumps over the lazy dog.\n");
    let shown = home.run(["show", &fid]).ok().stdout;
    assert!(shown.ends_with("\nThe quick brown fox jumps over the lazy dog.\n"), "{shown}");
    assert!(shown.contains("── #1 · ") && shown.contains("── #2 · "), "{shown}");
    assert!(!shown.contains("#3"), "{shown}");
    let markdown = home.run(["show", "--markdown", &fid]).ok().stdout;
    assert!(markdown.ends_with("\nThe quick brown fox jumps over the lazy dog.\n"), "{markdown}");
    assert_eq!(markdown.matches("\n## ").count(), 2, "{markdown}");
    let chat = home.show(&fid);
    assert_eq!(chat["messages"][2]["continues"], chat["messages"][1]["id"]);
    assert_eq!(chat["messages"][1]["parent"], chat["messages"][0]["id"]);

    let requests = server.chats().len();
    let again = home.run(["resume", &fid]);
    assert_eq!(again.code, Some(1));
    assert_eq!(
        again.stderr,
        "natter-cli: The last reply is complete, so there is nothing to continue.\n"
    );
    assert_eq!(server.chats().len(), requests);
}

#[test]
fn a_fork_holds_what_was_said_until_there() {
    let server = Server::start();
    let home = Home::new(&server);
    let fid = two_questions(&server, &home);
    let copy = home.run(["fork", &fid, "2"]).ok().stdout.trim().to_owned();
    assert_eq!(texts(&home, &copy), ["one", "1"]);
    let whole = home.run(["fork", &fid, "--json"]).ok().events();
    assert_eq!(texts(&home, whole[0]["fid"].as_str().expect("a fid")), ["one", "1", "two", "2"]);
    assert_eq!(texts(&home, &fid), ["one", "1", "two", "2"]);
}

#[test]
fn a_message_is_deleted_alone_or_with_all_that_follows() {
    let server = Server::start();
    let home = Home::new(&server);
    let fid = two_questions(&server, &home);
    let refused = home.run(["delete", &fid, "--message", "2"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("--yes"), "{refused:?}");
    assert_eq!(home.run(["delete", &fid, &fid, "--message", "2", "--yes"]).code, Some(2));
    home.run(["delete", &fid, "--message", "2", "--yes"]).ok();
    assert_eq!(texts(&home, &fid), ["one", "two", "2"]);
    home.run(["delete", &fid, "--message", "2", "--branch", "--yes"]).ok();
    assert_eq!(texts(&home, &fid), ["one"]);
    assert_eq!(home.sessions().len(), 1);
}

#[test]
fn deleted_messages_come_back_from_the_trash_or_go_for_good() {
    let server = Server::start();
    let home = Home::new(&server);
    let fid = two_questions(&server, &home);
    home.run(["delete", &fid, "--message", "2", "--yes"]).ok();
    let deleted = home.run(["delete", &fid, "--message", "2", "--branch", "--yes"]).ok();
    let trash = home.run(["trash", "--json"]).ok().events();
    let listed: Vec<_> =
        trash.iter().map(|it| (&it["fid"], &it["text"], &it["messages"])).collect();
    assert_eq!(
        listed,
        [(&json!(fid), &json!("two"), &json!(2)), (&json!(fid), &json!("1"), &json!(1))]
    );
    let said = home.run(["trash"]).ok().stdout;
    assert!(said.contains("2 messages of “one”") && said.contains("1 message of “one”"), "{said}");
    let id = |at: usize| trash[at]["id"].as_str().expect("an id");
    let said = format!("Restore them with: natter-cli trash restore {}", id(0));
    assert!(deleted.stderr.contains(&said), "{deleted:?}");
    let restored = home.run(["trash", "restore", id(1)]).ok();
    assert_eq!(restored.stderr, "Restored 1 message of “one”.\n");
    assert_eq!(texts(&home, &fid), ["one", "1"]);
    assert_eq!(home.run(["trash", "delete", id(0)]).code, Some(1), "nobody can be asked");
    home.run(["trash", "delete", id(0), "--yes"]).ok();
    assert_eq!(home.run(["trash", "restore", id(0)]).code, Some(1), "it is gone");
    assert_eq!(home.run(["trash"]).ok().stderr, "The trash is empty.\n");
    assert_eq!(texts(&home, &fid), ["one", "1"]);
}

#[test]
fn what_is_no_such_message_is_said_in_a_sentence() {
    let server = Server::start();
    let home = Home::new(&server);
    let fid = two_questions(&server, &home);
    let requests = server.chats().len();
    let unknown =
        "There is no message “9” in the shown branch. See the numbers with: natter-cli show\n";
    for (args, said) in [
        (&["edit", &fid, "9", "x"][..], unknown),
        (&["regenerate", &fid, "9"], unknown),
        (&["branches", &fid, "--show", "9"], unknown),
        (&["fork", &fid, "9"], unknown),
        (&["delete", &fid, "--message", "9", "--yes"], unknown),
        (
            &["edit", &fid, "2", "x"],
            "Message “2” isn’t yours. You can edit only your own messages.\n",
        ),
        (&["regenerate", &fid, "1"], "Message “1” isn’t a reply. Name the reply to regenerate.\n"),
    ] {
        let run = home.run(args);
        assert_eq!((run.code, run.stderr), (Some(1), format!("natter-cli: {said}")), "{args:?}");
    }
    assert_eq!(home.run(["edit", &fid, "1", "x", "--session", &fid]).code, Some(2));
    let nowhere = home.run(["fork", "2020-01-01-00-00-00"]);
    assert!(nowhere.stderr.contains("Couldn’t find the chat"), "{nowhere:?}");
    assert_eq!(server.chats().len(), requests);
    assert_eq!(texts(&home, &fid), ["one", "1", "two", "2"]);
}
