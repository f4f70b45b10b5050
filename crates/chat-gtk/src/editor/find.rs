//! Finds and replaces text, with a bar above the file's text.

mod bar;

use std::cell::Cell;
use std::rc::Rc;

use chat_presentation::words::fill;
use gettextrs::gettext;
use gtk::{gdk, glib};
use relm4::gtk::prelude::*;
use sourceview5::prelude::*;

use bar::Bar;

/// The action of a button.
type Act = fn(&Rc<Find>);

/// The find bar of one file.
pub(super) struct Find {
    bar: Bar,
    view: sourceview5::View,
    buffer: sourceview5::Buffer,
    settings: sourceview5::SearchSettings,
    context: sourceview5::SearchContext,
    /// Where the search began: typed text is searched from there.
    from: gtk::TextMark,
    /// From where to find a match, and in which direction, while matches are being counted.
    wanted: Cell<Option<(i32, bool)>>,
}

impl Find {
    /// Creates a closed bar.
    pub(super) fn new(view: &sourceview5::View, buffer: &sourceview5::Buffer) -> Rc<Self> {
        let settings = sourceview5::SearchSettings::new();
        settings.set_wrap_around(true);
        let context = sourceview5::SearchContext::new(buffer, Some(&settings));
        context.set_highlight(false);
        let from = buffer.create_mark(None, &buffer.start_iter(), true);
        let find = Rc::new(Self {
            bar: Bar::new(),
            view: view.clone(),
            buffer: buffer.clone(),
            settings,
            context,
            from,
            wanted: Cell::default(),
        });
        find.connect();
        find
    }

    pub(super) fn widget(&self) -> &gtk::Box {
        &self.bar.root
    }

    /// Opens the bar and fills in the selection.
    pub(super) fn open(self: &Rc<Self>, replace: bool) {
        let selected = self.buffer.selection_bounds().filter(|(a, b)| a.line() == b.line());
        let from = selected.map_or_else(
            || self.buffer.iter_at_mark(&self.buffer.get_insert()),
            |(start, _)| start,
        );
        self.buffer.move_mark(&self.from, &from);
        self.bar.show_replace(replace);
        self.bar.root.set_visible(true);
        self.context.set_highlight(true);
        if let Some((a, b)) = selected {
            let text = self.buffer.text(&a, &b, true);
            // The text would have to be escaped in a regular expression.
            if !self.settings.is_regex_enabled() {
                self.bar.entry.set_text(&text);
            }
        }
        self.bar.entry.grab_focus();
        self.bar.entry.select_region(0, -1);
        self.show_count();
    }

    /// Goes to the next or previous match. Opens a closed bar.
    pub(super) fn step(self: &Rc<Self>, forward: bool) {
        if !self.bar.root.is_visible() {
            return self.open(false);
        }
        let (start, end) = self.selection();
        self.go(if forward { &end } else { &start }, forward);
    }

    fn selection(&self) -> (gtk::TextIter, gtk::TextIter) {
        self.buffer.selection_bounds().unwrap_or_else(|| {
            let at = self.buffer.iter_at_mark(&self.buffer.get_insert());
            (at, at)
        })
    }

    /// Finds a match from a position on, once all matches are known, so that a long text never
    /// blocks. (The background search of `GtkSourceView` cannot tell that there is no match.)
    fn go(&self, from: &gtk::TextIter, forward: bool) {
        self.wanted.set(Some((from.offset(), forward)));
        self.go_on();
    }

    fn go_on(&self) {
        let count = self.context.occurrences_count();
        let Some((from, forward)) = self.wanted.take().filter(|_| count != 0) else { return };
        if count < 0 {
            return self.wanted.set(Some((from, forward)));
        }
        let from = self.buffer.iter_at_offset(from);
        let found =
            if forward { self.context.forward(&from) } else { self.context.backward(&from) };
        if let Some((start, end, _)) = found {
            self.buffer.select_range(&start, &end);
            self.view.scroll_to_mark(&self.buffer.get_insert(), 0.1, false, 0.0, 0.0);
        }
        self.show_count();
    }

    /// Replaces the selected match, and goes to the next one.
    fn replace(self: &Rc<Self>) {
        let (mut start, mut end) = self.selection();
        let with = self.bar.replacement.text();
        // If the selection is not a match, the next match is only selected.
        if self.context.occurrence_position(&start, &end) > 0
            && self.context.replace(&mut start, &mut end, &with).is_ok()
        {
            return self.go(&end, true);
        }
        self.step(true);
    }

    fn replace_all(&self) {
        if let Err(error) = self.context.replace_all(&self.bar.replacement.text()) {
            self.bar.count.set_label(error.message());
        }
        self.show_count();
    }

    fn close(&self) {
        self.context.set_highlight(false);
        self.view.grab_focus();
        self.bar.root.set_visible(false);
    }

    /// Shows the number of matches, and which one is selected.
    fn show_count(&self) {
        let bar = &self.bar;
        let error = self.context.regex_error();
        let all = self.context.occurrences_count();
        let (start, end) = self.selection();
        let at = self.context.occurrence_position(&start, &end);
        let empty = bar.entry.text().is_empty();
        let words = match (error, all) {
            _ if empty => String::new(),
            (Some(_), _) => gettext("invalid pattern"),
            // The matches are still being counted.
            (None, -1) => String::new(),
            (None, 0) => gettext("no matches"),
            (None, all) if at > 0 => {
                let text = gettext("{at} of {all}");
                fill(&text, &[("at", &at.to_string()), ("all", &all.to_string())])
            }
            (None, all) => all.to_string(),
        };
        bar.count.set_label(&words);
        let none = !empty && (all == 0 || self.context.regex_error().is_some());
        if none {
            bar.entry.add_css_class("error");
        } else {
            bar.entry.remove_css_class("error");
        }
        bar.set_active(all > 0 && !empty);
    }

    fn connect(self: &Rc<Self>) {
        let bar = &self.bar;
        let weak = Rc::downgrade(self);
        bar.entry.connect_changed(move |entry| {
            let Some(find) = weak.upgrade() else { return };
            let text = entry.text();
            find.settings.set_search_text((!text.is_empty()).then_some(text.as_str()));
            let from = find.buffer.iter_at_mark(&find.from);
            find.go(&from, true);
        });
        for (button, set) in [
            (&bar.case, sourceview5::SearchSettings::set_case_sensitive as fn(&_, bool)),
            (&bar.regex, sourceview5::SearchSettings::set_regex_enabled),
        ] {
            let weak = Rc::downgrade(self);
            button.connect_toggled(move |button| {
                if let Some(find) = weak.upgrade() {
                    set(&find.settings, button.is_active());
                    find.go(&find.buffer.iter_at_mark(&find.from), true);
                }
            });
        }
        let weak = Rc::downgrade(self);
        self.context.connect_occurrences_count_notify(move |_| {
            if let Some(find) = weak.upgrade() {
                find.show_count();
                find.go_on();
            }
        });
        let acts: [(&gtk::Button, Act); 5] = [
            (&bar.previous, |find| find.step(false)),
            (&bar.next, |find| find.step(true)),
            (&bar.replace, Self::replace),
            (&bar.replace_all, |find| find.replace_all()),
            (&bar.close, |find| find.close()),
        ];
        for (button, act) in acts {
            let weak = Rc::downgrade(self);
            button.connect_clicked(move |_| {
                if let Some(find) = weak.upgrade() {
                    act(&find);
                }
            });
        }
        let keys = gtk::EventControllerKey::new();
        keys.set_propagation_phase(gtk::PropagationPhase::Capture);
        let weak = Rc::downgrade(self);
        keys.connect_key_pressed(move |_, key, _, modifiers| {
            let Some(find) = weak.upgrade() else { return glib::Propagation::Proceed };
            let enters = matches!(key, gdk::Key::Return | gdk::Key::KP_Enter | gdk::Key::ISO_Enter);
            match () {
                () if key == gdk::Key::Escape => find.close(),
                () if enters && find.bar.has_focus(&find.bar.entry) => {
                    find.step(!modifiers.contains(gdk::ModifierType::SHIFT_MASK));
                }
                () if enters && find.bar.has_focus(&find.bar.replacement) => find.replace(),
                () if find.bar.turn(key) => {}
                () => return glib::Propagation::Proceed,
            }
            glib::Propagation::Stop
        });
        bar.root.add_controller(keys);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(what: impl Fn() -> bool) {
        let begun = std::time::Instant::now();
        while !what() {
            assert!(begun.elapsed().as_secs() < 20, "it does not come");
            glib::MainContext::default().iteration(false);
        }
    }

    #[gtk::test]
    fn tab_leads_from_what_is_looked_for_to_what_it_becomes_and_back() {
        crate::init();
        let buffer = sourceview5::Buffer::new(None);
        let view = sourceview5::View::with_buffer(&buffer);
        let find = Find::new(&view, &buffer);
        let window = gtk::Window::builder().child(find.widget()).build();
        window.present();
        find.open(true);
        assert!(find.bar.turn(gdk::Key::Tab) && find.bar.has_focus(&find.bar.replacement));
        assert!(find.bar.turn(gdk::Key::ISO_Left_Tab) && find.bar.has_focus(&find.bar.entry));
        find.open(false);
        assert!(!find.bar.turn(gdk::Key::Tab), "there is nothing to go to");
        window.destroy();
    }

    #[gtk::test]
    fn matches_are_counted_and_replaced_also_by_a_pattern() {
        crate::init();
        let buffer = sourceview5::Buffer::new(None);
        buffer.set_text("one two One\r\nonce");
        let view = sourceview5::View::with_buffer(&buffer);
        let find = Find::new(&view, &buffer);
        find.open(true);
        find.bar.entry.set_text("one");
        wait(|| find.bar.count.label() == "2" || find.bar.count.label().contains('2'));
        find.bar.case.set_active(true);
        wait(|| find.bar.count.label().contains('1') && !find.bar.count.label().contains('2'));
        find.bar.case.set_active(false);
        find.bar.regex.set_active(true);
        find.bar.entry.set_text("on(e|ce)");
        wait(|| find.bar.count.label().contains('3'));
        find.bar.replacement.set_text("<\\1>");
        find.bar.replace_all.emit_clicked();
        let (start, end) = buffer.bounds();
        assert_eq!(buffer.text(&start, &end, true), "<e> two <e>\r\n<ce>");
        buffer.undo();
        let (start, end) = buffer.bounds();
        assert_eq!(buffer.text(&start, &end, true), "one two One\r\nonce", "all at once");
        find.bar.entry.set_text("(");
        wait(|| find.bar.entry.has_css_class("error"));
    }
}
