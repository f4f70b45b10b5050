//! Tests bad servers: each is named in one sentence, and the chat goes on without it.

use std::collections::BTreeSet;
use std::fs;

use chat_testkit::server::{Script, Server};
use serde_json::{Value, json};

use super::{call, home_with, scripted};
use crate::home::Home;

/// The names of the tools that the model was offered.
fn offered(body: &Value) -> Vec<String> {
    let tools = body["tools"].as_array().expect("tools").iter();
    tools.map(|tool| tool["function"]["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn servers_that_cannot_be_used_are_named_and_the_others_are_called() {
    let model = Server::start();
    let home = Home::new(&model);
    let entries = [
        ("good", "good"),
        ("dies", "dies-at-start"),
        ("shy", "dies-while-listing"),
        ("flood", "flood"),
        ("huge", "huge-line"),
        // Of two with one name the first counts, and no name leads anywhere.
        ("good", "bad-tools"),
        ("../../notes", "good"),
    ];
    let entries = entries.map(|(name, mode)| format!("\n{}: {}", json!(name), scripted(&[mode])));
    let path = home.path("config/natter/mcp.json");
    fs::write(&path, format!("{{\"mcpServers\": {{{}}}}}", entries.join(","))).expect("a file");
    let echo = ("good__echo", json!({ "message": "good morning" }));
    let round = call(&home, &model, &["mcp:good/*"], &[echo]);
    assert_eq!(round.calls[0].told, "good morning");
    let file = path.display();
    let lines: Vec<_> = round.run.stderr.lines().collect();
    assert_eq!(
        lines,
        [
            &format!(
                "{file}: Server “good”, line 7: Another server has this name. Only the first one is used."
            ),
            &format!(
                "{file}: Server “../../notes”, line 8: The name can’t be used. Use up to 64 letters, digits, \
                 hyphens, underscores, periods, and @."
            ),
            "The tools of “dies” aren’t available. The program ended by itself. Its log may say why.",
            "The tools of “shy” aren’t available. The program ended by itself. Its log may say why.",
            "The tools of “flood” aren’t available. The server sent too many messages, so it was disconnected.",
            "The tools of “huge” aren’t available. The server sent a message larger than 16.8 MB, so it was disconnected.",
        ]
    );
}

#[test]
fn a_broken_file_of_servers_is_named_and_the_chat_goes_on() {
    let model = Server::start();
    let home = Home::new(&model);
    fs::write(home.path("config/natter/mcp.json"), "{\"mcpServers\": {").expect("a file");
    model.push(Script::new().text("Hello."));
    model.push(Script::new().text("Hello again."));
    let run = home.run_with(["chat"], "hello\nhello\n").ok();
    assert_eq!(run.stdout, "Hello.\nHello again.\n");
    // Once in a conversation.
    assert_eq!(run.stderr.matches("mcp.json: ").count(), 1, "{run:#?}");
    assert!(run.stderr.contains("This isn’t valid JSON."), "{run:#?}");
}

#[test]
fn calls_that_are_never_answered_or_answered_too_much_fail_for_themselves() {
    let model = Server::start();
    let mut mute = scripted(&["mute"]);
    mute["natter"]["timeLimit"] = json!(1);
    let servers = json!({ "mute": mute, "long": scripted(&["good"]), "good": scripted(&["good"]) });
    let home = home_with(&model, &servers);
    let round = call(
        &home,
        &model,
        &["mcp:*"],
        &[
            ("mute__echo", json!({ "message": "hello?" })),
            ("long__big", json!({ "kilobytes": 20_000 })),
            ("good__echo", json!({ "message": "good morning" })),
            ("good__nothing", json!({})),
        ],
    );
    let [unanswered, long, echo, unknown] = &round.calls[..] else { panic!() };
    assert_eq!(
        unanswered.told,
        "tool_call_fail: The server mute did not do it: it did not answer within 1 s."
    );
    let cut_off = "tool_call_fail: The server long did not do it: it sent a message of more than 16 MiB, and was cut off.";
    assert_eq!(long.told, cut_off);
    assert_eq!(echo.told, "good morning");
    assert!(unknown.failed(), "{unknown:?}");
}

#[test]
fn hostile_names_of_tools_become_plain_ones() {
    let model = Server::start();
    let home = home_with(&model, &json!({ "odd": scripted(&["bad-tools"]) }));
    let round = call(&home, &model, &["mcp:odd/good"], &[("odd__good", json!({}))]);
    assert_eq!(round.run.stderr, "", "{:?}", round.run);
    let mut names = offered(&model.chats()[0].body);
    names.retain(|name| name != "fetch_output");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    for name in &names {
        assert!(name.starts_with("odd__") && name.len() <= 64, "{name}");
        assert!(name.chars().all(is_plain), "{name}");
    }
    assert_eq!(BTreeSet::from_iter(&names).len(), names.len(), "{names:?}");
}

#[test]
fn of_ten_thousand_tools_the_model_finds_the_one_that_it_needs() {
    let model = Server::start();
    let servers = json!({ "many": scripted(&["good", "--tools", "10000"]) });
    let home = home_with(&model, &servers);
    let find = json!({ "query": "generated 4242" });
    model.push(Script::new().tool_call("c1", "find_tools", find));
    let one = [("many__generated_4242", json!({ "query": "late ones" }))];
    let round = call(&home, &model, &["mcp:many/*"], &one);
    assert!(round.calls[0].told.contains("late ones"), "{:?}", round.calls);
    let chats = model.chats();
    assert_eq!(offered(&chats[0].body), ["fetch_output", "find_tools"]);
    let found = offered(&chats[1].body);
    assert!(found.len() <= 12 && found.contains(&"many__generated_4242".to_owned()), "{found:?}");
}
