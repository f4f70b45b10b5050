//! Shows a unified diff outside a conversation, with the same colors.

use std::cell::Cell;

use gtk::prelude::*;

use super::style_tags::StyleTags;
use crate::conversation::model::diff;

/// Shows a unified diff without its file header in a text. The colors follow the theme.
pub(crate) fn show_diff(view: &gtk::TextView, unified: &str) {
    let tags = StyleTags::new();
    let buffer = tags.buffer();
    let mut styled = diff::styled(unified);
    styled.trim();
    tags.fill(&buffer, &styled);
    view.set_buffer(Some(&buffer));
    let style = adw::StyleManager::default();
    let (weak, again) = (view.downgrade(), tags.clone());
    let id = style.connect_dark_notify(move |_| {
        if let Some(view) = weak.upgrade() {
            again.recolour(view.upcast_ref());
        }
    });
    // The style manager lives as long as the program, so disconnect from it.
    let id = Cell::new(Some(id));
    view.connect_destroy(move |_| {
        if let Some(id) = id.take() {
            adw::StyleManager::default().disconnect(id);
        }
    });
    // The theme's colors are known once the text is in a window.
    view.connect_map(move |view| tags.recolour(view.upcast_ref()));
}
