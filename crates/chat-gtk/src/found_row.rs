//! Shows a search result in a list: a name, and below it what distinguishes it from others with
//! that name. The keyboard focus stays in the search field.

use gtk::gdk::prelude::*;
use relm4::gtk::prelude::*;

use crate::accessible;
use crate::letters::bold;

/// Creates an empty row, with space for an icon if wanted.
pub(crate) fn row(has_icon: bool) -> gtk::ListBoxRow {
    // However long the text is, the list decides how wide the labels are.
    let label = |class: &str| {
        gtk::Label::builder()
            .xalign(0.0)
            .hexpand(true)
            .max_width_chars(1)
            .ellipsize(gtk::pango::EllipsizeMode::Middle)
            .css_classes([class])
            .build()
    };
    let words = gtk::Box::new(gtk::Orientation::Vertical, 0);
    words.append(&label("found-name"));
    words.append(&label("found-folder"));
    let line = gtk::Box::builder().spacing(8).build();
    if has_icon {
        line.append(&gtk::Image::builder().css_classes(["dim-label"]).build());
    }
    line.append(&words);
    let row = gtk::ListBoxRow::builder().child(&line).focusable(false).build();
    row.connect_query_tooltip(|row, _, _, _, _| {
        // It would say what can be read anyway, and hide the row below.
        if !is_cut(row) {
            row.stop_signal_emission_by_name("query-tooltip");
        }
        false
    });
    row
}

/// Whether a row has no space for all of its text.
fn is_cut(row: &gtk::ListBoxRow) -> bool {
    let words = row.child().and_then(|line| line.last_child());
    let first = words.and_then(|words| words.first_child());
    let mut labels = std::iter::successors(first, WidgetExt::next_sibling);
    labels.any(|label| {
        let label = label.downcast::<gtk::Label>();
        label.is_ok_and(|label| label.is_visible() && label.layout().is_ellipsized())
    })
}

/// Sets a row's text, as markup: the name, and what distinguishes it from others, which may be
/// empty. `said` is the full text, for screen readers, and for the tooltip where the row is too narrow.
pub(crate) fn describe(row: &gtk::ListBoxRow, name: &str, detail: &str, said: &str) {
    let words = row.child().and_then(|line| line.last_child());
    let Some(above) = words.and_then(|words| words.first_child()).and_downcast::<gtk::Label>()
    else {
        return;
    };
    above.set_markup(name);
    if let Some(below) = above.next_sibling().and_downcast::<gtk::Label>() {
        below.set_markup(detail);
        below.set_visible(!detail.is_empty());
    }
    row.set_tooltip_text(Some(said));
    accessible::set_label(row, said);
}

/// Cuts what is below the name at its end if it is prose, and in its middle if it is a path.
pub(crate) fn set_prose(row: &gtk::ListBoxRow, is_prose: bool) {
    let words = row.child().and_then(|line| line.last_child());
    let below = words.and_then(|words| words.last_child()).and_downcast::<gtk::Label>();
    if let Some(below) = below {
        below.set_ellipsize(if is_prose {
            gtk::pango::EllipsizeMode::End
        } else {
            gtk::pango::EllipsizeMode::Middle
        });
    }
}

/// Shows an icon in a row that has space for one.
pub(crate) fn set_icon(row: &gtk::ListBoxRow, icon: &str) {
    let image = row.child().and_then(|line| line.first_child()).and_downcast::<gtk::Image>();
    if let Some(image) = image {
        image.set_icon_name(Some(icon));
    }
}

/// The name and the folder of a path as markup, with the matched letters highlighted.
pub(crate) fn of_path(path: &str, positions: &[u32]) -> (String, String) {
    let split = path.rfind('/').map_or(0, |at| at + 1);
    let name = bold(&path[split..], positions, path[..split].chars().count());
    (name, bold(path[..split].trim_end_matches('/'), positions, 0))
}

/// Selects a row, and scrolls to it.
pub(crate) fn select(list: &gtk::ListBox, row: &gtk::ListBoxRow) {
    list.select_row(Some(row));
    let (Some(bounds), Some(adjustment)) = (row.compute_bounds(list), list.adjustment()) else {
        return;
    };
    let (top, bottom) = (f64::from(bounds.y()), f64::from(bounds.y() + bounds.height()));
    adjustment.clamp_page(top, bottom);
}

#[cfg(test)]
mod tests {
    use gtk::glib;

    use super::*;
    use crate::main_loop::until;

    #[gtk::test]
    fn only_a_row_that_is_cut_has_a_tooltip() {
        crate::init();
        let row = row(true);
        let window = gtk::Window::builder().child(&row).default_width(300).build();
        window.present();
        let tells = || {
            let tooltip = glib::Object::new::<gtk::Tooltip>();
            row.emit_by_name::<bool>("query-tooltip", &[&1, &1, &false, &tooltip])
        };
        describe(&row, "main.rs", "src", "src/main.rs");
        until("the row to be drawn", || row.is_mapped() && row.width() > 0);
        until("a row without a tooltip", || !tells());
        let long = "very/".repeat(40);
        describe(&row, "main.rs", &long, &format!("{long}main.rs"));
        until("a row with a tooltip", tells);
        window.destroy();
    }

    #[test]
    fn a_path_is_a_name_and_a_folder() {
        let (name, folder) = of_path("src/main.rs", &[0, 4]);
        assert_eq!((name.as_str(), folder.as_str()), ("<b>m</b>ain.rs", "<b>s</b>rc"));
        assert_eq!(of_path("a", &[]), ("a".to_owned(), String::new()));
    }
}
