//! Shows a model that can be downloaded: one row from the offer to the finished file.

use std::cell::RefCell;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::error::{Error, Result};
use chat_core::manager::Manager;
use chat_core::models::{Download, DownloadState, Installed, Offer, RemoteModel};
use chat_presentation::words::sentence;
use gettextrs::gettext;
use gtk::glib;

use super::row::{Act, ModelRow, RowContents};
use super::{Stock, words};

/// A model that can be downloaded.
#[derive(Clone, Debug)]
pub(crate) enum Goods {
    /// A model of the catalog. The hub is asked for its current files when it is downloaded.
    Offer(&'static Offer),
    /// A model that the hub has just listed.
    Remote(RemoteModel),
    /// The model of the download with this id.
    Coming(String),
}

/// A model that can be downloaded. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Fetch {
    inner: Rc<Inner>,
}

#[derive(Debug)]
struct Inner {
    row: ModelRow,
    goods: Goods,
    about: String,
    manager: Manager,
    question: RefCell<Question>,
    coming: RefCell<Option<Download>>,
    /// The error of a button that was pressed during the download.
    failed: RefCell<Option<Error>>,
    installed: RefCell<Option<Installed>>,
}

/// A question to the hub before there is a download.
#[derive(Debug)]
enum Question {
    None,
    Asked,
    Failed(Error),
}

impl Fetch {
    /// Creates a row with what is known about the model.
    pub(crate) fn new(manager: &Manager, goods: Goods, row: ModelRow, about: String) -> Self {
        let inner = Rc::new(Inner {
            row,
            goods,
            about,
            manager: manager.clone(),
            question: RefCell::new(Question::None),
            coming: RefCell::default(),
            failed: RefCell::default(),
            installed: RefCell::default(),
        });
        inner.show();
        let weak = Rc::downgrade(&inner);
        inner.row.connect_act(move |act| {
            if let Some(inner) = weak.upgrade() {
                inner.act(act);
            }
        });
        Self { inner }
    }

    pub(crate) fn widget(&self) -> gtk::Widget {
        self.inner.row.widget().clone().upcast()
    }

    /// Focuses the row's button. Returns whether there is one.
    pub(crate) fn focus(&self) -> bool {
        self.inner.row.focus()
    }

    /// Shows the current state.
    pub(crate) fn update(&self, stock: &Stock) {
        let inner = &self.inner;
        let coming = stock.coming().find(|it| inner.goods.is(it)).cloned();
        let installed = stock.installed.iter().find(|model| inner.goods.became(model)).cloned();
        if coming.is_some() || installed.is_some() {
            inner.question.replace(Question::None);
        }
        let before = inner.coming.replace(coming);
        if !same_state(before.as_ref(), inner.coming.borrow().as_ref()) {
            inner.failed.replace(None);
        }
        inner.installed.replace(installed);
        inner.show();
    }
}

impl Goods {
    /// Whether this is the download of the model.
    pub(crate) fn is(&self, it: &Download) -> bool {
        match self {
            Self::Offer(offer) => means(offer, &it.repository, &it.file),
            Self::Remote(model) => model.repository == it.repository && model.file == it.file,
            Self::Coming(id) => *id == it.id,
        }
    }

    /// Whether this installed model is the same, and can be used.
    fn became(&self, model: &Installed) -> bool {
        if model.problem.is_some() {
            return false;
        }
        let from = model.source.as_ref();
        match self {
            Self::Offer(offer) => {
                // A model that came with Natter has no source, but the catalog's name.
                offer.name == model.name
                    || from.is_some_and(|from| means(offer, &from.repository, &from.file))
            }
            Self::Remote(wanted) => from.is_some_and(|from| {
                from.repository == wanted.repository && from.file == wanted.file
            }),
            Self::Coming(_) => false,
        }
    }
}

fn means(offer: &Offer, repository: &str, file: &str) -> bool {
    let (repository, file) = (repository.to_owned(), file.to_owned());
    offer.means(&RemoteModel { repository, file, parts: Vec::new() })
}

/// Whether a download is in the same state, whatever its progress.
fn same_state(before: Option<&Download>, now: Option<&Download>) -> bool {
    let kind = |it: &Download| std::mem::discriminant(&it.state);
    before.map(kind) == now.map(kind)
}

impl Inner {
    fn show(&self) {
        let about = self.about.clone();
        let look = if let Some(it) = &*self.coming.borrow() {
            let (fraction, state) = words::download(it);
            let (acts, wrong) = match &it.state {
                DownloadState::Running { .. } => (vec![Act::Pause, Act::Cancel], false),
                DownloadState::Paused => (vec![Act::Resume, Act::Cancel], false),
                DownloadState::Failed(_) => (vec![Act::Retry, Act::Cancel], true),
                DownloadState::Elsewhere | DownloadState::Done { .. } => (Vec::new(), false),
            };
            let (state, wrong) = match &*self.failed.borrow() {
                Some(error) => (format!("{state}\n{}", sentence(error)), true),
                None => (state, wrong),
            };
            RowContents { about, fraction, state: Some(state), wrong, acts }
        } else if self.installed.borrow().is_some() {
            let state = Some(gettext("Installed"));
            RowContents { about, state, ..RowContents::default() }
        } else {
            let (state, wrong) = match &*self.question.borrow() {
                Question::None => (None, false),
                Question::Asked => (Some(words::asking()), false),
                Question::Failed(error) => (Some(sentence(error)), true),
            };
            let asked = matches!(*self.question.borrow(), Question::Asked);
            let act = match (asked, wrong) {
                (true, _) => None,
                (false, true) => Some(Act::Retry),
                (false, false) => Some(Act::Download),
            };
            let acts = act.into_iter().collect();
            RowContents { about, state, wrong, acts, ..RowContents::default() }
        };
        self.row.show(look);
    }

    /// Runs a button's action.
    fn act(self: &Rc<Self>, act: Act) {
        let id = self.coming.borrow().as_ref().map(|it| it.id.clone());
        self.failed.replace(None);
        self.show();
        match (act, id) {
            (Act::Download | Act::Retry, None) => self.begin(),
            (Act::Pause, Some(id)) => self.manager.downloads().pause(&id),
            (Act::Resume | Act::Retry, Some(id)) => {
                self.then(async move |manager| manager.downloads().resume(&id).await);
            }
            (Act::Cancel, Some(id)) => {
                self.then(async move |manager| manager.downloads().cancel(&id).await);
            }
            _ => {}
        }
    }

    /// Asks the hub for the files, and starts the download.
    fn begin(self: &Rc<Self>) {
        let goods = self.goods.clone();
        self.question.replace(Question::Asked);
        self.show();
        self.then(async move |manager| {
            let model = match goods {
                Goods::Offer(offer) => {
                    manager.repositories().model(&offer.repository, &offer.file).await?
                }
                Goods::Remote(model) => model,
                Goods::Coming(id) => return manager.downloads().resume(&id).await,
            };
            manager.downloads().start(model).await.map(drop)
        });
    }

    /// Runs an action; an error is shown in the row, in addition to the progress of a download.
    fn then(self: &Rc<Self>, work: impl AsyncFnOnce(Manager) -> Result<()> + 'static) {
        let (weak, manager) = (Rc::downgrade(self), self.manager.clone());
        glib::spawn_future_local(async move {
            let result = work(manager).await;
            // An event reports that it has begun.
            if let (Err(error), Some(inner)) = (result, weak.upgrade()) {
                if inner.coming.borrow().is_some() {
                    inner.failed.replace(Some(error));
                } else {
                    inner.question.replace(Question::Failed(error));
                }
                inner.show();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use chat_core::manager::StartOptions;
    use chat_core::models::DownloadStage;
    use chat_core::settings::Folders;

    use super::*;
    use crate::main_loop::until;

    fn labels(widget: &gtk::Widget, class: &str) -> Vec<String> {
        let own = widget.downcast_ref::<gtk::Label>().filter(|label| label.has_css_class(class));
        let children = std::iter::successors(widget.first_child(), WidgetExt::next_sibling);
        let below = children.flat_map(|child| labels(&child, class));
        own.map(|label| label.label().to_string()).into_iter().chain(below).collect()
    }

    fn stock(state: DownloadState, received: u64) -> Stock {
        let coming = Download {
            id: "gone".to_owned(),
            name: "tiny".to_owned(),
            repository: "ada/tiny".to_owned(),
            file: "tiny.gguf".to_owned(),
            received,
            total: 100_000_000,
            state,
        };
        Stock { installed: Vec::new(), downloads: vec![coming] }
    }

    #[gtk::test]
    fn an_act_that_failed_is_said_until_something_else_is() {
        crate::init();
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let options = StartOptions::new(Folders::below(folder.path()));
        let manager = runtime.block_on(Manager::start(options)).unwrap();
        let row = ModelRow::new("folder-download-symbolic", "Tiny");
        let goods = Goods::Coming("gone".to_owned());
        let fetch = Fetch::new(&manager, goods, row, String::new());
        let said = || labels(&fetch.widget(), "model-state").concat();
        fetch.update(&stock(DownloadState::Paused, 25_000_000));
        assert_eq!(said(), "Paused at 25.0 MB of 100.0 MB");

        // There is no such download, so it cannot be resumed.
        fetch.inner.act(Act::Resume);
        until("the failure", || fetch.inner.failed.borrow().is_some());
        let failed = |amount: &str| {
            let sentence = sentence(&chat_core::error::Kind::ModelStorage.into());
            format!("Paused at {amount} of 100.0 MB\n{sentence}")
        };
        assert_eq!(said(), failed("25.0 MB"));
        // Refreshing does not remove it, but other news does.
        fetch.update(&stock(DownloadState::Paused, 26_000_000));
        assert_eq!(said(), failed("26.0 MB"));
        let running = DownloadState::Running { stage: DownloadStage::Fetching, speed: None };
        fetch.update(&stock(running, 26_000_000));
        assert_eq!(said(), "26.0 MB of 100.0 MB");
    }
}
