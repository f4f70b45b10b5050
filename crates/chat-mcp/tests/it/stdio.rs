//! Servers over standard input and output: good ones, bad ones, and some that others wrote.

mod bad;
mod good;
mod others;

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use chat_mcp::client::{Answer, Client, Discovery, Fault, Link, ServerNews};
use chat_mcp::transport::{self, Ending};
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::{NobodyAsked, of_server};

/// As much as a test waits for a call that does not end: far more than it takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection to a server that is a program. Dropping it kills the program.
struct Server {
    link: Link,
    child: Child,
    log: Lines<BufReader<ChildStderr>>,
    news: Arc<News>,
}

/// Hears that lists changed.
#[derive(Default)]
struct News(Notify);

impl ServerNews for News {
    fn lists_changed(&self) {
        self.0.notify_one();
    }
}

impl Server {
    async fn connect(command: &[String], discovery: Discovery) -> Result<Self, Fault> {
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let log = BufReader::new(child.stderr.take().unwrap()).lines();
        let (ending, news) = (Ending::default(), Arc::new(News::default()));
        let lines = transport::Lines::new(output, input, ending.clone());
        let link = Link::connect(lines, ending, news.clone(), discovery).await?;
        Ok(Self { link, child, log, news })
    }

    /// Connects to the scripted server.
    async fn scripted(arguments: &[&str]) -> Result<Self, Fault> {
        Self::connect(&chat_testkit::mcp::scripted(arguments), Discovery::Ask).await
    }

    fn client(&self) -> &Client {
        self.link.client()
    }

    /// The next line that it writes to standard error.
    async fn logged(&mut self) -> String {
        self.log.next_line().await.unwrap().unwrap_or_default()
    }

    /// Ends the connection, with which the program ends.
    async fn close(mut self) {
        self.link.close().await;
        assert!(self.child.wait().await.unwrap().success());
    }
}

/// Calls a tool with these arguments.
async fn call(client: &Client, tool: &str, arguments: Value) -> Result<CallToolResult, Fault> {
    call_within(PATIENCE, client, tool, arguments).await
}

async fn call_within(
    limit: Duration,
    client: &Client,
    tool: &str,
    arguments: Value,
) -> Result<CallToolResult, Fault> {
    let Value::Object(arguments) = arguments else { panic!("{arguments}") };
    let call = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    let stop = CancellationToken::new();
    let answer = client.call(call, limit, &stop, |_| (), Arc::new(NobodyAsked)).await;
    match answer.map_err(of_server)? {
        Answer::Result(result) => Ok(*result),
        Answer::Odd(odd) => panic!("{odd}"),
    }
}

/// The first text of a result.
fn text(result: &CallToolResult) -> &str {
    let texts = result.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.into_iter().next().unwrap_or_default()
}

/// What the server's tools are called.
async fn tool_names(client: &Client) -> Vec<String> {
    let list = client.tools().await.unwrap();
    list.tools.into_iter().map(|tool| tool.name.into_owned()).collect()
}
