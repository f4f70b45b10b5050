//! Orders chats: pinned ones, then by date or by project. Defines the headings of the groups.

use std::cmp::Reverse;
use std::path::PathBuf;

use chat_core::message::SessionMeta;
use chat_presentation::words;
use gettextrs::gettext;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use crate::projects;

/// Where a chat stands in the list: chats with a lesser place come first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// Pinned, in the order in which they were pinned.
    Pinned(Timestamp),
    /// With others of its project, by the name of that; the latest first.
    InProject(String, PathBuf, Reverse<Timestamp>),
    /// The latest first.
    Dated(Reverse<Timestamp>),
}

impl Place {
    /// The place of a chat; none if it is archived and so not in the list.
    pub(super) fn of(chat: &SessionMeta, by_project: bool) -> Option<Self> {
        if chat.archived.is_some() {
            return None;
        }
        if let Some(pinned) = chat.pinned {
            return Some(Self::Pinned(pinned));
        }
        let updated = Reverse(chat.updated);
        Some(match chat.project.as_deref().filter(|_| by_project) {
            Some(project) => {
                Self::InProject(projects::name(project).to_lowercase(), project.to_owned(), updated)
            }
            None => Self::Dated(updated),
        })
    }
}

/// The chats under one heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Pinned,
    Project(PathBuf),
    /// While others are grouped by project: those that have none.
    Others,
    Days(Days),
}

/// A span of days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Days {
    Today,
    Yesterday,
    Week,
    Month { year: i16, month: i8 },
}

/// Groups chats, relative to one day.
#[derive(Clone, Debug)]
pub(super) struct Grouping {
    by_project: bool,
    today: Date,
    yesterday: Date,
    week: Date,
    zone: TimeZone,
}

impl Grouping {
    /// Relative to this moment in this time zone.
    fn at(now: Timestamp, zone: TimeZone, by_project: bool) -> Self {
        let today = now.to_zoned(zone.clone()).date();
        Self {
            by_project,
            today,
            yesterday: today.saturating_sub(1.day()),
            week: today.saturating_sub(7.days()),
            zone,
        }
    }

    /// Relative to the current time and time zone.
    pub(super) fn now(by_project: bool) -> Self {
        Self::at(Timestamp::now(), TimeZone::system(), by_project)
    }

    /// The group of a chat in the list.
    pub(super) fn of(&self, chat: &SessionMeta) -> Group {
        if chat.pinned.is_some() {
            return Group::Pinned;
        }
        match &chat.project {
            Some(project) if self.by_project => Group::Project(project.clone()),
            None if self.by_project => Group::Others,
            _ => Group::Days(self.days(chat.updated)),
        }
    }

    /// The span that a moment is in.
    fn days(&self, time: Timestamp) -> Days {
        let date = time.to_zoned(self.zone.clone()).date();
        if date >= self.today {
            Days::Today
        } else if date >= self.yesterday {
            Days::Yesterday
        } else if date >= self.week {
            Days::Week
        } else {
            Days::Month { year: date.year(), month: date.month() }
        }
    }

    /// The heading of a group.
    pub(super) fn heading(&self, group: &Group) -> String {
        match group {
            Group::Pinned => gettext("Pinned"),
            Group::Project(project) => projects::name(project),
            Group::Others => gettext("Without a project"),
            Group::Days(days) => self.heading_of_days(*days),
        }
    }

    /// Months of this year are shown without the year.
    fn heading_of_days(&self, days: Days) -> String {
        match days {
            Days::Today => gettext("Today"),
            Days::Yesterday => gettext("Yesterday"),
            Days::Week => gettext("Last 7 days"),
            Days::Month { year, month } if year == self.today.year() => month_name(month),
            Days::Month { year, month } => words::fill(
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
        let grouping = Grouping::at(now, zone, false);
        let updated = time.parse().unwrap();
        grouping.heading(&grouping.of(&SessionMeta { updated, ..SessionMeta::default() }))
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

    #[test]
    fn pinned_chats_come_first_then_projects_by_name_then_the_others() {
        let chat = |pinned: Option<i64>, project: Option<&str>, updated: i64| SessionMeta {
            pinned: pinned.map(|second| Timestamp::from_second(second).unwrap()),
            project: project.map(PathBuf::from),
            updated: Timestamp::from_second(updated).unwrap(),
            ..SessionMeta::default()
        };
        let ordered = [
            chat(Some(1), Some("/z"), 1),
            chat(Some(2), None, 9),
            chat(None, Some("/b/alpha"), 3),
            chat(None, Some("/b/alpha"), 2),
            chat(None, Some("/a/Beta"), 8),
            chat(None, None, 7),
        ];
        let places: Vec<_> = ordered.iter().map(|chat| Place::of(chat, true)).collect();
        assert!(places.is_sorted() && places.iter().all(Option::is_some), "{places:?}");
        let by_date: Vec<_> = ordered[2..].iter().map(|chat| Place::of(chat, false)).collect();
        assert!(by_date[2] < by_date[3] && by_date[3] < by_date[0], "{by_date:?}");
        let archived =
            SessionMeta { archived: Some(Timestamp::UNIX_EPOCH), ..chat(Some(1), None, 1) };
        assert_eq!(Place::of(&archived, false), None);
        let grouping = Grouping::at(Timestamp::UNIX_EPOCH, TimeZone::UTC, true);
        let headings: Vec<_> =
            ordered.iter().map(|chat| grouping.heading(&grouping.of(chat))).collect();
        assert_eq!(headings, ["Pinned", "Pinned", "alpha", "alpha", "Beta", "Without a project"]);
    }
}
