//! A model that can be downloaded: its row through all that comes, from the offer to the file.

use std::cell::RefCell;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::error::{Error, Result};
use chat_core::manager::Manager;
use chat_core::models::{Download, DownloadState, Installed, Offer, RemoteModel};
use chat_edge::words::sentence;
use gettextrs::gettext;
use gtk::glib;

use super::row::{Act, Look, ModelRow};
use super::{Stock, words};

/// What is to be had.
#[derive(Clone, Debug)]
pub(crate) enum Goods {
    /// A model of the catalogue. What the site has now is asked when it is wanted.
    Offer(&'static Offer),
    /// A model as the site has just told of it.
    Remote(RemoteModel),
    /// What the download of this id brings.
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
    installed: RefCell<Option<Installed>>,
}

/// What was asked of the site before there is a download.
#[derive(Debug)]
enum Question {
    None,
    Asked,
    Failed(Error),
}

impl Fetch {
    /// A row for something, with what there is to know about it.
    pub(crate) fn new(manager: &Manager, goods: Goods, row: ModelRow, about: String) -> Self {
        let inner = Rc::new(Inner {
            row,
            goods,
            about,
            manager: manager.clone(),
            question: RefCell::new(Question::None),
            coming: RefCell::default(),
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

    /// Shows how it stands now.
    pub(crate) fn update(&self, stock: &Stock) {
        let inner = &self.inner;
        let coming = stock.coming().find(|it| inner.goods.is(it)).cloned();
        let installed = stock.installed.iter().find(|model| inner.goods.became(model)).cloned();
        if coming.is_some() || installed.is_some() {
            inner.question.replace(Question::None);
        }
        inner.coming.replace(coming);
        inner.installed.replace(installed);
        inner.show();
    }
}

impl Goods {
    /// Whether a download brings just this.
    pub(crate) fn is(&self, it: &Download) -> bool {
        match self {
            Self::Offer(offer) => means(offer, &it.repository, &it.file),
            Self::Remote(model) => model.repository == it.repository && model.file == it.file,
            Self::Coming(id) => *id == it.id,
        }
    }

    /// Whether an installed model is this.
    fn became(&self, model: &Installed) -> bool {
        let from = model.source.as_ref();
        match self {
            Self::Offer(offer) => {
                // What came with Natter has no source, and the catalogue's name.
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
            Look { about, fraction, state: Some(state), wrong, acts }
        } else if self.installed.borrow().is_some() {
            let state = Some(gettext("Installed"));
            Look { about, state, ..Look::default() }
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
            Look { about, state, wrong, acts, ..Look::default() }
        };
        self.row.show(look);
    }

    /// Does what a button says.
    fn act(self: &Rc<Self>, act: Act) {
        let id = self.coming.borrow().as_ref().map(|it| it.id.clone());
        match (act, id) {
            (Act::Download | Act::Retry, None) => self.begin(),
            (Act::Pause, Some(id)) => self.manager.pause_download(&id),
            (Act::Resume | Act::Retry, Some(id)) => {
                self.then(async move |manager| manager.resume_download(&id).await);
            }
            (Act::Cancel, Some(id)) => {
                self.then(async move |manager| manager.cancel_download(&id).await);
            }
            _ => {}
        }
    }

    /// Asks the site what there is, and begins.
    fn begin(self: &Rc<Self>) {
        let goods = self.goods.clone();
        self.question.replace(Question::Asked);
        self.show();
        self.then(async move |manager| {
            let model = match goods {
                Goods::Offer(offer) => manager.remote_model(&offer.repository, &offer.file).await?,
                Goods::Remote(model) => model,
                Goods::Coming(id) => return manager.resume_download(&id).await,
            };
            manager.start_download(model).await.map(drop)
        });
    }

    /// Does something; what goes wrong is said in the row.
    fn then(self: &Rc<Self>, work: impl AsyncFnOnce(Manager) -> Result<()> + 'static) {
        let (weak, manager) = (Rc::downgrade(self), self.manager.clone());
        glib::spawn_future_local(async move {
            let result = work(manager).await;
            // That it began is told by an event.
            if let (Err(error), Some(inner)) = (result, weak.upgrade()) {
                inner.question.replace(Question::Failed(error));
                inner.show();
            }
        });
    }
}
