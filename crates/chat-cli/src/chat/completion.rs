//! Completes the names of commands at a terminal: `/comp` and Tab become `/compact `. Notes what the line
//! being edited contains.

use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

use super::draft::Prompted;

/// Completes a line that is a command without arguments so far.
#[derive(Debug, Default)]
pub struct Completion {
    /// The names of the commands, without the slash.
    names: Vec<String>,
    prompted: Prompted,
}

impl Completion {
    /// One that notes the line here.
    pub fn new(prompted: Prompted) -> Self {
        Self { names: Vec::new(), prompted }
    }

    /// Completes these names from now on.
    pub fn set_names(&mut self, names: Vec<String>) {
        self.names = names;
    }

    /// The names that the line up to the cursor can become; none if it is no command, or has arguments.
    fn matching(&self, line: &str) -> Vec<&str> {
        let Some(begun) = line.strip_prefix('/') else { return Vec::new() };
        let names = self.names.iter().map(String::as_str);
        let mut names: Vec<_> = names.filter(|name| name.starts_with(begun)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let names = self.matching(line.get(..at).unwrap_or_default());
        let pair = |name: &str| {
            // The name of a server is written on.
            let space = if name.ends_with(':') { "" } else { " " };
            Pair { display: format!("/{name}"), replacement: format!("/{name}{space}") }
        };
        Ok((0, names.into_iter().map(pair).collect()))
    }
}

impl Hinter for Completion {
    type Hint = String;

    /// Hints at nothing, but is called with each change of the line.
    fn hint(&self, line: &str, at: usize, _: &Context<'_>) -> Option<String> {
        self.prompted.edited(line, at);
        None
    }
}

impl Highlighter for Completion {}
impl Validator for Completion {}
impl Helper for Completion {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_of_a_command_is_completed() {
        let mut completion = Completion::default();
        completion.set_names(["model", "compact", "commands", "mode"].map(str::to_owned).into());
        assert_eq!(completion.matching("/com"), ["commands", "compact"]);
        assert_eq!(completion.matching("/mode"), ["mode", "model"]);
        assert_eq!(completion.matching("/").len(), 4);
        for other in ["", "com", "/compact ", "/nothing", "//com"] {
            assert!(completion.matching(other).is_empty(), "{other}");
        }
    }
}
