//! Shows the button that says how full the window of the model is, and what it opens.

use std::cell::RefCell;
use std::rc::Rc;

use chat_core::message::ContextUsage;
use chat_presentation::words;
use gettextrs::gettext;
use relm4::gtk::prelude::*;

use super::MeterAction;
use super::ring::Ring;
use crate::models::has_keyboard;
use crate::{accessible, popover};

/// From which part of the window on it is nearly full.
const NEARLY: f64 = 0.9;

/// The button. It is seen as soon as there is something to say.
#[derive(Debug)]
pub(super) struct MeterButton {
    button: gtk::MenuButton,
    ring: Ring,
    share: gtk::Label,
    fullness: gtk::Label,
    categories: gtk::Grid,
    cost: gtk::Label,
    compact: gtk::Button,
    undo: gtk::Button,
    shown: RefCell<Option<ContextUsage>>,
}

impl MeterButton {
    /// A button that tells what is wanted.
    pub(super) fn new(output: impl Fn(MeterAction) + 'static) -> Self {
        let output: Rc<dyn Fn(MeterAction)> = Rc::new(output);
        let ring = Ring::new();
        let share = gtk::Label::builder().css_classes(["numeric"]).build();
        let face = gtk::Box::new(gtk::Orientation::Horizontal, 6);
        face.append(ring.widget());
        face.append(&share);

        let label = |classes: &[&str]| {
            gtk::Label::builder()
                .xalign(0.0)
                .wrap(true)
                .max_width_chars(36)
                .css_classes(classes.iter().map(|class| (*class).to_owned()).collect::<Vec<_>>())
                .build()
        };
        let fullness = label(&["heading"]);
        let categories = gtk::Grid::builder().column_spacing(18).row_spacing(3).build();
        let cost = label(&["choice-description"]);
        let popover = gtk::Popover::new();
        let act = |words: &str, action: MeterAction| {
            let label = gtk::Label::builder().label(words).xalign(0.0).build();
            let button = gtk::Button::builder().child(&label).css_classes(["flat"]).build();
            accessible::set_label(&button, words);
            let (told, popover) = (Rc::clone(&output), popover.downgrade());
            button.connect_clicked(move |_| {
                // What makes it shorter is watched here.
                if action == MeterAction::Prompt
                    && let Some(popover) = popover.upgrade()
                {
                    popover.popdown();
                }
                told(action);
            });
            button
        };
        let prompt = act(&gettext("Show Full Prompt…"), MeterAction::Prompt);
        let compact = act(&gettext("Compact Now"), MeterAction::Compact);
        compact.set_tooltip_text(Some(&gettext(
            "The model summarizes the earlier messages and reads the summary from then on. All messages stay in this chat.",
        )));
        let undo = act(&gettext("Undo Compaction"), MeterAction::Undo);
        undo.set_tooltip_text(Some(&gettext("The model reads the earlier messages in full again")));
        let acts = gtk::Box::builder().orientation(gtk::Orientation::Vertical).spacing(2).build();
        acts.append(&prompt);
        acts.append(&compact);
        acts.append(&undo);
        let known = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .spacing(8)
            .css_classes(["meter-known"])
            .build();
        known.append(&fullness);
        known.append(&categories);
        known.append(&cost);
        let column = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .spacing(8)
            .width_request(250)
            .build();
        column.append(&known);
        column.append(&gtk::Separator::new(gtk::Orientation::Horizontal));
        column.append(&acts);
        popover.set_child(Some(&column));

        let button = gtk::MenuButton::builder()
            .child(&face)
            .popover(&popover)
            .visible(false)
            .css_classes(["flat", "meter"])
            .build();
        accessible::set_label(&button, &gettext("Context Window"));
        popover::silence_tooltip(&button);
        popover.connect_show(move |_| output(MeterAction::Refresh));
        let shown = RefCell::default();
        Self { button, ring, share, fullness, categories, cost, compact, undo, shown }
    }

    pub(super) fn widget(&self) -> &gtk::MenuButton {
        &self.button
    }

    /// Whether the chat is at work, so that nothing can be made shorter now.
    pub(super) fn set_busy(&self, busy: bool) {
        self.compact.set_sensitive(!busy);
        self.undo.set_sensitive(!busy);
    }

    /// Shows how full the window is; where that is not known, nothing is seen. Whether what had the
    /// keyboard is gone with it.
    pub(super) fn show(&self, meter: Option<&ContextUsage>) -> bool {
        if self.shown.borrow().as_ref() == meter {
            return false;
        }
        self.shown.replace(meter.cloned());
        let Some(meter) = meter else {
            let lost = has_keyboard(&self.button);
            self.button.popdown();
            self.button.set_visible(false);
            return lost;
        };
        let fullness = words::fullness(meter);
        let window = meter.window.filter(|window| *window > 0).map(f64::from);
        let full = window.map_or(0.0, |window| meter.tokens as f64 / window);
        self.ring.show(full);
        if full >= NEARLY {
            self.button.add_css_class("nearly-full");
        } else {
            self.button.remove_css_class("nearly-full");
        }
        self.share.set_label(&words::share(meter));
        self.button.set_tooltip_text(Some(&fullness));
        accessible::set_description(&self.button, &fullness);
        self.fullness.set_label(&fullness);
        self.show_categories(meter);
        let cost = words::cost(meter);
        self.cost.set_visible(cost.is_some());
        self.cost.set_label(&cost.unwrap_or_default());
        self.undo.set_visible(meter.shortened);
        self.button.set_visible(true);
        false
    }

    fn show_categories(&self, meter: &ContextUsage) {
        while let Some(child) = self.categories.first_child() {
            self.categories.remove(&child);
        }
        for (row, (what, tokens)) in (0..).zip(words::context_lines(meter)) {
            let name = gtk::Label::builder()
                .label(what)
                .xalign(0.0)
                .hexpand(true)
                .ellipsize(gtk::pango::EllipsizeMode::End)
                .build();
            let count = gtk::Label::builder()
                .label(words::grouped(tokens))
                .xalign(1.0)
                .css_classes(["numeric", "dim-label"])
                .build();
            self.categories.attach(&name, 0, row, 1, 1);
            self.categories.attach(&count, 1, row, 1, 1);
        }
        self.categories.set_visible(!meter.by_category.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use chat_core::message::ContextCategory;

    use super::*;

    #[gtk::test]
    fn what_is_known_is_shown_and_compaction_can_be_taken_back_where_there_is_one() {
        crate::init();
        let told: Rc<RefCell<Vec<MeterAction>>> = Rc::default();
        let wishes = Rc::clone(&told);
        let meter = MeterButton::new(move |action| wishes.borrow_mut().push(action));
        meter.show(None);
        assert!(!meter.button.get_visible());
        let mut known = ContextUsage {
            window: Some(8_192),
            tokens: 2_540,
            by_category: vec![(ContextCategory::Answers, 2_000), (ContextCategory::Person, 540)],
            measured: true,
            ..ContextUsage::default()
        };
        meter.show(Some(&known));
        assert!(meter.button.get_visible() && !meter.cost.get_visible());
        assert_eq!(meter.share.label(), "31%");
        assert!(
            meter.categories.child_at(1, 1).is_some() && meter.categories.child_at(0, 2).is_none()
        );
        assert!(!meter.undo.get_visible());
        known.shortened = true;
        meter.show(Some(&known));
        assert!(meter.undo.get_visible());
        meter.set_busy(true);
        assert!(!meter.compact.is_sensitive() && !meter.undo.is_sensitive());
        meter.set_busy(false);
        meter.undo.emit_clicked();
        meter.compact.emit_clicked();
        assert_eq!(*told.borrow(), [MeterAction::Undo, MeterAction::Compact]);
    }
}
