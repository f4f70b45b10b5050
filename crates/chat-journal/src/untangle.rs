//! Files that change places: wishes that are in each other's way are taken apart into what is to lie at each path.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::bring::Wish;
use crate::node::State;

/// What is wished for a path.
#[derive(Default)]
struct Place {
    now: State,
    then: State,
    touched: bool,
    /// Whether a wish says what is to lie there.
    filled: bool,
}

/// The same wishes, of which none moves a file to or from a path that another is about: a file that was moved away
/// and another that took its place cannot be brought back one after the other. A person's changes to a file that was
/// moved do not go with it then: such a file is left alone.
pub fn untangle(wishes: Vec<Wish>) -> Vec<Wish> {
    let mut about: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for wish in &wishes {
        *about.entry(wish.at.clone()).or_default() += 1;
        if wish.moves() {
            *about.entry(wish.to.clone()).or_default() += 1;
        }
    }
    let shared = |path: &PathBuf| about.get(path).is_some_and(|count| *count > 1);
    let (tangled, mut alone): (Vec<_>, Vec<_>) =
        wishes.into_iter().partition(|wish| shared(&wish.at) || shared(&wish.to));
    let mut places: BTreeMap<PathBuf, Place> = BTreeMap::new();
    for wish in tangled {
        let taken = places.get(&wish.to).is_some_and(|place| place.filled) && wish.then.is_some();
        if taken && wish.moves() {
            // Two files for one path: the second is told as a conflict.
            alone.push(wish);
            continue;
        }
        let from = places.entry(wish.at).or_default();
        from.now = wish.now;
        from.touched |= wish.touched;
        if wish.then.is_some() {
            let to = places.entry(wish.to).or_default();
            (to.then, to.filled) = (wish.then, true);
        }
    }
    let placed = places.into_iter().map(|(path, place)| Wish {
        at: path.clone(),
        to: path,
        now: place.now,
        then: place.then,
        touched: place.touched,
    });
    placed.chain(alone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Node;

    fn wish(at: &str, to: &str, now: Option<&str>, then: Option<&str>) -> Wish {
        let state = |text: Option<&str>| text.map(|text| Node::file(text.as_bytes()));
        let (at, to) = (at.into(), to.into());
        Wish { at, to, now: state(now), then: state(then), touched: false }
    }

    fn shown(wishes: Vec<Wish>) -> Vec<String> {
        let text = |state: State| {
            state.map_or("-".to_owned(), |node| String::from_utf8_lossy(&node.bytes).into_owned())
        };
        let shown = untangle(wishes).into_iter().map(|wish| {
            let way = if wish.moves() { " moves" } else { "" };
            format!("{}: {} > {}{way}", wish.to.display(), text(wish.now), text(wish.then))
        });
        shown.collect()
    }

    #[test]
    fn a_file_that_took_anothers_place_goes_when_that_comes_back() {
        let wishes = vec![wish("c", "a", Some("A"), Some("A")), wish("a", "a", Some("new"), None)];
        assert_eq!(shown(wishes), ["a: new > A", "c: A > -"]);
    }

    #[test]
    fn files_that_changed_places_change_them_again() {
        let wishes =
            vec![wish("a", "b", Some("B"), Some("B")), wish("b", "a", Some("A"), Some("A"))];
        assert_eq!(shown(wishes), ["a: B > A", "b: A > B"]);
    }

    #[test]
    fn who_is_in_nobodys_way_moves() {
        let wishes = vec![wish("a", "b", Some("x"), Some("x")), wish("c", "c", None, Some("y"))];
        assert_eq!(shown(wishes), ["b: x > x moves", "c: - > y"]);
    }
}
