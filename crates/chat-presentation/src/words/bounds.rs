//! Words what confines the commands of tools on this machine, and what does not.

use chat_core::tool::{Bounds, Enforcement, Gap, UnavailableReason};
use gettextrs::gettext;

use super::{fill, visible};

/// What keeps commands in bounds, in a line.
pub fn enforcement(bounds: &Bounds) -> String {
    match bounds.enforcement {
        Enforcement::Bubblewrap => gettext("Commands run in a sandbox"),
        Enforcement::Landlock => gettext("Commands run in a weaker sandbox"),
        Enforcement::None => gettext("Commands run without a sandbox"),
    }
}

/// What that means: what is kept, why nothing better is used, and what is missing; a sentence each.
pub fn bounds(bounds: &Bounds) -> Vec<String> {
    let mut out = vec![match bounds.enforcement {
        Enforcement::Bubblewrap | Enforcement::Landlock => gettext(
            "They can change only the project, and can’t use the network unless you allow it.",
        ),
        Enforcement::None => {
            gettext("They can do anything you can do, so Natter asks about each one.")
        }
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
            UnavailableReason::NotInstalled => about(&gettext("{name} isn’t installed."), name),
            UnavailableReason::NamespacesForbidden => {
                about(&gettext("This system doesn’t allow the namespaces that {name} needs."), name)
            }
            UnavailableReason::NotInKernel => {
                about(&gettext("The kernel doesn’t support {name}, or it’s turned off."), name)
            }
            UnavailableReason::TooOld => about(&gettext("{name} is too old."), name),
            UnavailableReason::NoAnswer => {
                about(&gettext("{name} didn’t respond in time. Restart Natter to try again."), name)
            }
            UnavailableReason::Failed(said) => {
                let text = gettext("{name} doesn’t work here: {reason}");
                fill(&text, &[("name", name), ("reason", &visible(said.trim()))])
            }
            UnavailableReason::NotWanted => about(&gettext("{name} is turned off."), name),
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
            "They can change the permissions and timestamps of files outside the project, but not their contents.",
        ),
        Gap::Metadata => gettext(
            "They can see the names, sizes, and modification times of files outside the project, but not their contents.",
        ),
        Gap::NewRepositories => gettext(
            "If they create a Git repository, Natter makes it safe within about a second. Until then, your own Git, outside the sandbox, could run programs named in it.",
        ),
        Gap::ProcessNames => gettext("They can see the names of your other programs."),
        Gap::NewProtected => {
            gettext("Protected files that they create are quarantined when the command ends.")
        }
        Gap::NoNewEntries => {
            gettext("In a Git project, they can’t commit or create anything in the top folder.")
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
            "bubblewrap isn’t installed. Landlock doesn’t work here: no⟨U+202E⟩pe"
        );
        let all = bounds(&poor);
        assert_eq!(all.len(), 1 + 2 + 7);
        for (place, one) in all.iter().enumerate() {
            assert!(!all[..place].contains(one), "{one}");
        }
    }
}
