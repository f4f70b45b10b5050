//! Tests the client as Natter uses it: with servers that are programs of their own, and with web servers of these tests.

mod conformance;
mod http;
mod oauth;
mod server;
mod servers;
mod stdio;
mod tools;

use async_trait::async_trait;
use chat_mcp::client::{Asked, CallFault, Fault};
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};

/// Declines what a server asks.
struct NobodyAsked;

#[async_trait]
impl Asked for NobodyAsked {
    async fn ask(&self, _: &ElicitRequestParams) -> ElicitResult {
        ElicitResult::new(ElicitationAction::Decline)
    }
}

/// What went wrong with the server itself.
fn of_server(fault: CallFault) -> Fault {
    match fault {
        CallFault::Server(fault) => fault,
        CallFault::NoQuestion | CallFault::EndlessQuestions => panic!("{fault:?}"),
    }
}
