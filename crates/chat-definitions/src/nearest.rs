//! Finds the name that was probably meant.

/// The name that `written` was probably meant to be: at most two letters differ, in short ones one, in those of one
/// or two letters none. Swapped letters count as one.
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = |name: &str| match written.len().min(name.len()) {
        0..3 => 0,
        3..5 => 1,
        _ => 2,
    };
    let distances = names.into_iter().map(|name| (strsim::osa_distance(written, name), name));
    let near = distances.filter(|(distance, name)| *distance <= most(name));
    near.min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_recognized_and_another_word_is_not() {
        let names = ["name", "tools", "mode", "model", "description"];
        for (written, meant) in [
            ("tols", "tools"),
            ("toosl", "tools"),
            ("tool", "tools"),
            ("tools", "tools"),
            ("decsriptoin", "description"),
            ("mod", "mode"),
        ] {
            assert_eq!(nearest(written, names), Some(meant), "{written}");
        }
        assert_eq!(nearest("b", ["a"]), None);
        for written in ["", "role", "date", "license", "allowed-tools", "metadata"] {
            assert_eq!(nearest(written, names), None, "{written}");
        }
    }
}
