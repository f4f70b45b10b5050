//! Words what confines the commands of tools on this machine, and what does not.

use chat_core::tool::{Bounds, Enforcement, Gap, UnavailableReason};
use gettextrs::gettext;

use super::{fill, visible};

/// What keeps commands in bounds, in a line.
pub fn enforcement(bounds: &Bounds) -> String {
    match bounds.enforcement {
        Enforcement::Bubblewrap => gettext("Commands run in a sandbox"),
        Enforcement::Landlock => gettext("Commands run in a smaller sandbox"),
        Enforcement::None => gettext("Commands run in no sandbox"),
    }
}

/// What that means: what is kept, why nothing better is used, and what is missing; a sentence each.
pub fn bounds(bounds: &Bounds) -> Vec<String> {
    let mut out = vec![match bounds.enforcement {
        Enforcement::Bubblewrap | Enforcement::Landlock => {
            gettext("They change the project alone, and reach no network unless you allow it.")
        }
        Enforcement::None => gettext("They can do whatever you can do, so that each is asked for."),
    }];
    out.extend(reasons(bounds));
    out.extend(bounds.gaps.iter().copied().map(gap));
    out
}

/// Why commands are not held as well as they could be; none where they are.
pub fn why_not_full(bounds: &Bounds) -> Option<String> {
    let reasons: Vec<String> = reasons(bounds).collect();
    (!reasons.is_empty()).then(|| reasons.join(" "))
}

fn reasons(bounds: &Bounds) -> impl Iterator<Item = String> {
    bounds.why_not.iter().map(|(better, why)| {
        let name = match better {
            Enforcement::Bubblewrap => "bubblewrap",
            Enforcement::Landlock => "Landlock",
            Enforcement::None => "",
        };
        match why {
            UnavailableReason::NotInstalled => about(&gettext("{name} is not installed."), name),
            UnavailableReason::NamespacesForbidden => {
                about(&gettext("The system forbids the namespaces that {name} needs."), name)
            }
            UnavailableReason::NotInKernel => {
                about(&gettext("The kernel has no {name}, or it is switched off."), name)
            }
            UnavailableReason::TooOld => about(&gettext("{name} is too old."), name),
            UnavailableReason::NoAnswer => about(
                &gettext("{name} gave no answer in time; start Natter again to try once more."),
                name,
            ),
            UnavailableReason::Failed(said) => {
                let text = gettext("{name} does not work here: {reason}");
                fill(&text, &[("name", name), ("reason", &visible(said.trim()))])
            }
            UnavailableReason::NotWanted => about(&gettext("{name} was switched off."), name),
        }
    })
}

fn about(text: &str, name: &str) -> String {
    fill(text, &[("name", name)])
}

fn gap(gap: Gap) -> String {
    match gap {
        Gap::Signals => gettext("They can send signals to your other programs."),
        Gap::Attributes => gettext(
            "They can change permissions and times of files elsewhere, never what is in them.",
        ),
        Gap::Metadata => gettext(
            "They can see which files there are elsewhere, how large they are and when they changed, never what is in them.",
        ),
        Gap::NewRepositories => gettext(
            "A git repository that they make is put right within about a second: until then your git could run what it names.",
        ),
        Gap::ProcessNames => gettext("They can read the names of your other programs."),
        Gap::NewProtected => {
            gettext("Protected files that they make anew are put aside when they end.")
        }
        Gap::NoNewEntries => {
            gettext("In a project with git they make nothing new at its top, and commit nothing.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_missing_is_told_with_its_reason() {
        let full =
            Bounds { enforcement: Enforcement::Bubblewrap, why_not: Vec::new(), gaps: Vec::new() };
        assert_eq!(bounds(&full).len(), 1);
        assert_eq!(why_not_full(&full), None);
        let why_not = vec![
            (Enforcement::Bubblewrap, UnavailableReason::NotInstalled),
            (Enforcement::Landlock, UnavailableReason::Failed("no\u{202e}pe\n".to_owned())),
        ];
        let gaps = vec![
            Gap::Signals,
            Gap::Attributes,
            Gap::Metadata,
            Gap::NewRepositories,
            Gap::ProcessNames,
            Gap::NewProtected,
            Gap::NoNewEntries,
        ];
        let poor = Bounds { enforcement: Enforcement::None, why_not, gaps };
        assert_eq!(
            why_not_full(&poor).unwrap(),
            "bubblewrap is not installed. Landlock does not work here: no⟨U+202E⟩pe"
        );
        let all = bounds(&poor);
        assert_eq!(all.len(), 1 + 2 + 7);
        for (place, one) in all.iter().enumerate() {
            assert!(!all[..place].contains(one), "{one}");
        }
    }
}
