//! Provides a user's folders for one test, and runs the program in them.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use chat_testkit::server::{PATIENCE, Server};
use serde_json::Value;
use tempfile::TempDir;

/// Folders of their own, with settings that know one server.
pub struct Home {
    folder: TempDir,
}

/// What a run gave.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Home {
    /// A home that knows this server as `Test`, with its model `scripted` as the default.
    pub fn new(server: &Server) -> Self {
        Self::with(&connection(&server.url()))
    }

    /// A home whose settings end with these lines.
    pub fn with(settings: &str) -> Self {
        let home = Self { folder: tempfile::tempdir().expect("a folder") };
        std::fs::create_dir_all(home.path("config/natter")).expect("a folder");
        home.settings(settings);
        home
    }

    /// Replaces the settings.
    pub fn settings(&self, settings: &str) {
        let chat = "[chat]\nfind_local_servers = false\nbetter_titles = false\n";
        let model = "model = { connection = \"Test\", model = \"scripted\" }\n";
        let file = self.path("config/natter/config.toml");
        std::fs::write(file, format!("{chat}{model}{settings}")).expect("settings");
    }

    pub fn path(&self, inside: &str) -> PathBuf {
        self.folder.path().join(inside)
    }

    /// The program with these arguments, in this home and nowhere else.
    pub fn command<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_natter-cli"));
        command.args(args).env_clear().stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("HOME", self.folder.path());
        command.env("TZ", "UTC").env("LC_ALL", "C.UTF-8");
        for (variable, folder) in
            [("XDG_CONFIG_HOME", "config"), ("XDG_DATA_HOME", "data"), ("XDG_STATE_HOME", "state")]
        {
            command.env(variable, self.path(folder));
        }
        command
    }

    /// Runs it to its end.
    pub fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Run {
        Run::of(self.command(args).spawn().expect("the program starts"))
    }

    /// Runs it with this on its standard input.
    pub fn run_with<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>, input: &str) -> Run {
        let mut child =
            self.command(args).stdin(Stdio::piped()).spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("its input");
        stdin.write_all(input.as_bytes()).expect("it reads");
        drop(stdin);
        Run::of(child)
    }

    /// The chats as `sessions --json` lists them.
    pub fn sessions(&self) -> Vec<Value> {
        self.run(["sessions", "--json"]).ok().events()
    }

    /// The only chat there is.
    pub fn fid(&self) -> String {
        let sessions = self.sessions();
        assert_eq!(sessions.len(), 1, "{sessions:#?}");
        sessions[0]["fid"].as_str().expect("a fid").to_owned()
    }

    /// A chat as `show --json` prints it.
    pub fn show(&self, fid: &str) -> Value {
        let run = self.run(["show", "--json", fid]).ok();
        serde_json::from_str(&run.stdout).expect("JSON")
    }

    /// Role and text of each message of the only chat.
    pub fn transcript(&self) -> Vec<(String, String)> {
        let chat = self.show(&self.fid());
        let messages = chat["messages"].as_array().expect("messages");
        let field = |message: &Value, name: &str| message[name].as_str().unwrap_or("").to_owned();
        messages.iter().map(|m| (field(m, "role"), field(m, "text"))).collect()
    }
}

/// The settings of a connection `Test` to Ollama at this address.
pub fn connection(url: &str) -> String {
    format!("[[connections]]\nname = \"Test\"\nkind = \"ollama\"\nurl = \"{url}\"\n")
}

impl Run {
    /// Waits for a program to end.
    ///
    /// # Panics
    /// Where it does not end in time.
    pub fn of(child: Child) -> Self {
        // The pipes must be read while it runs, so another thread waits with the limit.
        let (done, ended) = std::sync::mpsc::channel();
        let id = child.id();
        std::thread::spawn(move || done.send(child.wait_with_output()));
        if let Ok(output) = ended.recv_timeout(PATIENCE) {
            return Self::from(output.expect("the program ends"));
        }
        kill(id, "KILL");
        let output = ended.recv().map(|output| output.map(Self::from));
        panic!("natter-cli did not end: {output:#?}");
    }

    /// The run, which must have succeeded.
    pub fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// Its output as one JSON object a line.
    pub fn events(&self) -> Vec<Value> {
        events(&self.stdout)
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Lines of JSON.
pub fn events(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect()
}

/// The text of the chunks among events, thinking or not.
pub fn chunks(events: &[Value], thinking: bool) -> String {
    events
        .iter()
        .filter(|event| event["type"] == "chunk" && event["thinking"] == thinking)
        .filter_map(|event| event["text"].as_str())
        .collect()
}

/// Sends a signal to a process that this test started.
pub fn kill(id: u32, signal: &str) {
    let signal = match signal {
        "KILL" => rustix::process::Signal::KILL,
        "TERM" => rustix::process::Signal::TERM,
        _ => rustix::process::Signal::INT,
    };
    let pid = rustix::process::Pid::from_raw(id.cast_signed()).expect("a process id");
    // It may be gone already.
    let _ = rustix::process::kill_process(pid, signal);
}

/// Waits until a condition holds, looking again and again.
///
/// # Panics
/// After [`PATIENCE`].
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for a process and gives how it ended.
pub fn end_of(child: &mut Child) -> ExitStatus {
    let mut status = None;
    wait_until("the end of natter-cli", || {
        status = child.try_wait().expect("its state");
        status.is_some()
    });
    status.expect("it ended")
}
