//! Drafts the tokens that probably come next, since they followed the same words before: in the
//! prompt, or in the answer itself. They are evaluated together with the token that was chosen,
//! which costs less than one after another, and only those stay that would have been chosen anyhow.

mod costs;
mod lookup;
mod pace;

pub use costs::Costs;
use lookup::Lookup;
use pace::Pace;

/// The most tokens of a draft. More gain little: an evaluation of so many is no longer bound by memory.
pub const MOST: usize = 8;

/// How long drafts are wanted, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DraftLimits {
    /// Never fewer, where anything is found. 0 leaves it to what pays.
    pub least: usize,
    /// Never more, nor more than [`MOST`]. 0 is no drafts at all.
    pub most: usize,
}

/// The drafts of one answer.
#[derive(Debug)]
pub struct Drafts {
    lookup: Lookup,
    pace: Pace,
    /// What is being tried.
    draft: Vec<i32>,
    /// What was thought to come next, tried or not, after so many tokens that were found again.
    guess: Option<(i32, usize)>,
    /// Whether it did.
    guessed: bool,
    wanted: DraftLimits,
    /// No draft goes beyond so many tokens in memory.
    reach: usize,
    tried: usize,
    accepted: usize,
}

impl Drafts {
    /// For an answer to this prompt, while there are no more than `reach` tokens in memory.
    pub fn new(prompt: impl Iterator<Item = i32>, mut wanted: DraftLimits, reach: usize) -> Self {
        wanted.most = if reach > 0 { wanted.most.min(MOST) } else { 0 };
        let mut lookup = Lookup::default();
        if wanted.most > 0 {
            prompt.for_each(|token| lookup.push(token));
        }
        Self {
            lookup,
            pace: Pace::default(),
            draft: Vec::new(),
            guess: None,
            guessed: false,
            wanted,
            reach,
            tried: 0,
            accepted: 0,
        }
    }

    /// One more token was chosen.
    pub fn push(&mut self, token: i32) {
        if self.wanted.most > 0 {
            self.lookup.push(token);
        }
    }

    /// What is worth a try behind the token that was pushed last, which is the one after so many in memory;
    /// `room` tokens at most.
    pub fn propose(&mut self, memory: usize, room: usize, costs: &Costs) -> &[i32] {
        self.draft.clear();
        self.guess = None;
        let room = room.min(self.reach.saturating_sub(memory)).min(self.wanted.most);
        if let Some(found) = (self.wanted.most > 0).then(|| self.lookup.find()).flatten() {
            let length =
                self.pace.length(found.length, room, costs).max(self.wanted.least.min(room));
            self.lookup.follow(found, length.max(1), &mut self.draft);
            self.guess = self.draft.first().map(|&token| (token, found.length));
            self.draft.truncate(length);
        }
        self.tried += self.draft.len();
        &self.draft
    }

    /// Whether the token that was chosen is the one that the draft at hand has at this place.
    pub fn accepts(&mut self, place: usize, token: i32) -> bool {
        if place == 0 {
            self.guessed = self.guess.is_some_and(|(guess, _)| guess == token);
        }
        let right = self.draft.get(place) == Some(&token);
        self.accepted += usize::from(right);
        right
    }

    /// What was evaluated is judged: so many tokens of the draft at hand, if there was one, were right.
    pub fn judge(&mut self, right: usize, costs: &Costs) {
        let drafted = self.draft.len();
        self.pace.pay(drafted, right, costs);
        if let Some((_, found)) = self.guess.take() {
            // What was not tried cost nothing, and tells as much about the next one.
            let right = right.max(usize::from(self.guessed));
            self.pace.judge(found, drafted.max(1), right);
        }
        self.draft.clear();
    }

    /// How many tokens were drafted.
    pub fn tried(&self) -> usize {
        self.tried
    }

    /// How many of them were right.
    pub fn accepted(&self) -> usize {
        self.accepted
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ANY: DraftLimits = DraftLimits { least: 0, most: MOST };
    const ALWAYS: DraftLimits = DraftLimits { least: MOST, most: MOST };

    fn drafts(wanted: DraftLimits, reach: usize) -> Drafts {
        Drafts::new([1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3].into_iter(), wanted, reach)
    }

    #[test]
    fn a_draft_has_room_in_the_answer_and_in_what_is_reached() {
        let costs = Costs::default();
        let all = [4, 5, 6, 7, 8, 1, 2, 3];
        let mut drafts = drafts(ALWAYS, 20);
        assert_eq!(drafts.propose(11, 100, &costs), all);
        assert_eq!(drafts.propose(11, 3, &costs), &all[..3]);
        assert_eq!(drafts.propose(18, 100, &costs), &all[..2]);
        assert!(drafts.propose(20, 100, &costs).is_empty());
    }

    #[test]
    fn who_wants_none_gets_none() {
        let costs = Costs::default();
        for (wanted, reach) in [(DraftLimits { most: 0, ..ALWAYS }, 99), (ALWAYS, 0)] {
            let mut drafts = drafts(wanted, reach);
            drafts.push(4);
            assert!(drafts.propose(1, 9, &costs).is_empty());
            assert!(!drafts.accepts(0, 4));
            drafts.judge(0, &costs);
            assert_eq!((drafts.tried(), drafts.accepted()), (0, 0));
        }
    }

    #[test]
    fn what_was_right_is_counted() {
        let costs = Costs::default();
        let mut drafts = drafts(ALWAYS, 99);
        drafts.propose(1, 3, &costs);
        let accepted = [4, 5, 9].iter().enumerate().map(|(at, &token)| drafts.accepts(at, token));
        assert_eq!(accepted.collect::<Vec<_>>(), [true, true, false]);
        drafts.judge(2, &costs);
        assert_eq!((drafts.tried(), drafts.accepted()), (3, 2));
    }

    #[test]
    fn what_was_only_thought_is_learned_from() {
        // What is found is short, and nothing is tried at first.
        let costs = Costs::default();
        let mut drafts = Drafts::new([1, 2, 3].into_iter(), ANY, usize::MAX);
        let mut tried = 0;
        for round in 0..40 {
            for token in [round + 100, 1, 2, 3, 4] {
                drafts.push(token);
                let draft = drafts.propose(1, 9, &costs).to_vec();
                tried += usize::from(!draft.is_empty());
                // Behind 1, 2, 3 it is right each time.
                let right = usize::from(token == 3 && drafts.accepts(0, 4) && !draft.is_empty());
                drafts.judge(right, &costs);
            }
        }
        assert!(tried > 3, "{tried}");
    }

    proptest! {
        /// Tokens that are written with drafts are those that are written without, whatever is drafted.
        #[test]
        fn an_answer_is_made_of_what_is_chosen_and_of_nothing_else(
            answer in proptest::collection::vec(0..4_i32, 1..80),
            least in 0..=MOST,
        ) {
            let costs = Costs::default();
            let wanted = DraftLimits { least, most: MOST };
            let mut drafts = Drafts::new([0, 1, 2, 3].into_iter(), wanted, usize::MAX);
            let mut written = vec![answer[0]];
            drafts.push(answer[0]);
            while written.len() < answer.len() {
                let room = answer.len() - written.len() - 1;
                let count = drafts.propose(written.len(), room, &costs).len();
                prop_assert!(count <= room);
                let mut right = 0;
                loop {
                    let token = answer[written.len()];
                    let more = drafts.accepts(right, token) && right < count;
                    written.push(token);
                    drafts.push(token);
                    if !more {
                        break;
                    }
                    right += 1;
                }
                drafts.judge(right, &costs);
            }
            prop_assert_eq!(written, answer);
            prop_assert!(drafts.accepted() <= drafts.tried());
        }
    }
}
