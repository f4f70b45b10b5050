//! Fills a page when it is first shown, so that the window opens quickly and measures no rows of
//! hidden pages.

use std::cell::OnceCell;
use std::fmt;
use std::rc::Rc;

use gtk::prelude::*;

/// A page and its content. Cheap to clone.
pub(super) struct Lazy<T> {
    page: adw::PreferencesPage,
    /// The page owns this, too: the content must not own the page.
    inner: Rc<Inner<T>>,
}

struct Inner<T> {
    filled: OnceCell<T>,
    fill: Box<dyn Fn(&adw::PreferencesPage) -> T>,
}

impl<T: 'static> Lazy<T> {
    /// Creates an empty page, which `fill` fills.
    pub(super) fn new(
        page: adw::PreferencesPage,
        fill: impl Fn(&adw::PreferencesPage) -> T + 'static,
    ) -> Self {
        let inner = Rc::new(Inner { filled: OnceCell::new(), fill: Box::new(fill) });
        let shown = Rc::clone(&inner);
        page.connect_map(move |page| {
            shown.get(page);
        });
        Self { page, inner }
    }

    /// The page.
    pub(super) fn page(&self) -> &adw::PreferencesPage {
        &self.page
    }

    /// The content of the page, which is created now if needed.
    pub(super) fn get(&self) -> &T {
        self.inner.get(&self.page)
    }

    /// The content of the page, if it was ever shown.
    pub(super) fn filled(&self) -> Option<&T> {
        self.inner.filled.get()
    }
}

impl<T> Inner<T> {
    fn get(&self, page: &adw::PreferencesPage) -> &T {
        self.filled.get_or_init(|| (self.fill)(page))
    }
}

impl<T> Clone for Lazy<T> {
    fn clone(&self) -> Self {
        Self { page: self.page.clone(), inner: Rc::clone(&self.inner) }
    }
}

impl<T: fmt::Debug> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lazy").field(&self.inner.filled).finish()
    }
}

#[cfg(test)]
mod tests {
    use adw::prelude::*;

    use super::*;
    use crate::main_loop::until;

    #[gtk::test]
    fn a_page_is_filled_when_it_is_first_shown() {
        adw::init().unwrap();
        let filled = Rc::new(std::cell::Cell::new(0));
        let count = Rc::clone(&filled);
        let lazy = Lazy::new(adw::PreferencesPage::new(), move |_| count.set(count.get() + 1));
        let window = adw::PreferencesWindow::new();
        window.add(&adw::PreferencesPage::builder().title("First").build());
        window.add(lazy.page());
        window.present();
        until("the window", || window.is_mapped());
        assert!(filled.get() == 0 && lazy.filled().is_none());
        window.set_visible_page(lazy.page());
        assert!(filled.get() == 1 && lazy.filled().is_some());
        lazy.get();
        assert_eq!(filled.get(), 1);
        // Only the window that shows a page keeps it alive.
        let gone = lazy.page().downgrade();
        drop(lazy);
        window.destroy();
        drop(window);
        while gtk::glib::MainContext::default().iteration(false) {}
        assert!(gone.upgrade().is_none());
    }
}
