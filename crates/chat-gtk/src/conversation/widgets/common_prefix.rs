//! Compares a text with the one that is shown, so that only its end is changed.

/// How many bytes two texts begin with in common.
pub fn common_prefix(a: &str, b: &str) -> usize {
    if b.starts_with(a) {
        return a.len();
    }
    let at = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    a.floor_char_boundary(at)
}
