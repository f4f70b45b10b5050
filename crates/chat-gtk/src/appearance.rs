//! Applies the colors, the size of texts and the width of conversations that the user chose.

use std::cell::OnceCell;

use chat_core::settings::{ColorScheme, ColumnWidth, UiSettings, Zoom};
use gtk::{gdk, glib};
use relm4::gtk::prelude::*;

thread_local! {
    /// The style sheet with the size of texts, one for the program.
    static SHEET: OnceCell<gtk::CssProvider> = const { OnceCell::new() };
}

/// Shows all windows of the program in these colors.
pub(crate) fn set_color_scheme(scheme: ColorScheme) {
    adw::StyleManager::default().set_color_scheme(match scheme {
        ColorScheme::System => adw::ColorScheme::Default,
        ColorScheme::Light => adw::ColorScheme::ForceLight,
        ColorScheme::Dark => adw::ColorScheme::ForceDark,
    });
}

/// Shows the texts of conversations, messages and files in this size.
pub(crate) fn set_zoom(display: &gdk::Display, zoom: Zoom) {
    SHEET.with(|sheet| {
        let sheet = sheet.get_or_init(|| {
            let sheet = gtk::CssProvider::new();
            // Above the sheets that it changes.
            let priority = gtk::STYLE_PROVIDER_PRIORITY_APPLICATION + 2;
            gtk::style_context_add_provider_for_display(display, &sheet, priority);
            sheet
        });
        sheet.load_from_data(&css(zoom));
    });
}

fn css(zoom: Zoom) -> String {
    let percent = zoom.percent();
    if percent == 100 {
        return String::new();
    }
    // A file's text is a little smaller than others.
    let file = f64::from(percent) * 0.94;
    format!(
        "conversation, .composer textview {{ font-size: {percent}%; }}\n\
         textview.file {{ font-size: {file:.2}%; }}"
    )
}

/// How wide a conversation may become, in pixels. Larger texts have as many words in a line.
pub(crate) fn column_width(ui: &UiSettings) -> i32 {
    let usual = match ui.column {
        ColumnWidth::Narrow => 560,
        ColumnWidth::Normal => 760,
        ColumnWidth::Wide => 1100,
    };
    usual * i32::from(ui.zoom.percent().max(100)) / 100
}

/// Calls back when the wheel is turned over a widget while Ctrl is held: whether upwards.
pub(crate) fn connect_zoom_wheel(widget: &gtk::Widget, turned: impl Fn(bool) + 'static) {
    let wheel = gtk::EventControllerScroll::new(
        gtk::EventControllerScrollFlags::VERTICAL | gtk::EventControllerScrollFlags::DISCRETE,
    );
    wheel.set_propagation_phase(gtk::PropagationPhase::Capture);
    wheel.connect_scroll(move |wheel, _, by| {
        if !wheel.current_event_state().contains(gdk::ModifierType::CONTROL_MASK) {
            return glib::Propagation::Proceed;
        }
        if by != 0.0 {
            turned(by < 0.0);
        }
        glib::Propagation::Stop
    });
    widget.add_controller(wheel);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::main_loop::until;

    #[test]
    fn larger_texts_have_wider_columns_and_smaller_ones_do_not() {
        let width = |column, percent| {
            let zoom = Zoom::new(percent);
            column_width(&UiSettings { column, zoom, ..UiSettings::default() })
        };
        assert_eq!(width(ColumnWidth::Normal, 100), 760);
        assert_eq!(width(ColumnWidth::Normal, 200), 1520);
        assert_eq!(width(ColumnWidth::Narrow, 50), 560);
    }

    #[gtk::test]
    fn the_colors_are_those_that_were_chosen() {
        adw::init().expect("a display");
        let style = adw::StyleManager::default();
        for (scheme, is_dark) in [(ColorScheme::Dark, true), (ColorScheme::Light, false)] {
            set_color_scheme(scheme);
            assert_eq!(style.is_dark(), is_dark, "{scheme:?}");
        }
        set_color_scheme(ColorScheme::System);
        assert_eq!(style.color_scheme(), adw::ColorScheme::Default);
    }

    #[gtk::test]
    fn the_size_reaches_the_texts() {
        crate::init();
        let display = gdk::Display::default().expect("a display");
        let text = gtk::TextView::new();
        let composer = gtk::Box::builder().css_classes(["composer"]).build();
        composer.append(&text);
        let window = gtk::Window::builder().child(&composer).build();
        let size = || text.pango_context().font_description().map_or(0, |font| font.size());
        window.present();
        until("the window", || text.is_mapped());
        let usual = size();
        set_zoom(&display, Zoom::new(200));
        until("larger texts", || (size() - 2 * usual).abs() <= 2);
        set_zoom(&display, Zoom::default());
        until("usual texts", || size() == usual);
        window.destroy();
    }
}
