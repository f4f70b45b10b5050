//! Tests the caches for a project's build downloads, and git's knowledge of who the user is.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use chat_sandbox::{Command, Preference};

use crate::support::{Outcome, Scene, write};
use crate::unprivileged::{self, theirs};

/// A registry of Cargo's on this machine, from a folder, for as long as the test runs.
struct Registry {
    port: u16,
    _folder: tempfile::TempDir,
}

impl Registry {
    /// One that has these crates, each with a function of its name.
    fn with(crates: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let config = format!(r#"{{"dl":"http://127.0.0.1:{port}/dl/{{crate}}"}}"#);
        write(&at.join("config.json"), &config);
        for name in crates {
            let sum = package(&at, name);
            let line = format!(
                r#"{{"name":"{name}","vers":"0.1.0","deps":[],"cksum":"{sum}","features":{{}},"yanked":false}}"#
            );
            write(&at.join(&name[..2]).join(&name[2..4]).join(name), &(line + "\n"));
        }
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let Some(Ok(first)) = lines.next() else { continue };
                // The rest of the request must be read, or closing resets the connection.
                while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
                let path = first.split(' ').nth(1).unwrap().trim_start_matches('/');
                let (status, body) = match fs::read(at.join(path)) {
                    Ok(body) => ("200 OK", body),
                    Err(_) => ("404 Not Found", Vec::new()),
                };
                let length = body.len();
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
                );
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
            }
        });
        Self { port, _folder: folder }
    }

    /// Has the project use crates of it.
    fn used_by(&self, scene: &Scene, crates: &[&str]) {
        let index =
            format!("[registries.test]\nindex = \"sparse+http://127.0.0.1:{}/\"\n", self.port);
        write(&scene.project(".cargo/config.toml"), &index);
        let needs =
            |name: &&str| format!("{name} = {{ version = \"0.1\", registry = \"test\" }}\n");
        let needs = crates.iter().map(needs).collect::<Vec<_>>().concat();
        let manifest = "[package]\nname = \"work\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
        let manifest = format!("{manifest}[dependencies]\n{needs}[workspace]\n");
        write(&scene.project("Cargo.toml"), &manifest);
        let calls: Vec<_> = crates.iter().map(|name| format!("{name}::{name}();")).collect();
        let calls = calls.concat();
        write(&scene.project("src/main.rs"), &format!("fn main() {{ {calls} }}\n"));
    }
}

/// Makes a crate's archive; gives its SHA-256.
fn package(folder: &Path, name: &str) -> String {
    let inside = format!("{name}-0.1.0");
    let manifest =
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    write(&folder.join(&inside).join("Cargo.toml"), &manifest);
    write(&folder.join(&inside).join("src/lib.rs"), &format!("pub fn {name}() {{}}\n"));
    fs::create_dir_all(folder.join("dl")).unwrap();
    let mut made = Process::new("tar");
    made.args(["czf", &format!("dl/{name}"), &inside]).current_dir(folder);
    assert!(made.status().unwrap().success());
    let sum = Process::new("sha256sum").arg(folder.join("dl").join(name)).output().unwrap();
    String::from_utf8(sum.stdout).unwrap().split(' ').next().unwrap().to_owned()
}

/// A scene whose home has the toolchain of whoever runs the tests, and whose user has caches of their own.
async fn scene() -> Option<Scene> {
    let scene = Scene::new(Preference::Bubblewrap).await?;
    let toolchains = [
        (theirs("RUSTUP_HOME", ".rustup"), ".rustup"),
        (theirs("CARGO_HOME", ".cargo").join("bin"), ".cargo/bin"),
    ];
    for (own, name) in toolchains {
        if let Ok(real) = own.canonicalize() {
            fs::create_dir_all(scene.home(name).parent().unwrap()).unwrap();
            symlink(real, scene.home(name)).unwrap();
        }
    }
    fs::create_dir_all(scene.home(".cargo/registry")).unwrap();
    Some(scene)
}

fn path(scene: &Scene) -> String {
    format!("{}:{}", scene.home(".cargo/bin").display(), std::env::var("PATH").unwrap())
}

async fn run(scene: &Scene, text: &str, network: bool) -> Outcome {
    let mut command = Command { network, limit: None, ..scene.command(text) };
    command.environment = vec![("PATH".into(), path(scene).into())];
    scene.run_command(command).await
}

/// The user themselves, outside.
fn fetch(scene: &Scene) {
    let mut cargo = Process::new("cargo");
    cargo.args(["fetch", "-q"]).current_dir(scene.project(""));
    cargo
        .env("PATH", path(scene))
        .env("HOME", scene.home(""))
        .env("CARGO_HOME", scene.home(".cargo"));
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// The paths of all files below a folder, with what is in them.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push((path.clone(), fs::read(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn what_a_build_downloads_is_kept_for_the_project_and_is_not_the_users() {
    unprivileged::run_with_toolchains(async || {
        let Some(scene) = scene().await else { return };
        let registry = Registry::with(&["needed"]);
        registry.used_by(&scene, &["needed"]);
        let offline = run(&scene, "cargo build -q", false).await;
        assert!(!offline.exit.is_success(), "{offline:?}");
        run(&scene, "cargo build -q", true).await.success();
        run(&scene, "rm -r target && cargo build -q --offline && target/debug/work", false)
            .await
            .success();
        assert!(contents(&scene.home(".cargo/registry")).is_empty());
        // Another project has its own.
        run(&scene, "test -e ~/.cargo/registry/cache/*/needed-0.1.0.crate", false).await.success();
        let mut scene = scene;
        scene.set_project("beside");
        let other =
            run(&scene, "test -e ~/.cargo/registry/cache/*/needed-0.1.0.crate", false).await;
        assert!(!other.exit.is_success(), "{other:?}");
    });
}

#[test]
fn what_the_user_has_builds_offline_also_when_it_came_later() {
    unprivileged::run_with_toolchains(async || {
        let Some(scene) = scene().await else { return };
        let registry = Registry::with(&["first", "later"]);
        registry.used_by(&scene, &["first"]);
        fetch(&scene);
        run(&scene, "cargo build -q --offline", false).await.success();
        registry.used_by(&scene, &["first", "later"]);
        fetch(&scene);
        let before = contents(&scene.home(".cargo/registry"));
        assert!(before.iter().any(|(path, _)| path.ends_with("later-0.1.0.crate")));
        run(&scene, "cargo build -q --offline && target/debug/work", false).await.success();
        // Nothing of it can be changed from inside.
        let text = "for f in $(find -L ~/.cargo/registry /run/natter -type f); do echo x >> $f; done; rm -rf ~/.cargo/registry/*; true";
        run(&scene, text, false).await.success();
        assert_eq!(contents(&scene.home(".cargo/registry")), before);
        // What a command deleted comes back.
        run(&scene, "rm -rf ~/.cache/*; true", false).await.success();
        run(&scene, "rm -rf target; cargo build -q --offline", false).await.success();
    });
}

#[test]
fn a_link_that_a_command_leaves_in_its_caches_leads_nobody_outside() {
    unprivileged::run_with_toolchains(async || {
        let Some(scene) = scene().await else { return };
        let registry = Registry::with(&["first", "later"]);
        registry.used_by(&scene, &["first"]);
        fetch(&scene);
        let beside = scene.beside("");
        let text = format!(
            "cd ~/.cache/cargo/registry && for kind in cache src index; do rm -r $kind && ln -s '{}' $kind; done",
            beside.display()
        );
        run(&scene, &text, false).await.success();
        registry.used_by(&scene, &["first", "later"]);
        fetch(&scene);
        run(&scene, "true", false).await.success();
        assert!(contents(&beside).is_empty());
    });
}

#[test]
fn programs_keep_what_they_cache_between_commands() {
    unprivileged::run(async || {
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        scene.run("mkdir -p ~/.cache/pip $npm_config_cache && echo kept > ~/.cache/pip/a && touch $npm_config_cache/b")
        .await
        .success();
        let outcome = scene.run("cat ~/.cache/pip/a; ls ~/.cache/npm").await;
        assert_eq!(outcome.success(), "kept\nb");
    });
}

#[test]
fn a_file_in_the_place_of_a_cache_makes_way_for_it() {
    unprivileged::run(async || {
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        write(&scene.home(".cargo/registry/cache/index/one.crate"), "one");
        for broken in ["touch ~/.cache/cargo", "ln -s /nowhere ~/.cache/cargo"] {
            scene.run(format!("rm -rf ~/.cache/cargo; {broken}")).await.success();
            let outcome = scene.run("cat ~/.cargo/registry/cache/index/one.crate").await;
            assert_eq!(outcome.success(), "one", "{broken}");
        }
    });
}

#[test]
fn what_npm_has_downloaded_is_there_and_npm_can_add_to_it() {
    unprivileged::run(async || {
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        let (content, index) = ("content-v2/sha512/12/34/5678", "index-v5/ab/cd/ef");
        write(&scene.home(&format!(".npm/_cacache/{content}")), "package");
        write(&scene.home(&format!(".npm/_cacache/{index}")), "entry\n");
        let text = format!(
            "cd $npm_config_cache/_cacache && cat {content} && echo more >> {index} && cat {index}; echo x > {content}"
        );
        let outcome = scene.run(&text).await;
        assert!(outcome.said.starts_with("packageentry\nmore\n"), "{outcome:?}");
        assert!(!outcome.exit.is_success(), "{outcome:?}");
        let kept = fs::read_to_string(scene.home(&format!(".npm/_cacache/{index}"))).unwrap();
        assert_eq!(kept, "entry\n");
        // Its settings, which may hold a password, are not.
        write(&scene.home(".npmrc"), "//example.org/:_authToken=secret\n");
        write(&scene.home(".npm/_cacache/content-v2/sha512/12/34/later"), "later");
        let outcome = scene.run("cat ~/.npmrc; ls ~/.npm; true").await;
        assert!(!outcome.said.contains("secret"), "{outcome:?}");
    });
}

#[test]
fn git_knows_the_user_by_name_and_address_and_nothing_else() {
    unprivileged::run(async || {
        for way in [Preference::Bubblewrap, Preference::Landlock] {
            let Some(scene) = Scene::new(way).await else { continue };
            let made =
                Process::new("git").args(["init", "-q"]).current_dir(scene.project("")).status();
            assert!(made.unwrap().success());
            let commit = "git commit -q --allow-empty -m one && git log -1 --format='%an <%ae>'";
            // It cannot write git's data in Landlock; who it is can be asked all the same.
            let who = "git var GIT_AUTHOR_IDENT | sed 's/ [0-9]* [+-].*//'";
            let text = if way == Preference::Bubblewrap { commit } else { who };
            let unknown = scene.run(text).await;
            assert!(!unknown.said.contains("Ann"), "{way:?}: {unknown:?}");
            let own = "[user]\n\tname = Ann \"A\" Other\n\temail = ann@example.org\n\tsigningkey = K\n[alias]\n\tst = !secret\n";
            write(&scene.home(".gitconfig"), own);
            assert_eq!(scene.run(text).await.success(), "Ann A Other <ann@example.org>", "{way:?}");
            let all = scene.run("git config --global --list").await;
            assert_eq!(
                all.success(),
                "user.name=Ann A Other\nuser.email=ann@example.org",
                "{way:?}"
            );
            // What the repository says itself counts more.
            let set = Process::new("git")
                .args(["config", "user.name", "Repo"])
                .current_dir(scene.project(""))
                .status();
            assert!(set.unwrap().success());
            assert_eq!(scene.run(text).await.success(), "Repo <ann@example.org>", "{way:?}");
        }
    });
}
