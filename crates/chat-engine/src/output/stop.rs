//! Finds the stop texts of an answer, which may come in pieces.

/// The texts, and what could still become one.
#[derive(Debug, Default)]
pub struct StopTexts {
    texts: Vec<String>,
    held: String,
}

impl StopTexts {
    /// None of these texts becomes part of the answer.
    pub fn new(texts: Vec<String>) -> Self {
        Self { texts, held: String::new() }
    }

    /// Takes more text. Gives what surely belongs to the answer, and whether it ends here.
    pub fn take(&mut self, text: &str) -> (String, bool) {
        if self.texts.is_empty() {
            return (text.to_owned(), false);
        }
        self.held.push_str(text);
        if let Some(at) = self.texts.iter().filter_map(|stop| self.held.find(stop.as_str())).min() {
            self.held.truncate(at);
            return (std::mem::take(&mut self.held), true);
        }
        let keep = self.texts.iter().map(|stop| begun(&self.held, stop)).max().unwrap_or(0);
        let sure = self.held.len() - keep;
        let rest = self.held.split_off(sure);
        (std::mem::replace(&mut self.held, rest), false)
    }

    /// What was held back: nothing follows.
    pub fn rest(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

/// How many bytes at the end of a text could begin a mark.
pub(super) fn begun(text: &str, mark: &str) -> usize {
    let longest = mark.len().saturating_sub(1).min(text.len());
    let fits = |&len: &usize| mark.is_char_boundary(len) && text.ends_with(&mark[..len]);
    (1..=longest).rev().find(fits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&str], stops: &[&str]) -> (String, bool) {
        let mut stop = StopTexts::new(stops.iter().map(|&text| text.to_owned()).collect());
        let mut out = String::new();
        for piece in pieces {
            let (text, ended) = stop.take(piece);
            out.push_str(&text);
            if ended {
                return (out, true);
            }
        }
        (out + &stop.rest(), false)
    }

    #[test]
    fn an_answer_ends_where_a_stop_text_begins_however_it_is_cut() {
        for pieces in [&["one ENDtwo"][..], &["one E", "N", "Dtwo"], &["o", "ne EN", "D"]] {
            assert_eq!(all(pieces, &["END", "###"]), ("one ".to_owned(), true));
        }
    }

    #[test]
    fn what_only_looked_like_one_is_kept() {
        assert_eq!(
            all(&["one E", "N", "ough €"], &["END", "€€"]),
            ("one ENough €".to_owned(), false)
        );
    }
}
