//! Judges a command: each of its parts, each file that the shell opens for it, its working
//! directory, its sandbox, its network.

use super::{Findings, Rules, Why, paths};
use crate::command::{Reads, Simple, Word, changes_folder, hands_over, only_goes, reads_code};
use crate::path::{Guard, Kind};
use crate::pattern::{CommandPattern, Fit, HostPattern, Pattern};
use crate::{Action, Effect, Mode, Rule, Run, Target};

/// Judges a command.
pub(super) fn judge(rules: Rules<'_>, mode: Mode, run: &Run, found: &mut Findings) {
    let may_go = run.sandboxed && run.folder.is_inside();
    let may_read = may_go && !run.network;
    if mode == Mode::Plan && !(may_read && run.parts.is_ok()) {
        found.refuse(Why::Mode);
    }
    if !run.sandboxed {
        found.obstacle(run.purpose.clone().unwrap_or(Why::Unsandboxed), None);
    }
    match run.folder.guard() {
        Guard::Own => found.refuse(Why::Own),
        Guard::Unwritable | Guard::Nothing if !run.folder.is_inside() => {
            found.obstacle(Why::Outside, None);
        }
        Guard::Unwritable | Guard::Nothing => {}
    }
    if run.network {
        network(rules, found);
    }
    for file in &run.redirected {
        let action = if file.writes { Action::Write } else { Action::Read };
        match &file.target {
            Target::Path(path) => paths::judge(rules, mode, action, path, found),
            Target::Unknown if mode == Mode::Plan => found.refuse(Why::Mode),
            Target::Unknown => found.obstacle(Why::UnknownFile(file.written.clone()), None),
        }
    }
    match &run.parts {
        Ok(parts) => {
            let is_root = run.folder.relative().is_some_and(|it| it.as_os_str().is_empty());
            let moves = !is_root || parts.iter().any(changes_folder);
            for (at, part) in parts.iter().enumerate() {
                // Changing to a folder of the project reveals nothing, even with the network.
                let counts = may_read || may_go && only_goes(part);
                let reads = run.reads.get(at).and_then(Option::as_ref).filter(|_| counts);
                let (network, background) = (run.network, run.background);
                let around = CommandContext { network, background, moves, reads };
                judge_part(rules, mode, part, around, found);
            }
        }
        Err(unparsable) => {
            if let Some((rule, _)) =
                denying(rules, run.network, run.background).find(|(_, pattern)| pattern.is_any())
            {
                found.refuse(Why::Denied(rule.to_string()));
            }
            found.obstacle(Why::Unparsable(unparsable.clone()), None);
            if run.network {
                found.obstacle(Why::CommandNetwork, None);
            }
        }
    }
}

/// A command may reach any host, even this machine and the local network, so any deny rule for a
/// host is an obstacle. It is allowed only by a rule for each of its parts.
fn network(rules: Rules<'_>, found: &mut Findings) {
    let is_any = |rule: &&Rule| {
        matches!(rule.pattern(), Pattern::Host(HostPattern::Any | HostPattern::LocalAny))
    };
    if let Some(rule) = rules.of(Effect::Deny, Action::Network).find(is_any) {
        found.refuse(Why::Denied(rule.to_string()));
    } else if let Some(rule) = rules.of(Effect::Deny, Action::Network).next() {
        found.obstacle(Why::PerhapsDenied(rule.to_string()), None);
    }
}

/// What the whole command says about a part.
#[derive(Clone, Copy)]
struct CommandContext<'a> {
    /// Whether the command has the network.
    network: bool,
    /// Whether the command runs in the background.
    background: bool,
    /// Whether it does not run in the project's own folder, or a part of it changes the folder.
    moves: bool,
    /// What the part reads, if it does nothing else.
    reads: Option<&'a Reads>,
}

/// Judges one part.
fn judge_part(
    rules: Rules<'_>,
    mode: Mode,
    part: &Simple,
    CommandContext { network, background, moves, reads }: CommandContext<'_>,
    found: &mut Findings,
) {
    // Another folder may have its own repository, whose settings name programs.
    let elsewhere = moves && part.words.first().and_then(Word::literal) == Some("git");
    let reading = reads
        .filter(|_| !elsewhere)
        .map_or_else(|| Err(Vec::new()), |reads| only_reads(rules, mode, reads));
    let unclear = unclear(part);
    let is_nothing = part.words.is_empty() && part.assignments.is_empty();
    let only_reads = reading.is_ok() && unclear.is_empty();
    if mode == Mode::Plan && !only_reads && !is_nothing {
        return found.refuse(Why::Mode);
    }
    let reads_code = reads_code(part);
    let hands_over = reads_code || hands_over(part);
    let by_name =
        |(rule, pattern): (&Rule, &CommandPattern)| (rule.to_string(), pattern.fit(part, true));
    let mut perhaps = None;
    for (rule, fit) in denying(rules, network, background).map(by_name) {
        match fit {
            Fit::Yes => return found.refuse(Why::Denied(rule)),
            Fit::Perhaps => perhaps = perhaps.or(Some(rule)),
            // It may run exactly what is denied.
            Fit::No if hands_over => perhaps = perhaps.or(Some(rule)),
            Fit::No => {}
        }
    }
    // Obstacles that no rule removes.
    let mut lasting: Vec<Why> = perhaps.map(Why::PerhapsDenied).into_iter().collect();
    // The sandbox confines a command, but not which hosts it talks to.
    let is_free = mode.runs_freely() && !network;
    if !is_free && !only_reads {
        lasting.extend(unclear);
        let first = part.words.first();
        // The same words do something else with a different input.
        if let Some(first) = first.filter(|_| reads_code) {
            lasting.push(Why::RunsInput(first.as_written().to_owned()));
        }
        // A relative path is another command in another folder.
        let program = first.and_then(Word::literal);
        lasting.extend(
            program
                .filter(|program| moves && program.contains('/') && !program.starts_with('/'))
                .map(|program| Why::NotLiteral(program.to_owned())),
        );
    }
    let asks_always = !lasting.is_empty();
    for why in lasting {
        found.obstacle(why, None);
    }
    // The file of a lone redirect was already judged.
    if is_free || only_reads || part.words.is_empty() {
        return;
    }
    let allowed = patterns(rules, Effect::Allow).any(|(rule, pattern)| {
        rule.allows_run(network, background)
            && pattern.fit(part, false) == Fit::Yes
            && (pattern.is_exact() || !hands_over)
    });
    // What asks in spite of a rule is found already.
    if allowed {
        return;
    }
    let name = part.words[0].as_written();
    let mut reasons = reading.err().unwrap_or_default();
    if network {
        reasons.push(Why::CommandNetwork);
    }
    if hands_over && !reads_code {
        reasons.push(Why::HandsOver(name.to_owned()));
    }
    if reasons.is_empty() && !asks_always {
        reasons.push(if background { Why::Background } else { Why::Mode });
    }
    let words = part.literal().filter(|_| !asks_always);
    let rule = words
        .and_then(|words| CommandPattern::exactly(&words))
        .map(|exactly| Rule::run(exactly, network, background));
    for why in reasons {
        found.obstacle(why, rule.clone());
    }
}

/// Why what a part reads does not pass without asking.
fn only_reads(rules: Rules<'_>, mode: Mode, reads: &Reads) -> Result<(), Vec<Why>> {
    let mut found = Findings::default();
    for path in &reads.paths {
        paths::judge(rules, mode, Action::Read, path, &mut found);
        // It may read everything in there.
        if path.kind() == Kind::Folder
            && let Some(rule) = paths::denied_beneath(rules, Action::Read, path)
        {
            found.obstacle(Why::HoldsDenied(rule.to_string()), None);
        }
    }
    let obstacles = found.obstacles.into_iter().map(|(why, _)| why);
    let reasons: Vec<Why> = found.refused.into_iter().chain(obstacles).collect();
    if reasons.is_empty() { Ok(()) } else { Err(reasons) }
}

/// Why it is unknown what this part does; nothing if it is known.
fn unclear(part: &Simple) -> Vec<Why> {
    let assigned = part.assignments.iter().map(|name| Why::Assignment(name.clone()));
    let texts = part.redirects.iter().map(|redirect| &redirect.target);
    let unknown = part.words.iter().chain(texts).filter_map(|word| match word {
        Word::Other(written) => Some(Why::NotLiteral(written.clone())),
        Word::Literal(_) => None,
    });
    assigned.chain(unknown).collect()
}

/// The deny rules for commands; those about the network count only if the command has it, and those
/// about the background only if it runs there.
fn denying(
    rules: Rules<'_>,
    network: bool,
    background: bool,
) -> impl Iterator<Item = (&Rule, &CommandPattern)> {
    patterns(rules, Effect::Deny).filter(move |(rule, _)| rule.denies_run(network, background))
}

fn patterns(rules: Rules<'_>, effect: Effect) -> impl Iterator<Item = (&Rule, &CommandPattern)> {
    rules.of(effect, Action::Run).filter_map(|rule| match rule.pattern() {
        Pattern::Command(pattern) => Some((rule, pattern)),
        Pattern::Path(_) | Pattern::Host(_) | Pattern::ServerTool(_) => None,
    })
}
