//! Formats numbers as the language of the words does.

use gettextrs::gettext;

use super::fill;

/// What Rust writes between whole and fraction.
const POINT: &str = ".";

/// A number with one digit after its point, or its comma.
pub fn tenths(number: f64) -> String {
    let text = format!("{number:.1}");
    match text.split_once(POINT) {
        // What stands between the two is all that is to be translated.
        Some((whole, tenth)) => {
            fill(&gettext("{whole}.{tenth}"), &[("whole", whole), ("tenth", tenth)])
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::tenths;

    #[test]
    fn a_number_has_one_digit_after_its_point() {
        assert_eq!([tenths(98.36), tenths(0.05), tenths(12.0)], ["98.4", "0.1", "12.0"]);
    }
}
