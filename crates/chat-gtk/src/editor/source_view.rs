//! Sets how a file looks: its language, its indentation, and colours that follow light and dark
//! style at once.

use std::cell::Cell;
use std::path::Path;

use gettextrs::gettext;
use gtk::gio;
use relm4::gtk::prelude::*;
use sourceview5::prelude::*;

use crate::languages;

/// How many lines are used to detect a file's indentation.
const LINES: usize = 400;
/// The width of a tab, in characters.
const TAB: u32 = 4;

/// Creates the view of a file's text.
pub(super) fn view(buffer: &sourceview5::Buffer) -> sourceview5::View {
    let view = sourceview5::View::with_buffer(buffer);
    view.set_monospace(true);
    view.set_show_line_numbers(true);
    view.set_highlight_current_line(true);
    view.set_auto_indent(true);
    view.set_smart_backspace(true);
    view.set_tab_width(TAB);
    view.set_insert_spaces_instead_of_tabs(true);
    view.set_left_margin(6);
    view.set_right_margin(6);
    view.set_bottom_margin(40);
    view.set_hexpand(true);
    view.set_vexpand(true);
    view.add_css_class("file");
    let menu = gio::Menu::new();
    menu.append(Some(&gettext("Save _As…")), Some("win.save-as"));
    view.set_extra_menu(Some(&menu));
    super::indent::install(&view);
    super::comment::install(&view);
    view
}

/// Applies the theme's colours to a buffer, now and whenever the theme changes.
pub(super) fn follow_theme(buffer: &sourceview5::Buffer) {
    recolour(buffer);
    let weak = buffer.downgrade();
    let style = adw::StyleManager::default();
    let id = style.connect_dark_notify(move |_| {
        if let Some(buffer) = weak.upgrade() {
            recolour(&buffer);
        }
    });
    // The style manager lives as long as the program, so disconnect from it.
    let id = Cell::new(Some(id));
    buffer.add_weak_ref_notify_local(move || {
        if let Some(id) = id.take() {
            adw::StyleManager::default().disconnect(id);
        }
    });
}

fn recolour(buffer: &sourceview5::Buffer) {
    let dark = adw::StyleManager::default().is_dark();
    let name = if dark { "Adwaita-dark" } else { "Adwaita" };
    buffer.set_style_scheme(sourceview5::StyleSchemeManager::default().scheme(name).as_ref());
}

/// The language of a file, by its name and its first lines.
pub(super) fn language(path: &Path, text: &str) -> Option<sourceview5::Language> {
    let name = path.file_name()?.to_string_lossy();
    let start = &text.as_bytes()[..text.len().min(512)];
    let (kind, uncertain) = gtk::gio::content_type_guess(Some(name.as_ref()), start);
    let kind = (!uncertain).then_some(kind);
    let manager = sourceview5::LanguageManager::default();
    manager.guess_language(Some(name.as_ref()), kind.as_deref())
}

/// Loads the colours of all themes, which takes some milliseconds the first time.
pub(super) fn read_schemes() {
    sourceview5::StyleSchemeManager::default().scheme("Adwaita");
}

/// Loads a language, and compiles it with a first text.
pub(super) fn read(language: &sourceview5::Language) {
    let buffer = sourceview5::Buffer::new(None);
    languages::give(&buffer, Some(language));
    buffer.set_text("a = \"b\" # c\n");
    let (start, end) = buffer.bounds();
    buffer.ensure_highlight(&start, &end);
}

/// Indents like the file: with tabs, or with the number of spaces that it uses most.
pub(super) fn indent_as(view: &sourceview5::View, text: &str) {
    match indentation(text) {
        Some(Indent::Tabs) => view.set_insert_spaces_instead_of_tabs(false),
        Some(Indent::Spaces(width)) => {
            view.set_insert_spaces_instead_of_tabs(true);
            view.set_indent_width(width);
        }
        None => {}
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Indent {
    Tabs,
    Spaces(i32),
}

/// The indentation of a text; none if nothing is indented.
fn indentation(text: &str) -> Option<Indent> {
    let (mut tabs, mut steps) = (0, [0_usize; 9]);
    let mut before = 0;
    for line in text.lines().take(LINES).filter(|line| !line.trim().is_empty()) {
        if line.starts_with('\t') {
            tabs += 1;
            continue;
        }
        let depth = line.len() - line.trim_start_matches(' ').len();
        // How much deeper a line is than the one before is one step.
        if depth > before && depth - before <= 8 {
            steps[depth - before] += 1;
        }
        before = depth;
    }
    let (width, count) = [2, 4, 8, 3]
        .map(|width| (width, steps[width]))
        .into_iter()
        .fold((0, 0), |best, next| if next.1 > best.1 { next } else { best });
    match () {
        () if tabs > count => Some(Indent::Tabs),
        () if count > 0 => Some(Indent::Spaces(width as i32)),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_indented_as_it_is() {
        assert_eq!(
            indentation("fn a() {\n    b();\n    if c {\n        d();\n"),
            Some(Indent::Spaces(4))
        );
        assert_eq!(indentation("a:\n  b:\n    - c\n"), Some(Indent::Spaces(2)));
        assert_eq!(indentation("a:\n\tb\n\tc\n  d\n"), Some(Indent::Tabs));
        assert_eq!(indentation("no\nindentation\n"), None);
    }

    #[gtk::test]
    fn a_language_is_known_by_name_and_by_content() {
        crate::init();
        let of = |name: &str, text: &str| {
            language(Path::new(name), text).map(|language| language.id().to_string())
        };
        assert_eq!(of("/a/main.rs", ""), Some("rust".to_owned()));
        assert_eq!(of("/a/Makefile", ""), Some("makefile".to_owned()));
        assert_eq!(of("/a/run", "#!/bin/sh\necho\n"), Some("sh".to_owned()));
        assert_eq!(of("/a/nothing", "words"), None);
    }
}
