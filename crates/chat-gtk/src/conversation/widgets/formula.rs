//! Draws formulas: one on its own, in the middle and scrolled sideways where it is too wide, and
//! those in a line on the line's baseline. Where a formula cannot be drawn its source is shown.

mod frame;
pub mod inline;
mod paint;
mod picture;
mod words;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use gtk::prelude::*;
use gtk::{gdk, glib};

use chat_formula::FormulaError;

use super::highlight::{MatchColours, highlight_label};
use super::tags::{LIST_STEP, Tags};
use crate::conversation::model::hits::Hit;
use crate::layout::manager;
use crate::markdown::flow::Formula;
use crate::{accessible, nested_scroll};
use frame::Frame;
use picture::Picture;

/// A formula on its own.
pub struct FormulaBlock {
    root: gtk::Box,
    frame: gtk::Box,
    scroller: gtk::ScrolledWindow,
    /// What is shown where it cannot be drawn.
    source: gtk::Label,
    tags: Tags,
    shown: Rc<RefCell<Option<Formula>>>,
}

impl FormulaBlock {
    /// An empty block.
    pub fn new(tags: &Tags) -> Self {
        let scroller = gtk::ScrolledWindow::builder()
            .hscrollbar_policy(gtk::PolicyType::Automatic)
            .vscrollbar_policy(gtk::PolicyType::Never)
            // What is cut away at the edge must be seen to be there.
            .overlay_scrolling(false)
            .hexpand(true)
            .build();
        nested_scroll::pass_on(&scroller);
        let source = gtk::Label::builder()
            .wrap(true)
            .wrap_mode(gtk::pango::WrapMode::WordChar)
            .selectable(true)
            .xalign(0.0)
            .hexpand(true)
            .visible(false)
            .css_classes(["formula-source", "monospace"])
            .build();
        let root = gtk::Box::builder().css_classes(["formula-frame"]).build();
        let frame = gtk::Box::builder().layout_manager(&manager(Frame)).hexpand(true).build();
        frame.append(&scroller);
        root.append(&frame);
        root.append(&source);
        let shown: Rc<RefCell<Option<Formula>>> = Rc::default();
        copy_by_key(&root, &shown);
        Self { root, frame, scroller, source, tags: tags.clone(), shown }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// The formula as it was written, with its delimiters.
    pub fn source(&self) -> Option<String> {
        self.shown.borrow().as_ref().map(|formula| formula.source.clone())
    }

    /// Shows this formula. Whether anything changed.
    pub fn update(&self, formula: &Formula) -> bool {
        if self.shown.borrow().as_ref() == Some(formula) {
            return false;
        }
        let lists = i32::from(formula.indent.lists.min(12)) * LIST_STEP;
        let quotes = i32::from(formula.indent.quotes.min(4)) * 14;
        self.root.set_margin_start(lists + quotes);
        match laid_out(&formula.source, true) {
            Ok(laid_out) => {
                let said = words::spoken(&laid_out.spoken);
                let picture = Picture::new(laid_out, 0, &self.tags.text_size(), 1.0, true);
                accessible::set_label(&picture, &said);
                picture.set_halign(gtk::Align::Center);
                picture.set_focusable(true);
                self.scroller.set_child(Some(&picture));
            }
            Err(error) => {
                let why = words::error(&error);
                self.source.set_text(&formula.source);
                self.source.set_tooltip_text(Some(&why));
                accessible::set_description(&self.source, &why);
                self.scroller.set_child(gtk::Widget::NONE);
            }
        }
        let is_drawn = self.scroller.child().is_some();
        self.frame.set_visible(is_drawn);
        self.source.set_visible(!is_drawn);
        self.shown.replace(Some(formula.clone()));
        true
    }

    /// Marks what was found, and nothing else: all of the formula where it is drawn.
    pub fn highlight(&self, hits: &[Hit], current: Option<usize>, colours: MatchColours) {
        let is_found = |found: bool, class: &str| {
            if found {
                self.root.add_css_class(class);
            } else {
                self.root.remove_css_class(class);
            }
        };
        let is_drawn = self.frame.get_visible();
        is_found(is_drawn && !hits.is_empty(), "found");
        is_found(is_drawn && current.is_some(), "found-current");
        let hits: Vec<_> =
            hits.iter().enumerate().map(|(at, hit)| (hit, current == Some(at))).collect();
        highlight_label(&self.source, &hits, colours);
    }

    /// Takes the theme's measures; its colours come by themselves.
    pub fn recolour(&self) {
        if let Some(formula) = self.shown.take() {
            self.update(&formula);
        }
    }
}

/// Copies the source of a formula that has the keyboard.
fn copy_by_key(root: &gtk::Box, shown: &Rc<RefCell<Option<Formula>>>) {
    let keys = gtk::EventControllerKey::new();
    let shown = Rc::clone(shown);
    let weak = root.downgrade();
    keys.connect_key_pressed(move |_, key, _, modifiers| {
        let is_copy = modifiers & gtk::accelerator_get_default_mod_mask()
            == gdk::ModifierType::CONTROL_MASK
            && matches!(key, gdk::Key::c | gdk::Key::C | gdk::Key::Insert);
        let Some(root) = weak.upgrade() else { return glib::Propagation::Proceed };
        let focus = root.root().and_then(|window| window.focus());
        let has_focus = focus.is_some_and(|focus| focus.is::<Picture>());
        match shown.borrow().as_ref().filter(|_| is_copy && has_focus) {
            Some(formula) => {
                root.clipboard().set_text(&formula.source);
                glib::Propagation::Stop
            }
            None => glib::Propagation::Proceed,
        }
    });
    root.add_controller(keys);
}

/// Lays out a formula as it was written.
fn laid_out(source: &str, display: bool) -> Result<Arc<chat_formula::Formula>, FormulaError> {
    let formula = chat_formula::delimited(source).ok_or(FormulaError::Invalid)?;
    chat_formula::layout(formula.tex, display)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::flow::Indent;

    fn block(source: &str) -> FormulaBlock {
        crate::init();
        let block = FormulaBlock::new(&Tags::new());
        block.update(&Formula { source: source.to_owned(), indent: Indent::default() });
        block
    }

    fn picture(block: &FormulaBlock) -> Option<gtk::Widget> {
        fn find(widget: gtk::Widget) -> Option<gtk::Widget> {
            if widget.is::<Picture>() {
                return Some(widget);
            }
            std::iter::successors(widget.first_child(), WidgetExt::next_sibling).find_map(find)
        }
        find(block.scroller.clone().upcast())
    }

    #[gtk::test]
    fn a_formula_is_drawn_and_grows_with_the_text() {
        let block = block(r"$$\frac{a}{b}$$");
        let picture = picture(&block).expect("a picture");
        assert!(block.frame.get_visible() && !block.source.get_visible());
        let tall = || picture.measure(gtk::Orientation::Vertical, -1).1;
        let before = tall();
        block.tags.text_size().set(2.0 * block.tags.text_size().get());
        picture.queue_resize();
        assert!(tall() > before + before / 2, "{before} {}", tall());
        assert_eq!(block.source().as_deref(), Some(r"$$\frac{a}{b}$$"));
    }

    #[gtk::test]
    fn the_source_is_shown_with_the_reason_where_it_cannot_be_drawn() {
        let block = block(r"\[\nosuchcommand{x}\]");
        assert!(picture(&block).is_none());
        assert!(block.source.get_visible() && !block.frame.get_visible());
        assert_eq!(block.source.text(), r"\[\nosuchcommand{x}\]");
        let why = block.source.tooltip_text().unwrap_or_default();
        assert!(why.contains(r"\nosuchcommand"), "{why}");
    }
}
