//! Describes how a command ended, for the model and for people.

use std::fmt::Write as _;

use chat_core::message::{CommandExit, CommandLimit};
use chat_sandbox::{Ended, Exit, Limit, QuarantineReason, QuarantinedFile};

/// How many of what was put aside are named.
const TOLD: usize = 20;

/// How it ended, as data.
pub fn exit_of(exit: &Exit) -> CommandExit {
    match exit.ended {
        Ended::Status(status) => CommandExit::Status(status),
        Ended::Signal(signal) => CommandExit::Signal(signal),
        Ended::TimedOut(_) => CommandExit::TimedOut,
        Ended::Stopped => CommandExit::Stopped,
        Ended::Exposed => CommandExit::Exposed,
        Ended::Limit(Limit::Processes) => CommandExit::Limit(CommandLimit::Processes),
        Ended::Limit(Limit::Memory) => CommandExit::Limit(CommandLimit::Memory),
        Ended::Limit(Limit::Disk) => CommandExit::Limit(CommandLimit::Disk),
    }
}

/// Where now is what it made and may not stay.
pub fn quarantined(exit: &Exit) -> Vec<String> {
    exit.quarantined.iter().map(|put| put.kept.display().to_string()).collect()
}

/// How it ended, for the model: always, whatever came out.
pub fn told(exit: &Exit) -> String {
    let mut text = match exit.ended {
        Ended::Status(status) => match status - 128 {
            // As a shell tells of what it ran; the command may as well have said so itself.
            signal if !name(signal).is_empty() => {
                format!("Exit status {status}, in a shell usually signal {signal}{}", name(signal))
            }
            _ => format!("Exit status {status}"),
        },
        Ended::Signal(signal) => format!("Terminated by signal {signal}{}", name(signal)),
        Ended::TimedOut(limit) => format!(
            "Stopped at its time limit of {} s (set `seconds` for a longer one, or `background` for none)",
            limit.as_secs()
        ),
        Ended::Stopped => "Stopped".to_owned(),
        Ended::Exposed => {
            "Stopped because something outside the sandbox (such as the user’s git or editor) \
            replaced a protected file of the project and left it unprotected; everything done \
            until then is kept"
                .to_owned()
        }
        Ended::Limit(limit) => {
            let much = match limit {
                Limit::Processes => "too many processes",
                Limit::Memory => "too much memory",
                Limit::Disk => "too much disk space",
            };
            format!("Stopped because it used {much}")
        }
    };
    let _ = write!(text, ", after {:.1} s.", exit.took.as_secs_f64());
    if exit.left_running > 0 {
        let _ = write!(text, " {} processes that it left running were stopped.", exit.left_running);
    }
    for QuarantinedFile { path, kept, why } in exit.quarantined.iter().take(TOLD) {
        let why = match why {
            QuarantineReason::Protected => "may not be created here",
            QuarantineReason::RunsPrograms => {
                "can make Git run programs or write outside the sandbox"
            }
        };
        let kept = kept.file_name().unwrap_or_default().display();
        let _ = write!(text, " {} {why}: it was quarantined as {kept}.", path.display());
    }
    if let Some(more @ 1..) = exit.quarantined.len().checked_sub(TOLD) {
        let _ = write!(text, " So were {more} others.");
    }
    if exit.is_partly_unseen {
        text += " The project is too large to check for new repositories.";
    }
    text
}

/// What a signal is called, where that tells something.
fn name(signal: i32) -> &'static str {
    match signal {
        2 => " (interrupted)",
        4 => " (illegal instruction)",
        6 => " (aborted)",
        7 => " (bus error)",
        8 => " (arithmetic error)",
        9 => " (killed)",
        11 => " (segmentation fault)",
        13 => " (broken pipe)",
        15 => " (terminated)",
        24 => " (CPU limit)",
        25 => " (file size limit)",
        31 => " (forbidden system call)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_end_is_told() {
        let exit = |ended| Exit {
            ended,
            took: Duration::from_millis(1240),
            left_running: 0,
            quarantined: Vec::new(),
            is_partly_unseen: false,
        };
        assert_eq!(told(&exit(Ended::Status(101))), "Exit status 101, after 1.2 s.");
        assert_eq!(
            told(&exit(Ended::Status(139))),
            "Exit status 139, in a shell usually signal 11 (segmentation fault), after 1.2 s."
        );
        assert!(
            told(&exit(Ended::Exposed))
                .starts_with("Stopped because something outside the sandbox")
        );
        for (limit, kind) in [
            (Limit::Processes, CommandLimit::Processes),
            (Limit::Memory, CommandLimit::Memory),
            (Limit::Disk, CommandLimit::Disk),
        ] {
            assert_eq!(exit_of(&exit(Ended::Limit(limit))), CommandExit::Limit(kind));
        }
        assert_eq!(exit_of(&exit(Ended::Exposed)), CommandExit::Exposed);
        assert_eq!(
            told(&exit(Ended::Signal(11))),
            "Terminated by signal 11 (segmentation fault), after 1.2 s."
        );
        assert_eq!(told(&exit(Ended::Signal(50))), "Terminated by signal 50, after 1.2 s.");
        assert_eq!(
            told(&exit(Ended::Limit(Limit::Memory))),
            "Stopped because it used too much memory, after 1.2 s."
        );
        let late = told(&exit(Ended::TimedOut(Duration::from_secs(5))));
        assert_eq!(
            late,
            "Stopped at its time limit of 5 s (set `seconds` for a longer one, or `background` for none), after 1.2 s."
        );
        let put = |why| QuarantinedFile {
            path: "/p/.git/config".into(),
            kept: "/p/.git/config.put-aside-1".into(),
            why,
        };
        let left = Exit {
            left_running: 2,
            quarantined: vec![put(QuarantineReason::RunsPrograms)],
            ..exit(Ended::Stopped)
        };
        assert_eq!(
            told(&left),
            "Stopped, after 1.2 s. 2 processes that it left running were stopped. /p/.git/config can make Git run \
             programs or write outside the sandbox: it was quarantined as config.put-aside-1."
        );
        assert_eq!(quarantined(&left), ["/p/.git/config.put-aside-1"]);
        let many = Exit {
            quarantined: vec![put(QuarantineReason::Protected); TOLD + 3],
            is_partly_unseen: true,
            ..left.clone()
        };
        let many = told(&many);
        assert_eq!(many.matches("may not be created here").count(), TOLD);
        assert!(many.contains(" So were 3 others. The project is too large"), "{many}");
        assert_eq!(exit_of(&left), CommandExit::Stopped);
    }
}
