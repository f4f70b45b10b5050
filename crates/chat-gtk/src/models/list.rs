//! Shows a list whose rows stay while their models stay, so that keyboard focus is not lost when
//! other rows change.

use std::cell::RefCell;

use adw::prelude::*;

use super::has_keyboard;
use crate::accessible;

/// A list of rows `R`, identified by keys `K`.
#[derive(Debug)]
pub(crate) struct KeyedList<K, R> {
    list: gtk::ListBox,
    rows: RefCell<Vec<(K, R)>>,
    widget: fn(&R) -> gtk::Widget,
}

impl<K: PartialEq, R: Clone> KeyedList<K, R> {
    /// Creates an empty list with this name; `widget` returns the widget of a row.
    pub(crate) fn new(name: &str, widget: fn(&R) -> gtk::Widget) -> Self {
        let list = gtk::ListBox::builder()
            .selection_mode(gtk::SelectionMode::None)
            .css_classes(["boxed-list"])
            .visible(false)
            .build();
        accessible::set_label(&list, name);
        Self { list, rows: RefCell::default(), widget }
    }

    pub(crate) fn widget(&self) -> &gtk::ListBox {
        &self.list
    }

    /// Updates the rows to these keys; `make` creates the missing ones. Returns whether the focus
    /// was here and has no row left.
    pub(crate) fn sync(&self, keys: Vec<K>, mut make: impl FnMut(&K) -> R) -> bool {
        let mut old = self.rows.take();
        let mut lost_keyboard = None;
        let mut place = 0;
        old.retain(|(key, row)| {
            place += 1;
            let stays = keys.contains(key);
            if !stays {
                let widget = (self.widget)(row);
                if has_keyboard(&widget) {
                    lost_keyboard = Some(place - 1);
                }
                self.list.remove(&widget);
            }
            stays
        });
        let mut rows: Vec<(K, R)> = Vec::with_capacity(keys.len());
        for (at, key) in keys.into_iter().enumerate() {
            let there = old.iter().position(|(other, _)| *other == key);
            let row = if let Some(place) = there {
                let (_, row) = old.remove(place);
                if place > 0 {
                    // The rows before it now come later.
                    self.move_to(&row, at);
                }
                row
            } else {
                let row = make(&key);
                self.list.insert(&(self.widget)(&row), at as i32);
                row
            };
            rows.push((key, row));
        }
        self.list.set_visible(!rows.is_empty());
        if let (Some(place), Some(last)) = (lost_keyboard, rows.len().checked_sub(1)) {
            (self.widget)(&rows[place.min(last)].1).grab_focus();
        }
        let is_lost = lost_keyboard.is_some() && rows.is_empty();
        self.rows.replace(rows);
        is_lost
    }

    /// All rows, in their order.
    pub(crate) fn rows(&self) -> Vec<R> {
        self.rows.borrow().iter().map(|(_, row)| row.clone()).collect()
    }

    fn move_to(&self, row: &R, at: usize) {
        let widget = (self.widget)(row);
        self.list.remove(&widget);
        self.list.insert(&widget, at as i32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &KeyedList<&'static str, gtk::ListBoxRow>) -> Vec<String> {
        let rows = std::iter::successors(list.widget().first_child(), WidgetExt::next_sibling);
        rows.map(|row| row.widget_name().to_string()).collect()
    }

    #[gtk::test]
    fn rows_stay_while_what_they_are_about_stays() {
        let list = KeyedList::new("List", |row: &gtk::ListBoxRow| row.clone().upcast());
        let made = RefCell::new(Vec::new());
        let sync = |keys: &[&'static str]| {
            list.sync(keys.to_vec(), |key| {
                made.borrow_mut().push(*key);
                gtk::ListBoxRow::builder().name(*key).build()
            });
            assert_eq!(texts(&list), keys);
            made.take()
        };
        assert_eq!(sync(&["b", "d"]), ["b", "d"]);
        assert_eq!(sync(&["a", "b", "c", "d"]), ["a", "c"]);
        assert_eq!(sync(&["d", "a"]), [""; 0]);
        assert_eq!(sync(&["a", "d"]), [""; 0]);
        assert_eq!(sync(&[]), [""; 0]);
        assert!(!list.widget().is_visible());
    }
}
