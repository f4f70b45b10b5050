//! Parts of tests that need a process of their own: this binary once more, with one ignored test.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Names the folder that such a part works in.
const FOLDER: &str = "NATTER_TEST_FOLDER";

/// An id without rights of its own, on every Linux.
const NOBODY: u32 = 65534;

/// The folder that this process was given.
pub fn folder() -> PathBuf {
    PathBuf::from(std::env::var_os(FOLDER).expect("run by another test"))
}

/// A command that runs the ignored test of this name in a folder.
pub fn command(name: &str, folder: &Path) -> Command {
    command_of(&std::env::current_exe().unwrap(), name, folder)
}

fn command_of(program: &Path, name: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.args([name, "--exact", "--ignored", "--nocapture"]);
    command.args(["--test-threads", "1"]);
    command.env(FOLDER, folder);
    command
}

/// Runs it to its end, which must be a success.
pub fn run(mut command: Command) {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{error}");
    // A name that fits no test would be a success as well.
    assert!(text.contains("1 passed"), "{text}\n{error}");
}

/// The same, without the rights of root, to whom no file is read-only. The folder becomes theirs.
pub fn run_without_rights(name: &str, folder: &Path) {
    if !rustix::process::geteuid().is_root() {
        return run(command(name, folder));
    }
    // The build's folder may be closed to others.
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(place.path(), open).unwrap();
    std::os::unix::fs::chown(folder, Some(NOBODY), Some(NOBODY)).unwrap();
    let mut command = command_of(&program, name, folder);
    command.uid(NOBODY).gid(NOBODY).current_dir("/");
    run(command);
}

/// The same, where the folder is a small disk of its own: a real one, in memory, that only this
/// test sees.
pub fn run_on_small_disk(name: &str, megabytes: u32, folder: &Path) {
    let mount =
        format!("mount -t tmpfs -o size={megabytes}m,mode=0700 none \"${FOLDER}\" && exec \"$@\"");
    let ways: [&[&str]; 2] = [&["--mount"], &["--map-root-user", "--mount"]];
    let unshare = |way: &[&str], then: &[&std::ffi::OsStr]| {
        let mut command = Command::new("unshare");
        command.args(way).args(["sh", "-c", &mount, "sh"]).args(then).env(FOLDER, folder);
        command
    };
    let works = |way: &&&[&str]| {
        let tried = unshare(way, &["true".as_ref()]).output();
        tried.is_ok_and(|output| output.status.success())
    };
    let Some(way) = ways.iter().find(works) else {
        let why = "no small disk can be mounted: neither root nor user namespaces are to be had";
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "{why}");
        eprintln!("not tested: {why}");
        return;
    };
    let inner = command(name, folder);
    let program: Vec<_> = std::iter::once(inner.get_program()).chain(inner.get_args()).collect();
    run(unshare(way, &program));
}

/// A process that says what it does, line by line, and does the next thing when told.
pub struct Talking {
    child: Child,
    /// None once it goes on by itself.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// What marks a line as said by [`say`]: the test harness prints too.
const MARK: &str = "said: ";

/// Says something to the process that began this one.
pub fn say(what: &str) {
    // Past the harness and its buffers: what was said before a kill is said.
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{MARK}{what}").unwrap();
    out.flush().unwrap();
}

/// Waits until the process that began this one says to go on, or lets this one run.
pub fn wait() {
    std::io::stdin().lock().read_line(&mut String::new()).unwrap();
}

impl Talking {
    /// Starts the ignored test of this name in a folder.
    pub fn start(name: &str, folder: &Path) -> Self {
        let mut command = command(name, folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    /// The next thing that it says; none when it has ended.
    pub fn hear(&mut self) -> Option<String> {
        let mut line = String::new();
        while self.output.read_line(&mut line).unwrap() > 0 {
            // A line that a kill cut off was not said.
            if let Some(said) = line.strip_prefix(MARK).and_then(|said| said.strip_suffix('\n')) {
                return Some(said.to_owned());
            }
            line.clear();
        }
        None
    }

    /// Lets it go on to where it waits next.
    pub fn go_on(&mut self) {
        writeln!(self.input.as_mut().expect("it waits for nobody")).unwrap();
    }

    /// Lets it run: it waits no more.
    pub fn let_run(&mut self) {
        self.input = None;
    }

    /// Ends it without a warning, and gives what it had said until then.
    pub fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        let mut rest = Vec::new();
        while let Some(said) = self.hear() {
            rest.push(said);
        }
        self.child.wait().unwrap();
        rest
    }

    /// Waits for its end, which must be a success.
    pub fn end(mut self) {
        while self.hear().is_some() {}
        assert!(self.child.wait().unwrap().success());
    }
}
