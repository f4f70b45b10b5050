//! Decides which addresses requests for a server may reach.
//!
//! A server of the internet leads to nothing in a private network, whatever it names or its name is resolved to later.
//! A server in a private network may lead into that, and one on this machine to this machine. Nobody leads to the
//! neighbors of a link or to services that hold a cloud's secrets.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

use chat_permission::reach::{Reach, judge, judge_name};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// The variables that name proxies.
const PROXIES: [&str; 6] =
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// The part of the network to which an address belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Zone {
    Internet,
    PrivateNetwork,
    ThisMachine,
    Elsewhere,
}

impl Zone {
    fn of(reach: Reach) -> Self {
        match reach {
            Reach::Public => Self::Internet,
            Reach::Private => Self::PrivateNetwork,
            Reach::ThisMachine => Self::ThisMachine,
            Reach::LinkLocal | Reach::Metadata | Reach::Multicast | Reach::Reserved => {
                Self::Elsewhere
            }
        }
    }

    /// Whether a server in a zone may lead to this one.
    fn is_open_to(self, from: Self) -> bool {
        self == Self::Internet || (self == from && self != Self::Elsewhere)
    }
}

/// An address was not allowed.
#[derive(Debug, thiserror::Error)]
#[error("the address is not allowed for this server")]
pub(super) struct AddressRefused;

/// Which addresses may be reached for one server.
pub(super) struct Addresses {
    /// The server's host.
    host: String,
    /// Where the server is, once its host was resolved.
    zone: OnceLock<Zone>,
    /// Hosts of proxies, which resolve the others' names themselves.
    proxies: Vec<String>,
    lookup: Arc<dyn Resolve>,
}

impl Addresses {
    /// Those for a server; none if the server itself may not be reached.
    pub(super) fn new(base: &Url) -> Option<Self> {
        let proxies = PROXIES.iter().filter_map(|name| std::env::var(name).ok());
        Self::with(base, proxies, Arc::new(System))
    }

    fn with(
        base: &Url,
        proxies: impl Iterator<Item = String>,
        lookup: Arc<dyn Resolve>,
    ) -> Option<Self> {
        let reach = reach(base)?;
        if reach == Reach::Metadata {
            return None;
        }
        // An unremarkable name can be anywhere.
        let is_known = reach != Reach::Public || literal(base).is_some();
        let zone = if is_known { OnceLock::from(Zone::of(reach)) } else { OnceLock::new() };
        let proxies = proxies.filter_map(|proxy| {
            let proxy = if proxy.contains("://") { proxy } else { format!("http://{proxy}") };
            Url::parse(&proxy).ok().map(|url| host(&url))
        });
        Some(Self { host: host(base), zone, proxies: proxies.collect(), lookup })
    }

    /// Whether the server is on this machine.
    pub(super) fn are_on_this_machine(&self) -> bool {
        self.zone() == Zone::ThisMachine
    }

    /// Whether a request may go to an address, as far as that is known before it is resolved.
    pub(super) fn allow(&self, url: &Url) -> bool {
        let Some(reach) = reach(url) else { return false };
        host(url) == self.host || Zone::of(reach).is_open_to(self.zone())
    }

    /// As long as the server was not found, nothing private may be reached for it.
    fn zone(&self) -> Zone {
        self.zone.get().copied().unwrap_or(Zone::Internet)
    }

    /// Those of a host's addresses that may be reached.
    fn choose(&self, host: &str, found: Vec<SocketAddr>) -> Vec<SocketAddr> {
        if self.proxies.iter().any(|proxy| proxy == host) {
            return found;
        }
        let zone_of = |address: &SocketAddr| Zone::of(judge(address.ip()));
        if host != self.host {
            let zone = self.zone();
            return found.into_iter().filter(|it| zone_of(it).is_open_to(zone)).collect();
        }
        let is_secret = |address: &SocketAddr| judge(address.ip()) == Reach::Metadata;
        let found: Vec<_> = found.into_iter().filter(|it| !is_secret(it)).collect();
        // Of several the one nearest to the internet counts, and stays: the name may not lead elsewhere later.
        let first = found.iter().map(zone_of).min_by_key(|zone| *zone as u8);
        let Some(first) = first else { return found };
        let zone = *self.zone.get_or_init(|| first);
        let is_allowed = |it: &SocketAddr| zone_of(it) == zone || zone_of(it) == Zone::Internet;
        found.into_iter().filter(is_allowed).collect()
    }
}

/// Resolves the hosts of requests for one server.
pub(super) struct AddressResolver(pub(super) Arc<Addresses>);

impl Resolve for AddressResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let addresses = Arc::clone(&self.0);
        Box::pin(async move {
            let host = plain(name.as_str());
            let refused = || Box::new(AddressRefused) as Box<dyn Error + Send + Sync>;
            if judge_name(&host) == Reach::Metadata {
                return Err(refused());
            }
            let found: Vec<_> = addresses.lookup.resolve(name).await?.collect();
            if found.is_empty() {
                return Ok(Box::new(found.into_iter()) as Addrs);
            }
            let chosen = addresses.choose(&host, found);
            if chosen.is_empty() {
                return Err(refused());
            }
            Ok(Box::new(chosen.into_iter()) as Addrs)
        })
    }
}

/// Asks the system.
struct System;

impl Resolve for System {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<_> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Where an address leads by its host alone.
fn reach(url: &Url) -> Option<Reach> {
    Some(match literal(url) {
        Some(address) => judge(address),
        None => judge_name(url.host_str()?),
    })
}

fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
        Host::Domain(_) => None,
    }
}

fn host(url: &Url) -> String {
    plain(url.host_str().unwrap_or_default())
}

fn plain(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use super::*;

    /// What names lead to: each time the next of these, and the last from then on.
    struct Script(Mutex<BTreeMap<&'static str, Vec<Vec<&'static str>>>>);

    impl Resolve for Script {
        fn resolve(&self, name: Name) -> Resolving {
            let mut names = self.0.lock().unwrap();
            let answers = names.get_mut(name.as_str()).unwrap();
            let answer = if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() };
            let found = answer.into_iter().map(|it| SocketAddr::new(it.parse().unwrap(), 0));
            let found: Vec<_> = found.collect();
            Box::pin(async move { Ok(Box::new(found.into_iter()) as Addrs) })
        }
    }

    fn resolver(base: &str, names: &[(&'static str, &[&[&'static str]])]) -> AddressResolver {
        let names = names.iter().map(|(name, answers)| {
            (*name, answers.iter().map(|answer| answer.to_vec()).collect::<Vec<_>>())
        });
        let script = Script(Mutex::new(names.collect()));
        let base = Url::parse(base).unwrap();
        let proxies = std::iter::once("proxy.lan:3128".to_owned());
        AddressResolver(Arc::new(Addresses::with(&base, proxies, Arc::new(script)).unwrap()))
    }

    async fn found(resolver: &AddressResolver, name: &str) -> Vec<String> {
        match resolver.resolve(name.parse().unwrap()).await {
            Ok(found) => found.map(|it| it.ip().to_string()).collect(),
            Err(error) => {
                assert!(error.is::<AddressRefused>(), "{error}");
                Vec::new()
            }
        }
    }

    #[tokio::test]
    async fn a_server_of_the_internet_leads_to_nothing_nearby() {
        let resolver = resolver(
            "https://mcp.test/",
            &[
                (
                    "mcp.test",
                    &[&["93.184.216.34", "10.0.0.1"], &["10.0.0.1"], &["169.254.169.254"]],
                ),
                ("lan.test", &[&["10.0.0.9"]]),
                ("here.test", &[&["127.0.0.1"]]),
                ("mixed.test", &[&["::1", "93.184.216.35"]]),
                ("secrets.test", &[&["169.254.169.254"]]),
                ("proxy.lan", &[&["10.0.0.2"]]),
            ],
        );
        assert_eq!(found(&resolver, "lan.test").await, [""; 0], "before the server is found");
        assert_eq!(found(&resolver, "mcp.test").await, ["93.184.216.34"]);
        assert_eq!(found(&resolver, "mcp.test").await, [""; 0], "led elsewhere later");
        assert_eq!(found(&resolver, "mcp.test").await, [""; 0]);
        for name in ["lan.test", "here.test", "secrets.test"] {
            assert_eq!(found(&resolver, name).await, [""; 0], "{name}");
        }
        assert_eq!(found(&resolver, "mixed.test").await, ["93.184.216.35"]);
        assert_eq!(found(&resolver, "proxy.lan").await, ["10.0.0.2"]);
    }

    #[tokio::test]
    async fn a_server_of_a_private_network_leads_into_that() {
        let names: &[(&'static str, &[&[&'static str]])] = &[
            ("mcp.corp", &[&["10.0.0.4"]]),
            ("login.corp", &[&["10.0.0.9"]]),
            ("here.corp", &[&["127.0.0.1"]]),
            ("link.corp", &[&["169.254.1.1"]]),
            ("login.test", &[&["93.184.216.34"]]),
        ];
        let resolver = resolver("http://mcp.corp/", names);
        assert_eq!(found(&resolver, "mcp.corp").await, ["10.0.0.4"]);
        assert_eq!(found(&resolver, "login.corp").await, ["10.0.0.9"]);
        assert_eq!(found(&resolver, "login.test").await, ["93.184.216.34"]);
        assert_eq!(found(&resolver, "here.corp").await, [""; 0]);
        assert_eq!(found(&resolver, "link.corp").await, [""; 0]);
    }

    #[test]
    fn addresses_without_names_are_held_to_the_same() {
        let allows = |base: &str, url: &str| {
            let base = Url::parse(base).unwrap();
            let addresses = Addresses::with(&base, std::iter::empty(), Arc::new(System)).unwrap();
            addresses.allow(&Url::parse(url).unwrap())
        };
        for url in ["http://127.0.0.1/", "http://10.0.0.1/", "http://[::1]/", "http://localhost/"] {
            assert!(!allows("https://mcp.test/", url), "{url}");
            assert!(!allows("https://93.184.216.34/", url), "{url}");
        }
        assert!(allows("http://127.0.0.1:3000/", "http://localhost:4000/"));
        assert!(allows("http://localhost:3000/", "http://[::1]:4000/"));
        assert!(allows("http://192.168.1.2/", "http://10.0.0.1/"));
        assert!(!allows("http://192.168.1.2/", "http://127.0.0.1/"));
        for base in ["http://127.0.0.1/", "http://192.168.1.2/", "https://mcp.test/"] {
            assert!(!allows(base, "http://169.254.169.254/"), "{base}");
            assert!(!allows(base, "http://metadata.google.internal/"), "{base}");
            assert!(allows(base, "https://login.test/"), "{base}");
        }
    }
}
