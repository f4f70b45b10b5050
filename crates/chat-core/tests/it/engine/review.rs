//! What tools change is kept: reviewed by the hunk, taken back, and the model hears of it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chat_core::error::{Kind, NoReview};
use chat_core::manager::NewAgent;
use chat_core::message::{
    Attachment, ChatRequest, Content, Context, Fid, Mention, MessageId, OpenFile, Role, ToolSpec,
};
use chat_core::review::{FileKind, ReviewScope};
use chat_core::settings::ConnectionKind;
use chat_core::tool::{Registry, Tool, ToolContext, ToolFailure, ToolInfo, ToolOutput};
use chat_testkit::server::{Gate, Script, Server};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::world::{World, request, timeouts};

mod agents;

/// What happens while the command of [`Put`] runs.
type Meanwhile = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

/// Writes a file, or what a command would: `path` is `*`, and `text` goes into two files.
struct Put(ToolInfo, Meanwhile);

#[async_trait]
impl Tool for Put {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let text = given["text"].as_str().unwrap().to_owned();
        let path = given["path"].as_str().unwrap().to_owned();
        let project = Arc::clone(context.project()?);
        let changes = context.changes.clone();
        let meanwhile = Arc::clone(&self.1);
        let work = move || {
            if path == "*" {
                let looked = changes.start_recording()?;
                for name in ["built.txt", "notes.txt"] {
                    std::fs::write(project.root().join(name), &text).unwrap();
                }
                if let Some(act) = meanwhile.lock().unwrap().take() {
                    act();
                }
                drop(looked);
                return Ok(());
            }
            let resolved = project.resolve(&path).unwrap();
            changes.around(&resolved, || {
                std::fs::write(resolved.real(), &text).unwrap();
                Ok(())
            })
        };
        tokio::task::spawn_blocking(work).await.unwrap()?;
        Ok(ToolOutput::text("written"))
    }
}

struct Scene {
    server: Server,
    world: World,
    project: TempDir,
    meanwhile: Meanwhile,
}

impl Scene {
    async fn new() -> Self {
        let server = Server::start();
        let meanwhile = Meanwhile::default();
        let strings = json!({ "type": "string" });
        let spec = ToolSpec {
            name: "put".to_owned(),
            description: String::new(),
            parameters: json!({
                "type": "object",
                "properties": { "path": strings, "text": strings },
                "required": ["path", "text"],
            }),
        };
        let info = ToolInfo { needs_project: true, ..ToolInfo::foreign(spec) };
        let tools: Registry =
            std::iter::once(Arc::new(Put(info, Arc::clone(&meanwhile))) as Arc<dyn Tool>).collect();
        let kind = ConnectionKind::Ollama;
        let world = World::with_tools(&server, kind, timeouts(), tools).await;
        Self { server, world, project: tempfile::tempdir().unwrap(), meanwhile }
    }

    /// An agent that works for a chat, in the same project.
    async fn agent(&self, parent: &Fid) -> Fid {
        let new = NewAgent {
            parent: Some(parent.clone()),
            name: Some("helper".to_owned()),
            ..NewAgent::default()
        };
        self.world.manager.agents().create(new).await.unwrap().meta.fid
    }

    fn at(&self, name: &str) -> PathBuf {
        self.project.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.at(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.at(name)).unwrap_or_else(|_| "(gone)".to_owned())
    }

    /// Asks; the model puts these texts into these files.
    async fn ask(&mut self, fid: Option<&Fid>, puts: &[(&str, &str)]) -> Fid {
        let mut script = Script::new();
        for (number, (path, text)) in puts.iter().enumerate() {
            let id = format!("c{number}");
            script = script.tool_call(&id, "put", json!({ "path": path, "text": text }));
        }
        if !puts.is_empty() {
            self.server.push(script);
        }
        self.server.push(Script::new().text("Done."));
        // An agent has its project already.
        let request = match fid {
            Some(fid) => request(Some(fid), "Do it"),
            None => ChatRequest {
                project: Some(self.project.path().to_owned()),
                ..request(None, "Do it")
            },
        };
        let fid = self.world.manager.send(request).await.unwrap().fid;
        self.world.open(&fid).await;
        let finished = self.world.events.finished(&fid).await;
        assert!(finished.error.is_none(), "{finished:?}");
        fid
    }

    async fn paths(&self, fid: &Fid) -> Vec<String> {
        let changes = self.world.manager.review().changes(fid).await.unwrap();
        changes.iter().map(|change| change.path.display().to_string()).collect()
    }

    /// The ids of what the person said.
    async fn said(&self, fid: &Fid) -> Vec<MessageId> {
        let messages = self.world.manager.sessions().transcript(fid).await.unwrap();
        messages.iter().filter(|one| one.role == Role::User).map(|one| one.id).collect()
    }

    fn last_sent(&self) -> String {
        self.server.chats().pop().unwrap().body["messages"].to_string()
    }
}

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

#[tokio::test]
async fn one_hunk_is_rejected_and_another_accepted_and_the_model_hears_of_it() {
    let mut scene = Scene::new().await;
    scene.write("a.txt", LINES);
    let changed = LINES.replace("2\n", "two\n").replace("8\n", "eight\n");
    let fid = scene.ask(None, &[("a.txt", &changed), ("new.txt", "n\n")]).await;
    assert!(scene.world.events.files > 0, "it is told");
    let changes = scene.world.manager.review().changes(&fid).await.unwrap();
    assert_eq!(scene.paths(&fid).await, ["a.txt", "new.txt"]);
    assert_eq!((changes[0].added, changes[0].removed), (2, 2));
    assert_eq!(changes[1].kind, FileKind::Created);
    // Another program writes into the same file meanwhile.
    scene.write("a.txt", &changed.replace("5\n", "five\n"));
    let hunks: Vec<_> = changes[0].hunks.iter().map(|hunk| hunk.id).collect();
    let of = |hunk| Some((PathBuf::from("a.txt"), ReviewScope::Hunks(vec![hunk])));
    let rejected = scene.world.manager.review().reject(&fid, of(hunks[0])).await.unwrap();
    assert!(rejected.conflicts.is_empty() && rejected.gone.is_empty(), "{rejected:?}");
    assert_eq!(scene.read("a.txt"), LINES.replace("5\n", "five\n").replace("8\n", "eight\n"));
    scene.world.manager.review().accept(&fid, of(hunks[1])).await.unwrap();
    assert_eq!(scene.paths(&fid).await, ["new.txt"]);
    // The model is told once.
    scene.ask(Some(&fid), &[]).await;
    let sent = scene.last_sent();
    assert!(sent.contains("The user rejected these changes of yours"), "{sent}");
    assert!(sent.contains(r"-2\n+two\n"), "{sent}");
    scene.ask(Some(&fid), &[]).await;
    assert_eq!(scene.last_sent().matches("rejected these changes").count(), 1);
    scene.world.manager.review().reject(&fid, None).await.unwrap();
    assert_eq!(scene.read("new.txt"), "(gone)");
}

#[tokio::test]
async fn what_goes_out_is_what_the_preview_shows() {
    let mut scene = Scene::new().await;
    scene.write("a.txt", LINES);
    std::fs::create_dir(scene.at("sub")).unwrap();
    scene.write("sub/AGENTS.md", "Use tabs here.\n");
    let fid = scene.ask(None, &[("a.txt", "one\n"), ("b.txt", "two\n")]).await;
    let of = |path: &str| Some((PathBuf::from(path), ReviewScope::File));
    scene.world.manager.review().reject(&fid, of("a.txt")).await.unwrap();
    // Another folder of the project, and with it other rules and a file.
    let open = OpenFile { path: scene.at("sub/x.rs"), active: true, ..OpenFile::default() };
    let mentions = vec![Mention::File { path: "b.txt".into(), lines: None }];
    let context = Context { open_files: vec![open], mentions };
    let agent = Some(chat_core::agent::CODE_ASSISTANT.to_owned());
    let attachments = vec![Attachment::File { name: "log".to_owned(), text: "a\nb".to_owned() }];
    let next = || ChatRequest {
        agent: agent.clone(),
        content: Content { attachments: attachments.clone(), ..Content::text("Go on") },
        context: context.clone(),
        ..request(Some(&fid), "")
    };
    for _ in 0..2 {
        let preview = scene.world.manager.context().preview(next()).await.unwrap();
        scene.server.push(Script::new().text("Done."));
        scene.world.manager.send(next()).await.unwrap();
        scene.world.events.finished(&fid).await;
        let sent = scene.server.chats().pop().unwrap().body["messages"].clone();
        let sent = sent.as_array().unwrap();
        assert_eq!(sent[0]["content"], *preview.system);
        assert_eq!(sent.last().unwrap()["content"], format!("{}\n\nGo on", preview.context));
        assert_eq!(sent.len(), preview.messages + 2);
        assert!(preview.system.contains("Use tabs here."));
    }
    let sent = scene.last_sent();
    assert_eq!(sent.matches("rejected these changes").count(), 1, "{sent}");
    // What was told is told again where the person goes back to before it.
    let said = scene.said(&fid).await;
    scene.world.manager.review().rewind(&fid, said[1]).await.unwrap();
    scene.ask(Some(&fid), &[]).await;
    assert_eq!(scene.last_sent().matches("rejected these changes").count(), 1);
}

#[tokio::test]
async fn what_the_person_saves_while_a_command_runs_is_the_persons() {
    let mut scene = Scene::new().await;
    scene.write("notes.txt", LINES);
    let (manager, project) = (scene.world.manager.clone(), scene.project.path().to_owned());
    std::os::unix::fs::symlink("mine.txt", scene.at("by-link.txt")).unwrap();
    scene.write("mine.txt", "mine\n");
    *scene.meanwhile.lock().unwrap() = Some(Box::new(move || {
        let save = |path: &str, text: &str| {
            let write = || std::fs::write(project.join(path), text).unwrap();
            manager.review().saved_by_person(&project, Path::new(path), write);
        };
        save("notes.txt", "made\nand mine\n");
        save("by-link.txt", "mine, saved\n");
    }));
    let fid = scene.ask(None, &[("*", "made\n")]).await;
    assert_eq!(scene.paths(&fid).await, ["built.txt", "notes.txt"]);
    scene.world.manager.review().reject(&fid, None).await.unwrap();
    assert_eq!(scene.read("mine.txt"), "mine, saved\n");
    assert!(scene.read("notes.txt").ends_with("and mine\n"), "{}", scene.read("notes.txt"));
    assert_eq!(scene.read("built.txt"), "(gone)");
}

#[tokio::test]
async fn an_answer_is_taken_back_and_the_model_hears_nothing_of_it() {
    let mut scene = Scene::new().await;
    scene.write("a.txt", LINES);
    let fid = scene.ask(None, &[("a.txt", "one\n"), ("new.txt", "n\n")]).await;
    let answer = scene.world.manager.review().reject(&fid, None).await.unwrap().undo.unwrap();
    assert_eq!((scene.read("a.txt"), scene.read("new.txt")), (LINES.into(), "(gone)".into()));
    let undone = scene.world.manager.review().undo_answer(&fid, answer).await.unwrap();
    assert!(undone.conflicts.is_empty(), "{undone:?}");
    assert_eq!((scene.read("a.txt"), scene.read("new.txt")), ("one\n".into(), "n\n".into()));
    assert_eq!(scene.paths(&fid).await, ["a.txt", "new.txt"]);
    scene.ask(Some(&fid), &[]).await;
    assert!(!scene.last_sent().contains("rejected these changes"));
    let answer = scene.world.manager.review().accept(&fid, None).await.unwrap().undo.unwrap();
    assert!(scene.paths(&fid).await.is_empty());
    scene.world.manager.review().undo_answer(&fid, answer).await.unwrap();
    assert_eq!(scene.paths(&fid).await, ["a.txt", "new.txt"]);
    let error = scene.world.manager.review().undo_answer(&fid, 10_000).await.unwrap_err();
    assert_eq!(error.kind, Kind::NothingChanged);
    // One that was told is told to be there again.
    let answer = scene.world.manager.review().reject(&fid, None).await.unwrap().undo.unwrap();
    scene.ask(Some(&fid), &[]).await;
    scene.world.manager.review().undo_answer(&fid, answer).await.unwrap();
    scene.ask(Some(&fid), &[]).await;
    let sent = scene.last_sent();
    assert!(sent.contains("wants these changes after all"), "{sent}");
}

#[tokio::test]
async fn files_come_back_to_how_they_were_at_a_message_and_forth_again() {
    let mut scene = Scene::new().await;
    scene.write("a.txt", LINES);
    scene.write("notes.txt", "mine\n");
    let fid = scene.ask(None, &[("a.txt", "one\n")]).await;
    scene.ask(Some(&fid), &[]).await;
    scene.ask(Some(&fid), &[("*", "made\n"), ("a.txt", "two\n")]).await;
    let said = scene.said(&fid).await;
    // What the second changed nothing is how the third found it.
    let restored = scene.world.manager.review().restore_files(&fid, said[1]).await.unwrap();
    assert_eq!(scene.read("a.txt"), "one\n");
    assert_eq!(
        (scene.read("built.txt"), scene.read("notes.txt")),
        ("(gone)".into(), "mine\n".into())
    );
    scene.world.manager.review().undo_restore(&fid, restored.seq).await.unwrap();
    assert_eq!((scene.read("a.txt"), scene.read("built.txt")), ("two\n".into(), "made\n".into()));
    scene.world.manager.review().restore_files(&fid, said[0]).await.unwrap();
    assert_eq!((scene.read("a.txt"), scene.read("notes.txt")), (LINES.into(), "mine\n".into()));
    assert_eq!(scene.read("built.txt"), "(gone)");
    // The conversation goes back on request, and what was said comes to the composer.
    let content = scene.world.manager.review().rewind(&fid, said[2]).await.unwrap();
    assert_eq!(content.text, "Do it");
    assert_eq!(scene.said(&fid).await, said[..2]);
    scene.world.manager.review().rewind(&fid, said[0]).await.unwrap();
    assert!(scene.said(&fid).await.is_empty());
    // It goes on from there, also after a restart.
    scene.ask(Some(&fid), &[]).await;
    assert_eq!(scene.said(&fid).await.len(), 1);
}

#[tokio::test]
async fn while_a_reply_runs_nothing_is_restored_and_that_is_why() {
    let mut scene = Scene::new().await;
    scene.write("a.txt", LINES);
    let fid = scene.ask(None, &[("a.txt", "one\n")]).await;
    let said = scene.said(&fid).await;
    let gate = Gate::new();
    scene.server.push(Script::new().text("Well").gate(&gate).text("."));
    scene.world.say(&fid, "And?").await;
    gate.reached().await;
    let manager = &scene.world.manager;
    let restored = manager.review().restore_files(&fid, said[0]).await.unwrap_err();
    let undone = manager.review().undo_restore(&fid, 1).await.unwrap_err();
    let rewound = manager.review().rewind(&fid, said[0]).await.unwrap_err();
    assert_eq!([restored.kind, undone.kind, rewound.kind], [const { Kind::SessionAtWork }; 3]);
    assert_eq!(scene.read("a.txt"), "one\n");
    gate.open();
    scene.world.events.finished(&fid).await;
    scene.world.manager.review().restore_files(&fid, said[0]).await.unwrap();
    assert_eq!(scene.read("a.txt"), LINES);
}

#[tokio::test]
async fn where_nothing_is_kept_that_is_said() {
    let mut scene = Scene::new().await;
    scene.server.push(Script::new().text("Hello."));
    let (alone, _) = scene.world.ask_and_wait("Hello").await;
    let error = scene.world.manager.review().changes(&alone).await.unwrap_err();
    assert_eq!(error.kind, Kind::NoReview { why: NoReview::NoProject });
    let fid = scene.ask(None, &[]).await;
    assert!(scene.paths(&fid).await.is_empty());
    let said = scene.said(&fid).await;
    let error = scene.world.manager.review().restore_files(&fid, said[0]).await.unwrap_err();
    assert_eq!(error.kind, Kind::NothingChanged);
    // A chat in which nothing was changed makes no journal.
    assert!(!has_journal(scene.world.folder.path()), "it was made for nothing");
}

fn has_journal(folder: &Path) -> bool {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.file_name() == "projects" && entry.path().read_dir().unwrap().count() > 0 {
                return true;
            }
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    false
}

#[tokio::test]
async fn rules_and_branch_of_the_project_stand_in_the_instructions() {
    let mut scene = Scene::new().await;
    scene.write("AGENTS.md", "Use tabs.\n");
    let mut git = std::process::Command::new("git");
    git.args(["init", "-q", "-b", "topic"]).current_dir(scene.project.path());
    assert!(git.status().unwrap().success());
    scene.server.push(Script::new().text("Yes."));
    let project = Some(scene.project.path().to_owned());
    let agent = Some(chat_core::agent::CODE_ASSISTANT.to_owned());
    let request = ChatRequest { project, agent, ..request(None, "Do it") };
    let fid = scene.world.manager.send(request).await.unwrap().fid;
    scene.world.open(&fid).await;
    scene.world.events.finished(&fid).await;
    let sent = scene.last_sent();
    assert!(sent.contains("AGENTS.md:\\nUse tabs."), "{sent}");
    assert!(sent.contains("Git branch: topic"), "{sent}");
}
