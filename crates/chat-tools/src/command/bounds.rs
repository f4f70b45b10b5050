//! Reports how commands are confined here.

use async_trait::async_trait;
use chat_core::tool::{Bounds, BoundsReport, Enforcement, Gap, UnavailableReason};
use chat_sandbox::{Preference, Sandbox};

/// Reports how commands are confined with this preference.
pub struct CommandBounds(pub Preference);

#[async_trait]
impl BoundsReport for CommandBounds {
    async fn bounds(&self) -> Bounds {
        let sandbox = Sandbox::probe(self.0).await;
        let reason =
            |(better, why): &(chat_sandbox::Enforcement, chat_sandbox::UnavailableReason)| {
                (enforcement(*better), why_not(why))
            };
        Bounds {
            enforcement: enforcement(sandbox.enforcement()),
            why_not: sandbox.why_not().iter().map(reason).collect(),
            gaps: sandbox.gaps().into_iter().map(gap).collect(),
        }
    }
}

fn enforcement(enforcement: chat_sandbox::Enforcement) -> Enforcement {
    match enforcement {
        chat_sandbox::Enforcement::Bubblewrap => Enforcement::Bubblewrap,
        chat_sandbox::Enforcement::Landlock => Enforcement::Landlock,
        chat_sandbox::Enforcement::None => Enforcement::None,
    }
}

fn why_not(why: &chat_sandbox::UnavailableReason) -> UnavailableReason {
    match why {
        chat_sandbox::UnavailableReason::NotInstalled => UnavailableReason::NotInstalled,
        chat_sandbox::UnavailableReason::NamespacesForbidden => {
            UnavailableReason::NamespacesForbidden
        }
        chat_sandbox::UnavailableReason::NotInKernel => UnavailableReason::NotInKernel,
        chat_sandbox::UnavailableReason::Failed(said) => UnavailableReason::Failed(said.clone()),
        chat_sandbox::UnavailableReason::NotWanted => UnavailableReason::NotWanted,
        chat_sandbox::UnavailableReason::TooOld => UnavailableReason::TooOld,
        chat_sandbox::UnavailableReason::NoAnswer => UnavailableReason::NoAnswer,
        other => UnavailableReason::Failed(format!("{other:?}")),
    }
}

fn gap(gap: chat_sandbox::Gap) -> Gap {
    match gap {
        chat_sandbox::Gap::Signals => Gap::Signals,
        chat_sandbox::Gap::Attributes => Gap::Attributes,
        chat_sandbox::Gap::Metadata => Gap::Metadata,
        chat_sandbox::Gap::NewRepositories => Gap::NewRepositories,
        chat_sandbox::Gap::ProcessNames => Gap::ProcessNames,
        chat_sandbox::Gap::NewProtected => Gap::NewProtected,
        chat_sandbox::Gap::NoNewEntries => Gap::NoNewEntries,
    }
}
