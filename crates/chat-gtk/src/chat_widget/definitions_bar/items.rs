//! Lists what a project has, for the question whether to trust it: what each may do, whether it is new, and its text.

use std::cell::Cell;

use adw::prelude::*;
use chat_core::definitions::{Problem, ProjectItem};
use chat_presentation::words::{self, fill};
use gettextrs::gettext;
use relm4::gtk::{self, glib, pango};

use crate::accessible;
use crate::conversation::show_diff;
use crate::layout::{self, Layout};

/// The height from which the list scrolls, in pixels.
const HIGHEST: i32 = 360;

/// A block for each definition, with what is wrong in its file.
pub(super) fn list<'a>(
    items: impl Iterator<Item = &'a ProjectItem>,
    problems: &[Problem],
) -> gtk::Box {
    let blocks = gtk::Box::new(gtk::Orientation::Vertical, 12);
    for item in items {
        blocks.append(&block(item, problems));
    }
    scrolled(&blocks, &gettext("Agents, commands, and skills"))
}

/// A line for each problem, with its file.
pub(super) fn problem_list(problems: &[Problem]) -> gtk::Box {
    let lines = gtk::Box::new(gtk::Orientation::Vertical, 12);
    for problem in words::problems_to_show(problems) {
        let line = line(&words::definition_problem(problem), &[]);
        line.set_selectable(true);
        lines.append(&line);
    }
    scrolled(&lines, &gettext("Problems"))
}

/// As high as its content at its width, up to a limit.
struct AsHighAsNeeded {
    content: glib::WeakRef<gtk::Box>,
}

impl Layout for AsHighAsNeeded {
    fn measure(
        &self,
        widget: &gtk::Widget,
        orientation: gtk::Orientation,
        for_size: i32,
    ) -> (i32, i32) {
        let Some(scroller) = widget.first_child() else { return (0, 0) };
        let (least, natural, ..) = scroller.measure(orientation, for_size);
        let content = self.content.upgrade();
        match content.filter(|_| orientation == gtk::Orientation::Vertical) {
            // The scroller itself does not count with lines that wrap.
            Some(content) => {
                let height = layout::height_of(content.upcast_ref(), for_size);
                let height = height.min(HIGHEST).max(least);
                (height, height)
            }
            None => (least, natural),
        }
    }
}

/// Content that scrolls from a height on. Its scrollbar stays in sight then.
pub(in super::super) fn scrolled(content: &gtk::Box, name: &str) -> gtk::Box {
    // Arrow keys scroll it.
    let scroller = gtk::ScrolledWindow::builder()
        .child(content)
        .hscrollbar_policy(gtk::PolicyType::Never)
        .overlay_scrolling(false)
        .focusable(true)
        .build();
    accessible::set_label(&scroller, name);
    let root = gtk::Box::new(gtk::Orientation::Vertical, 0);
    root.append(&scroller);
    root.set_layout_manager(Some(layout::manager(AsHighAsNeeded { content: content.downgrade() })));
    root
}

/// What a definition is and may do, whether it is new, which of a skill's files changed, what is wrong in its file, and
/// its text to open.
fn block(item: &ProjectItem, problems: &[Problem]) -> gtk::Box {
    let block = gtk::Box::new(gtk::Orientation::Vertical, 3);
    block.append(&line(&words::project_item(item), &[]));
    block.append(&line(&words::project_item_state(item), &["dim-label", "caption"]));
    let files = words::project_item_files(item);
    if !files.is_empty() {
        block.append(&line(&files.join("\n"), &["caption"]));
    }
    for problem in words::project_item_problems(item, problems) {
        block.append(&line(&problem, &["warning", "caption"]));
    }
    let diff = words::project_item_diff(item);
    let (title, long_title, name) = if diff.is_some() {
        let long_title = gettext("Show changes of {name}");
        (gettext("Show Changes"), long_title, gettext("Changes of {name}"))
    } else {
        (gettext("Show Text"), gettext("Show text of {name}"), gettext("Text of {name}"))
    };
    let expander = gtk::Expander::new(Some(&title));
    let of_item = |text: &str| fill(text, &[("name", &words::one_line(&item.name))]);
    let name = of_item(&name);
    accessible::set_label(&expander, &of_item(&long_title));
    let (text, is_filled) = (words::project_item_text(item), Cell::new(false));
    expander.connect_expanded_notify(move |expander| {
        if expander.is_expanded() && !is_filled.replace(true) {
            expander.set_child(Some(&content(&text, diff.as_deref(), &name)));
        }
    });
    block.append(&expander);
    block
}

pub(in super::super) fn line(words: &str, classes: &[&str]) -> gtk::Label {
    gtk::Label::builder()
        .label(words)
        .use_markup(false)
        .xalign(0.0)
        .wrap(true)
        .wrap_mode(pango::WrapMode::WordChar)
        .css_classes(classes.iter().copied().map(str::to_owned).collect::<Vec<_>>())
        .build()
}

/// A text to read, or its changes if they are known. Tab leaves it.
fn content(text: &str, diff: Option<&str>, name: &str) -> gtk::TextView {
    let view = gtk::TextView::builder()
        .editable(false)
        .cursor_visible(false)
        .monospace(true)
        .accepts_tab(false)
        .wrap_mode(gtk::WrapMode::WordChar)
        .top_margin(6)
        .bottom_margin(6)
        .left_margin(6)
        .right_margin(6)
        .build();
    match diff {
        Some(diff) => show_diff(&view, diff),
        None => view.buffer().set_text(text),
    }
    accessible::set_label(&view, name);
    view
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use chat_core::definitions::{ProjectDefinitions, Sources, load};
    use chat_core::permission::path::{PathEnvironment, Project};

    use super::*;
    use crate::main_loop::until;

    /// A project with so many agents, whose lines are too long for a narrow window.
    fn project(folder: &Path, count: usize) -> ProjectDefinitions {
        let agents = folder.join(".natter/agents");
        fs::create_dir_all(&agents).expect("made");
        for number in 0..count {
            let text = "---\ntools: [read_file, list_files, search_files]\nmodel: some/very-long-name\n---\nHelp.";
            fs::write(agents.join(format!("helper-with-a-long-name-{number}.md")), text)
                .expect("written");
        }
        let project = Project::open(folder, &PathEnvironment::default()).expect("a project");
        let found = load(&Sources { project: Some(project), ..Sources::default() });
        found.project.expect("definitions").as_ref().clone()
    }

    fn scroller(list: &gtk::Box) -> gtk::ScrolledWindow {
        list.first_child().and_downcast().expect("a scroller")
    }

    #[gtk::test]
    fn a_list_with_lines_that_wrap_is_as_high_as_it_needs() {
        crate::init();
        let folder = tempfile::tempdir().expect("a folder");
        let list = list(project(folder.path(), 2).untrusted(), &[]);
        let window = gtk::Window::builder().child(&list).default_width(240).build();
        window.present();
        let scroller = scroller(&list);
        until("the list in the window", || scroller.is_mapped() && scroller.height() > 0);
        let adjustment = scroller.vadjustment();
        let (needed, seen) = (adjustment.upper(), adjustment.page_size());
        assert!(needed > 0.0 && needed <= seen, "{needed} in {seen}");
        window.destroy();
    }

    #[gtk::test]
    fn a_long_list_shows_its_scrollbar_at_rest() {
        crate::init();
        let folder = tempfile::tempdir().expect("a folder");
        let list = list(project(folder.path(), 12).untrusted(), &[]);
        let window = gtk::Window::builder().child(&list).default_width(240).build();
        window.present();
        let scroller = scroller(&list);
        until("the scrollbar", || scroller.is_mapped() && scroller.vscrollbar().is_mapped());
        assert_eq!(layout::height_of(list.upcast_ref(), 240), HIGHEST);
        assert!(!scroller.is_overlay_scrolling());
        window.destroy();
    }

    #[gtk::test]
    fn changed_lines_have_colors() {
        crate::init();
        let view = content("a\nc\n", Some("@@ -1,2 +1,2 @@\n a\n-b\n+c\n"), "Changes");
        let window = gtk::Window::builder().child(&view).build();
        window.present();
        until("the text in the window", || view.is_mapped());
        let buffer = view.buffer();
        let colored = |line: i32| {
            let tags = buffer.iter_at_line(line).expect("a line").tags();
            tags.iter().any(|tag| tag.paragraph_background_rgba().is_some())
        };
        assert_eq!([1, 2, 3].map(colored), [false, true, true]);
        window.destroy();
    }
}
