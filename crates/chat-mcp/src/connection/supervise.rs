//! Runs one server: starts, watches, restarts and ends it. One task does all of it, one thing after another.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Fuse, FusedFuture};
use rmcp::service::Subscription;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::backoff::Backoff;
use super::launch::{Launched, Launcher};
use super::state::{Publisher, StartFault, State};
use crate::client::{Discovery, Fault, ServerNews, ToolList};

/// A server that says that its tools changed says so several times: so long is waited before they are listed.
const SETTLE: Duration = Duration::from_millis(250);
/// A server that did not answer what revision it speaks is not asked again. It took more than this.
const SILENT: Duration = Duration::from_secs(9);

/// What is wanted of a server.
pub(super) enum Command {
    /// It is needed; told once that is known.
    Use(oneshot::Sender<()>),
    /// It is started anew.
    Restart,
    /// It is ended; told once it has ended.
    Stop(oneshot::Sender<()>),
}

/// Why the task goes on to something else.
enum Next {
    Start,
    Stay,
    /// It does not run, after it ran so long; none if it could not be started.
    Fail(StartFault, Option<Duration>),
    /// There is nobody left to serve.
    End,
}

#[derive(Default)]
struct News(Notify);

impl ServerNews for News {
    fn lists_changed(&self) {
        self.0.notify_one();
    }
}

/// Runs a server until its [`Connection`](super::Connection) is gone.
pub(super) async fn supervise(
    launcher: Launcher,
    publish: Publisher,
    mut commands: mpsc::UnboundedReceiver<Command>,
) {
    let mut backoff = Backoff::default();
    let mut discovery = Discovery::Ask;
    let mut next = Next::Stay;
    loop {
        next = match next {
            Next::End => return,
            Next::Stay => wait(&mut commands, &publish, &mut backoff).await,
            Next::Fail(why, ran) => {
                let has_hope = why.is_passing();
                let pause = has_hope.then(|| backoff.failed_after(ran.unwrap_or_default()));
                let pause = pause.flatten();
                let state = State::Failed { why, is_retried: pause.is_some() };
                match ran {
                    Some(_) => publish.state(state),
                    None => publish.failed_start(state),
                }
                match pause {
                    None => wait(&mut commands, &publish, &mut backoff).await,
                    Some(pause) => pass(pause, &mut commands, &publish, &mut backoff).await,
                }
            }
            Next::Start => {
                publish.state(State::Starting);
                // All that a start waits for is large.
                Box::pin(run(&launcher, &publish, &mut commands, &mut discovery)).await
            }
        };
    }
}

/// Waits until the server is needed.
async fn wait(
    commands: &mut mpsc::UnboundedReceiver<Command>,
    publish: &Publisher,
    backoff: &mut Backoff,
) -> Next {
    loop {
        match commands.recv().await {
            Some(Command::Use(heard)) => {
                backoff.reset();
                // Otherwise whoever needs it would take what it was before for what came of that.
                publish.state(State::Starting);
                drop(heard);
                return Next::Start;
            }
            Some(Command::Restart) => {
                backoff.reset();
                return Next::Start;
            }
            Some(Command::Stop(done)) => drop(done.send(())),
            None => return Next::End,
        }
    }
}

/// Lets the pause before the next start pass.
async fn pass(
    pause: Duration,
    commands: &mut mpsc::UnboundedReceiver<Command>,
    publish: &Publisher,
    backoff: &mut Backoff,
) -> Next {
    let end = sleep(pause);
    tokio::pin!(end);
    loop {
        tokio::select! {
            () = &mut end => return Next::Start,
            command = commands.recv() => match command {
                // It will be there.
                Some(Command::Use(heard)) => drop(heard),
                Some(Command::Restart) => {
                    backoff.reset();
                    return Next::Start;
                }
                Some(Command::Stop(done)) => {
                    publish.state(State::Stopped);
                    let _ = done.send(());
                    return Next::Stay;
                }
                None => return Next::End,
            },
        }
    }
}

/// Starts it, and lets it run until it ends.
async fn run(
    launcher: &Launcher,
    publish: &Publisher,
    commands: &mut mpsc::UnboundedReceiver<Command>,
    discovery: &mut Discovery,
) -> Next {
    let began = Instant::now();
    let news = Arc::new(News::default());
    let how = *discovery;
    let stop = CancellationToken::new();
    let starting = async {
        let launched = launcher.launch(news.clone(), how, &stop).await?;
        let took = began.elapsed();
        // One that hangs while it lists is as one that does not answer.
        let listed = stop.run_until_cancelled(launched.client().tools()).await;
        match listed.unwrap_or(Err(Fault::Stopped)) {
            Ok(tools) => Ok((launched, tools, took)),
            Err(fault) => {
                let why = match (fault, launched.client().ending().has_ended()) {
                    (Fault::Closed(None), true) => launched.died().await,
                    (fault, _) => StartFault::Client(fault),
                };
                launched.end().await;
                Err(why)
            }
        }
    };
    tokio::pin!(starting);
    let (launched, tools, took) = loop {
        tokio::select! {
            started = &mut starting => match started {
                Ok(started) => break started,
                Err(why) => return Next::Fail(why, None),
            },
            command = commands.recv() => match command {
                Some(Command::Use(heard)) => drop(heard),
                Some(Command::Restart) => {
                    end_start(&stop, starting).await;
                    return Next::Start;
                }
                Some(Command::Stop(done)) => {
                    publish.state(State::Stopped);
                    end_start(&stop, starting).await;
                    let _ = done.send(());
                    return Next::Stay;
                }
                None => return Next::End,
            },
        }
    };
    let is_older = launched.client().version().is_some_and(|version| version.has_initialize());
    // Whoever cannot be asked is not asked again.
    *discovery = launched.discovery();
    if took > SILENT && is_older {
        *discovery = Discovery::Older;
    }
    publish.running(launched.client(), tools);
    let ran = Instant::now();
    let stopped = serve(&launched, &news, publish, commands).await;
    match stopped {
        Stopped::Died(why) => {
            let ran = ran.elapsed();
            // Its calls end at once: nobody is given it any more.
            publish.state(State::Failed { why: why.clone(), is_retried: true });
            launched.end().await;
            Next::Fail(why, Some(ran))
        }
        Stopped::Restarted => {
            publish.state(State::Starting);
            launched.end().await;
            Next::Start
        }
        Stopped::ByUser(done) => {
            publish.state(State::Stopped);
            launched.end().await;
            let _ = done.send(());
            Next::Stay
        }
        Stopped::NobodyLeft => Next::End,
    }
}

/// Ends what is being started, and waits until all its processes have ended.
async fn end_start<T, E>(
    stop: &CancellationToken,
    starting: impl Future<Output = Result<(Launched, ToolList, T), E>>,
) {
    stop.cancel();
    if let Ok((launched, ..)) = starting.await {
        launched.end().await;
    }
}

enum Stopped {
    Died(StartFault),
    Restarted,
    ByUser(oneshot::Sender<()>),
    NobodyLeft,
}

/// Follows a server that runs. It may be slow to say anything: what is wanted of it is heard meanwhile.
async fn serve(
    launched: &Launched,
    news: &News,
    publish: &Publisher,
    commands: &mut mpsc::UnboundedReceiver<Command>,
) -> Stopped {
    let client = launched.client();
    let mut challenges = client.challenges();
    let mut died = std::pin::pin!(launched.died());
    let mut listening = std::pin::pin!(client.listen().fuse());
    let mut subscription = None;
    let mut listing = std::pin::pin!(Fuse::terminated());
    // When to list the tools again, if they have changed.
    let mut due: Option<Instant> = None;
    loop {
        let is_due = due.is_some() && listing.is_terminated();
        tokio::select! {
            why = &mut died => return Stopped::Died(why),
            Ok(()) = challenges.changed() => {
                let challenge = challenges.borrow_and_update().clone();
                publish.challenged(challenge);
            }
            found = &mut listening, if !listening.is_terminated() => subscription = found,
            () = news.0.notified() => due = due.or_else(|| Some(Instant::now() + SETTLE)),
            () = told(&mut subscription) => due = due.or_else(|| Some(Instant::now() + SETTLE)),
            () = sleep_until(due.unwrap_or_else(Instant::now)), if is_due => {
                due = None;
                listing.set(client.tools().fuse());
            }
            // Those that were known stay if that fails.
            tools = &mut listing, if !listing.is_terminated() => {
                if let Ok(tools) = tools {
                    publish.running(client, tools);
                }
            }
            command = commands.recv() => match command {
                Some(Command::Use(heard)) => drop(heard),
                Some(Command::Restart) => return Stopped::Restarted,
                Some(Command::Stop(done)) => return Stopped::ByUser(done),
                None => return Stopped::NobodyLeft,
            },
        }
    }
}

/// Waits until a server that was asked to tells that something changed.
async fn told(subscription: &mut Option<Subscription>) {
    if let Some(listening) = subscription
        && let Ok(Some(_)) = listening.next().await
    {
        return;
    }
    *subscription = None;
    std::future::pending::<()>().await;
}
