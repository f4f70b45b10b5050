//! Chats that leave and come: exported, and imported from Natter and from other programs.

mod bad_input;
mod generated;

use std::path::PathBuf;

use chat_core::error::{ChatImportFault, ImportFault, Kind};
use chat_core::exports::Program;
use chat_core::manager::{ImportReport, Manager, MissingParts, StartOptions};
use chat_core::message::{Ending, Fid, ModelRef, Role};
use chat_core::permission::Mode;
use chat_core::settings::Folders;
use tempfile::TempDir;

/// A running engine, and a folder for files beside its own.
struct Engine {
    manager: Manager,
    folder: TempDir,
}

impl Engine {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = StartOptions::new(Folders::below(folder.path().join("own")));
        Self { manager: Manager::start(options).await.unwrap(), folder }
    }

    fn file(&self, text: &str) -> Vec<PathBuf> {
        let path = self.folder.path().join("export.json");
        std::fs::write(&path, text).unwrap();
        vec![path]
    }

    async fn import(&self, paths: &[PathBuf]) -> ImportReport {
        self.manager.import().run(paths, |_| ()).await.unwrap()
    }

    /// Imports the only chat in this.
    async fn import_one(&self, text: &str) -> Fid {
        let report = self.import(&self.file(text)).await;
        assert!(report.unreadable.is_empty() && report.broken.is_empty(), "{report:?}");
        let [fid] = <[Fid; 1]>::try_from(report.imported).unwrap();
        fid
    }

    async fn texts(&self, fid: &Fid) -> Vec<String> {
        let shown = self.manager.sessions().transcript(fid).await.unwrap();
        shown.iter().map(|message| message.plain_text()).collect()
    }
}

const CHATGPT: &str = r#"[{"title":"Two\nbirds","create_time":1700000000.25,"update_time":1700000100.5,
"conversation_id":"c1","current_node":"a1","default_model_slug":"gpt-x","mapping":{
"root":{"id":"root","message":null,"parent":null,"children":["s"]},
"s":{"id":"s","parent":"root","children":["u"],"message":{"id":"s","author":{"role":"system"},"create_time":1700000000.5,
 "content":{"content_type":"text","parts":["Be brief."]},"metadata":{},"recipient":"all"}},
"u":{"id":"u","parent":"s","children":["a1","a2"],"message":{"id":"u","author":{"role":"user"},"create_time":1700000001.5,
 "content":{"content_type":"text","parts":["Which bird?"]},"metadata":{"attachments":[{"id":"f8","name":"notes.pdf"}]}}},
"a1":{"id":"a1","parent":"u","children":[],"message":{"id":"a1","author":{"role":"assistant"},"create_time":1700000006.0,
 "content":{"content_type":"text","parts":["A crow."]},"metadata":{"model_slug":"gpt-y"},"recipient":"all"}},
"a2":{"id":"a2","parent":"u","children":[],"message":{"id":"a2","author":{"role":"assistant"},"create_time":1700000007.0,
 "content":{"content_type":"text","parts":["A raven."]},"metadata":{"model_slug":"gpt-z"},"recipient":"all"}}}}]"#;

const CLAUDE: &str = r#"[{"uuid":"k","name":"","created_at":"2024-05-01T10:00:00.123456Z",
"updated_at":"2024-05-01T10:05:00Z","chat_messages":[
{"uuid":"m1","parent_message_uuid":"00000000-0000-4000-8000-000000000000","sender":"human","text":"Add 1 and 2",
 "created_at":"2024-05-01T10:00:01Z"},
{"uuid":"m2","parent_message_uuid":"m1","sender":"assistant","text":"","created_at":"2024-05-01T10:00:02Z","content":[
 {"type":"thinking","thinking":"Hm"},{"type":"tool_use","name":"repl","input":{"code":"1+2"}},
 {"type":"tool_result","name":"repl","content":[{"type":"text","text":"3"}],"is_error":false},
 {"type":"text","text":"Three."}]},
{"uuid":"m4","parent_message_uuid":"m1","sender":"assistant","text":"3","created_at":"2024-05-01T10:02:00Z"}]}]"#;

#[tokio::test]
async fn a_chat_of_chatgpt_has_its_branches_times_and_models() {
    let engine = Engine::start().await;
    let preview = engine.manager.import().preview(&engine.file(CHATGPT)).await.unwrap();
    assert_eq!(preview.missing, MissingParts { files: 1, contents: 0 });
    let report = engine.import(&engine.file(CHATGPT)).await;
    assert_eq!(report.missing, preview.missing);
    let fid = report.imported[0].clone();
    let chat = engine.manager.sessions().export(&fid).await.unwrap();
    assert_eq!(
        (chat.title.as_str(), chat.agent.as_str(), &chat.model),
        ("Two birds", "just-ask", &None)
    );
    let times = [chat.created, chat.updated].map(|time| time.to_string());
    assert_eq!(times, ["2023-11-14T22:13:20.25Z", "2023-11-14T22:15:00.5Z"]);
    // Its instructions were for another program's model.
    assert!(chat.messages.iter().all(|message| message.role != Role::System));
    assert_eq!(chat.messages[0].parent, None);
    assert_eq!(chat.messages[0].time.to_string(), "2023-11-14T22:13:21.5Z");
    assert_eq!(chat.messages[1].model, Some(ModelRef::new("ChatGPT", "gpt-y")));
    let question = "Which bird?\n\n[Not imported: the file “notes.pdf”]";
    assert_eq!(engine.texts(&fid).await, [question, "A crow."]);
    let messages = engine.manager.messages();
    let branches = messages.branches(&fid).await.unwrap();
    assert_eq!(branches.iter().map(Vec::len).collect::<Vec<_>>(), [2]);
    assert!(messages.show_branch(&fid, branches[0][1]).await.unwrap(), "it is claimed by nobody");
    assert_eq!(engine.texts(&fid).await, [question, "A raven."]);
    let found = engine.manager.sessions().search("raven", 9).await.unwrap();
    assert_eq!(found.hits.len(), 1);
}

#[tokio::test]
async fn a_chat_of_claude_has_its_branches_and_a_title() {
    let engine = Engine::start().await;
    let fid = engine.import_one(CLAUDE).await;
    let chat = engine.manager.sessions().export(&fid).await.unwrap();
    assert_eq!(chat.title, "Add 1 and 2");
    assert_eq!(chat.created.to_string(), "2024-05-01T10:00:00.123456Z");
    assert_eq!(engine.texts(&fid).await, ["Add 1 and 2", "3"]);
    let (call, result) = (&chat.messages[1], &chat.messages[2]);
    assert_eq!((call.tool_calls().count(), result.role), (1, Role::Tool));
    assert_eq!(chat.messages[3].plain_text(), "Three.");
    let parents: Vec<_> = chat.messages.iter().map(|message| message.parent).collect();
    let ids: Vec<_> = chat.messages.iter().map(|message| Some(message.id)).collect();
    assert_eq!(parents, [None, ids[0], ids[1], ids[2], ids[0]]);
}

#[tokio::test]
async fn what_is_there_already_is_skipped_until_it_is_deleted() {
    let engine = Engine::start().await;
    let fid = engine.import_one(CHATGPT).await;
    let preview = engine.manager.import().preview(&engine.file(CLAUDE)).await.unwrap();
    assert_eq!((preview.chats, preview.messages, preview.present.len()), (1, 5, 0));
    assert_eq!(preview.programs, [Program::Claude]);
    assert_eq!(preview.oldest.unwrap().to_string(), "2024-05-01T10:00:00.123456Z");
    assert_eq!(preview.newest.unwrap().to_string(), "2024-05-01T10:05:00Z");
    let paths = engine.file(CHATGPT);
    let again = engine.import(&paths).await;
    assert_eq!((again.imported.len(), again.present), (0, 1));
    let preview = engine.manager.import().preview(&paths).await.unwrap();
    assert_eq!(preview.present, ["Two birds"]);
    assert_eq!(preview.missing, MissingParts::default(), "nothing of it would be imported");
    // Its own export is of a chat that has never left.
    let own = engine.manager.sessions().export(&fid).await.unwrap();
    let own = engine.file(&serde_json::to_string(&own).unwrap());
    assert_eq!(engine.import(&own).await.present, 1);
    engine.manager.sessions().delete(&fid).await.unwrap();
    assert_eq!(engine.import(&own).await.imported.len(), 1);
    assert_eq!(engine.import(&engine.file(CHATGPT)).await.imported.len(), 1);
}

#[tokio::test]
async fn of_half_a_file_is_imported_what_is_whole() {
    let engine = Engine::start().await;
    let whole = CLAUDE.trim_end().trim_end_matches(']');
    let odd = r#"{"uuid":"odd","name":"Odd","chat_messages":"my secret"}"#;
    let paths = engine.file(&format!("{whole},{odd},{{\"uuid\":\"z\",\"na"));
    let report = engine.import(&paths).await;
    assert_eq!(report.imported.len(), 1);
    let [odd] = report.unreadable.as_slice() else { panic!("{report:?}") };
    assert_eq!((odd.title.as_deref(), odd.place, &odd.path), (Some("Odd"), 2, &paths[0]));
    assert_eq!(odd.error.kind, Kind::ImportChat { fault: ChatImportFault::Form });
    assert!(!format!("{:?}", odd.error).contains("secret"), "{:?}", odd.error);
    let truncated = Kind::ImportFile { path: paths[0].clone(), fault: ImportFault::Truncated };
    assert_eq!(report.broken.iter().map(|it| &it.kind).collect::<Vec<_>>(), [&truncated]);
}

#[tokio::test]
async fn an_import_that_is_dropped_ends_between_two_chats_and_goes_on_later() {
    let engine = Engine::start().await;
    let chat = |n: u32| CLAUDE.trim_matches(['[', ']']).replace("\"k\"", &format!("\"k{n}\""));
    let chats: Vec<_> = (0..40).map(chat).collect();
    let paths = engine.file(&format!("[{}]", chats.join(",")));
    let begun = tokio::sync::Notify::new();
    let import = engine.manager.import();
    tokio::select! {
        biased;
        () = begun.notified() => {}
        done = import.run(&paths, |_| begun.notify_one()) => panic!("not stopped: {done:?}"),
    }
    let report = engine.import(&paths).await;
    assert!(report.present > 0, "what was imported stayed");
    assert!(!report.imported.is_empty(), "it was stopped");
    assert_eq!(report.present + report.imported.len(), 40);
    let rows = engine.manager.sessions().list().await.unwrap();
    assert_eq!(rows.len(), 40);
    for row in rows {
        assert_eq!(engine.texts(&row.fid).await.len(), 2, "each is whole");
    }
}

#[tokio::test]
async fn an_export_of_natter_allows_nothing_and_older_ones_are_read() {
    let engine = Engine::start().await;
    let export = |version: u32, fid: &str| {
        format!(
            r#"{{"natter_export":{version},"fid":"{fid}","title":"Old","agent":"code-assistant","model":null,
            "thinking":"habit","options":{{}},"mode":"auto","created":"2026-01-15T13:30:45Z",
            "updated":"2026-01-15T13:31:00Z","messages":[
            {{"id":"019bc1f0-0000-7000-8000-000000000001","parent":null,"role":"user",
              "parts":[{{"type":"text","value":"Hi"}}],"time":"2026-01-15T13:30:45Z","ended":"complete"}},
            {{"id":"019bc1f0-0000-7000-8000-000000000002","parent":"019bc1f0-0000-7000-8000-000000000001",
              "role":"assistant","parts":[{{"type":"text","value":"Hel"}}],"time":"2026-01-15T13:30:46Z",
              "ended":null}}]}}"#
        )
    };
    let fid = engine.import_one(&export(1, "2026-01-15-14-30-45")).await;
    let chat = engine.manager.sessions().export(&fid).await.unwrap();
    assert_eq!((chat.mode, chat.head), (Mode::Ask, Some(chat.messages[1].id)));
    assert_eq!(chat.messages[1].ended, Some(Ending::Interrupted));
    // The second version says what is shown: here what stands before the first message.
    let fid = engine.import_one(&export(2, "2026-01-15-14-30-46")).await;
    assert_eq!(engine.manager.sessions().export(&fid).await.unwrap().head, None);
    let newer = engine.import(&engine.file(&export(3, "2026-01-15-14-30-47"))).await;
    let newer = &newer.unreadable[0].error.kind;
    assert_eq!(*newer, Kind::ImportChat { fault: ChatImportFault::Newer });
}

#[tokio::test]
async fn an_export_chooses_no_folder_to_work_in() {
    let engine = Engine::start().await;
    let export = r#"{"natter_export":2,"fid":"2026-01-15-14-30-45","title":"Home","agent":"code-assistant",
        "project":"/home/ada","created":"2026-01-15T13:30:45Z","updated":"2026-01-15T13:31:00Z","messages":[
        {"id":"019bc1f0-0000-7000-8000-000000000001","parent":null,"role":"user",
         "parts":[{"type":"text","value":"Hi"}],"time":"2026-01-15T13:30:45Z","ended":"complete"}]}"#;
    let fid = engine.import_one(export).await;
    let chat = engine.manager.sessions().export(&fid).await.unwrap();
    assert_eq!((chat.title.as_str(), chat.project), ("Home", None));
    // Not where one from elsewhere names it, either.
    let other = engine.import_one(&export.replace("14-30-45", "14-30-46")).await;
    assert_eq!(engine.manager.sessions().export(&other).await.unwrap().project, None);
}

#[tokio::test]
async fn several_chats_in_one_file_are_imported_as_they_were() {
    let (from, to) = (Engine::start().await, Engine::start().await);
    let chats = [from.import_one(CHATGPT).await, from.import_one(CLAUDE).await];
    from.manager.sessions().set_pinned(&chats[1], true).await.unwrap();
    from.manager.sessions().set_archived(&chats[0], true).await.unwrap();
    let mut exports = Vec::new();
    for fid in &chats {
        exports.push(from.manager.sessions().export(fid).await.unwrap());
    }
    let report = to.import(&to.file(&serde_json::to_string(&exports).unwrap())).await;
    assert_eq!((report.imported.len(), report.missing), (2, MissingParts::default()));
    for (fid, export) in report.imported.iter().zip(&exports) {
        let copy = to.manager.sessions().export(fid).await.unwrap();
        let told = |chat: &chat_core::store::SessionExport| {
            let times = (chat.created, chat.updated, chat.pinned, chat.archived);
            (chat.title.clone(), times, chat.messages.len())
        };
        assert_eq!(told(&copy), told(export));
        let parts = |chat: &chat_core::store::SessionExport| -> Vec<_> {
            chat.messages.iter().map(|it| (it.role, it.time, it.parts.clone())).collect()
        };
        assert_eq!(parts(&copy), parts(export));
    }
}
