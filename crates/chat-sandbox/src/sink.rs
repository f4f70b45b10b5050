//! Where the thread of a command or a program puts what it reads.

use crate::output::{Spool, Stream};
use crate::program::Log;

/// Where output goes.
#[derive(Debug)]
pub(crate) enum Sink {
    /// Both streams of a command.
    Spool(Spool),
    /// The standard error of a program, if it has a log.
    Log(Option<Log>),
}

impl Sink {
    pub(crate) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        match self {
            Self::Spool(spool) => spool.push(stream, bytes),
            Self::Log(Some(log)) => log.push(bytes),
            Self::Log(None) => {}
        }
    }

    /// Nothing more comes.
    pub(crate) fn finish(&self) {
        if let Self::Spool(spool) = self {
            spool.finish();
        }
    }
}
