//! Runs `natter-cli chat`: a conversation, line by line.

mod background;
mod command;
mod context;
mod lines;
mod permissions;

use chat_core::event::SessionPlaceholder;
use chat_core::message::{ChatRequest, Fid};
use chat_core::permission::Rule;

use crate::args::Request;
use crate::definitions;
use crate::engine::Program;
use crate::error::{CliError, Outcome, Result};
use crate::output::{self, Sink};
use crate::request;
use crate::say;
use crate::signals::Signals;
use crate::terminal;
use crate::turn::Turns;

use command::Command;
use lines::{Line, Lines};

/// Runs the conversation until the input ends.
pub async fn run(args: Request, program: &Program) -> Result<Outcome> {
    let mut signals = Signals::new()?;
    let mut request = tokio::select! {
        request = request::make(&args, program) => request?,
        () = signals.next() => return Err(CliError::Stopped),
    };
    request.content.attachments = request::attachments(&args)?;
    let sink = output::sink(args.json, program.terminal, program.manager.tools());
    let allow = args.allow.clone();
    let mut conversation = Conversation { program, request, allow, sink, last: Outcome::Done };
    tokio::select! {
        begun = conversation.begin() => begun?,
        () = signals.next() => return Err(CliError::Stopped),
    }
    let lines = Lines::start(program.terminal, &program.folders);
    conversation.talk(lines, &mut signals).await
}

struct Conversation<'a> {
    program: &'a Program,
    /// The settings for the next message.
    request: ChatRequest,
    /// The rules from the command line, for each chat that begins here.
    allow: Vec<Rule>,
    sink: Box<dyn Sink>,
    last: Outcome,
}

impl Conversation<'_> {
    async fn begin(&mut self) -> Result<()> {
        if let Some(fid) = self.request.session.clone() {
            return self.open(&fid).await;
        }
        if self.program.terminal.input {
            self.welcome();
        }
        definitions::ask_for_trust(&self.request, self.program).await
    }

    async fn talk(&mut self, mut lines: Lines, signals: &mut Signals) -> Result<Outcome> {
        loop {
            let line = tokio::select! {
                line = lines.next() => line?,
                () = signals.next() => return Err(CliError::Stopped),
            };
            let text = match line {
                Line::Text(text) if text.trim().is_empty() => continue,
                Line::Text(text) => text,
                Line::Interrupted => {
                    self.remark(&say::interrupt_to_end());
                    continue;
                }
                // A user has seen how each reply ended; a script needs the outcome of the last one.
                Line::End if self.program.terminal.input => return Ok(Outcome::Done),
                Line::End => return Ok(self.last),
            };
            match command::read(&text) {
                Some(Command::Quit) => return Ok(Outcome::Done),
                Some(command) => {
                    // Ctrl+C interrupts what a command waits for, but does not end the
                    // conversation.
                    let obeyed = tokio::select! {
                        obeyed = self.obey(command) => obeyed,
                        () = signals.next() => Ok(()),
                    };
                    if signals.ends_all() {
                        return Err(CliError::Stopped);
                    }
                    if let Err(trouble) = obeyed {
                        self.survive(trouble)?;
                    }
                }
                None => {
                    let said = self.say(text, signals).await;
                    if signals.ends_all() {
                        return Err(CliError::Stopped);
                    }
                    if let Err(trouble) = said {
                        self.survive(trouble)?;
                    }
                }
            }
        }
    }

    /// Sends a message and shows the answer.
    async fn say(&mut self, text: String, signals: &mut Signals) -> Result<()> {
        // `//etc` is a message that begins with one slash.
        let text = text.strip_prefix("//").map_or(text.clone(), |rest| format!("/{rest}"));
        self.request.content.text = text;
        request::point_at(&mut self.request, self.program).await?;
        let mut turns = Turns {
            program: self.program,
            subscription: self.program.manager.subscribe(),
            signals,
        };
        let (fid, done) = turns.run(self.request.clone(), self.sink.as_mut()).await?;
        // These settings now belong to the session; files were only for that message.
        if fid.is_some() {
            self.request = ChatRequest { session: fid, ..ChatRequest::default() };
        }
        self.last = done.reason.into();
        Ok(())
    }

    async fn obey(&mut self, command: Command) -> Result<()> {
        match command {
            Command::New => {
                self.request = self.request_like_this().await;
                self.remark(&say::new_chat());
            }
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
            Command::Mode(mode) => self.mode(mode.as_deref()).await?,
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
            Command::Model(None) => {
                let list = crate::models::lines(self.program).await;
                if list.is_empty() {
                    self.remark(&say::no_models());
                }
                self.program.output.print(list).await?;
            }
            Command::Model(Some(name)) => {
                let model = request::find(&name, self.program).await?;
                self.remark(&say::uses_model(&say::model(&model)));
                self.request.model = Some(model);
            }
            Command::Context => self.context().await?,
            Command::Prompt => self.prompt().await?,
            Command::Compact { undo } => self.compact(undo).await?,
            Command::Help => {
                for (name, does) in say::commands() {
                    self.remark(&format!("{name:20} {does}"));
                }
                self.remark(&say::long_lines());
            }
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
        definitions::ask_for_trust(&self.request, self.program).await
    }

    async fn session(&self, fid: &Fid) -> Result<SessionPlaceholder> {
        let subscription = self.program.manager.subscribe();
        Ok(self.program.manager.sessions().open(fid, 1, &subscription).await?.session)
    }

    /// The settings for another new chat: model, agent, thinking, options, folder and mode of this
    /// one, the rules from the command line, and files that were not sent yet.
    async fn request_like_this(&self) -> ChatRequest {
        let mut request = ChatRequest { allow: self.allow.clone(), ..self.request.clone() };
        let Some(fid) = request.session.take() else {
            return ChatRequest { agent: None, ..request };
        };
        if let Ok(session) = self.session(&fid).await.map(|session| session.meta) {
            request.model = request.model.or(session.model);
            request.agent.get_or_insert(session.agent);
            request.thinking.get_or_insert(session.thinking);
            request.options = request.options.or(&session.options);
            request.project = request.project.or(session.project);
            request.mode.get_or_insert(session.mode);
        }
        request
    }

    fn welcome(&self) {
        let model =
            self.request.model.clone().or_else(|| self.program.manager.sessions().empty().model);
        self.remark(&say::welcome(model.as_ref().map(say::model).as_deref()));
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
