//! Groups chats by date and defines the headings of the groups.

use chat_presentation::words;
use gettextrs::gettext;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// A span of days under one heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    Today,
    Yesterday,
    Week,
    Month { year: i16, month: i8 },
}

/// Groups dates, relative to one day.
#[derive(Clone, Debug)]
pub(crate) struct Grouping {
    today: Date,
    yesterday: Date,
    week: Date,
    zone: TimeZone,
}

impl Grouping {
    /// Relative to this moment in this time zone.
    pub(crate) fn at(now: Timestamp, zone: TimeZone) -> Self {
        let today = now.to_zoned(zone.clone()).date();
        Self {
            today,
            yesterday: today.saturating_sub(1.day()),
            week: today.saturating_sub(7.days()),
            zone,
        }
    }

    /// Relative to the current time and time zone.
    pub(crate) fn now() -> Self {
        Self::at(Timestamp::now(), TimeZone::system())
    }

    /// The group of a moment.
    pub(crate) fn of(&self, time: Timestamp) -> Group {
        let date = time.to_zoned(self.zone.clone()).date();
        if date >= self.today {
            Group::Today
        } else if date >= self.yesterday {
            Group::Yesterday
        } else if date >= self.week {
            Group::Week
        } else {
            Group::Month { year: date.year(), month: date.month() }
        }
    }

    /// The heading of a group; months of this year are shown without the year.
    pub(crate) fn heading(&self, group: Group) -> String {
        match group {
            Group::Today => gettext("Today"),
            Group::Yesterday => gettext("Yesterday"),
            Group::Week => gettext("Last 7 days"),
            Group::Month { year, month } if year == self.today.year() => month_name(month),
            Group::Month { year, month } => words::fill(
                &gettext("{month} {year}"),
                &[("month", &month_name(month)), ("year", &year.to_string())],
            ),
        }
    }
}

fn month_name(month: i8) -> String {
    match month {
        1 => gettext("January"),
        2 => gettext("February"),
        3 => gettext("March"),
        4 => gettext("April"),
        5 => gettext("May"),
        6 => gettext("June"),
        7 => gettext("July"),
        8 => gettext("August"),
        9 => gettext("September"),
        10 => gettext("October"),
        11 => gettext("November"),
        _ => gettext("December"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heading(time: &str) -> String {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let now = "2026-03-29T12:00:00Z".parse().unwrap();
        let grouping = Grouping::at(now, zone);
        grouping.heading(grouping.of(time.parse().unwrap()))
    }

    #[test]
    fn days_are_those_of_the_person() {
        // 22:30 UTC is after midnight in Berlin, even on the day of the clock change.
        assert_eq!(heading("2026-03-28T23:30:00Z"), "Today");
        assert_eq!(heading("2026-03-28T22:30:00Z"), "Yesterday");
        assert_eq!(heading("2026-03-27T22:30:00Z"), "Last 7 days");
        assert_eq!(heading("2026-03-22T00:00:00Z"), "Last 7 days");
    }

    #[test]
    fn months_of_other_years_say_which() {
        assert_eq!(heading("2026-03-21T00:00:00Z"), "March");
        assert_eq!(heading("2026-01-02T00:00:00Z"), "January");
        assert_eq!(heading("2025-12-31T12:00:00Z"), "December 2025");
    }

    #[test]
    fn a_clock_that_runs_ahead_is_today() {
        assert_eq!(heading("2026-03-30T12:00:00Z"), "Today");
    }
}
