//! Counts durations in buckets that grow by a quarter of an octave, and keeps the worst ones
//! exactly.

use std::time::Duration;

use serde::Serialize;

/// The upper end of the first bucket, in microseconds: less is nobody's stall.
const FIRST_US: f64 = 125.0;
/// Buckets in each doubling.
const PER_OCTAVE: f64 = 4.0;
/// Enough for 125 µs × 2^(71/4): 27 seconds. The last bucket takes all above.
const BUCKETS: usize = 72;
/// How many of the worst are kept with their times.
const WORST: usize = 16;

/// A histogram of durations.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    counts: [u32; BUCKETS],
    sum: Duration,
    worst: Vec<Worst>,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Worst {
    /// When it ended, in milliseconds from exec.
    at_ms: f64,
    ms: f64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: [0; BUCKETS], sum: Duration::ZERO, worst: Vec::with_capacity(WORST + 1) }
    }
}

/// A histogram as it is written.
#[derive(Serialize)]
pub(super) struct Summary {
    count: u32,
    sum_ms: f64,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
    worst: Vec<Worst>,
    /// Upper end in milliseconds and count of the buckets that hold something.
    buckets: Vec<(f64, u32)>,
}

impl Histogram {
    /// Counts one, which ended `at_ms` milliseconds from exec.
    pub(super) fn add(&mut self, duration: Duration, at_ms: f64) {
        self.counts[bucket(duration)] += 1;
        self.sum += duration;
        let ms = super::ms(duration);
        let place = self.worst.partition_point(|worst| worst.ms >= ms);
        if place < WORST {
            self.worst.insert(place, Worst { at_ms, ms });
            self.worst.truncate(WORST);
        }
    }

    pub(super) fn summary(&self) -> Summary {
        let max_ms = self.worst.first().map_or(0.0, |worst| worst.ms);
        Summary {
            count: self.counts.iter().sum(),
            sum_ms: super::ms(self.sum),
            p50_ms: self.quantile(0.5).min(max_ms),
            p99_ms: self.quantile(0.99).min(max_ms),
            max_ms,
            worst: self.worst.clone(),
            buckets: (0..BUCKETS)
                .filter(|i| self.counts[*i] > 0)
                .map(|i| (upper_ms(i), self.counts[i]))
                .collect(),
        }
    }

    /// The upper end of the bucket that this share of all lies in or below.
    fn quantile(&self, share: f64) -> f64 {
        let all: u32 = self.counts.iter().sum();
        let wanted = (f64::from(all) * share).ceil() as u32;
        let mut seen = 0;
        for (i, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return upper_ms(i);
            }
        }
        0.0
    }
}

fn bucket(duration: Duration) -> usize {
    let us = duration.as_secs_f64() * 1e6;
    if us <= FIRST_US {
        return 0;
    }
    ((us / FIRST_US).log2() * PER_OCTAVE).ceil().min((BUCKETS - 1) as f64) as usize
}

fn upper_ms(bucket: usize) -> f64 {
    FIRST_US * 2_f64.powf(bucket as f64 / PER_OCTAVE) / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_never_below_what_was_measured() {
        let mut histogram = Histogram::default();
        for ms in 1..=1000 {
            histogram.add(Duration::from_millis(ms), ms as f64);
        }
        let summary = histogram.summary();
        assert_eq!(summary.count, 1000);
        assert!((990.0..=1000.0).contains(&summary.p99_ms), "{}", summary.p99_ms);
        assert!((500.0..=600.0).contains(&summary.p50_ms), "{}", summary.p50_ms);
        assert!((summary.max_ms - 1000.0).abs() < 1e-9);
        assert_eq!(summary.worst.len(), WORST);
        assert!((summary.worst[15].ms - 985.0).abs() < 1e-9);
    }

    #[test]
    fn an_empty_one_says_nothing_happened() {
        let summary = Histogram::default().summary();
        assert_eq!((summary.count, summary.buckets.len()), (0, 0));
        assert!(summary.p99_ms.abs() < 1e-9);
    }

    #[test]
    fn the_last_bucket_takes_hours() {
        assert_eq!(bucket(Duration::from_hours(2)), BUCKETS - 1);
        assert_eq!(bucket(Duration::ZERO), 0);
    }
}
