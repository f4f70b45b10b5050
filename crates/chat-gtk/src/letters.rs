//! Highlights the matched letters in a text.

use chat_presentation::words::hides;
use gtk::glib;

/// A text as markup, with the matched letters in bold. Their positions are counted from `before`
/// characters before the text.
pub(crate) fn bold(text: &str, positions: &[u32], before: usize) -> String {
    let mut markup = String::with_capacity(text.len() + 7 * positions.len());
    for (at, letter) in text.chars().enumerate() {
        let mut bytes = [0; 4];
        let escaped = glib::markup_escape_text(seen(letter).encode_utf8(&mut bytes));
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

/// A name for use among others: on one line, and with a visible sign for each character that is
/// invisible or changes the writing direction.
pub(crate) fn plain(name: &str) -> String {
    name.chars().map(seen).collect()
}

fn seen(letter: char) -> char {
    if hides(letter) { '�' } else { letter }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_for_is_bold_and_markup_is_text() {
        assert_eq!(bold("a<b>.rs", &[4, 6], 4), "<b>a</b>&lt;<b>b</b>&gt;.rs");
    }

    #[test]
    fn a_name_hides_nothing_and_turns_nothing_round() {
        assert_eq!(plain("a\u{202e}b\nc.rs"), "a�b�c.rs");
        assert_eq!(bold("a\u{202e}b", &[2], 0), "a�<b>b</b>");
    }
}
