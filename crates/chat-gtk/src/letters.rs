//! Shows in a text which of its letters were looked for.

use gtk::glib;

/// A text as markup, with the letters that were looked for in bold. They are counted from a place
/// `before` characters ahead of it.
pub(crate) fn bold(text: &str, positions: &[u32], before: usize) -> String {
    let mut markup = String::with_capacity(text.len() + 7 * positions.len());
    for (at, letter) in text.chars().enumerate() {
        let letter = if letter.is_control() { '�' } else { letter };
        let mut bytes = [0; 4];
        let escaped = glib::markup_escape_text(letter.encode_utf8(&mut bytes));
        if positions.binary_search(&((before + at) as u32)).is_ok() {
            markup.push_str("<b>");
            markup.push_str(&escaped);
            markup.push_str("</b>");
        } else {
            markup.push_str(&escaped);
        }
    }
    markup
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_for_is_bold_and_markup_is_text() {
        assert_eq!(bold("a<b>.rs", &[4, 6], 4), "<b>a</b>&lt;<b>b</b>&gt;.rs");
    }
}
