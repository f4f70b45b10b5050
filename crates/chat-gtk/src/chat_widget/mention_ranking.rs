//! Ranks what was found for an `@`: what comes late stands below, so that nothing jumps.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_core::event::SessionPlaceholder;
use chat_core::message::{Fid, Mention};
use chat_core::permission::SecretFiles;
use chat_core::tool::ServerOffer;
use chat_presentation::words::fill;
use chat_project::{FileMatch, SymbolMatch};
use gettextrs::gettext;
use gtk::glib;

use super::mention_sources::Pointed;
use super::server_mentions;
use crate::composer::{self, Choice, MOST_SUGGESTIONS, Pin, Pinned, Suggestion};
use crate::found_row;
use crate::letters::plain;

/// How many chats are shown at most.
const CHATS: usize = 4;
/// The longest title that is written into a message, in characters.
const TITLE: usize = 40;

/// What was found by now.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) query: String,
    /// The chat that it is for.
    fid: Option<Fid>,
    folder: Option<PathBuf>,
    /// Files that are offered last.
    secrets: SecretFiles,
    found: Vec<Pointed>,
    chats: Vec<(Fid, String)>,
    /// The servers in use, with what is known of them.
    servers: Vec<Arc<ServerOffer>>,
    /// Who has not answered yet: definitions are not waited for, which may take seconds.
    awaits_files: bool,
    awaits_chats: bool,
}

impl Gathered {
    /// Nothing yet. `folder` is that of the project.
    pub(super) fn new(query: String, fid: Option<Fid>, folder: Option<PathBuf>) -> Self {
        Self {
            query,
            fid,
            folder,
            secrets: SecretFiles::default(),
            found: Vec::new(),
            chats: Vec::new(),
            servers: Vec::new(),
            awaits_files: false,
            awaits_chats: false,
        }
    }

    /// These files may hold secrets.
    #[must_use]
    pub(super) fn with_secrets(self, secrets: SecretFiles) -> Self {
        Self { secrets, ..self }
    }

    /// These servers are in use.
    #[must_use]
    pub(super) fn with_servers(self, servers: Vec<Arc<ServerOffer>>) -> Self {
        Self { servers, ..self }
    }

    /// More is known of this server.
    pub(super) fn add_server(&mut self, offer: Arc<ServerOffer>) {
        self.servers.retain(|other| other.server != offer.server);
        self.servers.push(offer);
    }

    /// The server that the query names, `server:…`: nothing else is meant then.
    pub(super) fn server(&self) -> Option<&ServerOffer> {
        server_mentions::named(&self.servers, &self.query).map(|(offer, _)| offer)
    }

    pub(super) fn has_project(&self) -> bool {
        self.folder.is_some()
    }

    /// Whether the address of a page is being typed.
    pub(super) fn is_address(&self) -> bool {
        let query = self.query.to_ascii_lowercase();
        query.starts_with("https://") || query.starts_with("http://")
    }

    /// What is being asked, and will answer.
    pub(super) fn awaits(&mut self, files: bool, chats: bool) {
        (self.awaits_files, self.awaits_chats) = (files, chats);
    }

    /// Whether all have answered who do so at once.
    pub(super) fn is_settled(&self) -> bool {
        !self.awaits_files && !self.awaits_chats
    }

    pub(super) fn add_found(&mut self, found: Vec<Pointed>) {
        self.awaits_files = false;
        self.found.extend(found);
    }

    /// The chats whose titles have the letters, the latest first; never the one that it is for.
    pub(super) fn add_chats(&mut self, chats: Vec<SessionPlaceholder>) {
        self.awaits_chats = false;
        let wanted = self.query.to_lowercase();
        let fits = |chat: &SessionPlaceholder| {
            Some(&chat.fid) != self.fid.as_ref()
                && !chat.title.trim().is_empty()
                && chat.title.to_lowercase().contains(&wanted)
        };
        let mut chats: Vec<_> = chats.into_iter().filter(fits).collect();
        chats.sort_by_key(|chat| std::cmp::Reverse(chat.updated));
        self.chats =
            chats.into_iter().take(CHATS).map(|chat| (chat.meta.fid, chat.meta.title)).collect();
    }

    /// All of it, the best first.
    pub(super) fn suggestions(&self) -> Vec<Suggestion> {
        if self.is_address() {
            return vec![page(&self.query)];
        }
        if let Some((offer, uri)) = server_mentions::named(&self.servers, &self.query) {
            return server_mentions::of(offer, uri).take(MOST_SUGGESTIONS).collect();
        }
        let servers = server_mentions::matching(&self.servers, &self.query);
        let Some(folder) = &self.folder else { return self.chats().chain(servers).collect() };
        let is_symbol = |found: &&Pointed| matches!(found, Pointed::Symbol(_));
        let (symbols, files): (Vec<_>, Vec<_>) = self.found.iter().partition(is_symbol);
        let is_secret = |found: &&Pointed| match found {
            Pointed::File(found) => self.secrets.contains(&found.path),
            Pointed::Folder(_) | Pointed::Symbol(_) => false,
        };
        let (secrets, files): (Vec<_>, Vec<_>) = files.into_iter().partition(is_secret);
        let files = files.into_iter().chain(secrets).filter_map(|found| pointed(folder, found));
        let symbols = symbols.into_iter().filter_map(|found| pointed(folder, found));
        let diff = diff(&self.query.to_lowercase());
        let (first, last) = if self.query.is_empty() { (None, diff) } else { (diff, None) };
        let all = first.into_iter().chain(files).chain(self.chats()).chain(servers);
        let all = all.chain(last).chain(symbols);
        all.take(MOST_SUGGESTIONS).collect()
    }

    fn chats(&self) -> impl Iterator<Item = Suggestion> {
        self.chats.iter().map(|(fid, title)| {
            suggestion(
                Mention::Chat { fid: fid.clone() },
                short(title),
                escaped(&plain(title)),
                gettext("Chat"),
                fill(&gettext("Chat: {title}"), &[("title", &plain(title))]),
            )
        })
    }
}

/// What something is called that was pointed at, as it is written behind the `@`.
pub(super) fn name(
    mention: &Mention,
    project: Option<&Path>,
    chats: &[SessionPlaceholder],
) -> String {
    let shown = |path: &Path| {
        let path = project.and_then(|project| path.strip_prefix(project).ok()).unwrap_or(path);
        plain(&path.display().to_string())
    };
    match mention {
        Mention::File { path, .. } => shown(path),
        Mention::Folder { path } => format!("{}/", shown(path)),
        Mention::Symbol { name, .. } => plain(name),
        Mention::Chat { fid } => {
            let chat = chats.iter().find(|chat| chat.fid == *fid);
            chat.map_or_else(|| fid.to_string(), |chat| short(&chat.title))
        }
        Mention::Diff => DIFF.to_owned(),
        Mention::Page { url, .. } => url.clone(),
        Mention::Resource { server, uri, title, .. } => server_mentions::label(server, uri, title),
    }
}

/// What the changes since the last commit are called in a message, in each language.
const DIFF: &str = "diff";

/// The changes since the last commit, where what is looked for leads to them.
fn diff(query: &str) -> Option<Suggestion> {
    let title = gettext("Changes Since the Last Commit");
    let words = [DIFF, "git", &title.to_lowercase()];
    words.iter().any(|word| word.starts_with(query)).then(|| {
        let detail = escaped("git diff");
        suggestion(Mention::Diff, DIFF.to_owned(), escaped(&title), detail, title)
    })
}

fn page(url: &str) -> Suggestion {
    suggestion(
        Mention::Page { url: url.to_owned(), text: String::new() },
        url.to_owned(),
        escaped(url),
        gettext("Fetch this page"),
        fill(&gettext("Fetch {url}"), &[("url", url)]),
    )
}

/// What was found, where it has a name that can be told: one that is no text a draft cannot keep, and the engine
/// cannot be asked for.
fn pointed(folder: &Path, pointed: &Pointed) -> Option<Suggestion> {
    Some(match pointed {
        Pointed::File(found) => {
            let mention = Mention::File { path: told(folder, &found.path)?, lines: None };
            at_path(mention, found, plain(&found.display_path))
        }
        Pointed::Folder(found) => {
            let mention = Mention::Folder { path: told(folder, &found.path)? };
            at_path(mention, found, format!("{}/", plain(&found.display_path)))
        }
        Pointed::Symbol(found) => {
            let SymbolMatch { path, name, lines } = found;
            let path = told(folder, path)?;
            let place = plain(&format!("{}:{}", found.path.display(), lines.0));
            let mention = Mention::Symbol { path, name: name.clone(), lines: *lines };
            let label = plain(name);
            let description = format!("{label}, {place}");
            suggestion(mention, label.clone(), escaped(&label), escaped(&place), description)
        }
    })
}

fn told(folder: &Path, path: &Path) -> Option<PathBuf> {
    Some(folder.join(path)).filter(|path| path.to_str().is_some())
}

fn at_path(mention: Mention, found: &FileMatch, label: String) -> Suggestion {
    let (name, detail) = found_row::of_path(&found.display_path, &found.positions);
    suggestion(mention, label.clone(), name, detail, label)
}

pub(super) fn suggestion(
    mention: Mention,
    label: String,
    name: String,
    detail: String,
    description: String,
) -> Suggestion {
    let icon = composer::icon(&mention);
    let word = match &mention {
        Mention::Resource { server, uri, .. } => composer::resource_word(server, uri),
        _ => format!("@{label}"),
    };
    let pin = Pin { word: Some(word), label, what: Pinned::Mention(mention) };
    let choice = Choice::Pin(pin);
    Suggestion { icon, name, detail, description, section: None, choice }
}

pub(super) fn escaped(text: &str) -> String {
    glib::markup_escape_text(text).into()
}

/// A title as it is written into a message: one line, of which the end may be missing.
pub(super) fn short(title: &str) -> String {
    let words: Vec<_> = title.split_whitespace().collect();
    let title = plain(&words.join(" "));
    match title.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", title[..end].trim_end()),
        None => title,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> Pointed {
        let found =
            FileMatch { path: path.into(), display_path: path.to_owned(), positions: vec![0] };
        Pointed::File(found)
    }

    fn words(gathered: &Gathered) -> Vec<String> {
        let made = gathered.suggestions();
        made.into_iter().filter_map(|suggestion| pin(suggestion).word).collect()
    }

    fn pin(suggestion: Suggestion) -> Pin {
        let Choice::Pin(pin) = suggestion.choice else { panic!("a pin") };
        pin
    }

    #[test]
    fn what_comes_late_stands_below() {
        let mut gathered = Gathered::new("di".to_owned(), None, Some("/p".into()));
        assert_eq!(words(&gathered), ["@diff"]);
        gathered.add_found(vec![file("src/dir.rs")]);
        let symbol = SymbolMatch { path: "a.rs".into(), name: "dig".to_owned(), lines: (3, 5) };
        gathered.add_found(vec![Pointed::Symbol(symbol)]);
        assert_eq!(words(&gathered), ["@diff", "@src/dir.rs", "@dig"]);
        gathered.query.clear();
        assert_eq!(words(&gathered), ["@src/dir.rs", "@diff", "@dig"]);
    }

    #[test]
    fn secrets_stand_below_other_files() {
        let mut gathered = Gathered::new("env".to_owned(), None, Some("/p".into()));
        gathered.add_found(vec![file(".env"), file("src/env.rs"), file(".env.example")]);
        assert_eq!(words(&gathered), ["@src/env.rs", "@.env.example", "@.env"]);
        let none = SecretFiles::new(Vec::<String>::new()).unwrap();
        assert_eq!(words(&gathered.with_secrets(none))[0], "@.env");
    }

    #[test]
    fn an_address_is_a_page_and_nothing_else() {
        let mut gathered =
            Gathered::new("https://example.org/a".to_owned(), None, Some("/p".into()));
        gathered.add_found(vec![file("https")]);
        assert_eq!(words(&gathered), ["@https://example.org/a"]);
    }

    #[test]
    fn names_are_text_and_no_markup() {
        let mut gathered = Gathered::new("b".to_owned(), None, Some("/p".into()));
        gathered.add_found(vec![file("a<b>&.rs")]);
        let made = gathered.suggestions();
        assert_eq!(made[0].name, "<b>a</b>&lt;b&gt;&amp;.rs");
        assert_eq!(pin(made[0].clone()).label, "a<b>&.rs");
    }

    #[test]
    fn a_name_that_is_no_text_is_not_offered_and_one_that_turns_text_round_is_seen() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"a\xff")).to_owned();
        let shown = path.to_string_lossy().into_owned();
        let mut gathered = Gathered::new("a".to_owned(), None, Some("/p".into()));
        gathered.add_found(vec![Pointed::File(FileMatch {
            path,
            display_path: shown,
            positions: vec![0],
        })]);
        gathered.add_found(vec![file("a\u{202e}\n.rs")]);
        assert_eq!(words(&gathered), ["@a��.rs"]);
        let Pinned::Mention(mention) = pin(gathered.suggestions().remove(0)).what else {
            panic!("what")
        };
        assert_eq!(mention, Mention::File { path: "/p/a\u{202e}\n.rs".into(), lines: None });
        assert_eq!(name(&mention, Some(Path::new("/p")), &[]), "a��.rs");
    }

    #[test]
    fn a_long_title_is_written_in_short() {
        assert_eq!(short("Fix\nthe  parser"), "Fix the parser");
        assert_eq!(short(&"word ".repeat(20)).chars().count(), TITLE);
    }
}
