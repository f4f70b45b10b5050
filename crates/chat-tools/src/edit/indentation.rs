//! Matches lines whose indentation differs from the file's, and indents new lines to fit.

use super::lines::{Lines, indent, is_blank};

/// How the given indentation is converted to the file's. It was verified on the matching lines:
/// equal indentation stays equal, and deeper stays deeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shift {
    /// Given indentations and those in the file: each once.
    known: Vec<(String, String)>,
    /// The indentation of the first line, if it was given without the indentation that the other
    /// lines have: models begin to copy at the first word.
    first: Option<String>,
}

/// The shift from given lines to those of the file, none of them blank. None if there is no
/// consistent one.
pub fn shift(pairs: &[(&str, &str)]) -> Option<Shift> {
    let indents: Vec<_> =
        pairs.iter().map(|(given, there)| (indent(given), indent(there))).collect();
    if let Some(known) = consistent(&indents) {
        return Some(Shift { known, first: None });
    }
    let ((given, there), rest) = indents.split_first()?;
    let is_first = given.is_empty() && rest.iter().all(|(given, _)| !given.is_empty());
    let known = consistent(rest).filter(|_| is_first)?;
    Some(Shift { known, first: Some((*there).to_owned()) })
}

/// Each pair once, if there are any and all of them agree.
fn consistent(pairs: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
    let mut known: Vec<(&str, &str)> = Vec::new();
    for &(given, there) in pairs {
        let agree = |&(a, b): &(&str, &str)| {
            a.starts_with(given) == b.starts_with(there)
                && given.starts_with(a) == there.starts_with(b)
                && (a.starts_with(given) || given.starts_with(a))
        };
        if !known.iter().all(agree) {
            return None;
        }
        if !known.contains(&(given, there)) {
            known.push((given, there));
        }
    }
    let owned = known.into_iter().map(|(given, there)| (given.to_owned(), there.to_owned()));
    Some(owned.collect()).filter(|known: &Vec<_>| !known.is_empty())
}

impl Shift {
    /// Indents new lines to fit. None if the depth of one of them is unknown.
    pub fn fit(&self, new: &[&str], lines: &Lines) -> Option<Vec<String>> {
        let mut rule = None;
        let mut fit = |(number, line): (usize, &&str)| {
            let (given, bare) = line.split_at(indent(line).len());
            if is_blank(line) {
                return Some((*line).to_owned());
            }
            if let Some(first) = self.first.as_ref().filter(|_| number == 0 && given.is_empty()) {
                return Some(format!("{first}{bare}"));
            }
            if let Some((_, there)) = self.known.iter().find(|(known, _)| known == given) {
                return Some(format!("{there}{bare}"));
            }
            let rule = rule.get_or_insert_with(|| self.rule(new, lines)).as_ref()?;
            Some(rule.apply(given)? + bare)
        };
        // Many lines with very deep indentation would fill the memory.
        let mut room = super::LARGEST;
        let fitted = new.iter().enumerate().map(|line| {
            let line = fit(line)?;
            room = room.checked_sub(line.len())?;
            Some(line)
        });
        fitted.collect()
    }

    /// The rule for an indentation that none of the matched lines has.
    fn rule(&self, new: &[&str], lines: &Lines) -> Option<Rule> {
        let new = new.iter().filter(|line| !is_blank(line)).map(|line| indent(line));
        let given: Vec<&str> = self.known.iter().map(|(given, _)| &**given).chain(new).collect();
        let to = Unit::of_file(lines);
        let plain = self.plain();
        // A shift by whole steps of the file, in the file's own style, needs no conversion.
        let fits = |rule: &Rule| match (rule, to) {
            (_, None) => true,
            (Rule::Add(text) | Rule::Cut(text), Some(to)) => {
                let same = given.iter().all(|given| given.chars().all(|c| c == to.character));
                same && text.len().is_multiple_of(to.width)
            }
            (Rule::Steps { .. }, _) => false,
        };
        if plain.as_ref().is_some_and(fits) {
            return plain;
        }
        let (from, to) = (Unit::of(&given)?, to?);
        self.steps(from, to).or_else(|| plain.filter(|_| from.character == to.character))
    }

    /// The rule that adds something before each line, or removes it.
    fn plain(&self) -> Option<Rule> {
        let (given, there) = self.known.first()?;
        let (rule, all): (_, fn(&str, &str, &str) -> bool) =
            if let Some(more) = there.strip_suffix(&**given) {
                (Rule::Add(more.to_owned()), |more, given, there| {
                    there.strip_prefix(more) == Some(given)
                })
            } else {
                let less = given.strip_suffix(&**there)?;
                (Rule::Cut(less.to_owned()), |less, given, there| {
                    given.strip_prefix(less) == Some(there)
                })
            };
        let (Rule::Add(text) | Rule::Cut(text)) = &rule else { return None };
        self.known.iter().all(|(given, there)| all(text, given, there)).then_some(rule)
    }

    /// The rule that converts steps: tabs for spaces, two spaces for four.
    fn steps(&self, from: Unit, to: Unit) -> Option<Rule> {
        let mut more = None;
        for (given, there) in &self.known {
            let ((given, rest), (there, same)) = (from.count(given)?, to.count(there)?);
            let steps = there as isize - given as isize;
            if rest != same || *more.get_or_insert(steps) != steps {
                return None;
            }
        }
        Some(Rule::Steps { from, to, more: more? })
    }
}

/// How an indentation is converted.
#[derive(Debug)]
enum Rule {
    /// Adds this before it.
    Add(String),
    /// Removes this from its beginning.
    Cut(String),
    /// Writes its steps in another style, and adds this many more.
    Steps { from: Unit, to: Unit, more: isize },
}

impl Rule {
    fn apply(&self, given: &str) -> Option<String> {
        match self {
            Self::Add(more) => Some(format!("{more}{given}")),
            Self::Cut(less) => given.strip_prefix(&**less).map(str::to_owned),
            Self::Steps { from, to, more } => {
                let (steps, rest) = from.count(given)?;
                let steps = usize::try_from(steps as isize + more).ok()?;
                Some(to.step().repeat(steps) + &" ".repeat(rest))
            }
        }
    }
}

/// One step of indentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unit {
    character: char,
    width: usize,
}

impl Unit {
    const TAB: Self = Self { character: '\t', width: 1 };

    /// The step of some indentations: the widest that divides all of them. None if they mix tabs
    /// and spaces, if there is none, or if it would be a single space.
    fn of(indents: &[&str]) -> Option<Self> {
        let indents = || indents.iter().filter(|indent| !indent.is_empty());
        if indents().any(|indent| indent.contains('\t')) {
            return indents().all(|indent| indent.starts_with('\t')).then_some(Self::TAB);
        }
        let width = indents().fold(0, |width, indent| divisor(width, indent.len()));
        (width > 1).then_some(Self { character: ' ', width })
    }

    /// The step of a file: the most frequent difference between a line and a deeper next line.
    fn of_file(lines: &Lines) -> Option<Self> {
        let mut counts = [0_usize; 9];
        let mut before = None;
        for line in lines.all.iter().filter(|line| !is_blank(line.text)) {
            let now = indent(line.text);
            match before.and_then(|before| now.strip_prefix(before)) {
                Some("\t") => counts[0] += 1,
                Some(more) if (2..=8).contains(&more.len()) && !more.contains('\t') => {
                    counts[more.len()] += 1;
                }
                _ => {}
            }
            before = Some(now);
        }
        let most = counts.iter().copied().max().filter(|most| *most > 0)?;
        let width = counts.iter().position(|count| *count == most)?;
        Some(if width == 0 { Self::TAB } else { Self { character: ' ', width } })
    }

    /// How many steps an indentation has, and how many spaces after them.
    fn count(self, indent: &str) -> Option<(usize, usize)> {
        let deep = indent.chars().take_while(|c| *c == self.character).count() / self.width;
        let rest = &indent[deep * self.width..];
        rest.chars().all(|c| c == ' ').then_some((deep, rest.len()))
    }

    fn step(self) -> String {
        String::from(self.character).repeat(self.width)
    }
}

/// The greatest common divisor.
fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fits new lines to a file, using given lines that match all of its lines.
    fn fit(given: &str, file: &str, new: &str) -> Option<String> {
        let pairs: Vec<_> = given.split('\n').zip(file.split('\n')).collect();
        let new: Vec<_> = new.split('\n').collect();
        Some(shift(&pairs)?.fit(&new, &Lines::new(file))?.join("\n"))
    }

    #[test]
    fn lines_are_shifted_to_either_side() {
        let file = "    a\n        b";
        assert_eq!(fit("a\n    b", file, "c\n        d").unwrap(), "    c\n            d");
        let given = "        a\n            b";
        assert_eq!(fit(given, file, "        c\n        b").unwrap(), "    c\n    b");
        assert_eq!(fit(given, file, "    c").unwrap(), "c");
        assert_eq!(fit(given, file, "c"), None);
    }

    #[test]
    fn tabs_become_spaces_and_spaces_tabs() {
        assert_eq!(fit("\ta\n\t\tb", "  a\n    b", "\ta\n\t\t\tc").unwrap(), "  a\n      c");
        assert_eq!(fit("a\n  b", "\ta\n\t\tb", "a\n    c").unwrap(), "\ta\n\t\t\tc");
        assert_eq!(fit("  a\n    b", "    a\n        b", "      c").unwrap(), "            c");
    }

    #[test]
    fn what_is_aligned_stays_so() {
        assert_eq!(fit("a(\n\tb", "  a(\n    b", "a(\n\t  c").unwrap(), "  a(\n      c");
    }

    #[test]
    fn a_first_line_may_be_given_without_its_indentation() {
        let (given, file) = ("a\n    b\n    c", "        a\n        b\n        c");
        assert_eq!(
            fit(given, file, "x\n    y\n        z").unwrap(),
            "        x\n        y\n            z"
        );
        assert_eq!(fit("  a\n    b\n    c", file, "x"), None);
    }

    #[test]
    fn only_a_first_line_without_indentation_takes_that_of_the_files_first() {
        let (given, file) = ("a\n    b\n    c", "        a\n    b\n    c");
        assert_eq!(fit(given, file, "x\n    y\nz").unwrap(), "        x\n    y\nz");
        assert_eq!(fit(given, file, "    x").unwrap(), "    x");
    }

    #[test]
    fn a_shift_by_whole_steps_goes_for_every_line() {
        let file = "       a\n           b";
        assert_eq!(fit("   a\n       b", file, "     c").unwrap(), "         c");
    }

    #[test]
    fn a_shift_by_half_a_step_is_made_where_it_cannot_be_counted() {
        assert_eq!(fit("a\n    b", "  a\n      b", "        c").unwrap(), "          c");
        assert_eq!(fit("  a\n      b", "a\n    b", "          c").unwrap(), "        c");
    }

    #[test]
    fn other_steps_between_lines_are_no_shift() {
        for (given, file) in [
            ("a\nb", "a\n  b"),
            ("  a\n  b\n", "a\n  b"),
            ("a\n  b\n    c", "a\n  b\n  c"),
            ("  a\nb", "a\n  b"),
            ("\ta\n  b", "  a\n\tb"),
        ] {
            assert_eq!(fit(given, file, "c"), None, "{given:?} {file:?}");
        }
    }

    #[test]
    fn a_file_tells_its_step() {
        let unit = |text| Unit::of_file(&Lines::new(text));
        assert_eq!(unit("a\n\tb\n\t\tc\n"), Some(Unit::TAB));
        assert_eq!(unit("a\n  b\n\n    c\nd\n    e\n"), Some(Unit { character: ' ', width: 2 }));
        assert_eq!(unit("a\nb\n"), None);
        assert_eq!(Unit::of(&["    ", "      "]), Some(Unit { character: ' ', width: 2 }));
        assert_eq!(Unit::of(&["\t", "  "]), None);
        assert_eq!(Unit::of(&["   ", "    "]), None);
    }
}
