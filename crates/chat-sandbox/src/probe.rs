//! Finds out what this machine can enforce by running a command in it: many switches can forbid
//! namespaces, and none of them tells reliably.

use std::path::PathBuf;
use std::time::Duration;

use crate::command::Command;
use crate::landlock;
use crate::output::{Keep, Spool};
use crate::processes;
use crate::running::Ended;
use crate::sandbox::{Enforcement, Preference, Sandbox};

/// How long the test may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// The exit status of the test, which nothing else uses.
const SIGN: i32 = 117;

/// Why a back end is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnavailableReason {
    /// The program `bwrap` is not installed.
    NotInstalled,
    /// The system forbids the namespaces that bubblewrap needs: `AppArmor`, a kernel switch, or a
    /// container.
    NamespacesForbidden,
    /// The kernel has no Landlock, or it is switched off.
    NotInKernel,
    /// The program is too old: it does not know the options.
    TooOld,
    /// The test did not finish in time, on a very busy machine.
    NoAnswer,
    /// The test failed with this message.
    Failed(String),
    /// It was not requested.
    NotWanted,
}

/// The best back end that works here and is wanted.
pub(crate) async fn probe(preference: Preference) -> Sandbox {
    if preference == Preference::Best {
        // Cleans up after programs that were killed: there is no better moment.
        let _ = tokio::task::spawn_blocking(processes::end_orphans).await;
    }
    let mut why_not = Vec::new();
    let bubblewrap = async {
        if !matches!(preference, Preference::Best | Preference::Bubblewrap) {
            return Err(UnavailableReason::NotWanted);
        }
        let program = find("bwrap").ok_or(UnavailableReason::NotInstalled)?;
        let sandbox = Sandbox::new(Enforcement::Bubblewrap, Some(program), None);
        attempt(&sandbox).await.map(|()| sandbox)
    };
    match bubblewrap.await {
        Ok(sandbox) => return sandbox,
        Err(reason) => why_not.push((Enforcement::Bubblewrap, reason)),
    }
    let landlock = async {
        if !matches!(preference, Preference::Best | Preference::Landlock) {
            return Err(UnavailableReason::NotWanted);
        }
        let version = landlock::version().ok_or(UnavailableReason::NotInKernel)?;
        let sandbox = Sandbox::new(Enforcement::Landlock, None, Some(version));
        attempt(&sandbox).await.map(|()| sandbox)
    };
    match landlock.await {
        Ok(sandbox) => sandbox.with_reasons(why_not),
        Err(reason) => {
            why_not.push((Enforcement::Landlock, reason));
            Sandbox::new(Enforcement::None, None, None).with_reasons(why_not)
        }
    }
}

async fn attempt(sandbox: &Sandbox) -> Result<(), UnavailableReason> {
    let failed = |error: &dyn std::fmt::Display| UnavailableReason::Failed(error.to_string());
    let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
    let project = folder.path().join("project");
    std::fs::create_dir(&project).map_err(|error| failed(&error))?;
    let spool = Spool::create(&folder.path().join("output"), Keep::default())
        .map_err(|error| failed(&error))?;
    let mut command = Command::new(format!("exit {SIGN}"), project);
    command.limit = Some(PATIENCE);
    let running = sandbox.spawn(command, spool.clone()).await;
    let exit = running.map_err(|error| failed(&error))?.wait().await;
    if exit.ended == Ended::Status(SIGN) {
        return Ok(());
    }
    if matches!(exit.ended, Ended::TimedOut(_)) {
        return Err(UnavailableReason::NoAnswer);
    }
    let said = spool.excerpt().to_string();
    match said.trim() {
        "" => Err(UnavailableReason::Failed(format!("{:?}", exit.ended))),
        said => Err(judge(said)),
    }
}

/// The meaning of bubblewrap's error messages, which are in `bubblewrap.c` and `network.c`.
fn judge(said: &str) -> UnavailableReason {
    let forbidden = [
        "setting up uid map",
        "namespace",
        "Failed RTM_NEWADDR",
        "Failed to make / slave",
        "Can't mount proc",
    ];
    if said.starts_with("bwrap:") && forbidden.iter().any(|words| said.contains(words)) {
        UnavailableReason::NamespacesForbidden
    } else if said.starts_with("bwrap: Unknown option") {
        UnavailableReason::TooOld
    } else {
        UnavailableReason::Failed(said.to_owned())
    }
}

/// Finds a program that is not the project's: first in system folders, then in the user's path.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let usual = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];
    let named = std::env::var_os("PATH").unwrap_or_default();
    let named: Vec<PathBuf> =
        std::env::split_paths(&named).filter(|path| path.is_absolute()).collect();
    let folders = usual.iter().map(PathBuf::from).chain(named);
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_about_namespaces_is_told_from_others() {
        for said in [
            "bwrap: setting up uid map: Permission denied",
            "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.",
            "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
            "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
        ] {
            assert_eq!(judge(said), UnavailableReason::NamespacesForbidden, "{said}");
        }
        assert_eq!(judge("bwrap: Unknown option --add-seccomp-fd"), UnavailableReason::TooOld);
        let other = "bwrap: Can't find source path /project: No such file or directory";
        assert_eq!(judge(other), UnavailableReason::Failed(other.into()));
    }
}
