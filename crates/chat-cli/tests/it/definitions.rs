//! Tests what the terminal says of agents, commands and skills in files.

use std::path::PathBuf;

use chat_testkit::server::Server;

use crate::home::Home;
use crate::prompts::Seat;

fn write(home: &Home, path: &str, text: &str) -> PathBuf {
    let path = home.path(path);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    std::fs::write(&path, text).expect("written");
    path
}

#[test]
fn a_chat_says_that_a_file_broke_while_it_runs() {
    let server = Server::start();
    let home = Home::new(&server);
    let file = "config/natter/agents/pirate.md";
    write(&home, file, "---\ntools: []\n---\nTalk like a pirate.");
    let mut seat = Seat::of(home.command(["chat"]), false);
    let mut shown = seat.wait_for("> ");
    assert!(!shown.contains("pirate.md"), "{shown:?}");
    let path = write(&home, file, "---\ntols: []\n---\nTalk like a pirate.");
    // It is noticed after a while. Each line is a moment to say so.
    let line = format!("{}, line 2: “tols” is unknown. Did you mean “tools”?", path.display());
    while !shown.contains(&line) {
        seat.type_in("/agents\r");
        shown = seat.wait_for("> ");
    }
    seat.type_in("/agents\r");
    shown = seat.wait_for("> ");
    assert!(!shown.contains("pirate.md"), "only once: {shown:?}");
    seat.type_in("\x04");
    seat.end().ok();
}
