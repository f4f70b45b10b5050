//! Shows the window's own buttons in the header bars. Where only one pane is shown there is little
//! room, so only the close button stays.

use gtk::prelude::*;

/// Shows all buttons that the desktop wants, or only the necessary ones where there is little
/// space.
pub(super) fn show(headers: &[&adw::HeaderBar], little_room: bool) {
    for header in headers {
        let wanted = header.settings().gtk_decoration_layout();
        let few = wanted.filter(|_| little_room).map(|wanted| few_of(&wanted));
        header.set_decoration_layout(few.as_deref());
    }
}

/// A button layout in GTK's format (`menu:minimize,maximize,close`), without buttons that can be
/// replaced by other means.
fn few_of(layout: &str) -> String {
    let few = |side: &str| {
        let kept = side.split(',').filter(|button| !matches!(*button, "minimize" | "maximize"));
        kept.collect::<Vec<_>>().join(",")
    };
    layout.split(':').map(few).collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_button_that_closes_stays_where_it_was() {
        assert_eq!(few_of("menu:minimize,maximize,close"), "menu:close");
        assert_eq!(few_of("close,minimize:"), "close:");
        assert_eq!(few_of("appmenu"), "appmenu");
    }
}
