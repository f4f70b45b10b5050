//! Draws a line that opens: thinking, and what a tool did.

mod title_line;

use std::cell::RefCell;
use std::rc::Rc;

use gtk::prelude::*;

use super::fitted::fitted;
use super::highlight::{MatchColours, highlight_buffer};
use super::style_tags::StyleTags;
use crate::accessible;
use crate::conversation::model::hits::Hit;
use crate::conversation::model::styled_text::StyledText;
use crate::models::has_keyboard;
pub use title_line::Title;
use title_line::TitleLine;

/// The greatest height of what is inside, in pixels; more scrolls.
const TALLEST: i32 = 320;

/// A line with an arrow; what is inside is made when it is opened.
#[derive(Clone)]
pub struct Expander {
    parts: Rc<Parts>,
}

struct Parts {
    root: gtk::Box,
    head: gtk::Overlay,
    button: gtk::Button,
    /// Opens what the line is about; over its end, while it is pointed at.
    leave: gtk::Button,
    opens: RefCell<Option<Rc<dyn Fn()>>>,
    toggled: RefCell<Option<Rc<dyn Fn()>>>,
    arrow: gtk::Image,
    icon: gtk::Image,
    spinner: gtk::Spinner,
    title: TitleLine,
    aside: gtk::Label,
    /// What all of the line says.
    said: RefCell<(Title, String, String)>,
    inside: RefCell<StyledText>,
    /// The looks of what is inside; none where that is plain.
    style_tags: Option<StyleTags>,
    /// What is inside, while it is open.
    body: RefCell<Option<(gtk::Box, gtk::TextView)>>,
    /// What stands below it, while it is open.
    below: gtk::Box,
    highlights: RefCell<BodyHighlights>,
}

/// What is marked inside.
#[derive(Default)]
struct BodyHighlights {
    hits: Vec<Hit>,
    current: Option<usize>,
    colours: MatchColours,
}

impl Expander {
    /// A closed fold. What has looks is what a program wrote, in letters of one width.
    pub fn new(icon: &str, style_tags: Option<&StyleTags>) -> Self {
        let arrow = gtk::Image::from_icon_name("pan-end-symbolic");
        arrow.add_css_class("dim-label");
        let title = TitleLine::new();
        let aside = gtk::Label::builder().css_classes(["expander-aside"]).build();
        let line = gtk::Box::builder().spacing(9).build();
        let icon = gtk::Image::from_icon_name(icon);
        let spinner = gtk::Spinner::builder().visible(false).build();
        line.append(&arrow);
        line.append(&icon);
        line.append(title.widget());
        line.append(&spinner);
        line.append(&aside);
        let button =
            gtk::Button::builder().child(&line).css_classes(["flat", "expander-line"]).build();
        let root = gtk::Box::new(gtk::Orientation::Vertical, 0);
        let leave = gtk::Button::builder()
            .icon_name("document-edit-symbolic")
            .halign(gtk::Align::End)
            .valign(gtk::Align::Center)
            .visible(false)
            .css_classes(["expander-open"])
            .build();
        let head = gtk::Overlay::builder().child(&button).css_classes(["expander-head"]).build();
        head.add_overlay(&leave);
        let below = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .visible(false)
            .css_classes(["expander-below"])
            .build();
        root.append(&head);
        root.append(&below);
        let parts = Rc::new(Parts {
            root,
            head,
            button,
            leave,
            opens: RefCell::default(),
            toggled: RefCell::default(),
            arrow,
            icon,
            spinner,
            title,
            aside,
            said: RefCell::default(),
            inside: RefCell::default(),
            style_tags: style_tags.cloned(),
            body: RefCell::default(),
            below,
            highlights: RefCell::default(),
        });
        accessible::set_expanded(&parts.button, false);
        let weak = Rc::downgrade(&parts);
        parts.button.connect_clicked(move |_| {
            if let Some(parts) = weak.upgrade() {
                let toggled = parts.toggled.borrow().clone();
                if let Some(toggled) = toggled {
                    toggled();
                }
                let expander = Self { parts };
                if !expander.open() {
                    expander.close();
                }
            }
        });
        let weak = Rc::downgrade(&parts);
        parts.leave.connect_clicked(move |_| {
            let opens = weak.upgrade().and_then(|parts| parts.opens.borrow().clone());
            if let Some(opens) = opens {
                opens();
            }
        });
        Self { parts }
    }

    /// Calls back before the person opens or closes it.
    pub fn connect_toggled(&self, toggled: Rc<dyn Fn()>) {
        self.parts.toggled.replace(Some(toggled));
    }

    /// The line is about something that can be opened by itself; none where it is not.
    pub fn set_opens(&self, opens: Option<(String, Rc<dyn Fn()>)>) {
        let leave = &self.parts.leave;
        leave.set_visible(opens.is_some());
        if let Some((words, _)) = &opens {
            leave.set_tooltip_text(Some(words));
            accessible::set_label(leave, words);
        }
        self.parts.opens.replace(opens.map(|(_, opens)| opens));
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.parts.root
    }

    /// Where widgets stand below what is inside, while it is open.
    pub fn below(&self) -> &gtk::Box {
        &self.parts.below
    }

    /// Opens it. Whether it was closed.
    pub fn open(&self) -> bool {
        let mut body = self.parts.body.borrow_mut();
        if body.is_some() {
            return false;
        }
        let (frame, view) = self.make_body();
        // What is inside stands right below the line.
        self.parts.root.insert_child_after(&frame, Some(&self.parts.head));
        self.parts.below.set_visible(true);
        self.parts.arrow.set_icon_name(Some("pan-down-symbolic"));
        accessible::set_expanded(&self.parts.button, true);
        let BodyHighlights { hits, current, colours } = &*self.parts.highlights.borrow();
        highlight_buffer(&view.buffer(), hits, *current, *colours);
        body.replace((frame, view));
        true
    }

    fn close(&self) {
        if let Some((frame, _)) = self.parts.body.take() {
            self.parts.root.remove(&frame);
            self.parts.below.set_visible(false);
            self.parts.arrow.set_icon_name(Some("pan-end-symbolic"));
            accessible::set_expanded(&self.parts.button, false);
        }
    }

    /// Marks what was found inside, and nothing else.
    pub fn highlight(&self, hits: &[Hit], current: Option<usize>, colours: MatchColours) {
        if let Some(view) = self.text_view() {
            highlight_buffer(&view.buffer(), hits, current, colours);
        }
        self.parts.highlights.replace(BodyHighlights { hits: hits.to_vec(), current, colours });
    }

    /// The text that is inside, while it is open.
    pub fn text_view(&self) -> Option<gtk::TextView> {
        self.parts.body.borrow().as_ref().map(|(_, view)| view.clone())
    }

    /// Sets what the line says, and what stands at its end. `note`: what stands before that where
    /// there is room.
    pub fn set_line(&self, title: &Title, note: &str, aside: &str) {
        let mut said = self.parts.said.borrow_mut();
        if said.0 != *title || said.1 != note || said.2 != aside {
            *said = (title.clone(), note.to_owned(), aside.to_owned());
            self.parts.title.set(title, note);
            self.parts.aside.set_text(aside);
            let all = format!("{} {note} {aside}", title.text());
            accessible::set_label(&self.parts.button, all.trim());
        }
    }

    /// Sets the icon, and whether it is the sign of something that went wrong.
    pub fn set_icon(&self, icon: &str, failed: bool) {
        self.parts.icon.set_icon_name(Some(icon));
        if failed {
            self.parts.icon.add_css_class("failed");
        } else {
            self.parts.icon.remove_css_class("failed");
        }
    }

    /// Whether something is at work.
    pub fn set_busy(&self, busy: bool) {
        self.parts.spinner.set_visible(busy);
        self.parts.spinner.set_spinning(busy);
    }

    /// Shows the line, or hides it with all that is inside. Whether it had the keyboard.
    pub fn set_shown(&self, shown: bool) -> bool {
        let has_keyboard = has_keyboard(&self.parts.root);
        if !shown {
            self.close();
        }
        self.parts.head.set_visible(shown);
        has_keyboard && !shown
    }

    /// Sets what is inside. What was added to the end of a plain text is added to an open fold.
    pub fn set_inside(&self, text: StyledText) {
        let mut inside = self.parts.inside.borrow_mut();
        if *inside == text {
            return;
        }
        if let Some(view) = self.text_view() {
            let buffer = view.buffer();
            let plain = inside.spans().is_empty() && text.spans().is_empty();
            match text.text().strip_prefix(inside.text()).filter(|_| plain) {
                Some(added) => buffer.insert(&mut buffer.end_iter(), added),
                None => self.fill(&buffer, &text),
            }
        }
        *inside = text;
    }

    fn fill(&self, buffer: &gtk::TextBuffer, text: &StyledText) {
        match &self.parts.style_tags {
            Some(style_tags) => style_tags.fill(buffer, text),
            None => buffer.set_text(text.text()),
        }
    }

    fn make_body(&self) -> (gtk::Box, gtk::TextView) {
        let style_tags = self.parts.style_tags.as_ref();
        let buffer = style_tags.map_or_else(|| gtk::TextBuffer::new(None), StyleTags::buffer);
        self.fill(&buffer, &self.parts.inside.borrow());
        let view = gtk::TextView::builder()
            .buffer(&buffer)
            .editable(false)
            .cursor_visible(false)
            .wrap_mode(gtk::WrapMode::WordChar)
            .accepts_tab(false)
            .pixels_inside_wrap(if style_tags.is_some() { 0 } else { 3 })
            .css_classes(if style_tags.is_some() { ["tool-text"] } else { ["expander-text"] })
            .build();
        let classes: &[&str] = if style_tags.is_some() {
            &["expander-body", "tool-frame"]
        } else {
            &["expander-body"]
        };
        (fitted(&view, TALLEST, classes), view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line about a command, and all that it shows: what is done, the command, what came of it, the note, and the
    /// time.
    fn line(command: &str) -> (Expander, [gtk::Label; 5]) {
        adw::init().expect("a display");
        crate::init();
        let expander = Expander::new("natter-thinking-symbolic", None);
        let text = format!("Ran {command} · exit code 101");
        let title = Title::about(text, 4..4 + command.len(), false);
        expander.set_line(&title, "Allowed by you", "219 ms");
        let parts = expander.parts.title.widget();
        let parts = std::iter::successors(parts.first_child(), WidgetExt::next_sibling);
        let labels = parts.chain([expander.parts.aside.clone().upcast()]);
        let labels: Vec<_> = labels.map(|label| label.downcast().expect("a label")).collect();
        (expander, labels.try_into().expect("all of them"))
    }

    #[gtk::test]
    fn only_what_a_line_is_about_is_cut_until_nothing_of_it_is_left() {
        let (expander, [act, subject, rest, note, aside]) = line("cargo test --workspace # longer");
        let line = expander.widget();
        let window = gtk::Window::builder().child(line).build();
        window.present();
        let mut with_note = Vec::new();
        let mut whole = Vec::new();
        for width in (380..900).step_by(10) {
            line.allocate(width, 60, -1, None);
            let bounds = |widget: &gtk::Label| widget.compute_bounds(line).expect("a place");
            let is_cut = |part: &gtk::Label| part.layout().is_ellipsized();
            assert!(!is_cut(&act), "{width}: {:?}", bounds(&act));
            assert!(!is_cut(&rest), "{width}: {:?}", bounds(&rest));
            with_note.push(note.is_child_visible());
            whole.push(!is_cut(&subject));
            let free = bounds(&aside).x() - bounds(&rest).x() - bounds(&rest).width();
            if is_cut(&subject) && !note.is_child_visible() {
                assert!(free < 20.0, "{free} of {width} are free");
            }
        }
        assert!(!whole[0] && whole.ends_with(&[true]), "{whole:?}");
        assert!(with_note.is_sorted() && !with_note[0] && with_note.ends_with(&[true]));
        window.destroy();
    }

    #[gtk::test]
    fn what_has_no_room_at_all_is_cut_at_its_end() {
        let (expander, [act, subject, rest, ..]) = line(&"cargo test ".repeat(20));
        let text = format!("Asked you: Which? · {}", "because ".repeat(20));
        expander.set_line(&Title::about(text, 11..17, false), "", "");
        let line = expander.widget();
        let window = gtk::Window::builder().child(line).build();
        window.present();
        for width in [300, 400, 500] {
            line.allocate(width, 60, -1, None);
            assert!(rest.layout().is_ellipsized() && !act.layout().is_ellipsized(), "{width}");
            assert!(!subject.layout().is_ellipsized(), "it is short: {width}");
            let end = rest.compute_bounds(line).expect("a place");
            assert!(end.x() + end.width() <= width as f32, "{end:?} of {width}");
        }
        window.destroy();
    }

    #[gtk::test]
    fn a_note_that_is_left_out_keeps_no_place_beyond_the_line() {
        let (expander, [_, _, _, note, _]) = line("python3 -c 'print(12)' # longer");
        let line = expander.widget();
        let window = gtk::Window::builder().child(line).build();
        window.present();
        for width in [900, 320] {
            line.allocate(width, 60, -1, None);
            let bounds = note.compute_bounds(line).expect("a place");
            assert!(bounds.x() + bounds.width() <= width as f32, "{bounds:?} of {width}");
        }
        assert!(!note.is_child_visible());
        window.destroy();
    }
}
