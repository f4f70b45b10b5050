//! Draws a code block: coloured, scrolled sideways within itself or wrapped, with its language, and with what can be
//! done with it. Of a long block the first lines are shown until the person asks for all.

mod blocks;
mod frame;
mod head;
mod language;
mod saving;

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::time::Duration;

use chat_presentation::words::fill;
use gettextrs::ngettext;
use gtk::glib;
use gtk::prelude::*;
use sourceview5::prelude::*;

pub use blocks::{BlockKey, CodeBlocks};
use frame::{Frame, Measures, PADDING};
use head::{Action, Head};

use super::common_prefix::common_prefix;
use super::tags::{LIST_STEP, Tags};
use crate::markdown::flow::{Code, Indent};
use crate::{accessible, languages, layout, nested_scroll};

/// The most lines that are shown at once. A longer block scrolls within itself: drawing thousands
/// of lines at once would take longer than a frame has.
const MOST_LINES: i32 = 120;
/// Longer blocks are folded, in lines: that many are shown.
pub const FOLD: i32 = 40;

/// Between two languages that are read ahead.
const PAUSE: Duration = Duration::from_millis(100);

/// A code block.
pub struct CodeBlock {
    inner: Rc<Inner>,
}

struct Inner {
    root: gtk::Box,
    frame: gtk::Box,
    view: sourceview5::View,
    buffer: sourceview5::Buffer,
    scroller: gtk::ScrolledWindow,
    head: Head,
    /// Shows all lines.
    more: gtk::Button,
    shown: RefCell<String>,
    language: RefCell<Option<String>>,
    measures: Rc<Measures>,
    tags: Tags,
    /// Whether all lines are to be shown.
    is_open: Cell<bool>,
    owner: RefCell<Option<Owner>>,
}

/// Whose block it is.
struct Owner {
    /// Keeps what is seen where it is, though the block is about to grow.
    hold: Rc<dyn Fn()>,
    key: Option<BlockKey>,
    blocks: Weak<CodeBlocks>,
}

impl CodeBlock {
    /// An empty block. `hold` is called when it is about to grow, and `key` says which it is, so that it is
    /// remembered whether it was folded.
    pub fn new(
        tags: &Tags,
        blocks: &Rc<CodeBlocks>,
        hold: &Rc<dyn Fn()>,
        key: Option<BlockKey>,
    ) -> Self {
        let block = blocks.take_spare().unwrap_or_else(|| Self::make(tags));
        let inner = &block.inner;
        let owner = Owner { hold: Rc::clone(hold), key, blocks: Rc::downgrade(blocks) };
        inner.owner.replace(Some(owner));
        inner.is_open.set(key.is_some_and(|key| blocks.is_open(&key)));
        inner.set_wraps(blocks.wraps());
        blocks.add(inner);
        block.recolour();
        blocks.make_spare(tags);
        block
    }

    fn make(tags: &Tags) -> Self {
        let inner = Rc::new_cyclic(|weak| Inner::new(tags, weak));
        let block = Self { inner };
        block.recolour();
        block
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.inner.root
    }

    /// What the text is seen in.
    pub fn frame(&self) -> &gtk::Box {
        &self.inner.frame
    }

    /// The text, where a caret can be drawn.
    pub fn text_view(&self) -> &gtk::TextView {
        self.inner.view.upcast_ref()
    }

    /// Shows this code; `grows`: whether more of it may come, so that it is not folded under the reader. Whether
    /// anything changed.
    pub fn update(&self, code: &Code, grows: bool) -> bool {
        let inner = &self.inner;
        inner.indent(code.indent);
        if inner.language.borrow().as_deref() != Some(&code.language) {
            inner.set_language(&code.language);
        }
        let mut shown = inner.shown.borrow_mut();
        if *shown == code.text {
            return false;
        }
        let same = common_prefix(&shown, &code.text);
        if same < shown.len() {
            let gone = shown[same..].chars().count() as i32;
            let mut end = inner.buffer.end_iter();
            let mut start = end;
            start.backward_chars(gone);
            inner.buffer.delete(&mut start, &mut end);
            shown.truncate(same);
        }
        inner.buffer.insert(&mut inner.buffer.end_iter(), &code.text[same..]);
        shown.push_str(&code.text[same..]);
        drop(shown);
        if grows && inner.buffer.line_count() > FOLD {
            inner.remember_open();
        }
        inner.fit();
        true
    }

    /// Sees to it that a letter is not folded away.
    pub fn show_letter(&self, letter: usize) {
        let line = self.inner.buffer.iter_at_offset(letter as i32).line();
        if self.inner.measures.is_folded.get() && line >= FOLD {
            self.inner.open();
        }
    }

    /// Takes the theme's colours.
    pub fn recolour(&self) {
        let dark = adw::StyleManager::default().is_dark();
        let name = if dark { "Adwaita-dark" } else { "Adwaita" };
        let scheme = sourceview5::StyleSchemeManager::default().scheme(name);
        self.inner.buffer.set_style_scheme(scheme.as_ref());
        if self.inner.measures.lines.replace(0) > 0 {
            self.inner.fit();
        }
    }
}

impl Inner {
    fn new(tags: &Tags, weak: &Weak<Self>) -> Self {
        let buffer = sourceview5::Buffer::new(None);
        buffer.set_enable_undo(false);
        buffer.set_highlight_matching_brackets(false);
        let view = sourceview5::View::with_buffer(&buffer);
        view.set_editable(false);
        view.set_cursor_visible(false);
        view.set_monospace(true);
        view.set_accepts_tab(false);
        view.set_tab_width(4);
        view.add_css_class("code");
        let scroller = gtk::ScrolledWindow::builder()
            .hscrollbar_policy(gtk::PolicyType::Automatic)
            .vscrollbar_policy(gtk::PolicyType::Never)
            .child(&view)
            .build();
        nested_scroll::pass_on(&scroller);
        let measures = Rc::<Measures>::default();
        let text = view.upcast_ref::<gtk::TextView>().downgrade();
        let frame = gtk::Box::builder()
            .overflow(gtk::Overflow::Hidden)
            .layout_manager(&layout::manager(Frame { view: text, measures: Rc::clone(&measures) }))
            .build();
        frame.append(&scroller);

        let block = weak.clone();
        let head = Head::new(move |action| {
            if let Some(block) = block.upgrade() {
                block.act(action);
            }
        });
        let more = gtk::Button::builder()
            .visible(false)
            .halign(gtk::Align::Fill)
            .css_classes(["flat", "code-all"])
            .build();
        let block = weak.clone();
        more.connect_clicked(move |_| {
            if let Some(block) = block.upgrade() {
                block.hold();
                block.open();
                // The button goes, and the keyboard stays in the block.
                block.view.grab_focus();
            }
        });
        let root = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .css_classes(["code-block"])
            .overflow(gtk::Overflow::Hidden)
            .build();
        root.append(head.widget());
        root.append(&frame);
        root.append(&more);
        Self {
            root,
            frame,
            view,
            buffer,
            scroller,
            head,
            more,
            shown: RefCell::default(),
            language: RefCell::default(),
            measures,
            tags: tags.clone(),
            is_open: Cell::new(false),
            owner: RefCell::default(),
        }
    }

    fn act(&self, action: Action) {
        let owner = self.owner.borrow();
        let Some(owner) = owner.as_ref() else { return };
        let text = self.shown.borrow().clone();
        match action {
            Action::Copy => self.root.clipboard().set_text(&text),
            Action::Save => {
                let name = language::file_name(self.language.borrow().as_deref().unwrap_or(""));
                saving::save(&self.root, &name, text);
            }
            Action::Wrap(wraps) => {
                (owner.hold)();
                if let Some(blocks) = owner.blocks.upgrade() {
                    blocks.set_wraps(wraps);
                }
            }
        }
    }

    fn hold(&self) {
        if let Some(owner) = &*self.owner.borrow() {
            (owner.hold)();
        }
    }

    fn indent(&self, indent: Indent) {
        let depth =
            i32::from(indent.lists.min(12)) * LIST_STEP + i32::from(indent.quotes.min(4)) * 14;
        if self.root.margin_start() != depth {
            self.root.set_margin_start(depth);
        }
    }

    fn set_language(&self, name: &str) {
        self.language.replace(Some(name.to_owned()));
        let language = language::find(name);
        let title = language::title(name, language.as_ref());
        self.head.set_title(&title);
        accessible::set_label(&self.view, &title);
        self.buffer.set_highlight_syntax(language.is_some());
        languages::give(&self.buffer, language.as_ref());
    }

    fn set_wraps(&self, wraps: bool) {
        self.head.set_wraps(wraps);
        if self.measures.wraps.replace(wraps) == wraps {
            return;
        }
        let (mode, across) = if wraps {
            (gtk::WrapMode::WordChar, gtk::PolicyType::Never)
        } else {
            (gtk::WrapMode::None, gtk::PolicyType::Automatic)
        };
        self.view.set_wrap_mode(mode);
        self.scroller.set_hscrollbar_policy(across);
        self.measures.lines.set(0);
        self.fit();
    }

    /// Shows all lines from now on.
    fn open(&self) {
        self.remember_open();
        self.measures.lines.set(0);
        self.fit();
    }

    fn remember_open(&self) {
        self.is_open.set(true);
        if let Some(owner) = &*self.owner.borrow()
            && let (Some(key), Some(blocks)) = (owner.key, owner.blocks.upgrade())
        {
            blocks.remember_open(key);
        }
    }

    /// Gives the block the height of its lines at once: GTK would learn it only when idle.
    fn fit(&self) {
        let lines = self.buffer.line_count();
        if self.measures.lines.replace(lines) == lines && !self.measures.wraps.get() {
            return;
        }
        let line = self.tags.code_line();
        let is_folded = lines > FOLD && !self.is_open.get();
        self.measures.line.set(line);
        self.measures.is_folded.set(is_folded);
        self.measures.most.set(if is_folded { FOLD } else { MOST_LINES });
        self.fold(is_folded.then_some(lines));
        // Wrapped lines are measured by the frame.
        let wraps = self.measures.wraps.get();
        self.view.set_height_request(if wraps { -1 } else { lines * line + PADDING });
        if lines > MOST_LINES && !is_folded {
            self.scroll_inside(lines * line + PADDING, line);
        } else {
            let policy = if wraps { gtk::PolicyType::External } else { gtk::PolicyType::Never };
            self.scroller.set_vscrollbar_policy(policy);
            self.scroller.set_min_content_height(-1);
        }
        self.frame.queue_resize();
    }

    /// Offers to show all lines, or says that they are.
    fn fold(&self, lines: Option<i32>) {
        self.more.set_visible(lines.is_some());
        if let Some(lines) = lines {
            let count = u32::try_from(lines).unwrap_or_default();
            let text = ngettext("Show All {n} Line", "Show All {n} Lines", count);
            self.more.set_label(&fill(&text, &[("n", &lines.to_string())]));
        }
    }

    /// A long block scrolls within itself, and follows its own end while that is in sight.
    fn scroll_inside(&self, height: i32, line: i32) {
        if self.scroller.vscrollbar_policy() != gtk::PolicyType::Automatic {
            self.scroller.set_vscrollbar_policy(gtk::PolicyType::Automatic);
            // What was unfolded is read from its first line.
            if self.more.has_focus() || !self.view.is_mapped() {
                return;
            }
        }
        let adjustment = self.scroller.vadjustment();
        let below = adjustment.upper() - adjustment.page_size() - adjustment.value();
        if below < 4.0 * f64::from(line) {
            adjustment.set_upper(f64::from(height));
            adjustment.set_value(adjustment.upper() - adjustment.page_size());
        }
    }
}

/// Loads what the first code block needs, when there is nothing else to do: it takes some tens of
/// milliseconds, which must not fall into the middle of a reply. `is_busy` says whether one comes.
pub fn warm_up(tags: &Tags, is_busy: impl Fn() -> bool + 'static) {
    thread_local!(static WARM: Cell<bool> = const { Cell::new(false) });
    if WARM.replace(true) {
        return;
    }
    let mut languages = ["sh", "rust", "python", "json", "js", "html"].into_iter();
    let tags = tags.clone();
    glib::timeout_add_local_full(PAUSE, glib::Priority::LOW, move || {
        if is_busy() {
            return glib::ControlFlow::Continue;
        }
        let Some(language) = languages.next() else { return glib::ControlFlow::Break };
        let block = CodeBlock::make(&tags);
        let code = Code {
            language: language.to_owned(),
            text: "{ let x = \"1\"; } // x".to_owned(),
            indent: Indent::default(),
        };
        block.update(&code, false);
        let (start, end) = block.inner.buffer.bounds();
        block.inner.buffer.ensure_highlight(&start, &end);
        glib::ControlFlow::Continue
    });
}
