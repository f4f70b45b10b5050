//! Tests moving chats: all exported, and imported elsewhere.

use chat_testkit::server::Server;
use serde_json::{Value, json};

use crate::home::Home;

#[test]
fn all_chats_are_exported_and_imported_elsewhere() {
    let server = Server::start();
    let home = Home::new(&server);
    for question in ["First", "Second"] {
        home.run(["ask", question]).ok();
    }
    let folder = home.path("out");
    let folder = folder.to_str().expect("a path");
    let export = ["export", "--all", "--output", folder];
    let said = home.run(export).ok().stderr;
    assert_eq!(said, format!("Exported 2 chats to “{folder}”.\n"));
    let again = home.run(export);
    assert!(again.code == Some(1) && again.stderr.contains("already exists"), "{again:?}");
    home.run([&export[..], &["--force"]].concat()).ok();

    let other = Home::with("");
    let import = |args: &[&str]| -> Value {
        other.run([&["import", "--json", folder], args].concat()).ok().events().remove(0)
    };
    let found = import(&["--dry-run"]);
    let counts = ["chats", "messages", "present"].map(|name| found[name].as_u64());
    assert_eq!(counts, [Some(2), Some(4), Some(0)], "{found}");
    assert_eq!((&found["programs"], &found["broken"]), (&json!(["natter"]), &json!([])));
    assert_eq!(other.sessions().len(), 0, "nothing is stored yet");
    assert_eq!(import(&[])["imported"].as_array().map(Vec::len), Some(2));
    let told = |home: &Home| -> Vec<[Value; 4]> {
        let view = |it: &Value| ["title", "model", "created", "updated"].map(|n| it[n].clone());
        home.sessions().iter().map(view).collect()
    };
    assert_eq!(told(&other), told(&home));
    let again = import(&[]);
    assert_eq!((&again["imported"], &again["present"]), (&json!([]), &json!(2)));
    let words = other.run(["import", folder]).ok().stdout;
    assert_eq!(words, "Imported 0 chats.\n2 chats are already here.\n");
    assert_eq!(import(&["--dry-run"])["present"], 2);
}

#[test]
fn what_cannot_be_imported_is_said() {
    let home = Home::with("");
    let file = |name: &str, text: &str| {
        std::fs::write(home.path(name), text).expect("a file");
        home.path(name).to_str().expect("a path").to_owned()
    };
    let sums = r#"[{"uuid":"k","name":"Sums","created_at":"2024-05-01T10:00:00Z","chat_messages":[
        {"uuid":"a","sender":"human","text":"1"}]},{"uuid":"l","name":"Odd","chat_messages":7},{"uuid":"m","na"#;
    let half = file("half.json", sums);
    let found = home.run(["import", "--dry-run", &half]);
    assert_eq!(found.code, Some(1));
    let dry = "1 chat from Claude, with 1 message.\nThe oldest is from 2024-05-01, the newest from 2024-05-01.\n";
    assert_eq!(found.stdout, dry);
    let run = home.run(["import", &half]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), "Imported 1 chat.\n"), "{run:?}");
    assert!(
        run.stderr.contains("“Odd”: Natter doesn’t recognize this chat’s format."),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("is incomplete"), "{}", run.stderr);
    assert_eq!(home.sessions()[0]["title"], "Sums");
    for (path, words) in [
        (file("notes.txt", "hello"), "has no chats that Natter can import"),
        (home.path("nowhere").to_str().expect("a path").to_owned(), "Couldn’t find the file"),
    ] {
        let run = home.run(["import", &path]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run:?}");
        assert!(run.stderr.contains(words), "{}", run.stderr);
    }
    assert_eq!(home.run(["import"]).code, Some(2));
    assert_eq!(home.run(["export", "--all"]).code, Some(2));
}
