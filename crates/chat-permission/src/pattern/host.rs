//! Matches patterns of hosts: a name, an address, `*.example.org` for every name below it, or `*`
//! for all.
//!
//! The owner of a name decides where it leads, so none of these patterns allows this machine or the
//! local network, except an address itself. `local printer.example` does: it is the host wherever
//! it leads. `local *` was stored with commands that got the network; it denies every host and
//! allows none. `service 192.168.1.5` is the service that the user set up at an address of the
//! local network, and nothing else there.
//!
//! Names and addresses are normalized first, as in browsers: lower case, punycode, no trailing dot,
//! `127.1` and `0x7f000001` as `127.0.0.1`.

use std::fmt;
use std::net::IpAddr;

use super::InvalidPattern;
use crate::reach::{Reach, judge, within};

/// A normalized host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name.
    Name(String),
    /// An address; an IPv4 address that is written as IPv6 counts as IPv4.
    Address(IpAddr),
}

impl Host {
    /// Parses a name or an address, IPv6 with or without brackets; no port, no scheme.
    pub fn new(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return Some(Self::Address(address.to_canonical()));
        }
        let text = text.strip_suffix('.').unwrap_or(text);
        match url::Host::parse(text).ok()? {
            url::Host::Domain(name) if has_labels(&name) => Some(Self::Name(name)),
            url::Host::Domain(_) => None,
            url::Host::Ipv4(address) => Some(Self::Address(address.into())),
            url::Host::Ipv6(address) => Some(Self::Address(IpAddr::from(address).to_canonical())),
        }
    }
}

impl Host {
    /// What rules may call an address: itself, an IPv4 address within it, and `localhost` for this
    /// machine.
    pub(crate) fn of(address: IpAddr) -> Vec<Self> {
        let within = within(address).map(IpAddr::from);
        let mut hosts = vec![Self::Address(address.to_canonical())];
        hosts.extend(within.map(Self::Address).filter(|within| *within != hosts[0]));
        if hosts.iter().any(Self::is_this_machine) {
            hosts.push(Self::Name("localhost".to_owned()));
        }
        hosts
    }

    /// Whether it is an address of this machine itself.
    pub(crate) fn is_this_machine(&self) -> bool {
        self.reach() == Some(Reach::ThisMachine)
    }

    /// Whether it is an address that is neither on the open internet nor on this machine.
    pub(crate) fn is_nearby(&self) -> bool {
        self.reach().is_some_and(|reach| !reach.is_public() && reach != Reach::ThisMachine)
    }

    /// Where an address leads.
    fn reach(&self) -> Option<Reach> {
        match self {
            Self::Address(address) => Some(judge(*address)),
            Self::Name(_) => None,
        }
    }
}

/// A `*` is not allowed in a name, and no label is empty.
fn has_labels(name: &str) -> bool {
    !name.contains('*') && name.split('.').all(|label| !label.is_empty())
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => address.fmt(f),
        }
    }
}

/// Which hosts a rule applies to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HostPattern {
    /// `*`: every host.
    Any,
    /// `*.NAME`: every name below this one, but not itself.
    Below(String),
    /// Just this host.
    Exactly(Host),
    /// `local HOST`: just this host, even on this machine or the local network.
    Local(Host),
    /// `service ADDRESS`: the service that the user set up at this address of the local network,
    /// and nothing else there.
    Service(Host),
    /// `local *`: every host if it denies, none if it allows.
    LocalAny,
}

impl HostPattern {
    /// Parses a pattern.
    pub fn new(text: &str) -> Result<Self, InvalidPattern> {
        let text = text.trim();
        let bad = || InvalidPattern::Host(text.to_owned());
        match text {
            "" => Err(InvalidPattern::Empty),
            "*" => Ok(Self::Any),
            _ if text.starts_with("local ") => match text["local ".len()..].trim_start() {
                "*" => Ok(Self::LocalAny),
                host => Host::new(host).map(Self::Local).ok_or_else(bad),
            },
            _ if text.starts_with("service ") => Host::new(text["service ".len()..].trim_start())
                .filter(Host::is_nearby)
                .map(Self::Service)
                .ok_or_else(bad),
            _ => match text.strip_prefix("*.") {
                Some(parent) => match Host::new(parent).ok_or_else(bad)? {
                    Host::Name(name) => Ok(Self::Below(name)),
                    Host::Address(_) => Err(bad()),
                },
                None => Host::new(text).map(Self::Exactly).ok_or_else(bad),
            },
        }
    }

    /// Whether the rule applies to this host.
    pub fn matches(&self, host: &Host) -> bool {
        match (self, host) {
            (Self::Any | Self::LocalAny, _) => true,
            (Self::Below(parent), Host::Name(name)) => {
                name.strip_suffix(parent.as_str()).is_some_and(|child| child.ends_with('.'))
            }
            (Self::Below(_), Host::Address(_)) => false,
            (Self::Exactly(wanted) | Self::Local(wanted) | Self::Service(wanted), host) => {
                wanted == host
            }
        }
    }

    /// Whether an allow rule for this host also allows it if it is this machine or on the local
    /// network. An address always leads to itself; for a name, the rule must say so.
    pub(crate) fn holds_nearby(&self) -> bool {
        matches!(self, Self::Local(_) | Self::Exactly(Host::Address(_)))
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Below(name) => write!(f, "*.{name}"),
            Self::Exactly(host) => host.fmt(f),
            Self::Local(host) => write!(f, "local {host}"),
            Self::Service(host) => write!(f, "service {host}"),
            Self::LocalAny => f.write_str("local *"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, host: &str) -> bool {
        HostPattern::new(pattern).unwrap().matches(&Host::new(host).unwrap())
    }

    #[test]
    fn a_host_has_one_form() {
        assert!(matches("Example.org", "example.ORG."));
        assert!(matches("bücher.example", "xn--bcher-kva.example"));
        assert!(matches("127.0.0.1", "127.1"));
        assert!(matches("127.0.0.1", "0x7f000001"));
        assert!(matches("127.0.0.1", "[::ffff:127.0.0.1]"));
        assert!(matches("127.0.0.1", "::ffff:7f00:1"));
        assert!(matches("::1", "[0:0:0:0:0:0:0:1]"));
        assert!(!matches("example.org", "example.org.evil.test"));
        assert!(!matches("127.0.0.1", "127.0.0.2"));
    }

    #[test]
    fn a_star_is_for_names_below() {
        assert!(matches("*.example.org", "www.Example.org"));
        assert!(matches("*.example.org", "a.b.example.org."));
        assert!(!matches("*.example.org", "example.org"));
        assert!(!matches("*.example.org", "badexample.org"));
        assert!(!matches("*.example.org", "www.example.org.evil.test"));
        assert!(matches("*", "10.0.0.1"));
        assert!(matches("*", "example.org"));
        assert!(!matches("*.org", "127.0.0.1"));
    }

    #[test]
    fn an_address_is_near_by_one_judgement() {
        let at = |address| Host::new(address).unwrap();
        for address in ["127.0.0.1", "0.0.0.0", "[::]", "::1", "::ffff:127.0.0.1"] {
            assert!(at(address).is_this_machine() && !at(address).is_nearby(), "{address}");
        }
        let near = [
            "192.168.1.5",
            "169.254.1.1",
            "100.64.0.1",
            "198.18.0.1",
            "fd00::5",
            "fe80::1",
            "fec0::1",
            "64:ff9b::c0a8:105",
            "2002:c0a8:105::1",
        ];
        for address in near {
            assert!(at(address).is_nearby() && !at(address).is_this_machine(), "{address}");
        }
        assert!(!at("93.184.216.34").is_nearby() && !at("example.org").is_nearby());
    }

    #[test]
    fn what_is_no_host_is_no_pattern() {
        for text in [
            "a b",
            "http://example.org",
            "example.org:80",
            "*.*.org",
            "w*.example.org",
            "*.127.0.0.1",
            ".",
            "a..b",
            "[::1",
            "*.",
            "local a b",
            "local *.example.org",
            "local local a",
            "service printer.example",
            "service 93.184.215.14",
            "service 127.0.0.1",
            "service *",
        ] {
            assert_eq!(
                HostPattern::new(text),
                Err(InvalidPattern::Host(text.to_owned())),
                "{text}"
            );
        }
        assert_eq!(HostPattern::new(" "), Err(InvalidPattern::Empty));
    }

    #[test]
    fn it_is_written_as_it_is_read() {
        for text in [
            "*",
            "*.example.org",
            "example.org",
            "::1",
            "10.0.0.1",
            "local *",
            "local example.org",
            "local ::1",
            "service 192.168.1.5",
            "service fd00::5",
            "local",
        ] {
            assert_eq!(HostPattern::new(text).unwrap().to_string(), text);
        }
        assert_eq!(HostPattern::new(" local   a ").unwrap().to_string(), "local a");
    }

    #[test]
    fn a_name_is_of_this_machine_only_where_the_rule_says_so() {
        let nearby = |pattern: &str| HostPattern::new(pattern).unwrap().holds_nearby();
        assert!(nearby("local example.org"));
        assert!(nearby("local 127.0.0.1"));
        assert!(nearby("127.0.0.1"));
        for pattern in ["example.org", "local", "*.example.org", "*", "local *", "service 10.0.0.1"]
        {
            assert!(!nearby(pattern), "{pattern}");
        }
        assert!(matches("local Example.org", "example.org"));
        assert!(!matches("local example.org", "www.example.org"));
        assert!(matches("local *", "10.0.0.1"));
    }
}
