//! Walks the syntax tree and collects the simple commands.

use brush_parser::Parser;
use brush_parser::ast::{
    AndOr, AndOrList, AssignmentName, AssignmentValue, Command, CommandPrefixOrSuffixItem,
    CompoundCommand, CompoundList, ExtendedTestExpr, IoFileRedirectKind, IoFileRedirectTarget,
    IoHereDocument, IoRedirect, Pipeline, RedirectList, SimpleCommand, UnexpandedArithmeticExpr,
};

use super::guard;
use super::word::options;
use super::{Redirect, RedirectKind, Simple, Unparsable, Word};

/// How deeply substitutions may be nested; each is parsed again.
const MOST_NESTED: usize = 8;

/// The collected commands.
#[derive(Default)]
pub(super) struct Walk {
    found: Vec<Simple>,
    nested: usize,
}

/// Every simple command of a whole text.
pub(super) fn program(text: &str) -> Result<Vec<Simple>, Unparsable> {
    let mut walk = Walk::default();
    walk.read(text)?;
    Ok(walk.found)
}

impl Walk {
    /// The commands of a substitution.
    pub(super) fn nested(&mut self, text: &str) -> Result<(), Unparsable> {
        if self.nested == MOST_NESTED {
            return Err(Unparsable::TooDeep);
        }
        self.nested += 1;
        self.read(text)?;
        self.nested -= 1;
        Ok(())
    }

    fn read(&mut self, text: &str) -> Result<(), Unparsable> {
        guard::check_documents(text)?;
        let program = Parser::new(text.as_bytes(), &options())
            .parse_program()
            .map_err(|error| Unparsable::Syntax(error.to_string()))?;
        program.complete_commands.iter().try_for_each(|list| self.list(list))
    }

    fn list(&mut self, list: &CompoundList) -> Result<(), Unparsable> {
        list.0.iter().try_for_each(|item| self.and_or(&item.0))
    }

    fn and_or(&mut self, list: &AndOrList) -> Result<(), Unparsable> {
        self.pipeline(&list.first)?;
        list.additional
            .iter()
            .try_for_each(|(AndOr::And(pipeline) | AndOr::Or(pipeline))| self.pipeline(pipeline))
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Result<(), Unparsable> {
        for (at, command) in pipeline.seq.iter().enumerate() {
            let from = self.found.len();
            self.command(command)?;
            if at > 0 {
                self.feed(from);
            }
        }
        Ok(())
    }

    /// All commands found from there on share an input.
    fn feed(&mut self, from: usize) {
        self.found[from..].iter_mut().for_each(|simple| simple.fed = true);
    }

    /// All commands found from there on may run several times.
    fn repeat(&mut self, from: usize) {
        self.found[from..].iter_mut().for_each(|simple| simple.repeats = true);
    }

    fn command(&mut self, command: &Command) -> Result<(), Unparsable> {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                let from = self.found.len();
                self.compound(compound)?;
                if redirects.iter().flat_map(|list| &list.0).any(feeds) {
                    self.feed(from);
                }
                self.redirects(redirects.as_ref())
            }
            Command::Function(function) => {
                let from = self.found.len();
                self.compound(&function.body.0)?;
                // Its input is that of its caller.
                self.feed(from);
                self.redirects(function.body.1.as_ref()).map(|()| self.repeat(from))
            }
            Command::ExtendedTest(test, redirects) => {
                // Other shells take it for a command with redirects and pipes.
                let written = format!("[[ {} ]]", test.expr);
                self.unknown(written);
                self.test(&test.expr)?;
                self.redirects(redirects.as_ref())
            }
        }
    }

    fn simple(&mut self, command: &SimpleCommand) -> Result<(), Unparsable> {
        let mut simple = Simple::default();
        let prefix = command.prefix.iter().flat_map(|items| &items.0);
        let suffix = command.suffix.iter().flat_map(|items| &items.0);
        for item in prefix {
            self.item(&mut simple, item, true)?;
        }
        if let Some(name) = &command.word_or_name {
            let name = self.word(&name.value)?;
            simple.words.push(name);
        }
        let mut both = false;
        for item in suffix {
            match item {
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                    both |= matches!(redirect, IoRedirect::OutputAndError(..));
                }
                // A shell without `&>` takes what follows for a separate command.
                _ if both => return Err(Unparsable::Unclear("&>".to_owned())),
                _ => {}
            }
            self.item(&mut simple, item, false)?;
        }
        self.found.push(simple);
        Ok(())
    }

    fn item(
        &mut self,
        simple: &mut Simple,
        item: &CommandPrefixOrSuffixItem,
        before: bool,
    ) -> Result<(), Unparsable> {
        match item {
            CommandPrefixOrSuffixItem::Word(word) => {
                let word = self.word(&word.value)?;
                simple.words.push(word);
            }
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                simple.fed |= feeds(redirect);
                let redirect = self.redirect(redirect)?;
                simple.redirects.extend(redirect);
            }
            CommandPrefixOrSuffixItem::AssignmentWord(assignment, written) => {
                match &assignment.value {
                    AssignmentValue::Scalar(word) if !before => {
                        // To most commands it is an ordinary word; the whole text was already
                        // searched for `=~`.
                        self.word(&word.value)?;
                        let word = self.word(&written.value)?;
                        simple.words.push(word);
                        return Ok(());
                    }
                    AssignmentValue::Scalar(word) => drop(self.word(&word.value)?),
                    AssignmentValue::Array(elements) => {
                        for (key, value) in elements {
                            if let Some(key) = key {
                                self.word(&key.value)?;
                            }
                            self.word(&value.value)?;
                        }
                    }
                }
                let name = match &assignment.name {
                    AssignmentName::VariableName(name) => name,
                    AssignmentName::ArrayElementName(name, index) => {
                        self.word(index)?;
                        name
                    }
                };
                simple.assignments.push(name.clone());
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(kind, shell) => {
                self.list(&shell.list)?;
                simple.words.push(Word::Other(format!("{kind}{shell}")));
            }
        }
        Ok(())
    }

    fn compound(&mut self, command: &CompoundCommand) -> Result<(), Unparsable> {
        match command {
            CompoundCommand::Arithmetic(arithmetic) => self.arithmetic(&arithmetic.expr),
            CompoundCommand::ArithmeticForClause(clause) => {
                let parts = [&clause.initializer, &clause.condition, &clause.updater];
                parts.into_iter().flatten().try_for_each(|part| self.arithmetic(part))?;
                self.repeated(&clause.body.list)
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(shell) => self.list(&shell.list),
            CompoundCommand::ForClause(clause) => {
                self.assigned(&clause.variable_name);
                for value in clause.values.iter().flatten() {
                    self.word(&value.value)?;
                }
                self.repeated(&clause.body.list)
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value.value)?;
                for case in &clause.cases {
                    for pattern in &case.patterns {
                        self.word(&pattern.value)?;
                    }
                    if let Some(list) = &case.cmd {
                        self.list(list)?;
                    }
                }
                Ok(())
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition)?;
                self.list(&clause.then)?;
                for branch in clause.elses.iter().flatten() {
                    if let Some(condition) = &branch.condition {
                        self.list(condition)?;
                    }
                    self.list(&branch.body)?;
                }
                Ok(())
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.repeated(&clause.0)?;
                self.repeated(&clause.1.list)
            }
            CompoundCommand::Coprocess(process) => {
                let name = process.name.as_ref().map_or("COPROC", |name| name.value.as_str());
                self.assigned(name);
                let from = self.found.len();
                self.command(&process.body)?;
                self.feed(from);
                Ok(())
            }
        }
    }

    /// The commands of a loop.
    fn repeated(&mut self, list: &CompoundList) -> Result<(), Unparsable> {
        let from = self.found.len();
        self.list(list).map(|()| self.repeat(from))
    }

    /// Arithmetic may set variables, and its indices may run commands.
    fn arithmetic(&mut self, expression: &UnexpandedArithmeticExpr) -> Result<(), Unparsable> {
        self.document(&expression.value)?;
        self.unknown(format!("(({}))", expression.value));
        Ok(())
    }

    fn test(&mut self, expression: &ExtendedTestExpr) -> Result<(), Unparsable> {
        match expression {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left)?;
                self.test(right)
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => {
                self.test(inner)
            }
            ExtendedTestExpr::UnaryTest(_, word) => self.document(&word.value).map(drop),
            ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.document(&left.value)?;
                self.document(&right.value).map(drop)
            }
        }
    }

    /// A command that sets a variable.
    fn assigned(&mut self, name: &str) {
        self.found.push(Simple { assignments: vec![name.to_owned()], ..Simple::default() });
    }

    /// Something that runs but has no name.
    fn unknown(&mut self, written: String) {
        self.found.push(Simple { words: vec![Word::Other(written)], ..Simple::default() });
    }

    /// Redirects of a group.
    fn redirects(&mut self, list: Option<&RedirectList>) -> Result<(), Unparsable> {
        let mut redirects = Vec::new();
        for redirect in list.iter().flat_map(|list| &list.0) {
            redirects.extend(self.redirect(redirect)?);
        }
        if !redirects.is_empty() {
            self.found.push(Simple { redirects, ..Simple::default() });
        }
        Ok(())
    }

    /// The text of a here-document, if all shells find the same end.
    fn here_document(&mut self, document: &IoHereDocument) -> Result<Word, Unparsable> {
        let text = &document.doc.value;
        let tag = plain_tag(&document.here_end.value);
        // Without a line break it is a word that the parser took for a here-document. In a
        // substitution, bash also ends a here-document at a line that only begins with the tag.
        let is_whole = text.is_empty() || text.ends_with('\n');
        let ends_sooner =
            |tag: &str| text.lines().any(|line| line.trim_start_matches('\t').starts_with(tag));
        if !is_whole || tag.is_none_or(ends_sooner) {
            return Err(Unparsable::Unclear(format!("<<{}", document.here_end.value)));
        }
        if document.requires_expansion {
            self.document(text)
        } else {
            Ok(Word::Literal(text.clone()))
        }
    }

    /// A redirect; none if it only joins two streams.
    fn redirect(&mut self, redirect: &IoRedirect) -> Result<Option<Redirect>, Unparsable> {
        let (kind, target) = match redirect {
            IoRedirect::File(_, kind, target) => match target {
                IoFileRedirectTarget::Fd(_) => return Ok(None),
                IoFileRedirectTarget::Filename(word) => (direction(kind), self.word(&word.value)?),
                IoFileRedirectTarget::Duplicate(word) => match self.word(&word.value)? {
                    Word::Literal(text) if is_stream(&text) => return Ok(None),
                    // `>&name` writes a file. bash expands its name twice, and runs what was quoted
                    // in it.
                    Word::Literal(text) if is_plain(&text) => {
                        (direction(kind), Word::Literal(text))
                    }
                    _ => return Err(Unparsable::Unclear(">&".to_owned())),
                },
                IoFileRedirectTarget::ProcessSubstitution(_, shell) => {
                    self.list(&shell.list)?;
                    return Ok(None);
                }
            },
            IoRedirect::HereDocument(_, document) => {
                (RedirectKind::Text, self.here_document(document)?)
            }
            IoRedirect::HereString(_, word) => (RedirectKind::Text, self.word(&word.value)?),
            IoRedirect::OutputAndError(word, _) => (RedirectKind::Write, self.word(&word.value)?),
        };
        Ok(Some(Redirect { kind, target }))
    }
}

/// Whether a command may read something through this redirect.
fn feeds(redirect: &IoRedirect) -> bool {
    match redirect {
        IoRedirect::File(_, _, IoFileRedirectTarget::Filename(word))
            if word.value == "/dev/null" =>
        {
            false
        }
        IoRedirect::File(_, kind, _) => matches!(
            kind,
            IoFileRedirectKind::Read
                | IoFileRedirectKind::ReadAndWrite
                | IoFileRedirectKind::DuplicateInput
        ),
        IoRedirect::HereDocument(..) | IoRedirect::HereString(..) => true,
        IoRedirect::OutputAndError(..) => false,
    }
}

fn direction(kind: &IoFileRedirectKind) -> RedirectKind {
    match kind {
        IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput => RedirectKind::Read,
        IoFileRedirectKind::Write
        | IoFileRedirectKind::Append
        | IoFileRedirectKind::ReadAndWrite
        | IoFileRedirectKind::Clobber
        | IoFileRedirectKind::DuplicateOutput => RedirectKind::Write,
    }
}

/// Whether no character of a name means anything to a shell, however often it is expanded.
fn is_plain(text: &str) -> bool {
    text.chars().all(|letter| letter.is_alphanumeric() || "/._-+,@%:".contains(letter))
}

/// A here-document's tag, if it is a plain name, either unquoted or quoted as a whole: the parser
/// removes any other quotes, wherever they are.
fn plain_tag(written: &str) -> Option<&str> {
    let within = |mark| written.strip_prefix(mark).and_then(|tag: &str| tag.strip_suffix(mark));
    let tag = within('"').or_else(|| within('\'')).or_else(|| written.strip_prefix('\\'));
    let tag = tag.unwrap_or(written);
    let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'_';
    (!tag.is_empty() && tag.bytes().all(is_plain)).then_some(tag)
}

/// `1`, `-` and `2-` are open streams, not files.
fn is_stream(text: &str) -> bool {
    let number = text.strip_suffix('-').unwrap_or(text);
    (!number.is_empty() || text == "-") && number.bytes().all(|byte| byte.is_ascii_digit())
}
