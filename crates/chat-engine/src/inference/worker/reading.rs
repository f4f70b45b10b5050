//! Chooses how many prompt tokens are read in one evaluation: about as many as a turn takes, so that
//! requests meanwhile are heard, however fast the machine and the model are.

use std::time::Duration;

/// The most.
pub const MOST: usize = 512;
/// The fewest: less is no quicker.
const LEAST: usize = 8;
/// How many are tried first: nobody knows yet how fast this model is here. They grow by doubling.
pub const FIRST: usize = 32;
/// An evaluation takes no longer than about this.
const TURN: Duration = Duration::from_millis(250);
/// llama.cpp attends to a long conversation for so many tokens at once several times as fast as for fewer
/// (`ggml_compute_forward_flash_attn_ext_tiled`).
const TILE: usize = 64;
/// So long as many may take where nobody's answer waits for it. An evaluation can be ended in its middle.
const LONG_TURN: Duration = Duration::from_secs(1);
/// So much of what a tile took is believed after each evaluation of fewer, until it is tried again …
const BELIEF: f64 = 0.98;
/// … but no less than this part of what as many would take by fewer at once.
const GAIN: f64 = 0.25;

/// What is known of the pace.
#[derive(Debug)]
pub struct Reading {
    fits: usize,
    /// How long as many as a tile take, as far as that is known: what fewer took bounds it.
    tile: Option<Duration>,
}

impl Default for Reading {
    fn default() -> Self {
        Self { fits: FIRST, tile: None }
    }
}

impl Reading {
    /// How many are read now. Others may be writing their answers, a token with each evaluation.
    pub fn at_once(&self, others_write: bool) -> usize {
        let quick = self.tile.is_some_and(|tile| tile <= LONG_TURN);
        match self.fits {
            // What is left over of a tile takes as long as a whole one. One token of it is evaluated with what the
            // others write.
            fits if fits >= TILE => fits / TILE * TILE + usize::from(others_write),
            _ if quick && !others_write => TILE,
            fits => fits,
        }
    }

    /// An evaluation of so many tokens took so long.
    pub fn took(&mut self, tokens: usize, took: Duration) {
        if tokens < LEAST {
            return;
        }
        let fits = tokens as f64 * TURN.as_secs_f64() / took.as_secs_f64().max(1e-6);
        self.fits = (fits as usize).min(2 * tokens.max(self.fits)).clamp(LEAST, MOST);
        let whole = took * TILE as u32 / tokens as u32;
        self.tile = Some(match self.tile {
            Some(known) if tokens < TILE => known.mul_f64(BELIEF).clamp(whole.mul_f64(GAIN), whole),
            _ => whole,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads with a machine that takes so long for a token, and gives how many were read at once in the end.
    fn after(reading: &mut Reading, rounds: usize, each: Duration) -> usize {
        for _ in 0..rounds {
            let tokens = reading.at_once(false);
            reading.took(tokens, each * tokens as u32);
        }
        reading.at_once(false)
    }

    #[test]
    fn as_many_are_read_as_a_turn_takes_and_no_more_than_twice_as_many_as_before() {
        let mut reading = Reading::default();
        assert_eq!(reading.at_once(false), 32);
        assert_eq!(after(&mut reading, 1, Duration::from_micros(10)), 64);
        assert_eq!(after(&mut reading, 1, Duration::from_micros(10)), 128);
        assert_eq!(after(&mut reading, 9, Duration::from_micros(10)), 512);
        assert_eq!(after(&mut reading, 1, Duration::from_millis(1)), 192, "of 250 whole tiles");
    }

    #[test]
    fn a_tile_is_read_whole_where_it_takes_less_than_a_second_and_nobody_waits() {
        let mut reading = Reading::default();
        after(&mut reading, 9, Duration::from_millis(1));
        assert_eq!(after(&mut reading, 9, Duration::from_millis(10)), 64, "25 fit");
        assert_eq!(reading.at_once(true), 25, "others write");
        assert_eq!(after(&mut reading, 9, Duration::from_millis(20)), 12, "64 would take more");
        assert_eq!(after(&mut reading, 9, Duration::from_millis(1)), 192, "and it is quick again");
    }

    #[test]
    fn a_tile_is_tried_without_having_been_quick_before_and_again_after_a_hiccup() {
        for each in [4, 5, 8, 10, 15] {
            let mut reading = Reading::default();
            assert_eq!(after(&mut reading, 1, Duration::from_millis(each)), 64, "{each} ms");
        }
        let mut reading = Reading::default();
        after(&mut reading, 3, Duration::from_millis(10));
        reading.took(64, Duration::from_millis(1200));
        assert!(reading.at_once(false) < 64);
        assert_eq!(after(&mut reading, 1, Duration::from_millis(10)), 64);
        // A long conversation, of which fewer at once take several times as long.
        let mut reading = Reading::default();
        reading.took(64, Duration::from_millis(1100));
        let tried = (0..20).any(|_| {
            reading.took(8, Duration::from_millis(8 * 40));
            reading.at_once(false) == 64
        });
        assert!(tried);
    }

    #[test]
    fn with_what_others_write_a_token_more_is_read() {
        let mut reading = Reading::default();
        after(&mut reading, 9, Duration::from_millis(1));
        assert_eq!((reading.at_once(false), reading.at_once(true)), (192, 193));
    }

    #[test]
    fn a_slow_machine_is_asked_for_few() {
        let mut reading = Reading::default();
        assert_eq!(after(&mut reading, 9, Duration::from_millis(100)), 8);
        reading.took(1, Duration::from_millis(1));
        assert_eq!(reading.at_once(false), 8, "one token tells nothing");
    }
}
