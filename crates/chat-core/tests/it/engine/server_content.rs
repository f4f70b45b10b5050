//! Tests what MCP servers give the user: resources that messages mention, and prompts.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chat_core::error::{Kind, ServerFailure, ServerFault, ServerItem};
use chat_core::message::{AtWords, ChatRequest, Content, Context, Mention, Part};
use chat_core::tool::{
    PromptEntry, PromptMessage, ResourceEntry, ServerContext, ServerOffer, ServerPart,
    ToolServices, TypedArgument,
};
use chat_testkit::server::{Gate, Script, Server};

use super::world::{World, request};

/// A server `wiki` with a note. It counts what it is asked for.
#[derive(Default)]
struct Wiki {
    reads: AtomicUsize,
    projects: Mutex<Vec<Option<String>>>,
}

impl Wiki {
    fn offer() -> Arc<ServerOffer> {
        let entry = ResourceEntry {
            uri: "note://a".to_owned(),
            title: "Apples".to_owned(),
            ..ResourceEntry::default()
        };
        let prompt = PromptEntry { name: "greet".to_owned(), ..PromptEntry::default() };
        Arc::new(ServerOffer {
            server: "wiki".to_owned(),
            resources: Some(vec![entry]),
            prompts: Some(vec![prompt]),
        })
    }
}

#[async_trait]
impl ServerContext for Wiki {
    fn known(&self, _: Option<&Path>) -> Vec<Arc<ServerOffer>> {
        vec![Self::offer()]
    }

    async fn ask(&self, _: Option<&Path>, _: &str) -> Result<Arc<ServerOffer>, ServerFault> {
        Ok(Self::offer())
    }

    async fn read(
        &self,
        project: Option<&Path>,
        _: &str,
        uri: &str,
    ) -> Result<Vec<ServerPart>, ServerFault> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let project = project.map(|project| project.display().to_string());
        self.projects.lock().unwrap().push(project);
        match uri {
            "note://a" => Ok(vec![ServerPart::Text("red and ripe".to_owned())]),
            "note://empty" => Ok(Vec::new()),
            _ => Err(ServerFault::Refused { message: "no such note".to_owned() }),
        }
    }

    async fn prompt(
        &self,
        _: Option<&Path>,
        _: &str,
        prompt: &str,
        arguments: BTreeMap<String, String>,
    ) -> Result<Vec<PromptMessage>, ServerFault> {
        let text = format!("{prompt} {}", arguments["name"]);
        Ok(vec![PromptMessage { is_model: false, parts: vec![ServerPart::Text(text)] }])
    }

    async fn complete(&self, _: Option<&Path>, typed: TypedArgument) -> Vec<String> {
        vec![format!("{}={}…", typed.argument, typed.value)]
    }
}

async fn world(server: &Server) -> (World, Arc<Wiki>) {
    let wiki = Arc::new(Wiki::default());
    let services =
        ToolServices { server_context: Some(Arc::clone(&wiki) as _), ..ToolServices::default() };
    (World::with_services(server, services).await, wiki)
}

fn note(uri: &str, text: Option<&str>) -> Mention {
    Mention::Resource {
        server: "wiki".to_owned(),
        uri: uri.to_owned(),
        title: "Apples".to_owned(),
        text: text.map(str::to_owned),
    }
}

fn about(uri: &str, from: ChatRequest) -> ChatRequest {
    let context = Context { mentions: vec![note(uri, None)], ..Context::default() };
    ChatRequest { context, ..from }
}

#[tokio::test]
async fn a_resource_is_read_when_its_message_is_sent_and_not_before() {
    let server = Server::start();
    let (mut world, wiki) = world(&server).await;
    let project = tempfile::tempdir().unwrap();
    let asked = ChatRequest {
        project: Some(project.path().to_owned()),
        ..about("note://a", request(None, "Look"))
    };
    world.manager.context().preview(asked.clone()).await.unwrap();
    assert_eq!(wiki.reads.load(Ordering::Relaxed), 0, "nothing is read to be looked at");
    server.push(Script::new().text("Thanks."));
    let fid = world.manager.send(asked).await.unwrap().fid;
    world.open(&fid).await;
    world.events.finished(&fid).await;
    let messages = world.manager.sessions().transcript(&fid).await.unwrap();
    let file = Part::File { name: "wiki:note://a".to_owned(), text: "red and ripe\n".to_owned() };
    assert!(messages[0].parts.contains(&file), "{:?}", messages[0].parts);
    assert!(server.chats()[0].texts_of("user")[0].contains("red and ripe"));
    let project = project.path().display().to_string();
    assert_eq!(*wiki.projects.lock().unwrap(), [Some(project)]);
}

#[tokio::test]
async fn what_cannot_be_read_is_not_sent() {
    let server = Server::start();
    let (world, _) = world(&server).await;
    let refused = ServerFault::Refused { message: "no such note".to_owned() };
    for (uri, why) in [("note://b", refused), ("note://empty", ServerFault::Empty)] {
        let error = world.manager.send(about(uri, request(None, "Look"))).await.unwrap_err();
        let (server, item) = ("wiki".to_owned(), ServerItem::Resource(uri.to_owned()));
        let failure = Box::new(ServerFailure { server, item, why });
        assert_eq!(error.kind, Kind::ServerContext { failure });
    }
    assert!(world.manager.sessions().list().await.unwrap().is_empty(), "no chat was begun");
    // Without servers there is none of this name.
    let without = World::new(&server).await;
    let error = without.manager.send(about("note://a", request(None, "Look"))).await.unwrap_err();
    assert!(
        matches!(&error.kind, Kind::ServerContext { failure } if failure.why == ServerFault::Unknown),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_waiting_message_keeps_what_was_read() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("half").gate(&gate));
    let (mut world, wiki) = world(&server).await;
    let fid = world.ask("one").await.fid;
    world.events.shows(&fid, "half").await;
    let sent = world.manager.send(about("note://a", request(Some(&fid), "two"))).await.unwrap();
    assert!(sent.queued);
    // The next start knows no servers.
    let mut world = world.restart().await;
    let queue = world.open(&fid).await.queue;
    assert_eq!(queue[0].context.mentions, [note("note://a", Some("red and ripe\n"))]);
    server.push(Script::new().text("second"));
    world.manager.sessions().send_waiting(&fid).await.unwrap();
    world.events.finished(&fid).await;
    assert!(server.chats()[1].texts_of("user")[1].contains("red and ripe"));
    assert_eq!(wiki.reads.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn an_edited_message_gets_what_it_mentions_now() {
    let server = Server::start();
    let (mut world, _) = world(&server).await;
    server.push(Script::new().text("First."));
    let sent = world.ask("one").await;
    world.events.finished(&sent.fid).await;
    let edited = about("note://b", request(None, "two"));
    let messages = world.manager.messages();
    messages.edit(&sent.fid, sent.message, edited).await.unwrap_err();
    server.push(Script::new().text("Second."));
    let edited = about("note://a", request(None, "two"));
    messages.edit(&sent.fid, sent.message, edited).await.unwrap();
    world.events.finished(&sent.fid).await;
    assert!(server.chats()[1].texts_of("user")[0].contains("red and ripe"));
}

#[tokio::test]
async fn names_of_resources_are_found_in_texts() {
    let server = Server::start();
    let (world, _) = world(&server).await;
    let text = "@wiki:note://a and @other:note://a";
    let words = world.manager.context().at_words(&request(None, text), text).await.unwrap();
    let found: Vec<_> = words.mentions.iter().map(|word| &word.mention).collect();
    assert_eq!(found, [&note("note://a", None)]);
    let without = World::new(&server).await;
    let words = without.manager.context().at_words(&request(None, text), text).await.unwrap();
    assert_eq!(words, AtWords::default());
}

#[tokio::test]
async fn a_prompt_says_what_its_server_makes_of_the_values() {
    let server = Server::start();
    let (world, _) = world(&server).await;
    let values = BTreeMap::from([("name".to_owned(), "Ann".to_owned())]);
    let asked = ChatRequest { content: Content::text("/wiki:greet Ann"), ..request(None, "") };
    let servers = world.manager.server_content();
    let prompt = servers.prompt(&asked, "wiki", "greet", values).await.unwrap();
    assert_eq!((prompt.text.as_str(), prompt.pictures.len()), ("greet Ann\n", 0));
    let typed = TypedArgument {
        argument: "name".to_owned(),
        value: "An".to_owned(),
        ..TypedArgument::default()
    };
    assert_eq!(servers.complete(None, typed.clone()).await, ["name=An…"]);
    let without = World::new(&server).await;
    assert!(without.manager.server_content().complete(None, typed).await.is_empty());
}
