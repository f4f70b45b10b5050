//! How a command ended, for the model and for people.

use std::fmt::Write as _;

use chat_core::message::CommandExit;
use chat_sandbox::{Ended, Exit, Limit};

/// How it ended, as data.
pub fn exit_of(exit: &Exit) -> CommandExit {
    match exit.ended {
        Ended::Status(status) => CommandExit::Status(status),
        Ended::Signal(signal) => CommandExit::Signal(signal),
        Ended::TimedOut(_) => CommandExit::TimedOut,
        Ended::Stopped | Ended::Limit(_) => CommandExit::Stopped,
    }
}

/// Where that lies which it made where it may not.
pub fn put_aside(exit: &Exit) -> Vec<String> {
    exit.put_aside.iter().map(|path| path.display().to_string()).collect()
}

/// The same for the model: always, whatever came out.
pub fn told(exit: &Exit) -> String {
    let mut text = match exit.ended {
        Ended::Status(status) => format!("Exit status {status}"),
        Ended::Signal(signal) => format!("Ended by signal {signal}{}", name(signal)),
        Ended::TimedOut(limit) => format!(
            "Ended at its time limit of {} s (`seconds` gives more, `background` has none)",
            limit.as_secs()
        ),
        Ended::Stopped => "Stopped".to_owned(),
        Ended::Limit(limit) => {
            let much = match limit {
                Limit::Processes => "too many processes",
                Limit::Memory => "too much memory",
                Limit::Disk => "too much of the disk",
            };
            format!("Ended since it used {much}")
        }
    };
    let _ = write!(text, ", after {:.1} s.", exit.took.as_secs_f64());
    if exit.left_running > 0 {
        let _ = write!(text, " {} processes that it left running were ended.", exit.left_running);
    }
    if !exit.put_aside.is_empty() {
        let names = put_aside(exit).join(", ");
        let _ = write!(text, " It may not make what now lies at {names}.");
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
            put_aside: Vec::new(),
        };
        assert_eq!(told(&exit(Ended::Status(101))), "Exit status 101, after 1.2 s.");
        assert_eq!(
            told(&exit(Ended::Signal(11))),
            "Ended by signal 11 (segmentation fault), after 1.2 s."
        );
        assert_eq!(told(&exit(Ended::Signal(50))), "Ended by signal 50, after 1.2 s.");
        assert_eq!(
            told(&exit(Ended::Limit(Limit::Memory))),
            "Ended since it used too much memory, after 1.2 s."
        );
        let late = told(&exit(Ended::TimedOut(Duration::from_secs(5))));
        assert_eq!(
            late,
            "Ended at its time limit of 5 s (`seconds` gives more, `background` has none), after 1.2 s."
        );
        let left =
            Exit { left_running: 2, put_aside: vec!["/p/.git.1".into()], ..exit(Ended::Stopped) };
        assert_eq!(
            told(&left),
            "Stopped, after 1.2 s. 2 processes that it left running were ended. It may not make what now lies at /p/.git.1."
        );
        assert_eq!(exit_of(&left), CommandExit::Stopped);
    }
}
