//! Runs `natter-cli chat`: a conversation, line by line.

mod agents;
mod background;
mod built_in;
mod command;
mod completion;
mod context;
mod draft;
mod lines;
mod permissions;

use chat_core::definitions::Definitions;
use chat_core::event::SessionPlaceholder;
use chat_core::message::{Attachment, ChatRequest, Fid};
use chat_core::permission::Rule;
use chat_presentation::slash_commands::{self, FrontEnd, SlashCommands, Typed};

use crate::args::Request;
use crate::definitions;
use crate::engine::Program;
use crate::error::{CliError, Outcome, Result};
use crate::outgoing::{self, Outgoing};
use crate::output::{self, Sink};
use crate::request;
use crate::say;
use crate::servers;
use crate::signals::Signals;
use crate::terminal;
use crate::turn::{Beginning, Turns, names_at_work};

use command::Command;
use lines::{Line, Lines};

/// Runs the conversation until the input ends.
pub async fn run(args: Request, program: &Program) -> Result<Outcome> {
    let mut signals = Signals::new()?;
    let mut request = tokio::select! {
        request = request::make(&args, program) => request?,
        () = signals.next() => return Err(CliError::Stopped),
    };
    request.content.attachments = tokio::select! {
        attachments = request::attachments(&args) => attachments?,
        () = signals.next() => return Err(CliError::Stopped),
    };
    let sink = output::sink(args.json, program.terminal, program.manager.tools());
    let allow = args.allow.clone();
    let problems = definitions::Reported::default();
    let last = Outcome::Done;
    let typed = String::new();
    let mut conversation = Conversation { program, request, allow, sink, last, problems, typed };
    tokio::select! {
        begun = conversation.begin() => begun?,
        () = signals.next() => return Err(CliError::Stopped),
    }
    let lines = Lines::start(program.terminal, &program.folders);
    let turns = Turns {
        program,
        subscription: program.manager.subscribe(),
        signals: &mut signals,
        awaits_agents: false,
        follower: None,
        typed: String::new(),
        servers: servers::Reported::default(),
    };
    Box::pin(conversation.talk(lines, turns)).await
}

struct Conversation<'a> {
    program: &'a Program,
    /// The settings for the next message.
    request: ChatRequest,
    /// The rules from the command line, for each chat that begins here.
    allow: Vec<Rule>,
    sink: Box<dyn Sink>,
    last: Outcome,
    /// What is wrong with the files of agents, commands and skills, as far as it was said.
    problems: definitions::Reported,
    /// What was typed at a question, but is no answer.
    typed: String,
}

impl Conversation<'_> {
    async fn begin(&mut self) -> Result<()> {
        if let Some(fid) = self.request.session.clone() {
            return self.open(&fid).await;
        }
        if self.program.terminal.input {
            self.welcome();
        }
        definitions::ask_for_trust(&self.request, self.program, &mut self.typed).await
    }

    async fn talk(&mut self, mut lines: Lines, mut turns: Turns<'_>) -> Result<Outcome> {
        let mut may_end = false;
        loop {
            lines.keep(&std::mem::take(&mut self.typed));
            self.problems.report_new(&self.request, self.program).await;
            let line = self.next_line(&mut lines, &mut turns).await?;
            // Agents end with the program, so Ctrl+D quits only when pressed twice.
            let was_asked = std::mem::replace(&mut may_end, line == Line::End);
            let text = match line {
                Line::Text(text) if text.trim().is_empty() => continue,
                Line::Text(text) => text,
                Line::Interrupted => {
                    self.remark(&say::interrupt_to_end());
                    continue;
                }
                Line::End if !was_asked && self.warn_of_agents().await => continue,
                // A user has seen how each reply ended; a script needs the outcome of the last one.
                Line::End if self.program.terminal.input => return Ok(Outcome::Done),
                Line::End => return Ok(self.last),
            };
            self.problems.report_new(&self.request, self.program).await;
            if command::read(&text) == Some(Command::Quit) {
                return Ok(Outcome::Done);
            }
            // Ctrl+C interrupts what a command waits for, but does not end the conversation.
            let obeyed = tokio::select! {
                biased;
                obeyed = self.obey(text) => obeyed,
                () = turns.signals.next() => Ok(None),
            };
            if turns.signals.ends_all() {
                return Err(CliError::Stopped);
            }
            let done = match obeyed {
                Ok(Some(message)) => self.say(message, &mut turns).await,
                Ok(None) => Ok(()),
                Err(trouble) => Err(trouble),
            };
            lines.keep(&std::mem::take(&mut turns.typed));
            if turns.signals.ends_all() {
                return Err(CliError::Stopped);
            }
            if let Err(trouble) = done {
                self.survive(trouble)?;
            }
        }
    }

    /// The next line. Until it is there, shows what the chat does by itself and what its agents ask.
    async fn next_line(&mut self, lines: &mut Lines, turns: &mut Turns<'_>) -> Result<Line> {
        let mut follows = self.program.terminal.input;
        loop {
            match &self.request.session {
                Some(fid) if follows => {
                    // Without it, the prompt is there all the same.
                    let watched = turns.watch(fid).await;
                    watched.or_else(|trouble| self.survive(trouble))?;
                }
                _ => turns.unwatch(),
            }
            let names = if lines.completes() { self.command_names().await } else { Vec::new() };
            let pieces = tokio::select! {
                biased;
                pieces = turns.news(self.sink.as_mut()) => pieces?,
                line = lines.next(names) => return line,
            };
            let line = lines.pause(turns.signals).await?;
            self.program.output.write(pieces).await.unwrap_or(Ok(()))?;
            let followed = turns.go_on(self.sink.as_mut()).await;
            lines.keep(&std::mem::take(&mut turns.typed));
            follows = followed.is_ok();
            followed.or_else(|trouble| self.survive(trouble))?;
            if turns.signals.ends_all() {
                return Err(CliError::Stopped);
            }
            if let Some(line) = line {
                return Ok(line);
            }
        }
    }

    /// Carries out a line that is a command. Gives back the message that is to be sent, if it is one.
    async fn obey(&mut self, text: String) -> Result<Option<Outgoing>> {
        if !text.starts_with('/') {
            return Ok(Some(Outgoing::text(text)));
        }
        if let Some(command) = command::read(&text) {
            self.obey_own(command).await?;
            return Ok(None);
        }
        let all = self.commands_here(&text).await?;
        if let Some((server, prompts)) = all.of_server(&text) {
            self.list_prompts(server, &prompts);
            return Ok(None);
        }
        match all.read(&text) {
            Typed::BuiltIn(command, arguments) => {
                let message = self.carry_out(command, arguments, &all).await?;
                Ok(message.map(|text| Outgoing::of(&text, &all)))
            }
            Typed::Unknown(name, nearest) => {
                self.remark(&slash_commands::unknown_words(name, nearest));
                Ok(None)
            }
            Typed::Unusable(words) => {
                self.remark(&words);
                Ok(None)
            }
            Typed::Unexpected(command) => {
                self.remark(&slash_commands::unexpected_words(command));
                Ok(None)
            }
            Typed::Message(_) | Typed::Command(..) => Ok(Some(Outgoing::of(&text, &all))),
        }
    }

    /// The commands in the folder of the next message, for a line that was typed.
    async fn commands_here(&self, line: &str) -> Result<SlashCommands> {
        let folder = self.folder().await?;
        let definitions = self.program.manager.definitions().of_project(folder.as_deref()).await;
        outgoing::commands(&definitions, folder.as_deref(), line, self.program).await
    }

    /// The names of all commands, for completion: without those of files where these cannot be read.
    async fn command_names(&self) -> Vec<String> {
        let all = self
            .commands_here("")
            .await
            .unwrap_or_else(|_| SlashCommands::new(&Definitions::default(), FrontEnd::Terminal));
        let names = all.all().iter().map(|command| command.name.clone());
        let own = say::commands().into_iter().filter_map(|(usage, _)| {
            let name = usage.strip_prefix('/')?.split(' ').next()?;
            Some(name.to_owned())
        });
        names.chain(own).collect()
    }

    /// Sends a message and shows the answer.
    async fn say(&mut self, message: Outgoing, turns: &mut Turns<'_>) -> Result<()> {
        let Outgoing { text, command } = message;
        self.request.content.text = text;
        request::point_at(&mut self.request, self.program).await?;
        // What was not sent may have had one.
        let is_command = |attachment: &Attachment| matches!(attachment, Attachment::Command(_));
        self.request.content.attachments.retain(|attachment| !is_command(attachment));
        if let Some((command, arguments)) = command {
            if command.names_model() {
                self.program.discover();
            }
            let request = &mut self.request;
            slash_commands::attach(&self.program.manager, &command, &arguments, request).await?;
        }
        let (fid, done) =
            turns.run(Beginning::Send(self.request.clone()), self.sink.as_mut()).await?;
        // These settings now belong to the session; files were only for that message.
        if fid.is_some() {
            self.request = ChatRequest { session: fid, ..ChatRequest::default() };
        }
        self.last = done.reason.into();
        Ok(())
    }

    /// Carries out a command that only the terminal has.
    async fn obey_own(&mut self, command: Command) -> Result<()> {
        match command {
            Command::Open(fid) => {
                // The folder and the rules were meant for another chat.
                self.request = ChatRequest {
                    project: None,
                    mode: None,
                    allow: Vec::new(),
                    ..self.request.clone()
                };
                self.open(&Fid::new(fid)).await?;
            }
            Command::Project(folder) => self.project(folder.as_deref()).await?,
            Command::Rules => self.rules().await?,
            Command::Forget(rule) => self.forget(&rule).await?,
            Command::Commands => self.commands(),
            Command::End(id) => self.end(&id).await?,
            Command::Sessions(search) => {
                let (list, notes) =
                    crate::sessions::lines(search.as_deref(), Some(20), self.program).await?;
                self.program.output.print(list).await?;
                for note in notes {
                    self.remark(&note);
                }
            }
            Command::Agents => self.list_agents().await?,
            Command::StopAgents(name) => self.stop_agents(&name).await?,
            Command::CloseAgents(name) => self.close_agents(&name).await?,
            Command::Context => self.context().await?,
            Command::Prompt => self.prompt().await?,
            Command::Unknown(name) => self.remark(&say::no_command(&name)),
            Command::Quit => {}
        }
        Ok(())
    }

    /// Continues a stored chat.
    async fn open(&mut self, fid: &Fid) -> Result<()> {
        let session = self.session(fid).await?;
        self.request = ChatRequest { session: Some(fid.clone()), ..self.request.clone() };
        self.remark(&say::opened(&session.title));
        self.report_interrupted(fid).await?;
        definitions::ask_for_trust(&self.request, self.program, &mut self.typed).await
    }

    async fn session(&self, fid: &Fid) -> Result<SessionPlaceholder> {
        let subscription = self.program.manager.subscribe();
        Ok(self.program.manager.sessions().open(fid, 1, &subscription).await?.session)
    }

    fn welcome(&self) {
        let model =
            self.request.model.clone().or_else(|| self.program.manager.sessions().empty().model);
        self.remark(&say::welcome(model.as_ref().map(say::model).as_deref()));
    }

    /// Says how to quit though agents are at work, which they end with. False if there are none, or
    /// nobody reads it.
    async fn warn_of_agents(&self) -> bool {
        let Some(fid) = self.request.session.as_ref().filter(|_| self.program.terminal.input)
        else {
            return false;
        };
        let names = names_at_work(fid, self.program).await;
        if !names.is_empty() {
            self.remark(&say::still_at_work(&names));
        }
        !names.is_empty()
    }

    fn remark(&self, text: &str) {
        let terminal = self.program.terminal;
        terminal::say(&format!("{}\n", terminal.dim(&terminal::clean(text))));
    }

    /// A failed message or command does not end the conversation.
    fn survive(&mut self, trouble: CliError) -> Result<()> {
        match trouble {
            CliError::BrokenPipe | CliError::Stopped => Err(trouble),
            CliError::Engine(_) | CliError::Said(_) | CliError::Usage(_) => {
                trouble.report(self.program.terminal);
                self.last = Outcome::Failed;
                Ok(())
            }
        }
    }
}
