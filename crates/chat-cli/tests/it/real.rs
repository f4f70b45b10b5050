//! Tests a conversation of two turns with a real model.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use chat_testkit::real::RealServer;

use crate::home::{Home, chunks};

/// What was sent to a server, seen on its way.
struct Tap {
    port: u16,
    sent: Arc<Mutex<Vec<u8>>>,
}

impl Tap {
    /// Stands before a server of this machine. Its threads end with the test.
    fn before(url: &str) -> Self {
        let address = url.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        let sent = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&sent);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(&address).expect("the server");
                pass(&client, &server, Some(Arc::clone(&seen)));
                pass(&server, &client, None);
            }
        });
        Self { port, sent }
    }

    fn sent(&self) -> String {
        String::from_utf8_lossy(&self.sent.lock().expect("unbroken")).into_owned()
    }
}

fn pass(from: &TcpStream, to: &TcpStream, seen: Option<Arc<Mutex<Vec<u8>>>>) {
    let (mut from, mut to) =
        (from.try_clone().expect("a handle"), to.try_clone().expect("a handle"));
    std::thread::spawn(move || {
        let mut bytes = [0; 16 << 10];
        while let Ok(read @ 1..) = from.read(&mut bytes) {
            if let Some(seen) = &seen {
                seen.lock().expect("unbroken").extend_from_slice(&bytes[..read]);
            }
            if to.write_all(&bytes[..read]).is_err() {
                break;
            }
        }
        // The other side may have closed already.
        let _ = to.shutdown(Shutdown::Write);
    });
}

#[test]
fn a_real_model_holds_a_conversation_of_two_turns() {
    let Some(server) = RealServer::start() else { return };
    let tap = Tap::before(&server.url());
    let home = Home::with(&format!(
        "[[connections]]\nname = \"Real\"\nkind = \"openai\"\nurl = \"http://127.0.0.1:{}/v1\"\n",
        tap.port
    ));
    let first = home.run(["ask", "--json", "--connection", "Real", "Name a fruit."]).ok();
    let answer = chunks(&first.events(), false);
    assert!(!answer.trim().is_empty(), "{first:#?}");

    let fid = home.fid();
    let second = home.run(["ask", "--json", "--session", &fid, "And another one?"]).ok();
    let events = second.events();
    assert_eq!(events.last().expect("an end")["reason"], "complete");
    assert!(!chunks(&events, false).trim().is_empty(), "{second:#?}");

    let requests = tap.sent();
    let last = requests.rsplit("POST ").next().expect("a request");
    let quoted = serde_json::to_string(&answer).expect("JSON");
    assert!(last.contains(&quoted), "the second request lacks {quoted}: {last}");
    assert!(last.contains("Name a fruit.") && last.contains("And another one?"), "{last}");

    let transcript = home.transcript();
    let said: Vec<&str> = transcript.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(said[0], "Name a fruit.");
    assert_eq!(said[1], answer);
    assert_eq!(said[3], chunks(&events, false));
    // Its own count of what it was asked to read: the first answer is part of it.
    let tokens = |run: &crate::home::Run, what: &str| {
        run.events().last().expect("an end")["usage"][what].as_u64().expect("a count")
    };
    let before = tokens(&first, "prompt_tokens") + tokens(&first, "completion_tokens");
    assert!(tokens(&second, "prompt_tokens") > before, "{second:#?}");
}
