//! Lets a part of the chat widget report to it, and start work in the background.

use chat_core::error::{Error, Result};
use chat_core::manager::Manager;
use chat_core::message::Fid;
use relm4::ComponentSender;

use super::ChatWidget;
use super::messages::{FrameMsg, Input, Output, Part};
use super::requests::is_gone;
use crate::bridge::Bridge;

/// Reports to the chat widget with the messages of one of its parts, and starts work for that part. It
/// holds channels alone, so that it keeps no closed widget alive; the work ends with the widget.
pub(super) struct Handle<M: 'static> {
    sender: ComponentSender<ChatWidget>,
    wrap: fn(M) -> FrameMsg,
}

impl<M> Clone for Handle<M> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), wrap: self.wrap }
    }
}

impl<M: 'static> Handle<M> {
    /// For a part whose messages are wrapped like this.
    pub(super) fn new(sender: &ComponentSender<ChatWidget>, wrap: fn(M) -> FrameMsg) -> Self {
        Self { sender: sender.clone(), wrap }
    }

    /// Reports something. It is heard after what was reported before.
    pub(super) fn send(&self, msg: M) {
        self.report((self.wrap)(msg));
    }

    /// A callback that reports the message made of its argument.
    pub(super) fn callback<T>(&self, make: impl Fn(T) -> M + 'static) -> impl Fn(T) + 'static {
        let this = self.clone();
        move |value| this.send(make(value))
    }

    /// Has it said what went wrong in a chat.
    pub(super) fn fail(&self, fid: Option<&Fid>, error: Error) {
        self.report(FrameMsg::Failed { fid: fid.cloned(), error });
    }

    /// Tells whoever holds the chat widget. Where nobody listens any more there is nobody to tell.
    pub(super) fn output(&self, output: Output) {
        let _ = self.sender.output(output);
    }

    /// Does something that takes its time and brings nothing.
    pub(super) fn run_blocking(&self, work: impl FnOnce() + Send + 'static) {
        self.sender.spawn_command(move |_| work());
    }

    /// Does what was asked for in a chat. Only a failure is reported.
    pub(super) fn run(
        &self,
        fid: Option<Fid>,
        work: impl Future<Output = Result<()>> + Send + 'static,
    ) {
        self.sender.command(move |out, shutdown| {
            shutdown
                .register(async move {
                    if let Err(error) = work.await
                        && !is_gone(&error)
                    {
                        out.emit(Part(FrameMsg::Failed { fid, error }));
                    }
                })
                .drop_on_shutdown()
        });
    }

    fn report(&self, msg: FrameMsg) {
        self.sender.input_sender().emit(Input::Part(Part(msg)));
    }
}

impl<M: Send + 'static> Handle<M> {
    /// Works in the background and reports what comes of it, if anything does.
    pub(super) fn spawn<R: Into<Option<M>>>(&self, work: impl Future<Output = R> + Send + 'static) {
        let wrap = self.wrap;
        self.sender.command(move |out, shutdown| {
            shutdown
                .register(async move {
                    if let Some(msg) = work.await.into() {
                        out.emit(Part(wrap(msg)));
                    }
                })
                .drop_on_shutdown()
        });
    }

    /// Does something that takes its time, and reports what comes of it.
    pub(super) fn spawn_blocking(&self, work: impl FnOnce() -> M + Send + 'static) {
        let wrap = self.wrap;
        self.sender.spawn_oneshot_command(move || Part(wrap(work())));
    }
}

impl Handle<FrameMsg> {
    /// Has the engine's events reported.
    pub(super) fn subscribe(&self, manager: &Manager) -> Bridge {
        Bridge::new(manager, &self.sender, |arrival| Part(FrameMsg::Arrived(arrival)))
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use relm4::ComponentController;

    use super::super::{Init, OpenFiles, launch};
    use crate::main_loop::until;

    #[gtk::test]
    fn parts_keep_no_closed_widget_alive() {
        crate::init();
        let owned = Rc::new(());
        let kept = Rc::downgrade(&owned);
        let open_files = OpenFiles::new(move |_| {
            let _ = &owned;
            Vec::new()
        });
        let widget = launch(Init { open_files, ..Init::default() }).detach();
        let root = gtk::prelude::ObjectExt::downgrade(widget.widget());
        assert!(kept.upgrade().is_some());
        drop(widget);
        until("the parts to go", || kept.upgrade().is_none());
        until("the widgets to go", || root.upgrade().is_none());
    }
}
