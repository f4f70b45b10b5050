//! What a new chat says about models on this computer: those that are here, or one to download.

use chat_core::error::Result;
use chat_core::manager::Manager;
use chat_core::models::{Installed, title};
use chat_edge::words::sentence;
use gettextrs::gettext;
use relm4::ComponentSender;

use super::super::view::View;
use super::super::{ChatWidget, Done, Output, done, tell};
use crate::models::fetch::{Fetch, Goods};
use crate::models::row::ModelRow;
use crate::models::{Stock, machine, words};

/// What the page depends on. The progress of a download is not in it: that changes in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Standing {
    /// These models can hold a conversation.
    Here { models: Vec<String> },
    /// None yet, but this one is offered or on its way.
    Offered { what: String },
    /// None, and nothing to offer.
    Nothing,
}

/// The models on this computer, and the row that offers one.
#[derive(Debug)]
pub(in super::super) struct Local {
    models: Vec<String>,
    /// With what it is about, so that it stays while that stays.
    fetch: Option<(String, Fetch)>,
}

/// Whether somebody is looking what there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Looking {
    No,
    Yes,
    /// What there is changed meanwhile.
    Again,
}

impl Local {
    pub(in super::super) fn standing(&self) -> Standing {
        match &self.fetch {
            _ if !self.models.is_empty() => Standing::Here { models: self.models.clone() },
            Some((what, _)) => Standing::Offered { what: what.clone() },
            None => Standing::Nothing,
        }
    }

    /// The row that offers a model.
    pub(in super::super) fn fetch(&self) -> Option<&Fetch> {
        self.fetch.as_ref().map(|(_, fetch)| fetch)
    }

    /// Takes what there is now. A row that is about the same stays.
    fn take(before: Option<Self>, stock: &Stock, manager: &Manager) -> Self {
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

impl ChatWidget {
    /// Finds out which models are here and which are coming; one look at a time.
    pub(in super::super) fn look_at_stock(&mut self, sender: &ComponentSender<Self>) {
        let Some(manager) = self.manager.clone() else { return };
        if self.looking != Looking::No {
            self.looking = Looking::Again;
            return;
        }
        self.looking = Looking::Yes;
        sender.oneshot_command(async move { done(Done::Stock(Stock::take(&manager).await)) });
    }

    pub(in super::super) fn stock_came(
        &mut self,
        stock: Result<Stock>,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        let Some(manager) = &self.manager else { return };
        match stock {
            Ok(stock) => {
                let before = self.local.as_ref().map(Local::standing);
                let local = Local::take(self.local.take(), &stock, manager);
                let changed = before != Some(local.standing());
                self.local = Some(local);
                if changed {
                    self.show_state(view, sender);
                }
            }
            Err(error) => tell(sender, Output::Note(sentence(&error))),
        }
        if std::mem::replace(&mut self.looking, Looking::No) == Looking::Again {
            self.look_at_stock(sender);
        }
    }
}
