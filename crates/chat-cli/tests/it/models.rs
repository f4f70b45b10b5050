//! Tests models on this computer: downloading from a site on loopback, adding, listing, describing
//! and removing.

use std::process::Command;

use chat_gguf::write::Writer;
use chat_testkit::hub::{Fault, Hub};
use serde_json::Value;

use crate::home::{Home, Run, end_of, kill};
use crate::pipes::{on, screen, terminal, wait_for};

const REPOSITORY: &str = "ada/tiny-GGUF";
const FILE: &str = "Tiny-Instruct-Q4_K_M.gguf";

/// A home without any server, and a site with one model.
fn world() -> (Home, Hub) {
    let hub = Hub::start();
    hub.put(REPOSITORY, FILE, Writer::tiny("Tiny", 3 << 20).bytes());
    (Home::with(""), hub)
}

fn command(home: &Home, hub: &Hub, args: &[&str]) -> Command {
    let mut command = home.command([&["models"], args].concat());
    command.env("HF_ENDPOINT", hub.url()).env("HF_TOKEN", "hf_secret");
    command
}

fn run(home: &Home, hub: &Hub, args: &[&str]) -> Run {
    let run = Run::of(command(home, hub, args).spawn().expect("the program starts"));
    assert!(!format!("{run:?}").contains("hf_secret"), "{run:?}");
    run
}

fn path(model: &Value) -> std::path::PathBuf {
    model["path"].as_str().expect("a path").into()
}

#[test]
fn a_model_is_pulled_listed_told_of_and_removed() {
    let (home, hub) = world();
    let found = run(&home, &hub, &["search", "tiny", "--json"]).ok().events();
    assert_eq!(found[0]["repository"], REPOSITORY);
    let there = run(&home, &hub, &["info", REPOSITORY, "--json"]).ok().events();
    assert_eq!((there.len(), &there[0]["file"]), (1, &FILE.into()));

    let events = run(&home, &hub, &["pull", REPOSITORY, "--json"]).ok().events();
    let (last, model) = (&events[events.len() - 1], &events[events.len() - 2]);
    assert_eq!((&last["type"], &last["reason"]), (&"done".into(), &"complete".into()));
    assert_eq!(
        (&model["type"], &model["model"]),
        (&"model".into(), &"On this computer/tiny".into())
    );
    assert!(events[..events.len() - 2].iter().all(|event| event["type"] == "download"));

    let listed = run(&home, &hub, &["list", "--installed", "--json"]).ok().events();
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0]["name"], &listed[0]["sha256"]), (&"tiny".into(), &there[0]["sha256"]));
    assert_eq!((&listed[0]["owned"], &listed[0]["repository"]), (&true.into(), &REPOSITORY.into()));
    let text = run(&home, &hub, &["list", "--installed"]).ok().stdout;
    assert!(text.starts_with("tiny ") && text.contains("3.1 MB"), "{text}");
    let info = run(&home, &hub, &["info", "On this computer/Tiny"]).ok().stdout;
    assert!(info.contains("llama") && info.contains(REPOSITORY), "{info}");

    let again = run(&home, &hub, &["pull", REPOSITORY]).ok();
    assert!(again.stderr.contains("Downloaded “tiny”"), "{again:?}");
    assert_eq!(hub.fetches().len(), 1, "it is not fetched again");
    run(&home, &hub, &["remove", "tiny"]).ok();
    assert!(!path(&listed[0]).exists());
    let gone = run(&home, &hub, &["remove", "tiny"]);
    assert_eq!(gone.code, Some(1));
    assert!(gone.stderr.contains("Couldn’t find the model “tiny”."), "{gone:?}");
}

#[test]
fn a_pull_that_was_stopped_goes_on_with_the_same_command() {
    let (home, hub) = world();
    hub.fail([Fault::StallAfter(2_000_000)]);
    let child = command(&home, &hub, &["pull", REPOSITORY, "--json"]).spawn().expect("it starts");
    hub.wait_for("the file to be asked for", |asks| asks.iter().any(|ask| ask.storage));
    kill(child.id(), "INT");
    let stopped = Run::of(child);
    assert_eq!(stopped.code, Some(130), "{stopped:?}");
    assert!(stopped.stderr.contains("Run the same command again to resume it"), "{stopped:?}");
    let last = stopped.events().pop().expect("an event");
    assert_eq!((&last["type"], &last["reason"]), (&"done".into(), &"stopped".into()));

    let waiting = run(&home, &hub, &["list", "--installed", "--json"]).ok().events();
    assert_eq!((waiting.len(), &waiting[0]["state"]), (1, &"paused".into()));
    hub.go_on();
    run(&home, &hub, &["pull", REPOSITORY]).ok();
    let listed = run(&home, &hub, &["list", "--installed", "--json"]).ok().events();
    assert_eq!(listed[0]["name"], "tiny");

    // One that is wanted no more is removed by its name.
    hub.put(REPOSITORY, "Other-Q8_0.gguf", Writer::tiny("Other", 1 << 20).bytes());
    hub.fail([Fault::Page]);
    let failed = run(&home, &hub, &["pull", REPOSITORY, "--file", "*Q8_0.gguf", "--json"]);
    assert_eq!(failed.code, Some(1));
    let events = failed.events();
    let error = &events[events.len() - 2];
    assert_eq!((&error["type"], &error["kind"]), (&"error".into(), &"download_differs".into()));
    run(&home, &hub, &["remove", "other"]).ok();
    assert_eq!(run(&home, &hub, &["list", "--installed", "--json"]).ok().events().len(), 1);
}

#[test]
fn a_repository_with_several_models_wants_to_be_told_which() {
    let (home, hub) = world();
    for file in ["A-Q2_K.gguf", "A-Q8_0.gguf"] {
        hub.put("ada/several", file, Writer::tiny("A", 4_096).bytes());
    }
    let refused = run(&home, &hub, &["pull", "ada/several"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("A-Q2_K.gguf, A-Q8_0.gguf"), "{refused:?}");
    run(&home, &hub, &["pull", "ada/several", "--file", "*Q8_0.gguf"]).ok();
    hub.put("ada/several", "A-Q4_K_M.gguf", Writer::tiny("A", 8_192).bytes());
    let events = run(&home, &hub, &["pull", "ada/several", "--json"]).ok().events();
    assert_eq!(events[events.len() - 2]["file"], "A-Q4_K_M.gguf");

    for (args, words) in [
        (&["pull", "ada/gone"][..], "Couldn’t find “ada/gone” on Hugging Face"),
        (&["pull", "ada/several", "--file", "x"], "“ada/several” doesn’t have the file “x”"),
        (&["pull", "nothing"], "Couldn’t find the model “nothing”."),
        (&["info", "nothing"], "Couldn’t find the model “nothing”."),
    ] {
        let run = run(&home, &hub, args);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.stderr.contains(words), "{run:?}");
    }
    drop(hub);
    let mut alone = home.command(["models", "search", "x"]);
    let closed = format!("http://127.0.0.1:{}", chat_testkit::server::unused_port());
    let run = Run::of(alone.env("HF_ENDPOINT", closed).spawn().expect("it starts"));
    assert!(run.code == Some(1) && run.stderr.contains("Couldn’t reach Hugging Face"), "{run:?}");
}

#[test]
fn a_file_is_added_where_it_lies_or_moved() {
    let (home, hub) = world();
    let file = home.path("Mine-Q4_0.gguf");
    std::fs::write(&file, Writer::tiny("Mine", 4_096).bytes()).expect("a file");
    let name = file.to_str().expect("a name");
    let told = run(&home, &hub, &["info", name, "--json"]).ok().events();
    assert_eq!((&told[0]["title"], &told[0]["context_length"]), (&"Mine".into(), &2_048.into()));
    let added = run(&home, &hub, &["add", name, "--json"]).ok().events();
    assert_eq!((&added[0]["name"], &added[0]["owned"]), (&"mine".into(), &false.into()));
    assert_eq!(path(&added[0]), file);
    run(&home, &hub, &["remove", "mine"]).ok();
    assert!(file.exists());
    let moved = run(&home, &hub, &["add", "--move", name, "--json"]).ok().events();
    assert!(!file.exists() && path(&moved[0]).exists());

    let broken = home.path("broken.gguf");
    std::fs::write(&broken, "no").expect("a file");
    let refused = run(&home, &hub, &["add", broken.to_str().expect("a name")]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("isn’t a GGUF model"), "{refused:?}");
    let nowhere = home.path("nowhere.gguf");
    let nowhere = nowhere.to_str().expect("a name");
    for args in [&["add", nowhere][..], &["add", "--move", nowhere]] {
        let missing = run(&home, &hub, args);
        assert_eq!(missing.code, Some(1), "{missing:?}");
        assert!(
            missing.stderr.contains(&format!("Couldn’t find the file “{nowhere}”")),
            "{missing:?}"
        );
    }
    std::fs::remove_file(path(&moved[0])).expect("a file");
    // Who asks it hears where it was.
    for model in ["mine", "Mine", "On this computer/mine"] {
        let asked = home.run(["ask", "--model", model, "hello"]);
        let was = path(&moved[0]);
        assert_eq!(asked.code, Some(1), "{asked:?}");
        assert!(
            asked.stderr.contains(was.to_str().expect("a name"))
                && asked.stderr.contains("is missing. Put it back"),
            "{asked:?}"
        );
    }
    let unknown = home.run(["ask", "--model", "other", "hello"]);
    assert!(unknown.stderr.contains("Couldn’t find the model “other”"), "{unknown:?}");
    let missing = run(&home, &hub, &["info", "mine"]);
    assert!(
        missing.code == Some(1) && missing.stderr.contains("is missing. Put it back"),
        "{missing:?}"
    );
}

#[test]
fn the_catalogue_and_what_other_programs_have_are_listed() {
    let (home, hub) = world();
    let offered = run(&home, &hub, &["list", "--offered", "--json"]).ok().events();
    assert!(offered.len() >= 8);
    assert!(offered.iter().all(|offer| offer["installed"] == false));
    let text = run(&home, &hub, &["list", "--offered"]).ok().stdout;
    assert_eq!(text.lines().count(), offered.len());
    let info = run(&home, &hub, &["info", "smollm2-135m"]).ok().stdout;
    assert!(info.contains("Apache-2.0") && info.contains("models pull smollm2-135m"), "{info}");

    let folder = home.path(".lmstudio/models/ada/b");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("B-Q4_0.gguf"), Writer::tiny("B", 64).bytes()).expect("a file");
    let found = run(&home, &hub, &["list", "--found", "--json"]).ok().events();
    let ours: Vec<_> = found.iter().filter(|found| found["program"] == "LM Studio").collect();
    assert_eq!((ours.len(), &ours[0]["name"]), (1, &"b".into()));
    // The word `list` may be left out.
    for which in ["--offered", "--found", "--installed"] {
        let long = run(&home, &hub, &["list", which, "--json"]).ok();
        let short = run(&home, &hub, &[which, "--json"]).ok();
        assert_eq!(short.stdout, long.stdout, "{which}");
    }
    for both in [&["list", "--found", "--offered"][..], &["--found", "--offered"]] {
        assert_eq!(run(&home, &hub, both).code, Some(2));
    }
    assert_eq!(run(&home, &hub, &["--found", "search", "x"]).code, Some(2));
}

#[test]
fn a_terminal_sees_how_far_it_is() {
    let (home, hub) = world();
    hub.fail([Fault::StallAfter(2_000_000)]);
    let (ours, end) = terminal();
    let mut pull = command(&home, &hub, &["pull", REPOSITORY]);
    let mut child = pull.stdout(on(&end)).stderr(on(&end)).spawn().expect("it starts");
    drop((pull, end));
    let screen = screen(ours);
    let mut seen = String::new();
    wait_for(&screen, &mut seen, "tiny: 63%, 2.0 MB of 3.1 MB");
    hub.go_on();
    wait_for(&screen, &mut seen, "Downloaded “tiny” (3.1 MB).");
    assert_eq!(end_of(&mut child).code(), Some(0));
}

#[test]
fn the_token_is_in_no_log() {
    let (home, hub) = world();
    let mut pull = command(&home, &hub, &["pull", REPOSITORY]);
    let pulled = Run::of(pull.env("NATTER_LOG", "trace").spawn().expect("it starts")).ok();
    assert!(hub.asks().iter().any(|ask| ask.token.is_some()), "it was sent to the site");
    let mut logs = pulled.stderr;
    for log in std::fs::read_dir(home.path("state/natter/logs")).expect("logs") {
        logs += &std::fs::read_to_string(log.expect("a log").path()).expect("text");
    }
    assert!(logs.contains("TRACE") && !logs.contains("hf_secret"), "{logs}");
}

#[test]
fn a_model_that_cannot_be_removed_costs_no_download() {
    let (home, hub) = world();
    hub.fail([Fault::Page]);
    assert_eq!(run(&home, &hub, &["pull", REPOSITORY]).code, Some(1));
    let waiting = || run(&home, &hub, &["list", "--installed", "--json"]).ok().events();
    assert_eq!(waiting()[0]["state"], "paused");
    // The list was written by a newer Natter: nothing can be removed.
    let index = home.path("data/natter/models/index.json");
    assert!(index.parent().is_some_and(std::path::Path::exists), "{index:?}");
    std::fs::write(&index, r#"{"version":2}"#).expect("a list");
    let refused = run(&home, &hub, &["remove", "tiny"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    std::fs::remove_file(&index).expect("a list");
    assert_eq!(waiting()[0]["state"], "paused");
}

#[test]
fn a_broken_model_is_offered_again() {
    let (home, hub) = world();
    let file = home.path("SmolLM2-135M-Instruct.Q4_1.gguf");
    std::fs::write(&file, Writer::tiny("Tiny", 4_096).bytes()).expect("a file");
    // The size tells it from a file that only has its name.
    let size = chat_core::models::offer("smollm2-135m").expect("the offer").size;
    let long = std::fs::File::options().write(true).open(&file).expect("a file");
    long.set_len(size).expect("room");
    run(&home, &hub, &["add", file.to_str().expect("a name")]).ok();
    let offered = || {
        let all = run(&home, &hub, &["list", "--offered", "--json"]).ok().events();
        let it = all.into_iter().find(|offer| offer["name"] == "smollm2-135m");
        it.expect("the offer")["installed"].clone()
    };
    assert_eq!(offered(), true);
    std::fs::write(&file, "GGUF").expect("a file");
    assert_eq!(offered(), false);
}

/// A program that is installed together with German translations.
pub fn german(home: &Home, args: &[&str]) -> Run {
    let (programs, words) = (home.path("bin"), home.path("share/locale/de/LC_MESSAGES"));
    std::fs::create_dir_all(&programs).expect("a folder");
    std::fs::create_dir_all(&words).expect("a folder");
    let program = programs.join("natter-cli");
    let built = env!("CARGO_BIN_EXE_natter-cli");
    if std::fs::hard_link(built, &program).is_err() {
        std::fs::copy(built, &program).expect("a copy of the program");
    }
    let po = concat!(env!("CARGO_MANIFEST_DIR"), "/../../po/de.po");
    let compiled = Command::new("msgfmt").args([po, "-o"]).arg(words.join("natter.mo")).status();
    assert!(compiled.expect("msgfmt of gettext").success());
    let ours = home.command(args);
    let mut command = Command::new(program);
    let kept = ours.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command.args(args).env_clear().envs(kept).env("LANGUAGE", "de");
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
    command.stderr(std::process::Stdio::piped());
    Run::of(command.spawn().expect("it starts"))
}

#[test]
fn sizes_have_a_comma_in_german() {
    let home = Home::with("");
    let told = german(&home, &["models", "list", "--offered"]).ok().stdout;
    let tiny = told.lines().find(|line| line.starts_with("smollm2-135m")).expect("the offer");
    assert!(tiny.contains("98,4 MB"), "{tiny}");
    assert!(!told.contains(".0 GB") && told.contains(",0 GB"), "{told}");
}
