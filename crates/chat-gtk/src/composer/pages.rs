//! Fetches web pages that are attached to a message: their chips appear at once, their text when it
//! arrives.

use std::sync::Arc;

use chat_core::message::Mention;

use super::written::{Pin, Pinned};
use super::{Composer, Inner, Output};

impl Composer {
    /// The addresses of attached pages that have not arrived yet.
    pub(crate) fn pages(&self) -> Vec<String> {
        self.inner.pages()
    }

    /// A page arrived; none if it could not be fetched. Returns whether it was still wanted.
    pub(crate) fn page_came(&self, url: &str, text: Option<String>) -> bool {
        self.inner.page_came(url, text)
    }
}

impl Inner {
    fn pages(&self) -> Vec<String> {
        let read = self.read.borrow();
        let mut pages: Vec<String> = Vec::new();
        for url in read.live.iter().filter_map(|pin| pin.awaited()) {
            if !pages.iter().any(|page| page == url) {
                pages.push(url.to_owned());
            }
        }
        pages
    }

    pub(super) fn is_fetching(&self) -> bool {
        self.read.borrow().live.iter().any(|pin| pin.awaited().is_some())
    }

    /// Reports which pages are wanted, if they have changed.
    pub(super) fn tell_pages(&self) {
        let pages = self.pages();
        if *self.requested_pages.borrow() != pages {
            self.requested_pages.replace(pages.clone());
            self.tell(Output::Pages(pages));
        }
    }

    fn page_came(&self, url: &str, text: Option<String>) -> bool {
        let is_wanted = self.pages().iter().any(|page| page == url);
        let is_it = |pin: &Arc<Pin>| pin.awaited() == Some(url);
        match text {
            // Also for a page that lost its word, which may come back.
            Some(text) => {
                for pin in self.pins.borrow_mut().iter_mut().filter(|pin| is_it(pin)) {
                    let (url, text) = (url.to_owned(), text.clone());
                    let what = Pinned::Mention(Mention::Page { url, text });
                    *pin = Arc::new(Pin { what, ..Pin::clone(pin) });
                }
            }
            None if is_wanted => self.pins.borrow_mut().retain(|pin| !is_it(pin)),
            None => return false,
        }
        self.pins_changed();
        is_wanted
    }
}
