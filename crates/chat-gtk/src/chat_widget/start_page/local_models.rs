//! Keeps what a new chat says about models on this computer: those that are here, or one to download.

use chat_core::manager::Manager;
use chat_core::models::{Installed, title};
use gettextrs::gettext;

use crate::models::fetch::{Fetch, Goods};
use crate::models::row::ModelRow;
use crate::models::{Stock, machine, words};

/// What the page depends on. The progress of a download is not in it: that changes in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LocalModelStatus {
    /// These models can hold a conversation.
    Installed { models: Vec<String> },
    /// None yet, but this one is offered or on its way.
    Offered { what: String },
    /// None, and nothing to offer.
    Unavailable,
}

/// The models on this computer, and the row that offers one.
#[derive(Debug)]
pub(super) struct LocalModels {
    models: Vec<String>,
    /// With what it is about, so that it stays while that stays.
    fetch: Option<(String, Fetch)>,
}

impl LocalModels {
    pub(super) fn status(&self) -> LocalModelStatus {
        match &self.fetch {
            _ if !self.models.is_empty() => {
                LocalModelStatus::Installed { models: self.models.clone() }
            }
            Some((what, _)) => LocalModelStatus::Offered { what: what.clone() },
            None => LocalModelStatus::Unavailable,
        }
    }

    /// The row that offers a model.
    pub(super) fn fetch(&self) -> Option<&Fetch> {
        self.fetch.as_ref().map(|(_, fetch)| fetch)
    }

    /// Takes what there is now. A row that is about the same stays.
    pub(super) fn take(before: Option<Self>, stock: &Stock, manager: &Manager) -> Self {
        let can_chat = |model: &&Installed| model.problem.is_none() && !model.facts.embedding;
        let models = stock.installed.iter().filter(can_chat).map(|model| model.name.clone());
        let fetch = offered(stock).map(|Offered { key, goods, model, about }| {
            let old = before.and_then(|before| before.fetch).filter(|(other, _)| *other == key);
            old.unwrap_or_else(|| {
                let title = gettext("On this computer");
                let row = ModelRow::about("natter-computer-symbolic", &title, &model);
                (key, Fetch::new(manager, goods, row, about))
            })
        });
        if let Some((_, fetch)) = &fetch {
            fetch.update(stock);
        }
        Self { models: models.collect(), fetch }
    }
}

/// A model that is offered, or on its way.
struct Offered {
    /// By this it is told apart.
    key: String,
    goods: Goods,
    /// What it is called.
    model: String,
    about: String,
}

/// What is on its way, or else the model to begin with.
fn offered(stock: &Stock) -> Option<Offered> {
    let beginning = machine::beginning();
    let is_beginning = |it| beginning.is_some_and(|offer| Goods::Offer(offer).is(it));
    let coming: Vec<_> = stock.coming().collect();
    if let Some(other) = coming.first().filter(|_| !coming.iter().any(|it| is_beginning(it))) {
        let (key, model) = (other.id.clone(), title(&other.name).to_owned());
        return Some(Offered {
            goods: Goods::Coming(key.clone()),
            key,
            about: model.clone(),
            model,
        });
    }
    beginning.map(|offer| Offered {
        key: offer.name.clone(),
        goods: Goods::Offer(offer),
        model: offer.title.clone(),
        about: words::invitation(offer),
    })
}
