//! Chooses the environment variables of a command. Variables that are not listed here are not
//! passed on: keys and tokens are found in variables of any name, and others name sockets of the
//! session (its bus, its key agents, its screen).

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Where programs are if no variable says it.
pub(crate) const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Variables that are passed on unchanged.
const PASSED: &[&str] = &[
    "COLORTERM",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    "TERM",
    "TZ",
    "USER",
    // The paths of toolchains; `view::home` decides which parts are visible.
    "BUN_INSTALL",
    "CARGO_HOME",
    "FNM_DIR",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "MISE_DATA_DIR",
    "NVM_BIN",
    "NVM_DIR",
    "PNPM_HOME",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "RBENV_ROOT",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SDKMAN_DIR",
    "VOLTA_HOME",
    // The paths of certificates.
    "NIX_SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
];

/// The variables for a command, derived from those of this process.
pub(crate) fn of(
    own: impl Iterator<Item = (OsString, OsString)>,
    home: &Path,
    scratch: &Path,
    shell: &Path,
    added: &[(OsString, OsString)],
) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<_> = own.filter(|(name, _)| passes(name)).collect();
    let mut set = |name: &str, value: &OsStr| {
        variables.retain(|(other, _)| other != name);
        variables.push((name.into(), value.into()));
    };
    set("HOME", home.as_os_str());
    set("SHELL", shell.as_os_str());
    set("TMPDIR", scratch.as_os_str());
    // Nobody can answer prompts or use a pager.
    set("GIT_TERMINAL_PROMPT", OsStr::new("0"));
    set("GIT_PAGER", OsStr::new("cat"));
    set("PAGER", OsStr::new("cat"));
    set("DEBIAN_FRONTEND", OsStr::new("noninteractive"));
    for (name, value) in added {
        variables.retain(|(other, _)| other != name);
        variables.push((name.clone(), value.clone()));
    }
    if !variables.iter().any(|(name, _)| name == "PATH") {
        variables.push(("PATH".into(), USUAL_PATH.into()));
    }
    variables
}

fn passes(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| PASSED.contains(&name) || name.starts_with("LC_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(names: &[&str]) -> std::vec::IntoIter<(OsString, OsString)> {
        let pairs = names.iter().map(|name| (OsString::from(name), "x".into()));
        pairs.collect::<Vec<_>>().into_iter()
    }

    #[test]
    fn keys_and_sockets_of_the_session_are_not_passed_on() {
        let own = pairs(&[
            "OPENAI_API_KEY",
            "GITHUB_TOKEN",
            "SSH_AUTH_SOCK",
            "DBUS_SESSION_BUS_ADDRESS",
            "DISPLAY",
            "WAYLAND_DISPLAY",
            "XAUTHORITY",
            "XDG_RUNTIME_DIR",
            "BASH_ENV",
            "LD_PRELOAD",
            "LC_TIME",
        ]);
        let given = of(own, Path::new("/h"), Path::new("/t"), Path::new("/bin/sh"), &[]);
        let mut names: Vec<_> = given.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            [
                "DEBIAN_FRONTEND",
                "GIT_PAGER",
                "GIT_TERMINAL_PROMPT",
                "HOME",
                "LC_TIME",
                "PAGER",
                "PATH",
                "SHELL",
                "TMPDIR",
            ]
        );
    }

    #[test]
    fn what_is_added_counts_and_no_variable_comes_twice() {
        let added = [(OsString::from("PATH"), OsString::from("/own"))];
        let own = pairs(&["PATH", "HOME"]);
        let given = of(own, Path::new("/h"), Path::new("/t"), Path::new("/bin/sh"), &added);
        let all = |name: &str| -> Vec<_> {
            given
                .iter()
                .filter(|(other, _)| other == name)
                .map(|(_, value)| value.clone())
                .collect()
        };
        assert_eq!(all("PATH"), ["/own"]);
        assert_eq!(all("HOME"), ["/h"]);
    }
}
