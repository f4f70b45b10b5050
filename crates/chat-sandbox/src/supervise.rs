//! Supervises a command or a program on a thread: reads its output, enforces its limits, and cleans up at its
//! end.
//!
//! Each command has its own thread, which sleeps in `poll`: another command cannot block it, and a
//! slow disk delays only this command.

use std::fs::File;
use std::io::{self, Read};
use std::ops::RangeInclusive;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::time::Timespec;
use tokio::sync::watch;

use crate::at_exit::Live;
use crate::command::Limits;
use crate::error::Error;
use crate::git::GitWatcher;
use crate::launch::Launch;
use crate::limits::Watch;
use crate::mount_watch::MountWatch;
use crate::output::{Follow, Spool, Stream};
use crate::processes::{self, Family, Watchdog};
use crate::running::{Control, Ended, Exit, Running};
use crate::shell::{self, Gate};
use crate::sink::Sink;
use crate::view::{Etc, Guard};
use crate::wake::Wake;

/// How much is read at once: the capacity of a pipe.
const AT_ONCE: usize = 64 << 10;

/// How long bubblewrap may take to end after the command before it is killed.
const AFTERWARDS: Duration = Duration::from_secs(5);

/// How long to wait for output that somebody outside may still write.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How a shell tells that a program was ended by a signal: 128 plus its number.
const SIGNALLED: RangeInclusive<i32> = 129..=128 + 64;

/// A command or a program that was started.
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) family: Arc<Family>,
    /// The folder whose disk is checked.
    pub(crate) disk: PathBuf,
    pub(crate) is_program: bool,
    pub(crate) limit: Option<Duration>,
    pub(crate) limits: Limits,
    pub(crate) guard: Guard,
    /// Checks repositories, if anything is enforced.
    pub(crate) git_watcher: Option<GitWatcher>,
    pub(crate) gate: Gate,
    /// Notices when its protection is removed.
    pub(crate) mount_watch: Option<MountWatch>,
    /// What it sees at `/etc`, if that is a copy.
    pub(crate) etc: Option<Arc<Etc>>,
    /// Its own folder for temporary files, if it has one on disk; removed with it.
    pub(crate) scratch: Option<tempfile::TempDir>,
    /// Ends a program with Natter where the kernel does not.
    pub(crate) watchdog: Option<Watchdog>,
}

impl Started {
    /// Creates a waiting command that nothing supervises yet.
    pub(crate) fn new(child: Child, family: Family, gate: Gate, launch: &Launch) -> Self {
        Self {
            child,
            family: Arc::new(family),
            disk: launch.disk().to_owned(),
            is_program: launch.is_program(),
            limit: launch.limit,
            limits: launch.limits,
            guard: Guard::of_nothing(),
            git_watcher: None,
            gate,
            mount_watch: None,
            etc: None,
            scratch: None,
            watchdog: None,
        }
    }

    /// Sets the limits that are set from outside, and releases the command.
    pub(crate) fn let_go(&mut self) -> Result<(), Error> {
        if let Family::Marked(mark) = *self.family {
            shell::set_limits(&self.child, &self.limits, mark).map_err(Error::Start)?;
        }
        self.gate.open(&mut self.child);
        Ok(())
    }

    /// How the started process has ended. bubblewrap ends a moment after the command, unless
    /// somebody delays it.
    fn wait(&mut self) -> io::Result<ExitStatus> {
        if let Ok(process) = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty())
            && !processes::ends_within(&process, AFTERWARDS)
        {
            self.child.kill()?;
            self.child.wait()?;
            // It is no longer known how the command ended.
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.child.wait()
    }
}

impl Drop for Started {
    /// Ends the command's processes in any case.
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            self.family.end();
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Supervises a command from now on. Its output can be followed from the first byte; dropping the
/// stream means that nobody follows.
pub(crate) fn begin(started: Started, spool: Spool) -> Result<(Running, Follow), Error> {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let control = Control::new().map_err(Error::Start)?;
    let follow = control.channel.follow();
    let exit = on_a_thread(started, Sink::Spool(spool.clone()), &control)?;
    let id = COUNT.fetch_add(1, Ordering::Relaxed);
    Ok((Running { id, control, spool, exit }, follow))
}

/// Supervises what was started on a thread of its own, which reads those of its streams that nobody
/// has taken. Returns where its end is reported.
pub(crate) fn on_a_thread(
    mut started: Started,
    sink: Sink,
    control: &Arc<Control>,
) -> Result<watch::Receiver<Option<Exit>>, Error> {
    let child = &mut started.child;
    let process = match started.family.last() {
        Some(last) => last.try_clone(),
        None => pidfd_open(Pid::from_child(child), PidfdFlags::empty()).map_err(io::Error::from),
    };
    let pipes = [
        (Stream::Out, child.stdout.take().map(OwnedFd::from)),
        (Stream::Err, child.stderr.take().map(OwnedFd::from)),
    ];
    let mut supervisor = Supervisor {
        process: process.map_err(Error::Start)?,
        pipes: pipes.map(|(stream, pipe)| (stream, pipe.map(File::from))),
        began: Instant::now(),
        watch: Watch::new(
            started.family.clone(),
            &started.disk,
            &started.limits,
            started.is_program,
        ),
        started,
        sink,
        control: control.clone(),
        ending: None,
    };
    for (_, pipe) in &supervisor.pipes {
        if let Some(pipe) = pipe {
            rustix::io::ioctl_fionbio(pipe, true).map_err(|error| Error::Start(error.into()))?;
        }
    }
    let (told, exit) = watch::channel(None);
    let live = Live::new(control.clone());
    std::thread::Builder::new()
        .name("sandbox-command".into())
        .spawn(move || {
            let (exit, stood_in) = supervisor.run();
            let mount_watch = supervisor.started.mount_watch.take();
            drop(supervisor);
            drop(live);
            told.send_replace(Some(exit));
            // The kernel takes many milliseconds to close the file watch, and a disk some tenths of
            // one to remove a folder.
            drop((mount_watch, stood_in));
        })
        .map_err(Error::Start)?;
    Ok(exit)
}

struct Supervisor {
    started: Started,
    /// The command has ended when this process has.
    process: OwnedFd,
    pipes: [(Stream, Option<File>); 2],
    sink: Sink,
    control: Arc<Control>,
    began: Instant,
    watch: Watch,
    /// Why its processes are being ended.
    ending: Option<Ended>,
}

impl Supervisor {
    /// Returns how the command ended, and the placeholder files that are still open.
    fn run(&mut self) -> (Exit, Vec<File>) {
        let mut buffer = vec![0; AT_ONCE];
        while !self.wait(self.next_check(), &mut buffer) {
            self.judge();
        }
        let took = self.began.elapsed();
        let left_running = self.started.family.end_the_rest();
        // It may have happened at the last moment, and also through a process that was left running
        // or is being ended for another reason.
        let is_exposed = self.is_exposed();
        self.ending = self.ending.or(is_exposed.then_some(Ended::Exposed));
        self.read_what_is_left(&mut buffer);
        self.sink.finish();
        self.control.channel.end();
        let signalled = self.started.gate.reports_signal();
        let mut quarantined = self.started.guard.quarantine();
        let look = self.started.git_watcher.as_mut().map(GitWatcher::finish).unwrap_or_default();
        quarantined.extend(look.quarantined);
        let stood_in = self.started.guard.take_away();
        let status = self.started.wait();
        let exit = Exit {
            ended: self.ending.unwrap_or_else(|| ended(&status, signalled)),
            took,
            left_running,
            quarantined,
            is_partly_unseen: look.is_cut,
        };
        (exit, stood_in)
    }

    /// When to check next, even if nothing happens.
    fn next_check(&self) -> Instant {
        if self.ending.is_some() {
            // Only its end is still awaited.
            return Instant::now() + LAST_WORDS;
        }
        let look = self.watch.next();
        let git_watcher = self.started.git_watcher.as_ref().map(GitWatcher::next);
        let mount_watch = self.started.mount_watch.as_ref().and_then(MountWatch::next);
        let look = [git_watcher, mount_watch].into_iter().flatten().fold(look, Instant::min);
        self.deadline().map_or(look, |deadline| deadline.min(look))
    }

    fn deadline(&self) -> Option<Instant> {
        self.began.checked_add(self.started.limit?)
    }

    /// Waits for output or an end; returns whether the command has ended.
    fn wait(&mut self, until: Instant, buffer: &mut [u8]) -> bool {
        let held_up = self.control.channel.is_full() && self.ending.is_none();
        let [ended, woken, readable @ ..] = {
            let wake: &Wake = &self.control.wake;
            let mut fds =
                vec![PollFd::new(&self.process, PollFlags::IN), PollFd::new(wake, PollFlags::IN)];
            let pipes = self.pipes.iter().filter_map(|(_, pipe)| pipe.as_ref());
            fds.extend(pipes.filter(|_| !held_up).map(|pipe| PollFd::new(pipe, PollFlags::IN)));
            let mount_watch = self.started.mount_watch.as_ref().and_then(MountWatch::events);
            let mount_watch = mount_watch.filter(|_| self.ending.is_none());
            fds.extend(mount_watch.iter().map(|events| PollFd::new(events, PollFlags::IN)));
            let left = until.saturating_duration_since(Instant::now());
            let _ = poll(&mut fds, Some(&timespec(left)));
            let mut happened = fds.iter().map(|fd| !fd.revents().is_empty());
            let mut next = || happened.next().unwrap_or(false);
            let (ended, woken) = (next(), next());
            let mut readable = [false; 2];
            for (readable, (_, pipe)) in readable.iter_mut().zip(&self.pipes) {
                *readable = !held_up && pipe.is_some() && next();
            }
            [ended, woken, readable[0], readable[1]]
        };
        if woken {
            self.control.wake.clear();
        }
        for (index, readable) in readable.into_iter().enumerate() {
            if readable {
                self.read(index, buffer);
            }
        }
        ended
    }

    /// Ends the command if it was stopped or exceeds a limit.
    fn judge(&mut self) {
        if self.ending.is_some() {
            return;
        }
        let now = Instant::now();
        if let Some(git_watcher) = &mut self.started.git_watcher {
            git_watcher.scan_if_due(now);
        }
        let over = self.deadline().is_some_and(|deadline| now >= deadline);
        self.ending = if self.control.stop.load(Ordering::Acquire) {
            Some(Ended::Stopped)
        } else if over {
            self.started.limit.map(Ended::TimedOut)
        } else if self.is_exposed() {
            Some(Ended::Exposed)
        } else {
            self.watch.check_if_due(now).map(Ended::Limit)
        };
        if self.ending.is_some() {
            self.started.family.end();
        } else if self.control.is_to_terminate() {
            self.started.family.terminate();
        }
    }

    /// Whether its protection was removed; from then on nothing is treated as protected.
    fn is_exposed(&self) -> bool {
        let is_exposed = self.started.mount_watch.as_ref().is_some_and(MountWatch::happened);
        if let Some(git_watcher) = self.started.git_watcher.as_ref().filter(|_| is_exposed) {
            git_watcher.expose();
        }
        is_exposed
    }

    /// Reads what is in a pipe; returns whether there was anything.
    fn read(&mut self, index: usize, buffer: &mut [u8]) -> bool {
        let (stream, pipe) = &mut self.pipes[index];
        let Some(file) = pipe else { return false };
        match file.read(buffer) {
            Ok(0) => *pipe = None,
            Ok(length) => {
                self.sink.push(*stream, &buffer[..length]);
                self.control.channel.push(*stream, &buffer[..length]);
                return true;
            }
            Err(error) if again(&error) => {}
            Err(_) => *pipe = None,
        }
        false
    }

    /// Reads what is left in the pipes after the end, until nobody has them open or nobody writes.
    /// bubblewrap has them open a moment longer than the command.
    fn read_what_is_left(&mut self, buffer: &mut [u8]) {
        let are_all_gone = self.started.family.last().is_some();
        let deadline = Instant::now() + LAST_WORDS;
        while self.pipes.iter().any(|(_, pipe)| pipe.is_some()) && Instant::now() < deadline {
            if !are_all_gone {
                let pipes = self.pipes.iter().filter_map(|(_, pipe)| pipe.as_ref());
                let mut fds: Vec<_> = pipes.map(|pipe| PollFd::new(pipe, PollFlags::IN)).collect();
                let left = deadline.saturating_duration_since(Instant::now());
                let _ = poll(&mut fds, Some(&timespec(left)));
            }
            let mut were_read = (0..self.pipes.len()).map(|index| self.read(index, buffer));
            let was_read = were_read.by_ref().fold(false, |any, was_read| any | was_read);
            if are_all_gone && !was_read {
                break;
            }
        }
    }
}

fn again(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn timespec(duration: Duration) -> Timespec {
    Timespec::try_from(duration).unwrap_or_default()
}

/// How it ended by itself. `signalled` says that a status above 128 means a signal.
fn ended(status: &io::Result<ExitStatus>, signalled: bool) -> Ended {
    use std::os::unix::process::ExitStatusExt;
    let Ok(status) = status else {
        return Ended::Status(-1);
    };
    match (status.code(), status.signal()) {
        (Some(code), _) if signalled && SIGNALLED.contains(&code) => Ended::Signal(code - 128),
        (Some(code), _) => Ended::Status(code),
        (None, signal) => Ended::Signal(signal.unwrap_or(0)),
    }
}
