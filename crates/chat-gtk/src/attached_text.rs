//! Shows the text of a file that went with a message.

use adw::prelude::*;
use chat_presentation::words::{bytes, fill, one_line};
use gettextrs::gettext;

use crate::accessible;
use crate::close_keys::close_view_with_keys;
use crate::copy_mark::{self, CopyMark};

/// So much of a text is shown, in bytes: a view of more is slow.
const MOST: usize = 1 << 20;
/// A longer line is split, in bytes: the toolkit lays out each line as a whole.
const LONGEST_LINE: usize = 8_000;

/// Opens a file's text above the window of this widget.
pub(crate) fn open(from: &impl IsA<gtk::Widget>, name: &str, text: &str) {
    let shown = &text[..text.floor_char_boundary(MOST)];
    let name = one_line(name);
    let window = adw::Window::builder()
        .title(&name)
        .default_width(720)
        .default_height(620)
        .width_request(360)
        .height_request(294)
        .destroy_with_parent(true)
        .modal(true)
        .build();
    window.set_transient_for(from.root().and_downcast::<gtk::Window>().as_ref());
    close_view_with_keys(&window);
    let view = gtk::TextView::builder()
        .editable(false)
        .monospace(true)
        .wrap_mode(gtk::WrapMode::WordChar)
        .top_margin(12)
        .bottom_margin(12)
        .left_margin(14)
        .right_margin(14)
        .build();
    let split = with_long_lines_split(shown);
    view.buffer().set_text(split.as_deref().unwrap_or(shown));
    view.buffer().place_cursor(&view.buffer().start_iter());
    accessible::set_label(&view, &name);
    let copy = gtk::Button::new();
    let mark = CopyMark::on(&copy, copy_mark::COPY, &gettext("Copy All"));
    let whole = text.to_owned();
    copy.connect_clicked(move |copy| {
        copy.clipboard().set_text(&whole);
        mark.show();
    });
    let header = adw::HeaderBar::new();
    header.pack_start(&copy);
    let column = gtk::Box::new(gtk::Orientation::Vertical, 0);
    column.append(&header);
    let mut notes = Vec::new();
    if shown.len() < text.len() {
        let words =
            gettext("Only the first {shown} of {size} are shown here. The model got all of it.");
        let sizes = [("shown", &*bytes(shown.len() as u64)), ("size", &*bytes(text.len() as u64))];
        notes.push(fill(&words, &sizes));
    }
    if split.is_some() {
        notes.push(gettext("Very long lines are split here. Copy All copies them unchanged."));
    }
    if !notes.is_empty() {
        let note = gtk::Label::builder()
            .label(notes.join("\n"))
            .wrap(true)
            .xalign(0.0)
            .css_classes(["cut-text"])
            .build();
        column.append(&note);
    }
    column.append(&gtk::ScrolledWindow::builder().child(&view).vexpand(true).build());
    window.set_content(Some(&column));
    window.present();
}

/// The text with its long lines split, after a blank where one is near; none if it has no long lines.
fn with_long_lines_split(text: &str) -> Option<String> {
    let is_long = |line: &str| line.len() > LONGEST_LINE;
    if !text.split('\n').any(is_long) {
        return None;
    }
    let split = |mut line| {
        let mut out = String::new();
        while is_long(line) {
            let end = line.floor_char_boundary(LONGEST_LINE);
            let blank = line[..end].rfind(' ').filter(|at| *at > end / 2);
            let (first, rest) = line.split_at(blank.map_or(end, |at| at + 1));
            out.extend([first, "\n"]);
            line = rest;
        }
        out + line
    };
    Some(text.split('\n').map(split).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_split_and_nothing_is_lost() {
        assert_eq!(with_long_lines_split(&"a line\n".repeat(LONGEST_LINE)), None);
        let long = format!("short\n{}\n{}end", "ä".repeat(LONGEST_LINE), "word ".repeat(4_000));
        let split = with_long_lines_split(&long).expect("long lines");
        assert!(split.lines().all(|line| line.len() <= LONGEST_LINE));
        assert!(split.starts_with("short\nä") && split.ends_with("word end"));
        assert_eq!(split.replace('\n', ""), long.replace('\n', ""));
        let words = split.lines().filter(|line| line.starts_with("word"));
        assert!(words.count() > 2, "each piece begins with a word");
    }
}
