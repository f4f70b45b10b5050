//! Tests managing chats, and the generated completions and manual pages.

use chat_testkit::server::{Model, Script, Server};
use serde_json::Value;

use crate::home::Home;

#[test]
fn chats_are_listed_found_renamed_and_deleted() {
    let server = Server::start();
    let home = Home::new(&server);
    home.run(["ask", "Where is Grüße?"]).ok();
    home.run(["ask", "What is 東京タワー?"]).ok();
    let sessions = home.sessions();
    assert_eq!(sessions.len(), 2);
    assert_eq!(sessions[0]["title"], "What is 東京タワー?");
    assert_eq!(sessions[0]["model"], "Test/scripted");
    let found = home.run(["sessions", "--json", "--search", "京タワ"]).ok().events();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["fid"], sessions[0]["fid"]);
    let nowhere = ["sessions", "--search", "nowhere to be found"];
    let empty = home.run(nowhere).ok();
    assert_eq!((empty.stdout.as_str(), empty.stderr.as_str()), ("", "No chats found.\n"));
    let empty = home.run([&nowhere[..], &["--json"]].concat()).ok();
    assert_eq!((empty.stdout.as_str(), empty.stderr.as_str()), ("", ""));
    assert_eq!(home.run(["sessions", "-n", "1"]).ok().stdout.lines().count(), 1);

    // Short words, and others without their accents.
    for (search, at) in [("東京", 0), ("京", 0), ("is", 0), ("wh", 0), ("gr", 1), ("grusse", 1)]
    {
        let found = home.run(["sessions", "--json", "--search", search]).ok().events();
        assert!(found.iter().any(|chat| chat["fid"] == sessions[at]["fid"]), "{search}");
    }

    let fid = sessions[0]["fid"].as_str().expect("a fid");
    home.run(["rename", fid, "A tower"]).ok();
    assert!(home.run(["sessions"]).ok().stdout.contains("A tower"));
    // With nobody to ask nothing is deleted.
    let refused = home.run(["delete", fid]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("--yes"), "{refused:?}");
    assert_eq!(home.sessions().len(), 2);
    home.run(["delete", "--yes", fid]).ok();
    assert_eq!(home.sessions().len(), 1);
    for gone in [&["show", fid][..], &["rename", fid, "x"], &["delete", fid], &["export", fid]] {
        let run = home.run(gone);
        assert_eq!(run.code, Some(1), "{gone:?}");
        assert!(
            run.stderr.contains(&format!("Couldn’t find the chat “{fid}”.")),
            "{gone:?}: {run:?}"
        );
    }
}

#[test]
fn agents_are_listed_below_their_chat_and_deleted_with_it() {
    let server = Server::start();
    let home = Home::new(&server);
    let calls = ["first", "second"].into_iter().fold(Script::new(), |script, name| {
        script.tool_call(name, "spawn_agent", serde_json::json!({ "name": name }))
    });
    server.push(calls);
    server.push(Script::new().text("They are there."));
    let project = tempfile::tempdir().expect("a folder");
    let folder = project.path().to_str().expect("a path");
    home.run(["ask", "--project", folder, "Start two"]).ok();
    home.run(["ask", "Something else"]).ok();
    let tree = home.run(["sessions", "--tree", "--json"]).ok().events();
    let names: Vec<_> = tree.iter().map(|chat| chat["name"].as_str()).collect();
    let mut agents = names[2..].to_vec();
    agents.sort_unstable();
    assert_eq!((&names[..2], agents), (&[None, None][..], vec![Some("first"), Some("second")]));
    assert!(tree[2..].iter().all(|agent| agent["parent"] == tree[1]["fid"]), "{tree:?}");
    let first = home.run(["sessions", "--tree", "-n", "1", "--json"]).ok().events();
    assert_eq!(first, tree[..1]);
    // Agents do not count.
    assert_eq!(home.run(["sessions", "--tree", "-n", "2", "--json"]).ok().events(), tree);
    let text = home.run(["sessions", "--tree"]).ok().stdout;
    assert!(text.contains("   first  (no task yet)") && text.contains("  Start two\n"), "{text}");
    home.run(["delete", "--yes", tree[1]["fid"].as_str().expect("a fid")]).ok();
    assert_eq!(home.sessions().len(), 1);
}

#[test]
fn an_empty_list_is_told_of_and_not_in_json() {
    let server = Server::start();
    server.set_models(Vec::<Model>::new());
    let home = Home::new(&server);
    for (list, told) in [
        (&["sessions"][..], "There are no chats yet."),
        (&["models"], "There are no models yet."),
        (&["models", "--installed"], "No models are installed yet."),
        (&["rules"], "There are no permission rules."),
        (&["trust"], "You don’t trust any projects yet."),
    ] {
        let run = home.run(list).ok();
        assert!(run.stdout.is_empty() && run.stderr.starts_with(told), "{list:?}: {run:?}");
        let run = home.run([list, &["--json"]].concat()).ok();
        assert!(run.stdout.is_empty() && run.stderr.is_empty(), "{list:?}: {run:?}");
    }
}

#[test]
fn a_search_says_what_it_was_not_made_for() {
    let server = Server::start();
    let home = Home::new(&server);
    home.run(["ask", "Where does p->next lead?"]).ok();
    let search = |words: &str| home.run(["sessions", "--search", words]).ok();
    let arrow = search("->");
    assert!(arrow.stdout.contains("p->next") && arrow.stderr.is_empty(), "{arrow:?}");
    let letter = search("q");
    assert_eq!(letter.stdout, "");
    assert_eq!(letter.stderr, "Type at least two letters to find longer words.\n");
    let long = search(&"next ".repeat(40));
    assert!(long.stdout.contains("p->next"), "{long:?}");
    assert_eq!(long.stderr, "Only the beginning of the search text was used.\n");
    // Chats as programs get them do not say this.
    let long = home.run(["sessions", "--json", "--search", &"next ".repeat(40)]).ok();
    assert_eq!(long.events()[0].get("incomplete"), None);
    assert_eq!(long.stderr, "Only the beginning of the search text was used.\n");
}

#[test]
fn a_search_says_that_older_messages_are_still_being_indexed() {
    const NOTE: &str = "Older messages are still being indexed.\n";
    let server = Server::start();
    let home = Home::new(&server);
    home.run(["ask", "Where is it?"]).ok();
    let search =
        |words, more: &[&str]| home.run(["sessions", "--search", words].iter().chain(more)).ok();
    assert_eq!(search("where", &[]).stderr, "");
    assert_eq!(search("where", &["--json"]).events()[0].get("incomplete"), None);

    let database = home.path("data/natter/natter.db");
    let raw = rusqlite::Connection::open(database).expect("the chats");
    raw.execute_batch(
        "INSERT INTO unindexed SELECT max(key) + 1 FROM messages;
         CREATE TRIGGER held BEFORE UPDATE ON unindexed BEGIN SELECT RAISE(ABORT, 'held'); END;",
    )
    .expect("an index that is not complete");
    let found = search("where", &[]);
    assert!(found.stdout.contains("Where is it?"), "{found:?}");
    assert_eq!(found.stderr, NOTE);
    let nothing = search("nowhere to be found", &[]);
    assert_eq!(nothing.stderr, format!("No chats found.\n{NOTE}"));
    // Programs read it in each chat, where there is one.
    let found = search("where", &["--json"]);
    assert_eq!(found.stderr, "");
    assert_eq!(found.events()[0]["incomplete"], true);
    assert_eq!(search("nowhere to be found", &["--json"]).stderr, NOTE);
    assert_eq!(home.run(["sessions"]).ok().stderr, "");
}

#[test]
fn a_chat_is_shown_as_text_and_as_markdown() {
    let server = Server::start();
    server.push(Script::new().thinking("let me see").text("It is **7**."));
    let home = Home::new(&server);
    let file = home.path("a.md");
    std::fs::write(&file, "```\ncode\n```\n").expect("a file");
    home.run(["ask", "--file", file.to_str().expect("a path"), "which?"]).ok();
    let fid = home.fid();
    let text = home.run(["show", &fid]).ok().stdout;
    assert!(text.contains("which?") && text.contains("It is **7**."), "{text}");
    assert!(text.contains("Attached: a.md") && !text.contains("let me see"), "{text}");
    let markdown = home.run(["show", "--markdown", &fid]).ok().stdout;
    assert!(markdown.starts_with("# which?\n\n## You\n"), "{markdown}");
    assert!(markdown.contains("\n````\n```\ncode\n```\n````\n"), "{markdown}");
    assert!(markdown.contains("<details>") && markdown.contains("let me see"), "{markdown}");
}

#[test]
fn an_export_holds_everything() {
    let server = Server::start();
    server.push(Script::new().thinking("hm").text("42").usage(3, 4));
    let home = Home::new(&server);
    home.run(["ask", "--temperature", "0.5", "hello"]).ok();
    let fid = home.fid();
    let file = home.path("out.json");
    home.run(["export", &fid, "--output", file.to_str().expect("a path")]).ok();
    let export: Value =
        serde_json::from_slice(&std::fs::read(&file).expect("a file")).expect("JSON");
    assert_eq!(export["natter_export"], 2);
    assert_eq!(export["head"], export["messages"][1]["id"]);
    assert_eq!(export["fid"], fid);
    assert_eq!(export["options"]["temperature"], 0.5);
    let reply = &export["messages"][1];
    assert_eq!(reply["parent"], export["messages"][0]["id"]);
    assert_eq!(reply["usage"]["completion_tokens"], 4);
    assert_eq!(reply["parts"][0]["value"]["text"], "hm");
    let printed = home.run(["export", &fid]).ok().stdout;
    assert_eq!(serde_json::from_str::<Value>(&printed).expect("JSON"), export);
    let again = home.run(["export", &fid, "--markdown", "-o", file.to_str().expect("a path")]);
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("already exists"), "{}", again.stderr);
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), printed, "it is untouched");
    home.run(["export", &fid, "--markdown", "--force", "-o", file.to_str().expect("a path")]).ok();
    assert!(std::fs::read_to_string(&file).expect("a file").contains("42"));
    let link = home.path("link.md");
    std::os::unix::fs::symlink(&file, &link).expect("a link");
    home.run(["export", &fid, "--force", "-o", link.to_str().expect("a path")]).ok();
    assert!(link.is_symlink(), "the link is there still");
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), printed);
    home.run(["export", &fid, "--force", "-o", "/dev/null"]).ok();
    let nowhere = home.path("no/folder/out.json");
    let run = home.run(["export", &fid, "-o", nowhere.to_str().expect("a path")]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("Couldn’t write"), "{}", run.stderr);
}

#[test]
fn the_list_tells_replies_that_failed_from_interrupted_ones() {
    let server = Server::start();
    server.push(Script::new().text("half").cut());
    server.push(Script::status(500, "{}"));
    let home = Home::new(&server);
    let codes = ["one", "two", "three"].map(|text| home.run(["ask", text]).code);
    assert_eq!(codes, [Some(1), Some(1), Some(0)]);
    let list = home.run(["sessions"]).ok().stdout;
    let lines: Vec<_> = list.lines().collect();
    assert!(lines[0].ends_with("three"), "{list}");
    assert!(lines[1].ends_with("two  (last reply failed)"), "{list}");
    assert!(lines[2].ends_with("one  (last reply interrupted)"), "{list}");
    let told: Vec<_> = home.sessions().iter().map(|s| s["trouble"].clone()).collect();
    assert_eq!(told, [Value::Null, "failed".into(), "interrupted".into()]);
}

#[test]
fn completions_and_manual_pages_are_made() {
    let home = Home::with("");
    for shell in ["bash", "zsh", "fish"] {
        let text = home.run(["completions", shell]).ok().stdout;
        assert!(text.contains("natter-cli") && text.contains("context-window"), "{shell}");
    }
    assert!(home.run(["man"]).ok().stdout.contains(".TH natter-cli"));
    let folder = home.path("man");
    home.run(["man", folder.to_str().expect("a path")]).ok();
    assert!(folder.join("natter-cli.1").exists() && folder.join("natter-cli-ask.1").exists());
    assert!(!home.path("data").exists(), "nothing is begun for that");
}

#[test]
fn chats_are_pinned_archived_copied_and_come_back_from_the_trash() {
    let server = Server::start();
    let home = Home::new(&server);
    for question in ["First", "Second", "Third"] {
        home.run(["ask", question]).ok();
    }
    let titles = |args: &[&str]| -> Vec<String> {
        let listed = home.run([&["sessions", "--json"], args].concat()).ok().events();
        listed.iter().map(|it| it["title"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let sessions = home.sessions();
    let fid = |at: usize| sessions[at]["fid"].as_str().expect("a fid");
    let (third, second, first) = (fid(0), fid(1), fid(2));
    home.run(["pin", first]).ok();
    assert_eq!(titles(&[]), ["First", "Third", "Second"]);
    assert_eq!(titles(&["--pinned"]), ["First"]);
    home.run(["archive", first, second]).ok();
    assert_eq!(titles(&[]), ["Third"]);
    assert_eq!(titles(&["--archived"]), ["Second", "First"]);
    assert_eq!(titles(&["--search", "first"]), ["First"], "a search finds all");
    assert_eq!(titles(&["--search", "is:archived second"]), ["Second"]);
    home.run(["unarchive", first, second]).ok();
    home.run(["unpin", first]).ok();
    assert_eq!(titles(&[]), ["Third", "Second", "First"]);

    let copy = home.run(["duplicate", third]).ok().stdout.trim().to_owned();
    assert_eq!(titles(&[])[0], "Third (copy)");
    assert_eq!(home.show(&copy)["messages"].as_array().map(Vec::len), Some(2));
    let deleted = home.run(["delete", "--yes", &copy, third]).ok();
    assert!(deleted.stderr.contains(&format!("natter-cli trash restore {third}")), "{deleted:?}");
    let trash = home.run(["trash", "--json"]).ok().events();
    assert_eq!((trash.len(), &trash[0]["fid"]), (2, &sessions[0]["fid"]));
    assert_eq!(home.run(["sessions", "--trash"]).ok().stdout.lines().count(), 2);
    home.run(["trash", "restore", third]).ok();
    assert_eq!(titles(&[])[0], "Third");
    let refused = home.run(["trash", "empty"]);
    assert_eq!(refused.code, Some(1));
    home.run(["trash", "empty", "--yes"]).ok();
    let empty = home.run(["trash"]).ok();
    assert_eq!((empty.stdout.as_str(), empty.stderr.as_str()), ("", "The trash is empty.\n"));
    assert_eq!(home.run(["trash", "restore", &copy]).code, Some(1));
}

#[test]
fn what_is_no_date_narrows_no_search() {
    let server = Server::start();
    let home = Home::new(&server);
    let run = home.run(["sessions", "--search", "after:soon"]);
    assert_eq!(run.code, Some(2));
    let said = "“soon” isn’t a date. Write dates like 2026-01-31.";
    assert!(run.stderr.contains(said), "{run:?}");
}
