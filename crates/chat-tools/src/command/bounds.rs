//! What keeps commands in bounds here, as the engine tells it.

use async_trait::async_trait;
use chat_core::tool::{Bounds, BoundsReport, Enforcement, Gap, WhyNot};
use chat_sandbox::{Preference, Sandbox};

/// Tells what keeps commands in bounds that are to be kept in this way.
pub struct CommandBounds(pub Preference);

#[async_trait]
impl BoundsReport for CommandBounds {
    async fn bounds(&self) -> Bounds {
        let sandbox = Sandbox::probe(self.0).await;
        let reason = |(better, why): &(chat_sandbox::Enforcement, chat_sandbox::WhyNot)| {
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

fn why_not(why: &chat_sandbox::WhyNot) -> WhyNot {
    match why {
        chat_sandbox::WhyNot::NotInstalled => WhyNot::NotInstalled,
        chat_sandbox::WhyNot::NamespacesForbidden => WhyNot::NamespacesForbidden,
        chat_sandbox::WhyNot::NotInKernel => WhyNot::NotInKernel,
        chat_sandbox::WhyNot::Failed(said) => WhyNot::Failed(said.clone()),
        chat_sandbox::WhyNot::NotWanted => WhyNot::NotWanted,
        chat_sandbox::WhyNot::TooOld => WhyNot::TooOld,
        chat_sandbox::WhyNot::NoAnswer => WhyNot::NoAnswer,
        other => WhyNot::Failed(format!("{other:?}")),
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
