//! Draws a code block: coloured, scrolled sideways within itself, with its language and a copy button.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use gettextrs::gettext;
use gtk::glib;
use gtk::prelude::*;
use sourceview5::prelude::*;

use super::common_prefix::common_prefix;
use super::tags::{LIST_STEP, Tags};
use crate::markdown::flow::{Code, Indent};
use crate::{accessible, languages, nested_scroll};

/// The most lines that are shown at once. A longer block scrolls within itself: drawing thousands
/// of lines at once would take longer than a frame has.
const MOST_LINES: i32 = 120;
/// Free space above and below the code together, in pixels; the style sheet says the same.
const PADDING: i32 = 12;

/// Between two languages that are read ahead.
const PAUSE: Duration = Duration::from_millis(100);

/// A code block.
pub struct CodeBlock {
    root: gtk::Box,
    view: sourceview5::View,
    buffer: sourceview5::Buffer,
    scroller: gtk::ScrolledWindow,
    name: gtk::Label,
    shown: Rc<RefCell<String>>,
    language: RefCell<Option<String>>,
    lines: Cell<i32>,
    tags: Tags,
    copied: Copied,
}

/// Who gets the code when the person copies it.
type Copied = Rc<RefCell<Option<Rc<dyn Fn(String)>>>>;

/// A block that waits to be used: to make one takes half of the time that a frame has.
pub type Spare = Rc<RefCell<Option<CodeBlock>>>;

impl CodeBlock {
    /// An empty block. `copied` gets the code when the person asks for it.
    pub fn new(tags: &Tags, spare: &Spare, copied: Rc<dyn Fn(String)>) -> Self {
        let block = spare.take().unwrap_or_else(|| Self::make(tags));
        block.copied.replace(Some(copied));
        block.recolour();
        let (tags, spare) = (tags.clone(), Rc::downgrade(spare));
        glib::idle_add_local_full(glib::Priority::LOW, move || {
            if let Some(spare) = spare.upgrade()
                && spare.borrow().is_none()
            {
                spare.replace(Some(Self::make(&tags)));
            }
            glib::ControlFlow::Break
        });
        block
    }

    fn make(tags: &Tags) -> Self {
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

        let name =
            gtk::Label::builder().xalign(0.0).hexpand(true).css_classes(["code-language"]).build();
        name.set_ellipsize(gtk::pango::EllipsizeMode::End);
        let copy = gtk::Button::builder()
            .icon_name("edit-copy-symbolic")
            .tooltip_text(gettext("Copy Code"))
            .css_classes(["flat", "code-copy"])
            .valign(gtk::Align::Center)
            .build();
        accessible::set_label(&copy, &gettext("Copy Code"));
        let head = gtk::Box::builder().css_classes(["code-head"]).build();
        head.append(&name);
        head.append(&copy);

        let root = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .css_classes(["code-block"])
            .overflow(gtk::Overflow::Hidden)
            .build();
        root.append(&head);
        root.append(&scroller);

        let shown: Rc<RefCell<String>> = Rc::default();
        let text = Rc::clone(&shown);
        let copied = Copied::default();
        let asked = Rc::clone(&copied);
        copy.connect_clicked(move |_| {
            if let Some(copied) = &*asked.borrow() {
                copied(text.borrow().clone());
            }
        });
        let block = Self {
            root,
            view,
            buffer,
            scroller,
            name,
            shown,
            language: RefCell::default(),
            lines: Cell::new(0),
            tags: tags.clone(),
            copied,
        };
        block.recolour();
        block
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// The text, where a caret can be drawn.
    pub fn text_view(&self) -> &gtk::TextView {
        self.view.upcast_ref()
    }

    /// Shows this code. Whether anything changed.
    pub fn update(&self, code: &Code) -> bool {
        self.indent(code.indent);
        if self.language.borrow().as_deref() != Some(&code.language) {
            self.set_language(&code.language);
        }
        let mut shown = self.shown.borrow_mut();
        if *shown == code.text {
            return false;
        }
        let same = common_prefix(&shown, &code.text);
        if same < shown.len() {
            let gone = shown[same..].chars().count() as i32;
            let mut end = self.buffer.end_iter();
            let mut start = end;
            start.backward_chars(gone);
            self.buffer.delete(&mut start, &mut end);
            shown.truncate(same);
        }
        self.buffer.insert(&mut self.buffer.end_iter(), &code.text[same..]);
        shown.push_str(&code.text[same..]);
        drop(shown);
        self.fit();
        true
    }

    /// Takes the theme's colours.
    pub fn recolour(&self) {
        let dark = adw::StyleManager::default().is_dark();
        let name = if dark { "Adwaita-dark" } else { "Adwaita" };
        let scheme = sourceview5::StyleSchemeManager::default().scheme(name);
        self.buffer.set_style_scheme(scheme.as_ref());
        if self.lines.replace(0) > 0 {
            self.fit();
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
        let language = find_language(name);
        let title = match &language {
            _ if name.is_empty() => gettext("Code"),
            Some(language) if language.id() != name.to_lowercase() => language.name().to_string(),
            _ => name.to_owned(),
        };
        self.name.set_text(&title);
        accessible::set_label(&self.view, &title);
        self.buffer.set_highlight_syntax(language.is_some());
        languages::give(&self.buffer, language.as_ref());
    }

    /// Gives the block the height of its lines at once: GTK would learn it only when idle.
    fn fit(&self) {
        let lines = self.buffer.line_count();
        if self.lines.replace(lines) == lines {
            return;
        }
        let line = self.tags.code_line();
        self.view.set_height_request(lines * line + PADDING);
        if lines > MOST_LINES {
            self.scroll_inside(lines * line + PADDING, line);
        } else if self.scroller.vscrollbar_policy() != gtk::PolicyType::Never {
            self.scroller.set_vscrollbar_policy(gtk::PolicyType::Never);
        }
    }

    /// A long block scrolls within itself, and follows its own end while that is in sight.
    fn scroll_inside(&self, height: i32, line: i32) {
        if self.scroller.vscrollbar_policy() == gtk::PolicyType::Never {
            self.scroller.set_vscrollbar_policy(gtk::PolicyType::Automatic);
            self.scroller.set_min_content_height(MOST_LINES * line);
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
        block.update(&Code {
            language: language.to_owned(),
            text: "{ let x = \"1\"; } // x".to_owned(),
            indent: Indent::default(),
        });
        let (start, end) = block.buffer.bounds();
        block.buffer.ensure_highlight(&start, &end);
        glib::ControlFlow::Continue
    });
}

/// The language of a name that a model gave: an id, a common other name, or the ending of files.
fn find_language(name: &str) -> Option<sourceview5::Language> {
    if name.is_empty() {
        return None;
    }
    let name = name.to_lowercase();
    let id = match name.as_str() {
        "bash" | "shell" | "zsh" | "console" | "shell-session" | "shellscript" => "sh",
        "javascript" | "node" | "mjs" | "cjs" => "js",
        "ts" => "typescript",
        "py" | "python2" => "python",
        "c++" | "cc" | "cxx" | "hpp" => "cpp",
        "c#" | "cs" | "csharp" => "c-sharp",
        "rs" => "rust",
        "golang" => "go",
        "yml" => "yaml",
        "md" => "markdown",
        "kt" => "kotlin",
        "rb" => "ruby",
        "hs" => "haskell",
        "tex" => "latex",
        "docker" => "dockerfile",
        "make" => "makefile",
        "ps1" | "pwsh" => "powershell",
        "svg" | "xhtml" => "xml",
        "objective-c" | "objectivec" => "objc",
        "f#" => "fsharp",
        "patch" => "diff",
        other => other,
    };
    let manager = sourceview5::LanguageManager::default();
    manager.language(id).or_else(|| {
        let is_name = id.chars().all(|c| c.is_alphanumeric() || "+-_#".contains(c));
        is_name.then(|| manager.guess_language(Some(&format!("x.{id}")), None)).flatten()
    })
}
