//! Runs a test in its own process as an unprivileged user, since root would make it meaningless,
//! and without the session's folders, where the user's own Natter keeps its files. If the tests run
//! as root, the test program starts itself again as `nobody`.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The user and group that nothing belongs to.
const NOBODY: u32 = 65_534;

/// Says that the program was started again.
const AGAIN: &str = "NATTER_TEST_AGAIN";

/// What leads to folders of whoever runs the tests: Natter's own, and toolchains.
const OUTSIDE: [&str; 5] =
    ["XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "CARGO_HOME", "RUSTUP_HOME"];

/// Before the name of a variable of whoever runs the tests.
const THEIRS: &str = "NATTER_TEST_THEIR_";

/// Runs `body`, a closure of the test that calls this.
pub fn run<F: AsyncFnOnce()>(body: F) {
    if std::env::var_os(AGAIN).is_none() {
        // `it::escapes::files::a_test::{{closure}}`
        let name = std::any::type_name::<F>();
        let name = name.trim_end_matches("::{{closure}}");
        again(name.split_once("::").unwrap().1);
    } else {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(body());
    }
}

/// Runs `body` as whoever runs the tests, whose toolchains it needs, but without the variables that lead to theirs:
/// it finds these as [`theirs`].
pub fn run_with_toolchains<F: AsyncFnOnce()>(body: F) {
    if std::env::var_os(AGAIN).is_some() {
        return run(body);
    }
    let name = std::any::type_name::<F>();
    let (_, test) = name.trim_end_matches("::{{closure}}").split_once("::").unwrap();
    let mut again = Command::new(std::env::current_exe().unwrap());
    for variable in OUTSIDE {
        again.env_remove(variable);
        if let Some(value) = std::env::var_os(variable) {
            again.env(format!("{THEIRS}{variable}"), value);
        }
    }
    carry_out(again.env(AGAIN, "1"), test);
}

/// Where a toolchain is of whoever runs the tests: by its variable, and its usual place in their home.
pub fn theirs(variable: &str, usual: &str) -> PathBuf {
    let named = std::env::var_os(format!("{THEIRS}{variable}")).map(PathBuf::from);
    named.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap()).join(usual))
}

fn again(test: &str) {
    // Neither the checkout nor root's folder for passing files may be readable to others.
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let own = folder.path().join("own");
    std::fs::create_dir(&own).unwrap();
    let program = std::env::current_exe().unwrap();
    let mut again = Command::new(&program);
    if rustix::process::geteuid().is_root() {
        let copy = folder.path().join("it");
        // By another program: what is written to cannot be started, and another test's child may hold it.
        let copied = Command::new("cp").arg(&program).arg(&copy).status();
        assert!(copied.unwrap().success());
        std::os::unix::fs::chown(&own, Some(NOBODY), Some(NOBODY)).unwrap();
        again = Command::new(&copy);
        again.uid(NOBODY).gid(NOBODY);
    }
    for variable in OUTSIDE {
        again.env_remove(variable);
    }
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();

    again.env(AGAIN, "1").env("TMPDIR", &own).env("HOME", &own).current_dir("/");
    carry_out(&mut again, test);
}

fn carry_out(again: &mut Command, test: &str) {
    let output =
        again.args(["--exact", test, "--nocapture"]).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    eprintln!("{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{test} failed when it was run again");
    assert!(said.contains("1 passed"), "{test} was not found in its own program");
}
