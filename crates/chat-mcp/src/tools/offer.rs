//! Chooses which tools of servers a session is offered: all, or where these take too much of the model's window, those
//! that the model looked for.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use chat_core::tool::{Memory, Registry, Tool};

use super::names::names;
use super::{Called, Definition, FindTools, ServerTool, Unusable};
use crate::client::ToolList;

/// A model whose window is not known is taken for one with so many tokens.
const UNKNOWN_WINDOW: u32 = 32_768;
/// How many bytes of a description a token is, in English and JSON.
const BYTES_PER_TOKEN: u64 = 4;

/// How much of a model's window the tools of servers may take before they are looked for instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    /// How many tokens the window has, where that is known.
    pub(crate) window: Option<u32>,
    /// The share in percent.
    pub(crate) percent: u32,
}

impl Share {
    fn bytes(self) -> u64 {
        let tokens = u64::from(self.window.unwrap_or(UNKNOWN_WINDOW));
        tokens * BYTES_PER_TOKEN * u64::from(self.percent.min(100)) / 100
    }
}

/// The tools of one server, as models get them. Made once for each list that the server gives.
#[derive(Clone, Debug, Default)]
pub struct Offer {
    /// The tools that are offered, and those that the user switched off.
    pub(crate) tools: Vec<Offered>,
    /// How many the server has that cannot be used.
    pub unusable: usize,
    /// How many bytes of a window those take that are offered.
    pub bytes: u64,
}

/// One tool of a server.
#[derive(Clone)]
pub(crate) struct Offered {
    pub(crate) definition: Arc<Definition>,
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) is_on: bool,
}

impl std::fmt::Debug for Offered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Offered").field("definition", &self.definition).finish_non_exhaustive()
    }
}

impl Offer {
    /// Takes over a server's tools. `is_on` says whether the user has one switched on, by its server's name for it.
    pub(crate) fn of(
        list: &ToolList,
        called: &Arc<dyn Called>,
        (prefix, project): (&str, Option<&Path>),
        is_on: impl Fn(&str) -> bool,
    ) -> Self {
        let mut offer = Self { unusable: list.unreadable, ..Self::default() };
        let mut definitions: Vec<Definition> = Vec::new();
        let mut seen = BTreeSet::new();
        for tool in &list.tools {
            match Definition::of(project, tool) {
                // Of two with the same name nobody could say which is called.
                Ok(found) if seen.insert(found.tool.clone()) => definitions.push(found),
                Ok(_) | Err(Unusable::Name | Unusable::Schema) => offer.unusable += 1,
            }
        }
        // The order of the list is nothing that a server keeps.
        definitions.sort_by(|a, b| a.tool.cmp(&b.tool));
        let names = names(prefix, definitions.iter().map(|it| &*it.tool));
        for (definition, name) in definitions.into_iter().zip(names) {
            let definition = Arc::new(definition);
            let is_on = is_on(&definition.tool);
            if is_on {
                offer.bytes += (definition.bytes() + prefix.len()) as u64;
            }
            let tool = ServerTool::new(&name, Arc::clone(&definition), Arc::clone(called));
            offer.tools.push(Offered { definition, tool: Arc::new(tool), is_on });
        }
        offer
    }

    /// Those that are switched on.
    pub(crate) fn on(&self) -> impl Iterator<Item = &Offered> {
        self.tools.iter().filter(|offered| offered.is_on)
    }
}

/// The tools that a session's model looked for or called.
#[derive(Debug, Default)]
pub(super) struct Loaded(Mutex<BTreeSet<String>>);

impl Loaded {
    pub(super) fn add(&self, names: impl IntoIterator<Item = String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(names);
    }

    fn has(&self, name: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(name)
    }
}

/// The tools of these servers that a session with this memory is offered in its share of the window. The servers' names go with them.
pub(crate) fn choose(
    offers: &[(String, Arc<Offer>)],
    memory: &Arc<Memory>,
    share: Share,
) -> Registry {
    let tools = || offers.iter().flat_map(|(_, offer)| offer.on()).map(|offered| &offered.tool);
    let bytes: u64 = offers.iter().map(|(_, offer)| offer.bytes).sum();
    if bytes <= share.bytes() {
        return tools().cloned().collect();
    }
    let loaded = memory.get::<Loaded>();
    let found = tools().filter(|tool| loaded.has(tool.info().name())).cloned();
    let mut registry: Registry = found.collect();
    registry.register(Arc::new(FindTools::new(offers.to_vec())));
    registry
}
