//! A Manager and a site for it.

use std::path::Path;
use std::time::Duration;

use chat_core::error::Kind;
use chat_core::event::Event;
use chat_core::manager::{Manager, StartOptions};
use chat_core::models::{Download, DownloadState, HubOptions, Installed};
use chat_core::settings::{Folders, Key};
use chat_gguf::write::Writer;
use chat_testkit::hub::Hub;

/// How long to wait for what must come. Met only where it does not.
pub const LONG: Duration = Duration::from_secs(30);

/// The repository that is there from the beginning, and its file.
pub const REPOSITORY: &str = "ada/tiny-GGUF";
pub const FILE: &str = "Tiny-Instruct-Q4_K_M.gguf";

pub struct World {
    pub hub: Hub,
    pub manager: Manager,
    options: HubOptions,
    folder: tempfile::TempDir,
}

/// A whole model of some pieces.
pub fn model() -> Vec<u8> {
    Writer::tiny("Tiny", 3 << 20).bytes()
}

/// A whole model in two files.
pub fn parts() -> [(String, Vec<u8>); 2] {
    let name = |n| format!("Big-Q8_0-{n:05}-of-00002.gguf");
    [
        (name(1), Writer::tiny("Big", 4_096).number("split.count", 2).bytes()),
        (name(2), Writer::new().tensor("more", &[1_024], 0).bytes()),
    ]
}

impl World {
    pub async fn start() -> Self {
        Self::with(|_| {}).await
    }

    pub async fn with(change: impl FnOnce(&mut HubOptions)) -> Self {
        let hub = Hub::start();
        hub.put(REPOSITORY, FILE, model());
        let mut options = options(&hub);
        change(&mut options);
        let folder = tempfile::tempdir().unwrap();
        let manager = manager(folder.path(), &options).await;
        Self { hub, manager, options, folder }
    }

    /// The program ends and begins again.
    pub async fn restart(&mut self) {
        self.manager.shutdown().await;
        self.manager = manager(self.folder.path(), &self.options).await;
    }

    /// Another program in the same folders.
    pub async fn another(&self) -> Manager {
        manager(self.folder.path(), &self.options).await
    }

    /// Begins to download the model.
    pub async fn begin(&self) -> String {
        let model = self.manager.repositories().model(REPOSITORY, "*Q4_K_M.gguf").await.unwrap();
        self.manager.downloads().start(model).await.unwrap()
    }

    pub fn download(&self, id: &str) -> Option<Download> {
        self.manager.downloads().list().into_iter().find(|download| download.id == id)
    }

    /// Waits until a download is as it is to be.
    pub async fn until(&self, id: &str, fits: impl Fn(&Download) -> bool) -> Download {
        until(&self.manager, id, fits).await
    }

    pub async fn until_done(&self, id: &str) -> Download {
        let ended = self.until(id, |download| {
            matches!(download.state, DownloadState::Done { .. } | DownloadState::Failed(_))
        });
        let download = ended.await;
        assert!(matches!(download.state, DownloadState::Done { .. }), "{download:?}");
        download
    }

    pub async fn until_failed(&self, id: &str) -> Kind {
        let ended = self.until(id, |download| {
            matches!(download.state, DownloadState::Done { .. } | DownloadState::Failed(_))
        });
        match ended.await.state {
            DownloadState::Failed(error) => error.kind,
            other => panic!("{other:?}"),
        }
    }

    pub fn installed(&self, name: &str) -> Installed {
        self.manager.local_models().library().find(name).unwrap()
    }

    /// How many downloads have left something on the disk.
    pub fn leftovers(&self) -> usize {
        let folder = self.manager.local_models().library().folder().join(".downloads");
        std::fs::read_dir(folder).map_or(0, Iterator::count)
    }
}

pub fn options(hub: &Hub) -> HubOptions {
    HubOptions {
        base: hub.url(),
        token: Some(Key::new("hf_secret")),
        retries: 1,
        rest: Duration::from_millis(1),
        ..HubOptions::default()
    }
}

pub async fn manager(folder: &Path, hub: &HubOptions) -> Manager {
    let options = StartOptions { hub: hub.clone(), ..StartOptions::new(Folders::below(folder)) };
    Manager::start(options).await.unwrap()
}

pub async fn until(manager: &Manager, id: &str, fits: impl Fn(&Download) -> bool) -> Download {
    let mut events = manager.subscribe();
    let waiting = async {
        loop {
            let download =
                manager.downloads().list().into_iter().find(|download| download.id == id);
            if let Some(download) = download.filter(&fits) {
                return download;
            }
            let batch = events.next().await.expect("the Manager lives");
            let told = batch.iter().filter(|event| matches!(event, Event::DownloadsChanged));
            assert!(told.count() <= 1, "progress does not flood: {batch:?}");
        }
    };
    tokio::time::timeout(LONG, waiting)
        .await
        .unwrap_or_else(|_| panic!("waited in vain; there were {:#?}", manager.downloads().list()))
}
