//! How far tools may go.

use adw::prelude::*;
use gettextrs::gettext;

use super::super::rows::{Place, Range, number_row};

pub(super) fn group(place: &Place) -> adw::PreferencesGroup {
    let group = adw::PreferencesGroup::builder().title(gettext("Limits")).build();
    group.add(&number_row(
        place,
        &gettext("Rounds of one reply"),
        &gettext("After so many calls of tools you are asked whether to go on"),
        Range { least: 1, most: 1000, step: 5 },
        |settings| u64::from(settings.tools.rounds),
        |settings, rounds| settings.tools.rounds = u32::try_from(rounds).unwrap_or(u32::MAX),
    ));
    group.add(&number_row(
        place,
        &gettext("Time of a command"),
        &gettext("In seconds, where the model asks for no other"),
        Range { least: 1, most: 86_400, step: 10 },
        |settings| settings.tools.command_seconds,
        |settings, seconds| settings.tools.command_seconds = seconds,
    ));
    group.add(&number_row(
        place,
        &gettext("Memory of a command"),
        &gettext(
            "In megabytes, for it and all that it starts; never more than six tenths of this machine’s",
        ),
        Range { least: 64, most: 1_048_576, step: 512 },
        |settings| settings.tools.command_memory_mb,
        |settings, megabytes| settings.tools.command_memory_mb = megabytes,
    ));
    group.add(&number_row(
        place,
        &gettext("Output of a command"),
        &gettext("In kilobytes, as much as the model gets of it; up to 64 MB are kept"),
        Range { least: 1, most: 10_240, step: 10 },
        |settings| settings.tools.output_kb,
        |settings, kilobytes| settings.tools.output_kb = kilobytes,
    ));
    group.add(&number_row(
        place,
        &gettext("Time to fetch a page"),
        &gettext("In seconds"),
        Range { least: 1, most: 3600, step: 5 },
        |settings| settings.tools.fetch_seconds,
        |settings, seconds| settings.tools.fetch_seconds = seconds,
    ));
    group.add(&number_row(
        place,
        &gettext("Size of a page"),
        &gettext("In kilobytes"),
        Range { least: 16, most: 1_048_576, step: 1024 },
        |settings| settings.tools.fetch_kb,
        |settings, kilobytes| settings.tools.fetch_kb = kilobytes,
    ));
    group
}
