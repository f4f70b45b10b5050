//! Tests servers that others wrote: models call their tools in the sandbox and at an address.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use chat_testkit::mcp::OtherServers;
use chat_testkit::server::{Server, unused_port};
use serde_json::{Value, json};

use super::{Called, call, home_with, program};
use crate::home::{Home, wait_until};

/// A server at an address of this machine. Dropping it ends it.
struct Serving {
    child: Child,
    url: String,
}

impl Serving {
    /// Starts a program that serves at this port, and waits until it does.
    fn start(command: &[String], port: u16) -> Self {
        let child = Command::new(&command[0])
            .args(&command[1..])
            .env("PORT", port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let serving = Self { child, url: format!("http://127.0.0.1:{port}/mcp") };
        wait_until("a server at an address", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        serving
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The entry of a program in the sandbox, which may change this folder.
fn confined(others: &OtherServers, command: &[String], folder: Option<&Path>) -> Value {
    program(command, &json!({ "folders": Vec::from_iter(folder), "readFolders": others.folders() }))
}

/// A folder of the home, which its user gives to a server.
fn folder(home: &Home, name: &str) -> std::path::PathBuf {
    let folder = home.path(name);
    fs::create_dir_all(&folder).expect("a folder");
    folder.canonicalize().expect("its path")
}

/// The picture that the server of everything has, or its beginning.
const LOGO: &str = "iVBORw0KGgoAAAANSUhEUgAAABQAAAAUCAYAAACNiR0NAAAKsGlDQ1BJQ0MgUHJvZmlsZQ";

/// Calls tools of the server of everything that give all there is.
fn everything_is_called(model: &Server, home: &Home) {
    let round = call(
        home,
        model,
        &["mcp:everything/*"],
        &[
            ("everything__echo", json!({ "message": "good morning" })),
            ("everything__get-sum", json!({ "a": 2, "b": "two" })),
            ("everything__get-tiny-image", json!({})),
            (
                "everything__get-resource-reference",
                json!({ "resourceType": "Text", "resourceId": 3 }),
            ),
            ("everything__get-resource-links", json!({ "count": 2 })),
            ("everything__get-structured-content", json!({ "location": "Chicago" })),
        ],
    );
    assert_eq!(round.run.stderr, "", "{:#?}", round.run);
    let [echo, sum, picture, resource, links, structured] = &round.calls[..] else { panic!() };
    assert!(!echo.failed() && echo.told.contains("good morning"), "{echo:?}");
    assert_eq!(echo.event["verdict"], Value::Null, "nobody was asked");
    assert!(sum.failed(), "{sum:?}");
    assert!(!picture.failed() && round.request.contains(LOGO), "{picture:?}");
    assert!(resource.told.contains("demo://resource/dynamic/text/3"), "{resource:?}");
    assert!(links.told.contains("demo://resource/"), "{links:?}");
    assert!(structured.told.contains("Light rain / drizzle"), "{structured:?}");
    assert!(![resource, links, structured].into_iter().any(Called::failed));
}

#[test]
fn the_server_of_everything_is_called_in_the_sandbox() {
    let Some(others) = OtherServers::find() else { return };
    let model = Server::start();
    let everything = confined(&others, &others.everything(&[]), None);
    let home = home_with(&model, &json!({ "everything": everything }));
    everything_is_called(&model, &home);
}

#[test]
fn the_server_of_everything_is_called_at_an_address() {
    let Some(others) = OtherServers::find() else { return };
    let serving = Serving::start(&others.everything(&["streamableHttp"]), unused_port());
    let model = Server::start();
    let home = home_with(&model, &json!({ "everything": { "type": "http", "url": serving.url } }));
    everything_is_called(&model, &home);
}

#[test]
fn the_server_of_files_has_the_folders_that_it_was_given() {
    let Some(others) = OtherServers::find() else { return };
    let model = Server::start();
    let home = Home::new(&model);
    let (granted, hidden) = (folder(&home, "granted"), folder(&home, "hidden"));
    fs::write(granted.join("note.txt"), "water the plants").expect("a file");
    fs::write(hidden.join("note.txt"), "nobody's business").expect("a file");
    let path = |folder: &Path, name: &str| folder.join(name).to_str().expect("text").to_owned();
    // It believes that it has both.
    let both = [path(&granted, ""), path(&hidden, "")];
    let command = others.filesystem(&both.each_ref().map(String::as_str));
    let files = confined(&others, &command, Some(&granted));
    super::set_servers(&home, &json!({ "files": files }));
    let written = json!({ "path": path(&granted, "new.txt"), "content": "done" });
    let round = call(
        &home,
        &model,
        &["mcp:files/read_text_file", "mcp:files/write_file"],
        &[
            ("files__read_text_file", json!({ "path": path(&granted, "note.txt") })),
            ("files__read_text_file", json!({ "path": "/etc/hostname" })),
            ("files__read_text_file", json!({ "path": path(&hidden, "note.txt") })),
            ("files__write_file", written),
            // No rule allows it.
            ("files__create_directory", json!({ "path": path(&granted, "unasked") })),
        ],
    );
    let [read, outside, unseen, write, unasked] = &round.calls[..] else { panic!() };
    assert!(!read.failed() && read.told.contains("water the plants"), "{read:?}");
    assert!(outside.failed() && outside.told.contains("denied"), "{outside:?}");
    assert!(unseen.failed() && !round.request.contains("nobody's business"), "{unseen:?}");
    assert!(!write.failed(), "{write:?}");
    assert_eq!(fs::read_to_string(granted.join("new.txt")).expect("a file"), "done");
    assert!(unasked.failed() && !granted.join("unasked").exists(), "{unasked:?}");
    let asked = round.events.iter().find(|event| event["type"] == "permission").expect("an event");
    let expected = (&json!("mcp"), &json!("files/create_directory"), &json!("nobody"));
    assert_eq!((&asked["action"], &asked["target"], &asked["answer"]), expected);
    let stderr = &round.run.stderr;
    assert!(stderr.contains("--allow mcp:files/create_directory\n"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn the_server_that_remembers_does_so_once_it_may() {
    let Some(others) = OtherServers::find() else { return };
    let model = Server::start();
    let home = Home::new(&model);
    let memories = folder(&home, "memories");
    let file = memories.join("memory.json");
    let mut memory = confined(&others, &others.memory(), Some(&memories));
    memory["env"] = json!({ "MEMORY_FILE_PATH": file });
    super::set_servers(&home, &json!({ "memory": memory }));
    let ada = json!({ "name": "Ada", "entityType": "person", "observations": ["counts"] });
    let create = ("memory__create_entities", json!({ "entities": [ada] }));
    let denied = call(&home, &model, &[], std::slice::from_ref(&create));
    assert!(denied.calls[0].failed(), "{:?}", denied.calls);
    assert!(denied.calls[0].told.contains("the user cannot be asked here"), "{:?}", denied.calls);
    assert!(denied.run.stderr.contains("--allow mcp:memory/create_entities"), "{:?}", denied.run);
    assert!(!file.exists(), "nothing ran");

    let bob = json!([{ "entityName": "Bob", "contents": ["sings"] }]);
    let calls = [
        create,
        ("memory__read_graph", json!({})),
        ("memory__add_observations", json!({ "observations": bob })),
    ];
    let allowed = call(&home, &model, &["mcp:memory/*"], &calls);
    let [created, graph, nobody] = &allowed.calls[..] else { panic!() };
    assert!(!created.failed() && !graph.failed(), "{:?}", allowed.calls);
    assert!(graph.told.contains("Ada") && graph.told.contains("counts"), "{graph:?}");
    assert!(nobody.failed() && nobody.told.contains("Bob"), "{nobody:?}");
    assert!(fs::read_to_string(file).expect("a file").contains("Ada"));
}

/// Calls tools of the small server with the official SDK for Python.
fn tiny_is_called(model: &Server, home: &Home) {
    let round = call(
        home,
        model,
        &["mcp:tiny/*"],
        &[
            ("tiny__add", json!({ "a": 1, "b": 2 })),
            ("tiny__add", json!({ "a": "one", "b": 2 })),
            // No one can fill in its form here.
            ("tiny__greet", json!({})),
            ("tiny__slow", json!({ "seconds": 0.2 })),
        ],
    );
    assert_eq!(round.run.stderr.lines().count(), 1, "of the form: {:#?}", round.run);
    let [sum, wrong, greeting, slow] = &round.calls[..] else { panic!() };
    assert_eq!((sum.failed(), sum.told.as_str()), (false, "3"), "{sum:?}");
    assert!(wrong.failed(), "{wrong:?}");
    assert!(!greeting.told.contains("Hello"), "{greeting:?}");
    let form = round.events.iter().find(|event| event["type"] == "form").expect("an event");
    assert_eq!((&form["server"], &form["answer"]), (&json!("tiny"), &json!("nobody")));
    assert_eq!(slow.told, "done", "{slow:?}");
}

#[test]
fn a_server_with_the_official_sdk_is_called_in_the_sandbox() {
    let Some(others) = OtherServers::find() else { return };
    let model = Server::start();
    let home = home_with(&model, &json!({ "tiny": confined(&others, &others.tiny(&[]), None) }));
    tiny_is_called(&model, &home);
}

#[test]
fn a_server_with_the_official_sdk_is_called_at_an_address() {
    let Some(others) = OtherServers::find() else { return };
    let port = unused_port();
    let serving = Serving::start(&others.tiny(&["http", &port.to_string()]), port);
    let model = Server::start();
    let home = home_with(&model, &json!({ "tiny": { "url": serving.url } }));
    tiny_is_called(&model, &home);
}
