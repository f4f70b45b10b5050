//! A good server, in both revisions of the protocol.

use std::sync::Arc;

use async_trait::async_trait;
use chat_mcp::client::{Asked, CallFault, Discovery, Fault};
use rmcp::model::{
    CallToolRequestParams, ContentBlock, ElicitRequestParams, ElicitResult, ProtocolVersion,
};
use rstest::rstest;
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{PATIENCE, Server, call, text, tool_names};
use crate::{NobodyAsked, of_server};

const OLD: ProtocolVersion = ProtocolVersion::V_2025_11_25;
const NEW: ProtocolVersion = ProtocolVersion::V_2026_07_28;

#[rstest]
#[case("old", OLD)]
#[case("new", NEW)]
#[case("both", NEW)]
#[tokio::test]
async fn it_is_connected_listed_and_called(#[case] era: &str, #[case] version: ProtocolVersion) {
    let server = Server::scripted(&["good", "--era", era]).await.unwrap();
    let client = server.client();
    assert_eq!(client.version(), Some(version));
    assert_eq!(client.server().unwrap().name, "scripted");

    let list = client.tools().await.unwrap();
    assert_eq!((list.unreadable, list.is_cut), (0, false));
    let add = list.tools.iter().find(|tool| tool.name == "add").unwrap();
    assert_eq!(add.title.as_deref(), Some("Add Numbers"));
    assert_eq!(add.annotations.as_ref().unwrap().read_only_hint, Some(true));

    let sum = call(client, "add", json!({ "a": 1.5, "b": 2 })).await.unwrap();
    assert_eq!(text(&sum), "3.5");
    assert_eq!(sum.structured_content, Some(json!({ "sum": 3.5 })));
    let failed = call(client, "fail", json!({})).await.unwrap();
    assert_eq!(failed.is_error, Some(true));
    let picture = call(client, "picture", json!({})).await.unwrap();
    let shown = picture.content.iter().any(|block| matches!(block, ContentBlock::Image(_)));
    assert!(shown, "{picture:?}");
    let note = call(client, "resource", json!({})).await.unwrap();
    let kinds = (&note.content[0], &note.content[1]);
    assert!(
        matches!(kinds, (ContentBlock::Resource(_), ContentBlock::ResourceLink(_))),
        "{note:?}"
    );
    let long = call(client, "big", json!({ "kilobytes": 3000 })).await.unwrap();
    assert_eq!(text(&long).len(), 3000 << 10);
    let unknown = call(client, "nothing", json!({})).await.unwrap_err();
    assert!(matches!(unknown, Fault::Refused { code: -32602, .. }), "{unknown:?}");
    server.close().await;
}

#[tokio::test]
async fn all_pages_are_listed_in_order() {
    let server = Server::scripted(&["good", "--tools", "250"]).await.unwrap();
    let names = tool_names(server.client()).await;
    assert_eq!(names.len(), 260);
    assert_eq!(names.last().unwrap(), "generated_0250");
}

#[rstest]
#[case("old")]
#[case("new")]
#[tokio::test]
async fn a_call_tells_how_far_it_is_and_can_be_stopped(#[case] era: &str) {
    let mut server = Server::scripted(&["good", "--era", era]).await.unwrap();
    let arguments = json!({ "seconds": 600 }).as_object().cloned().unwrap();
    let slow = CallToolRequestParams::new("slow").with_arguments(arguments);
    let (stop, went_on) = (CancellationToken::new(), Arc::new(Notify::new()));
    let heard = went_on.clone();
    let calling = server.client().call(
        slow,
        PATIENCE,
        &stop,
        move |_| heard.notify_one(),
        Arc::new(NobodyAsked),
    );
    let stopping = async {
        went_on.notified().await;
        stop.cancel();
    };
    let (answer, ()) = tokio::join!(calling, stopping);
    assert_eq!(of_server(answer.unwrap_err()), Fault::Stopped);
    assert_eq!(server.logged().await, "cancelled");
}

/// Never answers; tells when it is asked, and when nobody waits for the answer any more.
#[derive(Default)]
struct Waits {
    is_asked: Notify,
    has_ended: Arc<Notify>,
}

#[async_trait]
impl Asked for Waits {
    async fn ask(&self, _: &ElicitRequestParams) -> ElicitResult {
        struct Ended(Arc<Notify>);
        impl Drop for Ended {
            fn drop(&mut self) {
                self.0.notify_one();
            }
        }
        let _ended = Ended(self.has_ended.clone());
        self.is_asked.notify_one();
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_question_ends_with_its_call() {
    let server = Server::scripted(&["good", "--era", "old"]).await.unwrap();
    let (stop, asked) = (CancellationToken::new(), Arc::new(Waits::default()));
    let ask = CallToolRequestParams::new("ask");
    let calling = server.client().call(ask, PATIENCE, &stop, |_| (), asked.clone());
    let stopping = async {
        asked.is_asked.notified().await;
        stop.cancel();
    };
    let (answer, ()) = tokio::join!(calling, stopping);
    assert_eq!(answer.unwrap_err(), CallFault::Server(Fault::Stopped));
    timeout(PATIENCE, asked.has_ended.notified()).await.expect("the question stays open");
}

#[rstest]
#[case("old")]
#[case("new")]
#[tokio::test]
async fn it_is_heard_that_tools_changed(#[case] era: &str) {
    let server = Server::scripted(&["changing", "--era", era]).await.unwrap();
    let client = server.client();
    let echo = async || client.tools().await.unwrap().tools.remove(0).description;
    let mut subscription = client.listen().await;
    assert_eq!(subscription.is_some(), era == "new");
    let before = echo().await;
    call(client, "fail", json!({})).await.unwrap();
    match &mut subscription {
        Some(subscription) => assert!(subscription.next().await.unwrap().is_some()),
        None => server.news.0.notified().await,
    }
    assert_ne!(echo().await, before);
}

#[tokio::test]
async fn a_server_that_answers_after_the_client_took_it_for_an_old_one_is_connected() {
    // The client waits ten seconds for the revision.
    let server = Server::scripted(&["slow-start", "11"]).await.unwrap();
    assert_eq!(server.client().version(), Some(OLD));
    assert!(tool_names(server.client()).await.contains(&"echo".to_owned()));
}

#[tokio::test]
async fn one_that_is_known_to_be_old_is_not_asked_first() {
    let command = chat_testkit::mcp::scripted(&["good"]);
    let server = Server::connect(&command, Discovery::Older).await.unwrap();
    assert_eq!(server.client().version(), Some(OLD));
}
