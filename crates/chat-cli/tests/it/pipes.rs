//! Tests output to slow readers, to readers that go away, and to terminals.

use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::time::Duration;

use chat_testkit::server::{End, Gate, PATIENCE, Script, Server, text};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::LocalModes;

use crate::home::{Home, Run, chunks, end_of, events, kill, wait_until};

#[test]
fn text_comes_at_once_and_not_at_the_end() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("now ").gate(&gate).text("then"));
    let home = Home::new(&server);
    let mut child = home.command(["ask", "hello"]).spawn().expect("started");
    let mut first = [0; 4];
    child.stdout.as_mut().expect("its output").read_exact(&mut first).expect("four bytes");
    assert_eq!(&first, b"now ");
    gate.open();
    assert_eq!(Run::of(child).ok().stdout, "then\n");
}

#[test]
fn a_reader_that_goes_away_stops_the_request_quietly() {
    let server = Server::start();
    let pieces: Vec<String> = text::words(200_000);
    server.push(Script::new().paced(pieces, 20_000.0));
    let home = Home::new(&server);
    let mut child = home.command(["ask", "hello"]).spawn().expect("started");
    let mut first = [0; 4];
    child.stdout.as_mut().expect("its output").read_exact(&mut first).expect("four bytes");
    drop(child.stdout.take());
    let mut stderr = child.stderr.take().expect("its other output");
    let status = end_of(&mut child);
    let mut said = String::new();
    stderr.read_to_string(&mut said).expect("text");
    assert_eq!((status.code(), said.as_str()), (Some(130), ""));
    wait_until("the request's end", || server.chats()[0].sent().end == End::ClientGone);
    let chat = home.show(&home.fid());
    assert_eq!(chat["messages"][1]["ended"], "stopped");
}

#[test]
fn a_reader_that_goes_away_ends_a_list_quietly() {
    let server = Server::start();
    let home = Home::new(&server);
    server.push(Script::new().text(&text::words(100_000).concat()));
    home.run(["ask", "hello"]).ok();
    let mut child = home.command(["show", &home.fid()]).spawn().expect("started");
    drop(child.stdout.take());
    let mut stderr = child.stderr.take().expect("its other output");
    let status = end_of(&mut child);
    let mut said = String::new();
    stderr.read_to_string(&mut said).expect("text");
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));
}

#[test]
fn a_slow_reader_slows_nobody_and_gets_it_all_in_larger_pieces() {
    let server = Server::start();
    let pieces: Vec<String> = text::words(50_000);
    server.push(Script::new().flat_out(pieces.clone()));
    let home = Home::new(&server);
    let mut child = home.command(["ask", "--json", "hello"]).spawn().expect("started");
    // Nothing is read before the server has sent everything: it is not held up.
    wait_until("the whole reply", || {
        server.chats().first().is_some_and(|chat| chat.sent().end == End::Complete)
    });
    let mut out = String::new();
    child.stdout.as_mut().expect("its output").read_to_string(&mut out).expect("text");
    assert_eq!(end_of(&mut child).code(), Some(0));
    let events = events(&out);
    assert_eq!(chunks(&events, false), pieces.concat());
    let count = events.iter().filter(|event| event["type"] == "chunk").count();
    assert!(count < pieces.len() / 2, "{count} chunks were not merged");
}

/// The two ends of a terminal: ours, and the one for the program.
pub fn terminal() -> (std::fs::File, OwnedFd) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).expect("granted");
    unlockpt(&ours).expect("unlocked");
    let name = ptsname(&ours, Vec::new()).expect("its name");
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(name.to_str().expect("a path"))
        .expect("its other end");
    (ours.into(), file.into())
}

pub fn on(end: &OwnedFd) -> Stdio {
    Stdio::from(end.try_clone().expect("another handle"))
}

/// Gathers what the program shows on a terminal, until the terminal is closed.
pub fn screen(mut ours: std::fs::File) -> std::sync::mpsc::Receiver<String> {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        // The last writer's going away is an error on Linux.
        while let Ok(read @ 1..) = ours.read(&mut bytes) {
            let text = String::from_utf8_lossy(&bytes[..read]).into_owned();
            if send.send(text).is_err() {
                return;
            }
        }
    });
    receive
}

/// Waits until this was shown. It and what was shown before it count no more, what came with it in one piece does.
pub fn wait_for(
    screen: &std::sync::mpsc::Receiver<String>,
    seen: &mut String,
    wanted: &str,
) -> String {
    loop {
        if let Some(at) = seen.find(wanted) {
            let rest = seen.split_off(at + wanted.len());
            return std::mem::replace(seen, rest);
        }
        let Ok(more) = screen.recv_timeout(PATIENCE) else {
            panic!("waited in vain for {wanted:?} in {seen:?}");
        };
        seen.push_str(&more);
    }
}

#[test]
fn a_model_cannot_command_a_terminal() {
    let server = Server::start();
    server.push(Script::new().text("\x1b]0;owned\x07").text("\x1b").text("[2Jgone\r!"));
    let home = Home::new(&server);
    let (ours, theirs) = terminal();
    let mut child = home.command(["ask", "hello"]).stdout(on(&theirs)).spawn().expect("started");
    drop(theirs);
    let seen: String = screen(ours).iter().collect();
    assert_eq!(end_of(&mut child).code(), Some(0));
    // The terminal itself puts a return before each newline.
    assert_eq!(seen, "␛]0;owned␇␛[2Jgone␍!\r\n");
    let fid = home.fid();
    let raw = home.run(["show", "--json", &fid]).ok();
    assert!(raw.stdout.contains("\\u001b]0;owned"), "stored as it came: {}", raw.stdout);
}

#[test]
fn thinking_is_dim_on_a_terminal_and_plain_without_colours() {
    for (no_color, wanted) in [(None, "\x1b[2mhm\x1b[0m"), (Some("1"), "hm")] {
        let server = Server::start();
        server.push(Script::new().thinking("hm").text("42"));
        let home = Home::new(&server);
        let (ours, theirs) = terminal();
        let mut command = home.command(["ask", "hello"]);
        command.stderr(on(&theirs)).env("TERM", "xterm");
        if let Some(value) = no_color {
            command.env("NO_COLOR", value);
        }
        let child = command.spawn().expect("started");
        drop((command, theirs));
        let seen: String = screen(ours).iter().collect();
        assert_eq!(Run::of(child).ok().stdout, "42\n");
        assert_eq!(seen, format!("{wanted}\r\n"));
    }
}

#[test]
fn a_conversation_at_a_terminal_has_editing_and_history() {
    let server = Server::start();
    let home = Home::new(&server);
    let (mut ours, theirs) = terminal();
    let mut command = home.command(["chat"]);
    command.stdin(on(&theirs)).stdout(on(&theirs)).stderr(on(&theirs)).env("TERM", "xterm");
    let mut child = command.spawn().expect("started");
    drop((command, theirs));
    let screen = screen(ours.try_clone().expect("another handle"));
    let mut seen = String::new();
    let mut type_in = |keys: &str| ours.write_all(keys.as_bytes()).expect("typed");
    wait_for(&screen, &mut seen, "press Ctrl+D to quit");
    wait_for(&screen, &mut seen, "> ");
    // Home, two letters, end, and backspace: the line is edited.
    type_in("llo!\x01he\x05\x7f\r");
    wait_for(&screen, &mut seen, "You said: hello\r\n");
    wait_for(&screen, &mut seen, "> ");
    // The arrow up brings the last message back.
    type_in("\x1b[A again\r");
    wait_for(&screen, &mut seen, "You said: hello again\r\n");
    wait_for(&screen, &mut seen, "> ");
    type_in("\x04");
    assert_eq!(end_of(&mut child).code(), Some(0));
    assert_eq!(home.transcript().len(), 4);
}

#[test]
fn deleting_asks_at_a_terminal() {
    let server = Server::start();
    let home = Home::new(&server);
    home.run(["ask", "hello"]).ok();
    let fid = home.fid();
    for (answer, left) in [("n\r", 1), ("\r", 1), ("y\r", 0)] {
        let (mut ours, theirs) = terminal();
        let mut command = home.command(["delete", &fid]);
        command.stdin(on(&theirs)).stderr(on(&theirs));
        let mut child = command.spawn().expect("started");
        drop((command, theirs));
        let screen = screen(ours.try_clone().expect("another handle"));
        wait_for(&screen, &mut String::new(), "Delete “hello”? [y/N] ");
        ours.write_all(answer.as_bytes()).expect("typed");
        assert_eq!(end_of(&mut child).code(), Some(i32::from(left == 1)), "{answer:?}");
        assert_eq!(home.sessions().len(), left, "{answer:?}");
    }
}

#[test]
fn a_silent_server_is_talked_about_on_a_terminal() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().gate_first(&gate).text("awake"));
    let home = Home::new(&server);
    let (ours, theirs) = terminal();
    let mut command = home.command(["ask", "hello"]);
    command.stderr(on(&theirs)).env("TERM", "xterm");
    let child = command.spawn().expect("started");
    drop((command, theirs));
    let screen = screen(ours);
    let mut seen = String::new();
    wait_for(&screen, &mut seen, "Waiting for the model");
    gate.open();
    assert_eq!(Run::of(child).ok().stdout, "awake\n");
    while let Ok(more) = screen.recv_timeout(Duration::from_secs(1)) {
        seen.push_str(&more);
    }
    assert!(seen.ends_with("\r\x1b[2K"), "the line is wiped: {seen:?}");
}

#[test]
fn a_key_typed_at_a_terminal_is_not_shown() {
    let server = Server::start();
    let home = Home::new(&server);
    let (ours, theirs) = terminal();
    let mut command = home.command(["connections", "key", "Test"]);
    command.stdin(on(&theirs)).stderr(on(&theirs));
    let child = command.spawn().expect("started");
    drop(command);
    let shown = screen(ours.try_clone().expect("another handle"));
    let mut all = String::new();
    wait_for(&shown, &mut all, "Key for “Test”: ");
    let mut keys = ours;
    keys.write_all(b"sk-typed\n").expect("typed");
    Run::of(child).ok();
    let modes = rustix::termios::tcgetattr(&theirs).expect("its modes").local_modes;
    assert!(modes.contains(rustix::termios::LocalModes::ECHO), "the terminal shows again");
    drop(theirs);
    all.extend(shown);
    assert!(all.contains("Changed the key of") && !all.contains("sk-typed"), "{all}");
}

#[test]
fn a_chat_at_a_terminal_has_bold_headings_and_nothing_else_to_obey() {
    let server = Server::start();
    server.push(Script::new().text("\x1b]0;owned\x07"));
    let home = Home::new(&server);
    home.run(["ask", "hello"]).ok();
    let fid = home.fid();
    let shows = |args: &[&str]| {
        let (ours, theirs) = terminal();
        let mut command = home.command(args);
        command.stdout(on(&theirs)).stderr(on(&theirs)).env("TERM", "xterm");
        let mut child = command.spawn().expect("started");
        drop((command, theirs));
        let seen: String = screen(ours).iter().collect();
        assert_eq!(end_of(&mut child).code(), Some(0), "{seen:?}");
        seen
    };
    let shown = shows(&["show", &fid]);
    assert!(shown.starts_with("\x1b[1mhello\x1b[0m\r\n"), "{shown:?}");
    for shown in [shown, shows(&["export", "--markdown", &fid])] {
        assert!(shown.contains("␛]0;owned␇"), "{shown:?}");
    }
    assert!(shows(&["sessions", "--search", "nowhere"]).contains("No chats found."));
    // What was found is bold, with an accent that was not typed.
    let found = shows(&["sessions", "--search", "HÉLLO"]);
    assert!(found.contains("  \x1b[1mhello\x1b[0m\r\n"), "{found:?}");
}

#[test]
fn a_conversation_that_is_ended_from_outside_leaves_the_terminal_as_it_was() {
    let server = Server::start();
    let home = Home::new(&server);
    let (ours, theirs) = terminal();
    let modes = || rustix::termios::tcgetattr(&theirs).expect("its modes").local_modes;
    let before = modes();
    let mut command = home.command(["chat"]);
    command.stdin(on(&theirs)).stdout(on(&theirs)).stderr(on(&theirs)).env("TERM", "xterm");
    let mut child = command.spawn().expect("started");
    wait_until("the editor", || !modes().contains(LocalModes::ICANON));
    kill(child.id(), "TERM");
    assert_eq!(end_of(&mut child).code(), Some(130));
    assert_eq!(modes(), before);
    drop(ours);
}
