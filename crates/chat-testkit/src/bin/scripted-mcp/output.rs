//! Writes messages to standard output, a line each.

use std::io::{Stdout, Write};
use std::sync::Mutex;

use serde_json::{Value, json};

/// Where messages go. A client that is gone ends the server.
#[derive(Debug)]
pub struct Output(Mutex<Stdout>);

impl Output {
    pub fn new() -> Self {
        Self(Mutex::new(std::io::stdout()))
    }

    /// Answers a request: with its result, or with an error's object.
    pub fn answer(&self, id: &Value, answer: Result<Value, Value>) {
        self.say(&match answer {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        });
    }

    pub fn notify(&self, method: &str, params: &Value) {
        self.say(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub fn say(&self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    /// Writes bytes as they are.
    pub fn write(&self, bytes: &[u8]) {
        let mut out = self.0.lock().expect("nobody panics while writing");
        if out.write_all(bytes).and_then(|()| out.flush()).is_err() {
            std::process::exit(1);
        }
    }
}

/// An error's object.
pub fn refusal(code: i64, message: &str) -> Value {
    json!({ "code": code, "message": message })
}
