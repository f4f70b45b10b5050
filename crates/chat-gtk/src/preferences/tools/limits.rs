//! Shows the limits of tools.

use adw::prelude::*;
use gettextrs::gettext;

use super::super::rows::{PreferencesContext, Range, number_row};

pub(super) fn group(context: &PreferencesContext) -> adw::PreferencesGroup {
    let group = adw::PreferencesGroup::builder().title(gettext("Limits")).build();
    group.add(&number_row(
        context,
        &gettext("Tool rounds per reply"),
        &gettext("Natter asks whether to continue after this many rounds of tool calls"),
        Range { least: 1, most: 1000, step: 5 },
        |settings| u64::from(settings.tools.rounds),
        |settings, rounds| settings.tools.rounds = u32::try_from(rounds).unwrap_or(u32::MAX),
    ));
    group.add(&number_row(
        context,
        &gettext("Command time limit"),
        &gettext("In seconds, unless the model asks for a different limit"),
        Range { least: 1, most: 86_400, step: 10 },
        |settings| settings.tools.command_seconds,
        |settings, seconds| settings.tools.command_seconds = seconds,
    ));
    group.add(&number_row(
        context,
        &gettext("Command memory limit"),
        &gettext(
            "In megabytes, for a command and everything it starts; never more than three fifths of this computer’s memory",
        ),
        Range { least: 64, most: 1_048_576, step: 512 },
        |settings| settings.tools.command_memory_mb,
        |settings, megabytes| settings.tools.command_memory_mb = megabytes,
    ));
    group.add(&number_row(
        context,
        &gettext("Command output limit"),
        &gettext("Maximum sent to the model, in kilobytes; up to 64 MB is kept"),
        Range { least: 1, most: 10_240, step: 10 },
        |settings| settings.tools.output_kb,
        |settings, kilobytes| settings.tools.output_kb = kilobytes,
    ));
    group.add(&number_row(
        context,
        &gettext("Web page time limit"),
        &gettext("In seconds"),
        Range { least: 1, most: 3600, step: 5 },
        |settings| settings.tools.fetch_seconds,
        |settings, seconds| settings.tools.fetch_seconds = seconds,
    ));
    group.add(&number_row(
        context,
        &gettext("Web page size limit"),
        &gettext("In kilobytes"),
        Range { least: 16, most: 1_048_576, step: 1024 },
        |settings| settings.tools.fetch_kb,
        |settings, kilobytes| settings.tools.fetch_kb = kilobytes,
    ));
    group
}
