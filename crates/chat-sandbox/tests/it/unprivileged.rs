//! Runs a test as a user without any privilege, since root would make it vacuous: where root runs
//! the tests, the test's own program is started again as `nobody`.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// The user and group that nothing belongs to.
const NOBODY: u32 = 65_534;

/// Runs `body`, a closure of the test that calls this.
pub fn run<F: AsyncFnOnce()>(body: F) {
    if rustix::process::geteuid().is_root() {
        // `it::escapes::files::a_test::{{closure}}`
        let name = std::any::type_name::<F>();
        let name = name.trim_end_matches("::{{closure}}");
        again_as_nobody(name.split_once("::").unwrap().1);
    } else {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(body());
    }
}

fn again_as_nobody(test: &str) {
    // Neither the checkout nor root's folder for passing files may be readable to others.
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let program = folder.path().join("it");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let own = folder.path().join("own");
    std::fs::create_dir(&own).unwrap();
    std::os::unix::fs::chown(&own, Some(NOBODY), Some(NOBODY)).unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();

    let output = Command::new(&program)
        .args(["--exact", test, "--nocapture"])
        .env("TMPDIR", &own)
        .env("HOME", &own)
        .env_remove("XDG_RUNTIME_DIR")
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    eprintln!("{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{test} failed as nobody");
    assert!(said.contains("1 passed"), "{test} was not found in its own program");
}
