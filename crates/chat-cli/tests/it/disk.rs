//! Tests damaged files, full disks and closed folders: the right error, and no lost data.

use chat_testkit::server::{Gate, Script, Server};

use crate::home::{Home, Run};

#[test]
fn a_damaged_config_file_is_named_and_left_alone() {
    let server = Server::start();
    let home = Home::new(&server);
    let file = home.path("config/natter/config.toml");
    let damaged = "[chat\nbroken = yes";
    std::fs::write(&file, damaged).expect("written");
    let run = home.run(["sessions"]).ok();
    assert!(run.stderr.contains("config.toml”, so Natter is using the defaults"), "{}", run.stderr);
    let added = home.run(["connections", "add", "--url", &server.url(), "Other"]);
    assert_eq!(added.code, Some(1), "{added:?}");
    assert!(added.stderr.contains("This wasn’t saved"), "{}", added.stderr);
    assert_eq!(std::fs::read_to_string(&file).expect("read"), damaged);
}

#[test]
fn a_wrong_number_in_the_settings_is_named_in_plain_words() {
    let server = Server::start();
    let home = Home::new(&server);
    let file = home.path("config/natter/config.toml");
    let good = std::fs::read_to_string(&file).expect("read");
    // Of agents it costs only that value.
    std::fs::write(&file, format!("{good}\n[agents]\nat_once = 0\n")).expect("written");
    let run = home.run(["ask", "hello"]).ok();
    assert_eq!(run.stdout, "You said: hello\n");
    let words = "“at_once” in [agents] must be a whole number from 1 to 4294967295";
    assert!(run.stderr.contains(words), "{}", run.stderr);
    // Elsewhere nobody knows what was set up, and nothing else is said.
    std::fs::write(&file, format!("[tools]\nrounds = -1\n{good}")).expect("written");
    let run = home.run(["ask", "hello"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let words = "line 2: “rounds” must be a whole number from 0 to 4294967295";
    assert!(run.stderr.contains(words), "{}", run.stderr);
    assert!(!run.stderr.contains("no models"), "{}", run.stderr);
    assert_eq!(run.stderr.matches("config.toml").count(), 1, "{}", run.stderr);
}

#[test]
fn a_damaged_database_is_kept_aside_and_named() {
    let server = Server::start();
    let home = Home::new(&server);
    home.run(["ask", "hello"]).ok();
    let file = home.path("data/natter/natter.db");
    for aside in ["natter.db-wal", "natter.db-shm"] {
        let _ = std::fs::remove_file(home.path("data/natter").join(aside));
    }
    let damaged = b"this is no database at all, but it is somebody's file ".repeat(200);
    std::fs::write(&file, &damaged).expect("written");
    let run = home.run(["ask", "hello again"]).ok();
    assert!(run.stderr.contains("Your stored chats were damaged."), "{}", run.stderr);
    assert_eq!(run.stdout, "You said: hello again\n");
    let kept = std::fs::read_dir(home.path("data/natter"))
        .expect("the folder")
        .filter_map(|entry| std::fs::read(entry.expect("a file").path()).ok())
        .filter(|bytes| *bytes == damaged)
        .count();
    assert_eq!(kept, 1);
    assert_eq!(home.transcript().len(), 2);
    let next = home.run(["ask", "and again"]).ok();
    assert!(next.stderr.contains("damaged"), "nobody read it at a terminal: {}", next.stderr);
}

/// Asks three times on a disk of its own: before, while and after it is full.
const ON_A_SMALL_DISK: &str = r#"
mkdir -p "$XDG_DATA_HOME" && mount -t tmpfs -o size=6m none "$XDG_DATA_HOME" || exit 77
ask() { "$PROGRAM" ask "$1" >"$HOME/$1.out" 2>"$HOME/$1.err"; echo $? >"$HOME/$1.code"; }
ask before
head -c 20000000 /dev/zero >"$XDG_DATA_HOME/fill" 2>"$HOME/fill.err"
ask while
rm "$XDG_DATA_HOME/fill"
ask after
"$PROGRAM" sessions --json >"$HOME/sessions"
"#;

#[test]
fn a_full_disk_is_told_and_nothing_is_sent_that_is_not_kept() {
    let server = Server::start();
    let home = Home::new(&server);
    let try_with = |way: &[&str]| {
        let inside = home.command::<&str>([]);
        let mut command = std::process::Command::new("unshare");
        command.args(way).args(["sh", "-c", ON_A_SMALL_DISK]).env_clear();
        command.envs(inside.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("PROGRAM", inside.get_program());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.output().is_ok_and(|output| output.status.success())
    };
    if !try_with(&["--mount"]) && !try_with(&["--map-root-user", "--mount"]) {
        let why = "no small disk can be mounted: neither root nor user namespaces are to be had";
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "{why}");
        eprintln!("not tested: {why}");
        return;
    }
    let read = |name: &str| std::fs::read_to_string(home.path(name)).expect("written");
    assert_eq!(
        (read("before.out").as_str(), read("before.code").as_str()),
        ("You said: before\n", "0\n")
    );
    assert_eq!((read("while.out").as_str(), read("while.code").as_str()), ("", "1\n"));
    assert!(read("while.err").contains("The disk is full"), "{}", read("while.err"));
    assert_eq!(
        (read("after.out").as_str(), read("after.code").as_str()),
        ("You said: after\n", "0\n")
    );
    let sent: Vec<_> = server.chats().iter().map(|chat| chat.texts_of("user").concat()).collect();
    assert_eq!(sent, ["before", "after"]);
    let titles: Vec<_> =
        crate::home::events(&read("sessions")).iter().map(|s| s["title"].clone()).collect();
    assert_eq!(titles, ["after", "before"]);
}

/// Fills a disk of its own while a reply is written. `$1`: whether there is room again before the end.
const FULL_WHILE_IT_WRITES: &str = r#"
mkdir -p "$XDG_DATA_HOME" && mount -t tmpfs -o size=6m none "$XDG_DATA_HOME" || exit 77
"$PROGRAM" ask --json long >"$HOME/out" 2>"$HOME/err" &
until grep -q begins "$HOME/out"; do :; done
head -c 20000000 /dev/zero >"$XDG_DATA_HOME/fill" 2>"$HOME/fill.err"
: >"$HOME/full"
if [ "$1" = room ]; then
    until grep -q disk_full "$HOME/out"; do :; done
    rm "$XDG_DATA_HOME/fill"
fi
wait $!
echo $? >"$HOME/code"
rm -f "$XDG_DATA_HOME/fill"
"$PROGRAM" sessions --json >"$HOME/sessions"
fid=$(sed -n '1s/.*"fid":"\([^"]*\)".*/\1/p' "$HOME/sessions")
"$PROGRAM" show "$fid" >"$HOME/shown"
"#;

#[test]
fn what_is_said_of_a_full_disk_is_what_is_stored() {
    for room in [true, false] {
        let server = Server::start();
        let home = Home::new(&server);
        let gate = Gate::new();
        let word = |n: u32| format!("{:08x}", n.wrapping_mul(2_654_435_761));
        let words: Vec<String> = (0..40_000).map(word).collect();
        let long = words.join(" ");
        server.push(Script::new().text("begins ").gate(&gate).text(&long));
        let try_with = |way: &[&str]| {
            let inside = home.command::<&str>([]);
            let mut command = std::process::Command::new("unshare");
            command.args(way).args(["sh", "-c", FULL_WHILE_IT_WRITES, "sh"]).env_clear();
            command.arg(if room { "room" } else { "none" });
            command.envs(inside.get_envs().filter_map(|(name, value)| Some((name, value?))));
            command.env("PROGRAM", inside.get_program());
            command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
            let mut child = command.spawn().expect("it starts");
            while !home.path("full").exists() {
                if child.try_wait().expect("a child").is_some() {
                    return false;
                }
                std::thread::yield_now();
            }
            gate.open();
            child.wait().is_ok_and(|status| status.success())
        };
        if !try_with(&["--mount"]) && !try_with(&["--map-root-user", "--mount"]) {
            let why =
                "no small disk can be mounted: neither root nor user namespaces are to be had";
            assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "{why}");
            eprintln!("not tested: {why}");
            return;
        }
        let read = |name: &str| std::fs::read_to_string(home.path(name)).expect("written");
        let events = crate::home::events(&read("out"));
        let done = events.iter().rfind(|event| event["type"] == "done").expect("it ended").clone();
        let message = events.iter().rfind(|event| event["type"] == "message").expect("a reply");
        assert_eq!(message["ended"], done["reason"], "room: {room}");
        let told = read("err").contains("isn’t saved");
        assert_eq!(told, !room, "room: {room}: {}", read("err"));
        let (reason, code) = if room { ("complete", "0\n") } else { ("interrupted", "1\n") };
        assert_eq!((done["reason"].as_str(), &*read("code")), (Some(reason), code), "room: {room}");
        let trouble = &crate::home::events(&read("sessions"))[0]["trouble"];
        let stored = if room { serde_json::Value::Null } else { "interrupted".into() };
        assert_eq!(*trouble, stored, "room: {room}");
        let shown: Vec<String> = read("shown").split_whitespace().map(ToOwned::to_owned).collect();
        assert_eq!(shown.join(" ").contains(&long), room, "room: {room}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_to_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    /// An id without rights of its own, on every Linux: to root no file is read-only.
    const NOBODY: u32 = 65_534;
    let server = Server::start();
    let home = Home::new(&server);
    let set = |inside: &str, mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(home.path(inside), permissions).expect("permissions");
    };
    // The build's folder may be closed to others.
    std::fs::copy(env!("CARGO_BIN_EXE_natter-cli"), home.path("program")).expect("copied");
    for folder in ["data/natter", "state"] {
        std::fs::create_dir_all(home.path(folder)).expect("a folder");
    }
    for (inside, mode) in [("", 0o755), ("data/natter", 0o555), ("state", 0o777)] {
        set(inside, mode);
    }
    let ask = |text: &str| {
        let inside = home.command(["ask", text]);
        let mut command = std::process::Command::new(home.path("program"));
        command.args(inside.get_args()).env_clear().current_dir("/");
        command.envs(inside.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.output().map(Run::from).expect("it runs")
    };
    let run = ask("hello");
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run:#?}");
    assert!(run.stderr.contains("data/natter"), "the folder is named: {}", run.stderr);
    assert!(run.stderr.contains("Couldn’t write to"), "{}", run.stderr);
    assert!(run.stderr.contains("Check its permissions"), "{}", run.stderr);
    assert!(server.chats().is_empty());
    set("data/natter", 0o777);
    assert_eq!(ask("hello").ok().stdout, "You said: hello\n");
}
