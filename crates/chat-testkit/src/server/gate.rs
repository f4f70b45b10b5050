//! Defines gates in a script: the server waits at a gate until the test opens it.

use std::sync::Arc;

use tokio::sync::watch;

use super::PATIENCE;

/// A gate. Clones are the same gate. Once open it stays open.
#[derive(Clone, Debug)]
pub struct Gate {
    open: Arc<watch::Sender<bool>>,
    reached: Arc<watch::Sender<bool>>,
}

impl Gate {
    /// A closed gate.
    #[expect(clippy::new_without_default, reason = "every call gives another gate")]
    pub fn new() -> Self {
        Self {
            open: Arc::new(watch::Sender::new(false)),
            reached: Arc::new(watch::Sender::new(false)),
        }
    }

    /// Lets the server continue.
    pub fn open(&self) {
        self.open.send_replace(true);
    }

    /// Waits until the server is at the gate: everything before it was sent.
    ///
    /// # Panics
    ///
    /// After [`PATIENCE`].
    pub async fn reached(&self) {
        let mut reached = self.reached.subscribe();
        let waiting = reached.wait_for(|reached| *reached);
        tokio::time::timeout(PATIENCE, waiting)
            .await
            .expect("the server came to the gate")
            .expect("the gate holds its own sender");
    }

    /// [`reached`](Self::reached) for tests without a runtime. Blocks.
    ///
    /// # Panics
    /// After [`PATIENCE`].
    pub fn wait_reached(&self) {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime to wait in")
            .block_on(self.reached());
    }

    /// The server's side: reports that it is here, and waits.
    pub(super) async fn pass(&self) {
        self.reached.send_replace(true);
        // The sender lives as long as this.
        let _ = self.open.subscribe().wait_for(|open| *open).await;
    }
}
