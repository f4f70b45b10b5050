//! Suggests resources of MCP servers for an `@`. What servers call them is shown as text that hides nothing.

use std::sync::Arc;

use chat_core::message::Mention;
use chat_core::tool::{ResourceEntry, ServerOffer};
use chat_presentation::words::{fill, line_within};
use gettextrs::gettext;

use super::mention_ranking::{escaped, short, suggestion};
use crate::composer::{Choice, Suggestion, resource_word};
use crate::letters::plain;

/// How many resources, and how many servers, are shown at most where no server is named.
const RESOURCES: usize = 6;
const SERVERS: usize = 4;
/// The longest description, in characters.
const DESCRIPTION: usize = 100;

/// The server that a query names, `server:…`, and what follows.
pub(super) fn named<'a, 'b>(
    servers: &'a [Arc<ServerOffer>],
    query: &'b str,
) -> Option<(&'a ServerOffer, &'b str)> {
    let (name, uri) = query.split_once(':')?;
    servers.iter().find(|offer| offer.server == name).map(|offer| (&**offer, uri))
}

/// The resources of a server that fit what is typed behind its name, in the order of the server.
pub(super) fn of(offer: &ServerOffer, typed: &str) -> impl Iterator<Item = Suggestion> {
    let typed = typed.to_lowercase();
    let fitting = offer.resources.iter().flatten().filter(move |entry| fits(entry, &typed));
    fitting.map(|entry| resource(&offer.server, entry))
}

/// The resources that fit a query, and the servers that were not asked yet: their names begin those of resources.
pub(super) fn matching(
    servers: &[Arc<ServerOffer>],
    query: &str,
) -> impl Iterator<Item = Suggestion> {
    let query = query.to_lowercase();
    let of_name = |offer: &&Arc<ServerOffer>| offer.server.to_lowercase().contains(&query);
    let of_offer = |offer: &Arc<ServerOffer>| {
        let is_named = of_name(&offer);
        let entries = offer.resources.iter().flatten();
        let fitting = entries.filter(|entry| is_named || fits(entry, &query));
        fitting.take(RESOURCES).map(|entry| resource(&offer.server, entry)).collect::<Vec<_>>()
    };
    let found: Vec<_> = servers.iter().flat_map(of_offer).take(RESOURCES).collect();
    let unasked = servers.iter().filter(|offer| offer.resources.is_none());
    let unasked: Vec<_> = unasked.filter(of_name).take(SERVERS).map(|it| server(it)).collect();
    found.into_iter().chain(unasked)
}

/// What a resource is called on its chip.
pub(super) fn label(server: &str, uri: &str, title: &str) -> String {
    if title.trim().is_empty() { plain(&format!("{server}:{uri}")) } else { short(title) }
}

fn fits(entry: &ResourceEntry, letters: &str) -> bool {
    entry.uri.to_lowercase().contains(letters) || entry.title.to_lowercase().contains(letters)
}

fn resource(server: &str, entry: &ResourceEntry) -> Suggestion {
    let ResourceEntry { uri, title, description, is_template } = entry;
    let mention = Mention::Resource {
        server: server.to_owned(),
        uri: uri.clone(),
        title: title.clone(),
        text: None,
    };
    let (label, shown) = (label(server, uri, title), plain(title));
    let values = [("title", shown.as_str()), ("server", server)];
    let whole = fill(&gettext("Resource of {server}: {title}"), &values);
    let detail = match line_within(description, DESCRIPTION) {
        about if about.is_empty() => server.to_owned(),
        about => format!("{server}: {about}"),
    };
    let mut found = suggestion(mention, label, escaped(&shown), escaped(&detail), whole);
    if *is_template {
        // The rest is for the user to type.
        let begun = uri.split('{').next().unwrap_or_default();
        found.choice = Choice::Begin(resource_word(server, begun));
    }
    found
}

fn server(offer: &ServerOffer) -> Suggestion {
    let name = &offer.server;
    Suggestion {
        icon: "network-server-symbolic",
        name: escaped(&format!("{name}:")),
        detail: escaped(&gettext("Resources of this MCP server")),
        description: fill(&gettext("Resources of {server}"), &[("server", name)]),
        section: None,
        choice: Choice::Begin(format!("@{name}:")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::composer::Pinned;

    fn entry(uri: &str, title: &str) -> ResourceEntry {
        ResourceEntry { uri: uri.to_owned(), title: title.to_owned(), ..ResourceEntry::default() }
    }

    fn servers() -> Vec<Arc<ServerOffer>> {
        let template = ResourceEntry { is_template: true, ..entry("note://{day}", "A day") };
        let description = "red &\nripe".to_owned();
        let apples = ResourceEntry { description, ..entry("note://a", "Apples") };
        let wiki = ServerOffer {
            server: "wiki".to_owned(),
            resources: Some(vec![apples, entry("note://b", "<b>\u{202e}\n"), template]),
            ..ServerOffer::default()
        };
        let asleep = ServerOffer { server: "asleep".to_owned(), ..ServerOffer::default() };
        let empty = ServerOffer {
            server: "empty".to_owned(),
            resources: Some(Vec::new()),
            ..ServerOffer::default()
        };
        [wiki, asleep, empty].map(Arc::new).into()
    }

    fn names(found: impl Iterator<Item = Suggestion>) -> Vec<String> {
        found.map(|suggestion| suggestion.name).collect()
    }

    #[test]
    fn the_name_of_a_server_narrows_to_it() {
        let servers = servers();
        let (offer, typed) = named(&servers, "wiki:app").unwrap();
        assert_eq!(names(of(offer, typed)), ["Apples"]);
        assert_eq!(names(of(offer, "")).len(), 3);
        assert!(named(&servers, "wiki").is_none() && named(&servers, "other:a").is_none());
    }

    #[test]
    fn resources_stand_before_servers_that_were_not_asked() {
        let servers = servers();
        assert_eq!(names(matching(&servers, "ap")), ["Apples"]);
        assert_eq!(names(matching(&servers, "asl")), ["asleep:"]);
        assert_eq!(names(matching(&servers, "wik")).len(), 3);
        let all = names(matching(&servers, ""));
        assert_eq!(all.last().map(String::as_str), Some("asleep:"));
        assert!(!all.contains(&"empty:".to_owned()), "{all:?}");
    }

    #[test]
    fn what_a_server_says_is_no_markup_and_hides_nothing() {
        let servers = servers();
        let found: Vec<_> = of(&servers[0], "note").collect();
        assert_eq!((found[1].name.as_str(), found[1].detail.as_str()), ("&lt;b&gt;��", "wiki"));
        assert_eq!(found[0].detail, "wiki: red &amp;⏎ripe");
        let Choice::Pin(pin) = &found[1].choice else { panic!("a pin") };
        assert_eq!((pin.label.as_str(), pin.word.as_deref()), ("<b>�", Some("@wiki:note://b")));
        assert!(matches!(&pin.what, Pinned::Mention(Mention::Resource { text: None, .. })));
        assert_eq!(found[2].choice, Choice::Begin("@wiki:note://".to_owned()));
    }
}
