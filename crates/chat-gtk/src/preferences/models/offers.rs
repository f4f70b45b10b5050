//! Shows the models of the catalog: those that fit this machine, and in a folded list those that
//! are too large for it.

use adw::prelude::*;
use chat_core::manager::Manager;
use chat_core::models::{Download, Offer, catalogue};
use chat_presentation::words::fill;
use gettextrs::{gettext, ngettext};

use crate::accessible;
use crate::models::fetch::{Fetch, Goods};
use crate::models::machine::{self, Room};
use crate::models::row::{ModelRow, RowContents};
use crate::models::{Stock, words};

/// The group.
#[derive(Debug)]
pub(super) struct Offers {
    group: adw::PreferencesGroup,
    too_large: adw::PreferencesGroup,
    fetches: Vec<(&'static Offer, Fetch)>,
}

impl Offers {
    pub(super) fn new(manager: &Manager) -> Self {
        let below = match machine::memory() {
            Some(memory) => {
                let text = gettext(
                    "These fit in this computer’s {memory} of memory. Larger models give better answers; smaller ones are faster.",
                );
                fill(&text, &[("memory", &words::roughly(memory))])
            }
            None => gettext("Larger models give better answers; smaller ones are faster."),
        };
        let group = adw::PreferencesGroup::builder()
            .title(gettext("Available for Download"))
            .description(below)
            .build();
        let list = gtk::ListBox::builder()
            .selection_mode(gtk::SelectionMode::None)
            .css_classes(["boxed-list"])
            .build();
        accessible::set_label(&list, &gettext("Models to Download"));
        group.add(&list);
        let (fitting, others) = sorted(machine::beginning());
        let mut fetches = Vec::with_capacity(fitting.len());
        for offer in fitting {
            let beginning = machine::beginning().is_some_and(|first| first.name == offer.name);
            let icon = if beginning { "starred-symbolic" } else { "folder-download-symbolic" };
            let mut about = words::about_offer(offer);
            if beginning {
                about = format!("{}\n{about}", gettext("A good first choice for this computer"));
            }
            let row = ModelRow::new(icon, &offer.title);
            let fetch = Fetch::new(manager, Goods::Offer(offer), row, about);
            list.append(&fetch.widget());
            fetches.push((offer, fetch));
        }
        Self { group, too_large: too_large(&others), fetches }
    }

    pub(super) fn widget(&self) -> &adw::PreferencesGroup {
        &self.group
    }

    /// The models that are too large for this machine.
    pub(super) fn too_large(&self) -> &adw::PreferencesGroup {
        &self.too_large
    }

    /// Whether a download is shown here.
    pub(super) fn has(&self, it: &Download) -> bool {
        self.fetches.iter().any(|(offer, _)| Goods::Offer(offer).is(it))
    }

    /// Focuses the first model with a button. Returns whether there is one.
    pub(super) fn focus(&self) -> bool {
        self.fetches.iter().any(|(_, fetch)| fetch.focus())
    }

    pub(super) fn show(&self, stock: &Stock) {
        for (_, fetch) in &self.fetches {
            fetch.update(stock);
        }
    }
}

/// The models that leave memory for other programs, the suggested one first and then by size, as in
/// the catalog and the terminal; and the other models.
fn sorted(first: Option<&'static Offer>) -> (Vec<&'static Offer>, Vec<&'static Offer>) {
    let fits =
        |offer: &&'static Offer| matches!(machine::room(offer.memory), None | Some(Room::Enough));
    let (mut fitting, mut others): (Vec<_>, Vec<_>) = catalogue().iter().partition(fits);
    fitting.sort_by_key(|offer| (first.is_none_or(|first| first.name != offer.name), offer.size));
    others.sort_by_key(|offer| offer.size);
    (fitting, others)
}

fn too_large(offers: &[&'static Offer]) -> adw::PreferencesGroup {
    let count = u32::try_from(offers.len()).unwrap_or(u32::MAX);
    let text = ngettext("{n} more is too large", "{n} more are too large", count);
    let fold = adw::ExpanderRow::builder()
        .title(fill(&text, &[("n", &count.to_string())]))
        .subtitle(gettext("They need more than three quarters of this computer’s memory"))
        .build();
    for offer in offers {
        let row = ModelRow::new("natter-computer-symbolic", &offer.title);
        row.show(RowContents { about: words::about_offer(offer), ..RowContents::default() });
        fold.add_row(row.widget());
    }
    let group = adw::PreferencesGroup::builder().visible(!offers.is_empty()).build();
    group.add(&fold);
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_the_one_to_begin_with_they_stand_by_the_size_that_is_shown() {
        let first = catalogue().last();
        let (fitting, others) = sorted(first);
        let begins = fitting.iter().position(|offer| Some(*offer) == first);
        assert!(begins.is_none_or(|at| at == 0));
        let after = &fitting[usize::from(begins.is_some())..];
        assert!(after.is_sorted_by_key(|offer| offer.size), "{after:#?}");
        assert!(others.is_sorted_by_key(|offer| offer.size), "{others:#?}");
    }
}
