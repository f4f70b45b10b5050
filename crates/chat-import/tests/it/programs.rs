//! The chats of each program.

use std::ops::ControlFlow;
use std::path::Path;

use chat_import::{ChatFault, ExportFault, Item, Program};

use super::{only, outline, read, read_text};

const CHATGPT: &str = r#"[{"title":"Birds","create_time":1700000000.25,"update_time":1700000100.0,
"conversation_id":"c1","id":"c1","current_node":"a2","default_model_slug":"gpt-x","mapping":{
"root":{"id":"root","message":null,"parent":null,"children":["s"]},
"s":{"id":"s","parent":"root","children":["u"],"message":{"id":"s","author":{"role":"system","name":null},
 "create_time":null,"content":{"content_type":"text","parts":[""]},"metadata":{},"recipient":"all"}},
"u":{"id":"u","parent":"s","children":["t","a2"],"message":{"id":"u","author":{"role":"user"},"create_time":1700000001.5,
 "content":{"content_type":"multimodal_text","parts":[{"content_type":"image_asset_pointer",
 "asset_pointer":"sediment://file_7"},"Which bird?",{"content_type":"hologram"}]},
 "metadata":{"attachments":[{"id":"file_7","name":"bird.png"},{"id":"file_8","name":"notes.pdf"}]}}},
"t":{"id":"t","parent":"u","children":["r"],"message":{"id":"t","author":{"role":"assistant"},"create_time":1700000002.0,
 "content":{"content_type":"thoughts","thoughts":[{"summary":"Look","content":"A beak."}]},"metadata":{}}},
"r":{"id":"r","parent":"t","children":["c"],"message":{"id":"r","author":{"role":"assistant"},"create_time":1700000003.0,
 "content":{"content_type":"reasoning_recap","content":"Thought for 5s"},"metadata":{"finished_duration_sec":5}}},
"c":{"id":"c","parent":"r","children":["o"],"message":{"id":"c","author":{"role":"assistant"},"create_time":1700000004.0,
 "content":{"content_type":"code","language":"python","text":"1+1"},"metadata":{},"recipient":"python"}},
"o":{"id":"o","parent":"c","children":["a1"],"message":{"id":"o","author":{"role":"tool","name":"python"},
 "create_time":1700000005.0,"content":{"content_type":"execution_output","text":"2"},"metadata":{}}},
"a1":{"id":"a1","parent":"o","children":[],"message":{"id":"a1","author":{"role":"assistant"},"create_time":1700000006.0,
 "content":{"content_type":"text","parts":["A crow."]},"metadata":{"model_slug":"gpt-y"},"recipient":"all"}},
"a2":{"id":"a2","parent":"u","children":[],"message":{"id":"a2","author":{"role":"assistant"},"create_time":1700000007.0,
 "content":{"content_type":"text","parts":["A raven."]},"metadata":{"model_slug":"gpt-z"},"recipient":"all"}}}}]"#;

#[test]
fn chatgpt() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("conversations-000.json"), CHATGPT).unwrap();
    std::fs::write(folder.path().join("file_7-bird.dat"), b"\x89PNG....").unwrap();
    let (items, found) = read(folder.path());
    assert!(found.unwrap().broken.is_empty());
    let chat = only(items, Program::ChatGpt);
    assert_eq!(
        outline(&chat),
        [
            ">u User: <image/png 8> | Which bird? | [Not imported: content of the kind “hologram”] | \
             [Not imported: the file “notes.pdf”]",
            "u>t Assistant: (Look\n\nA beak. 5) | c=python{\"code\":\"1+1\"}",
            "t>o Tool: c=python: 2",
            "o>a1 Assistant: A crow.",
            "u>a2 Assistant: A raven.",
        ]
    );
    assert_eq!((chat.source_id.as_str(), chat.head.as_deref()), ("c1", Some("a2")));
    assert_eq!(chat.created.unwrap().to_string(), "2023-11-14T22:13:20.25Z");
    assert_eq!(chat.messages[0].time.unwrap().to_string(), "2023-11-14T22:13:21.5Z");
    assert_eq!(chat.messages[3].model.as_deref(), Some("gpt-y"));
}

#[test]
fn of_what_lies_beside_a_file_only_an_exports_own_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let ids = ["id_rsa", "file-mine", "file-8dKqPz3YwRt6Vb1NcXhM2s"];
    let attached = ids.map(|id| format!(r#"{{"id":"{id}","name":"{id}"}}"#)).join(",");
    let text = format!(
        r#"{{"conversation_id":"c","mapping":{{"u":{{"message":{{"author":{{"role":"user"}},
        "content":{{"content_type":"text","parts":["Hi"]}},"metadata":{{"attachments":[{attached}]}}}}}}}}}}"#
    );
    let file = folder.path().join("conversations.json");
    std::fs::write(&file, text).unwrap();
    for name in [".ssh", "files"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    for name in [".ssh/id_rsa", "file-mine.txt", "files/file-8dKqPz3YwRt6Vb1NcXhM2s-bird.txt"] {
        std::fs::write(folder.path().join(name), "text").unwrap();
    }
    let told = |path: &Path| outline(&only(read(path).0, Program::ChatGpt)).concat();
    let missing = |name: &str| format!("[Not imported: the file “{name}”]");
    let bird = "<file-8dKqPz3YwRt6Vb1NcXhM2s: text>";
    let alone = format!(">u User: Hi | {} | {} | {bird}", missing("id_rsa"), missing("file-mine"));
    assert_eq!(told(&file), alone);
    let whole = format!(">u User: Hi | {} | <file-mine: text> | {bird}", missing("id_rsa"));
    assert_eq!(told(folder.path()), whole);
}

#[test]
fn claude() {
    let text = r#"[{"uuid":"k","name":"Sums","created_at":"2024-05-01T10:00:00.123456Z",
"updated_at":"2024-05-01T10:05:00Z","account":{"uuid":"x"},"chat_messages":[
{"uuid":"m1","parent_message_uuid":"00000000-0000-4000-8000-000000000000","sender":"human","text":"Add","content":
 [{"type":"text","text":"Add"}],"created_at":"2024-05-01T10:00:01Z","attachments":[{"file_name":"n.txt",
 "file_size":3,"file_type":"txt","extracted_content":"1 2"}],"files":[{"file_name":"n.txt"},{"file_name":"p.png"}]},
{"uuid":"m2","parent_message_uuid":"m1","sender":"assistant","text":"","created_at":"2024-05-01T10:00:02Z","content":[
 {"type":"thinking","thinking":"Hm","start_timestamp":"2024-05-01T10:00:02Z","stop_timestamp":"2024-05-01T10:00:05Z"},
 {"type":"tool_use","name":"repl","input":{"code":"1+2"}},
 {"type":"tool_result","name":"repl","content":[{"type":"text","text":"3"}],"is_error":false},
 {"type":"token_budget"},{"type":"voice_note"},{"type":"text","text":"Three."}]},
{"uuid":"m3","parent_message_uuid":"m2","sender":"human","text":"Thanks","created_at":"2024-05-01T10:01:00Z"},
{"uuid":"m4","parent_message_uuid":"m1","sender":"assistant","text":"3","created_at":"2024-05-01T10:02:00Z"}]}]"#;
    let chat = only(read_text(text).0, Program::Claude);
    assert_eq!(
        outline(&chat),
        [
            ">m1 User: <n.txt: 1 2> | [Not imported: the file “p.png”] | Add",
            "m1>m2 Assistant: (Hm 3) | m2-1=repl{\"code\":\"1+2\"}",
            "m2>m2#1 Tool: m2-1=repl: 3",
            "m2#1>m2#2 Assistant: [Not imported: content of the kind “voice_note”] | Three.",
            "m2#2>m3 User: Thanks",
            "m1>m4 Assistant: 3",
        ]
    );
    assert_eq!(chat.head.as_deref(), Some("m4"));
}

#[test]
fn claude_without_a_tree() {
    let text = r#"[{"uuid":"k","name":"","chat_messages":[{"uuid":"a","sender":"human","text":"1"},
        {"uuid":"b","sender":"assistant","text":"2"},{"uuid":"c","sender":"human","text":"3"}]}]"#;
    let chat = only(read_text(text).0, Program::Claude);
    assert_eq!(outline(&chat), [">a User: 1", "a>b Assistant: 2", "b>c User: 3"]);
}

#[test]
fn ollmchat() {
    let text = r#"{"id":3,"updated-at-timestamp":1768487500,"title":"Fix","model":"qwen3","agent-name":"code",
"fid":"2026-01-15-14-30-45","child-chats":[],"messages":[
{"role":"user-sent","content":"Fix it","timestamp":"2026-01-15 14:30:45"},{"role":"ui","content":"You said"},
{"role":"system","content":"Be good"},{"role":"user","content":"<files/> Fix it"},
{"role":"think-stream","content":"Hm"},{"role":"content-stream","content":"On it."},{"role":"end-stream"},
{"role":"assistant","content":"On it.","thinking":"Hm","tool-calls":[{"id":"1","function":{"name":"read",
 "arguments":{"path":"a"}}}]},{"role":"tool","content":"ERROR: no","tool-call-id":"1","name":"read"},
{"role":"user-sent","content":"Again"},{"role":"content-stream","content":"Half"}]}"#;
    let folder = tempfile::tempdir().unwrap();
    let day = folder.path().join("history/2026/01/15");
    std::fs::create_dir_all(&day).unwrap();
    std::fs::write(day.join("14-30-45.json"), text).unwrap();
    std::fs::write(folder.path().join("config.json"), "{\"models\":{}}").unwrap();
    let (items, found) = read(folder.path());
    assert_eq!(found.unwrap().chats, 1);
    let chat = only(items, Program::OllmChat);
    assert_eq!(
        outline(&chat),
        [
            ">0 User: Fix it | [<files/> Fix it]",
            "0>1 System: Be good",
            "1>2 Assistant: (Hm 0) | On it. | 1=read{\"path\":\"a\"}",
            "2>3 Tool: 1=read: ERROR: no!",
            "3>4 User: Again",
            "4>5 Assistant: Half",
        ]
    );
    assert_eq!(chat.updated.unwrap().as_second(), 1_768_487_500);
}

#[test]
fn an_unreadable_chat_is_named_and_the_others_are_read() {
    let text = r#"[{"title":"Odd","mapping":7},{"title":"None","mapping":{}},
        {"natter_export":99,"fid":"f","title":"New"},{"natter_export":1,"fid":"f","messages":[]}]"#;
    let (items, found) = read_text(text);
    assert_eq!(found.unwrap().chats, 4);
    let faults = items.iter().map(|item| match item {
        Item::Unreadable { title, place, fault } => (title.as_deref(), *place, Some(fault)),
        _ => (None, 0, None),
    });
    let faults: Vec<_> = faults.collect();
    assert!(matches!(faults[0], (Some("Odd"), 1, Some(ChatFault::Form(_)))), "{faults:?}");
    assert_eq!(faults[1], (Some("None"), 2, Some(&ChatFault::Empty)));
    assert_eq!(faults[2], (Some("New"), 3, Some(&ChatFault::Newer(99))));
    assert!(
        matches!(&items[3], Item::Natter { chat, place: 4 } if chat.source_id == "f" && chat.version == 1)
    );
}

#[test]
fn what_is_of_no_known_program_among_chats_is_named() {
    let chat = CHATGPT.trim_matches(['[', ']']);
    let text = format!(r#"[{{"version":9}},{chat},{{"title":"Odd","turns":[]}}]"#);
    let (items, found) = read_text(&text);
    assert_eq!((items.len(), found.unwrap().chats), (3, 3));
    for (at, known) in [(0, None), (2, Some("Odd"))] {
        let Item::Unreadable { title, place, fault } = &items[at] else { panic!("{items:?}") };
        assert_eq!((title.as_deref(), *place, fault), (known, at + 1, &ChatFault::Unknown));
    }
}

#[test]
fn each_file_of_a_folder_that_cannot_be_read_is_named_and_the_others_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |n: usize| folder.path().join(format!("conversations-{n}.json"));
    let cut = &CHATGPT[..CHATGPT.len() - 40];
    for (n, text) in [CHATGPT, CHATGPT, cut, "[{\"a\":1}]", CHATGPT].into_iter().enumerate() {
        std::fs::write(path(n), text).unwrap();
    }
    let mut chats = 0;
    let found = chat_import::read(folder.path(), &mut |item, _| {
        assert!(matches!(item, Item::Chat { .. }), "{item:?}");
        chats += 1;
        // It was listed before.
        let _ = std::fs::remove_file(path(1));
        ControlFlow::Continue(())
    });
    assert_eq!(chats, 2);
    let broken = found.unwrap().broken;
    let paths: Vec<_> = broken.iter().map(|broken| broken.path.clone()).collect();
    assert_eq!(paths, [path(1), path(2), path(3)]);
    let faults: Vec<_> = broken.into_iter().map(|broken| broken.fault).collect();
    assert!(
        matches!(&faults[..], [ExportFault::Io(_), ExportFault::Truncated, ExportFault::Unknown]),
        "{faults:?}"
    );
}

#[test]
fn of_half_an_export_the_whole_chats_are_read() {
    let two = format!("{},{}", CHATGPT.trim_end_matches(']'), CHATGPT.trim_start_matches('['));
    let (items, found) = read_text(&two[..two.len() - 40]);
    assert_eq!(items.len(), 1);
    let [broken] = <[_; 1]>::try_from(found.unwrap().broken).unwrap();
    assert!(matches!(broken.fault, ExportFault::Truncated));
}

#[test]
fn messages_in_a_ring_are_all_read_once() {
    let node = |id: &str, parent: &str| {
        format!(
            r#""{id}":{{"parent":"{parent}","children":[],"message":{{"author":{{"role":"user"}},
            "content":{{"content_type":"text","parts":["{id}"]}}}}}}"#
        )
    };
    let text = format!(r#"{{"id":"x","mapping":{{{},{}}}}}"#, node("a", "b"), node("b", "a"));
    let chat = only(read_text(&text).0, Program::ChatGpt);
    assert_eq!(outline(&chat), [">a User: a", "a>b User: b"]);
}

#[test]
fn what_is_no_export_is_refused() {
    assert!(matches!(read_text(""), (items, Err(ExportFault::Empty)) if items.is_empty()));
    for text in ["hello", "{\"a\":1}", "[1,2,3]", "<html></html>"] {
        assert!(
            matches!(read_text(text), (items, Err(ExportFault::Unknown)) if items.is_empty()),
            "{text}"
        );
    }
}
