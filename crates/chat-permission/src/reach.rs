//! Classifies where an address leads: to the open internet, or somewhere near that is not meant for
//! a model.
//!
//! A pure function of the address, based on IANA's special-purpose registries for IPv4 and IPv6
//! (RFC 6890 and its successors). An address that contains an IPv4 address (mapped, translated,
//! NAT64, 6to4, Teredo, ISATAP) is judged by that one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where an address leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// To the open internet.
    Public,
    /// To this very machine.
    ThisMachine,
    /// To a private network, or to a provider's network behind its translation.
    Private,
    /// To neighbours on the same link.
    LinkLocal,
    /// To a cloud's metadata service, which holds secrets.
    Metadata,
    /// To many machines at once.
    Multicast,
    /// To nobody: reserved, for documentation, or for measurements.
    Reserved,
}

impl Reach {
    /// Whether it is the open internet.
    pub fn is_public(self) -> bool {
        self == Self::Public
    }

    /// The one of two that is farther from the open internet: first what the user cannot even
    /// reach, then what only they can, by name.
    #[must_use]
    pub fn farther(self, other: Self) -> Self {
        let distance = |reach| match reach {
            Self::Public => 0,
            Self::ThisMachine | Self::Private | Self::LinkLocal => 1,
            Self::Multicast | Self::Reserved => 2,
            Self::Metadata => 3,
        };
        if distance(other) > distance(self) { other } else { self }
    }

    /// Describes it in words that follow "it is".
    pub fn words(self) -> &'static str {
        match self {
            Self::Public => "a public internet address",
            Self::ThisMachine => "this computer itself",
            Self::Private => "a private network address",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "a cloud metadata address",
            Self::Multicast => "a multicast address",
            Self::Reserved => "a reserved address",
        }
    }
}

/// Names that lead somewhere near, whatever they resolve to.
const METADATA_NAMES: [&str; 5] = [
    "metadata.google.internal",
    "metadata.goog",
    "metadata",
    "instance-data",
    "instance-data.ec2.internal",
];

/// IPv4 blocks that are not the open internet: the first address, the prefix length, and what it
/// is. The first match counts.
const BLOCKS: &[(Ipv4Addr, u32, Reach)] = &[
    // Amazon, Google, Azure and many others; Amazon's containers; Alibaba; Oracle; Azure's host.
    (Ipv4Addr::new(169, 254, 169, 254), 32, Reach::Metadata),
    (Ipv4Addr::new(169, 254, 170, 2), 32, Reach::Metadata),
    (Ipv4Addr::new(169, 254, 170, 23), 32, Reach::Metadata),
    (Ipv4Addr::new(100, 100, 100, 200), 32, Reach::Metadata),
    (Ipv4Addr::new(192, 0, 0, 192), 32, Reach::Metadata),
    (Ipv4Addr::new(168, 63, 129, 16), 32, Reach::Metadata),
    // A connection to 0.0.0.0 reaches this machine.
    (Ipv4Addr::UNSPECIFIED, 8, Reach::ThisMachine),
    (Ipv4Addr::new(127, 0, 0, 0), 8, Reach::ThisMachine),
    (Ipv4Addr::new(10, 0, 0, 0), 8, Reach::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Reach::Private),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Reach::Private),
    (Ipv4Addr::new(192, 168, 0, 0), 16, Reach::Private),
    (Ipv4Addr::new(169, 254, 0, 0), 16, Reach::LinkLocal),
    (Ipv4Addr::new(192, 0, 0, 0), 24, Reach::Reserved),
    (Ipv4Addr::new(192, 0, 2, 0), 24, Reach::Reserved),
    (Ipv4Addr::new(192, 88, 99, 0), 24, Reach::Reserved),
    (Ipv4Addr::new(198, 18, 0, 0), 15, Reach::Reserved),
    (Ipv4Addr::new(198, 51, 100, 0), 24, Reach::Reserved),
    (Ipv4Addr::new(203, 0, 113, 0), 24, Reach::Reserved),
    (Ipv4Addr::new(224, 0, 0, 0), 4, Reach::Multicast),
    (Ipv4Addr::new(240, 0, 0, 0), 4, Reach::Reserved),
];

/// Amazon's and Google's metadata services over IPv6.
const METADATA_V6: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254),
    Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254),
];

/// Where an address leads.
pub fn judge(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => judge_v4(address),
        IpAddr::V6(address) => judge_v6(address),
    }
}

/// Where a host leads by its name alone; an unremarkable name is public until its addresses are
/// known.
pub fn judge_name(name: &str) -> Reach {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    if name == "localhost" || name.ends_with(".localhost") {
        Reach::ThisMachine
    } else if METADATA_NAMES.contains(&name.as_str()) {
        Reach::Metadata
    } else {
        Reach::Public
    }
}

/// The IPv4 address inside an address, if a machine on the way translates it.
pub fn within(address: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(address) = address else { return None };
    let words = address.segments();
    match words {
        [0, 0, 0, 0, 0, 0xffff, ..]
        | [0, 0, 0, 0, 0xffff, 0, ..]
        | [0x64, 0xff9b, 0, 0, 0, 0, ..]
        | [0x64, 0xff9b, 1, ..] => Some(v4(words[6], words[7])),
        [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

fn judge_v4(address: Ipv4Addr) -> Reach {
    let bits = address.to_bits();
    let fits = |&&(first, length, _): &&(Ipv4Addr, u32, Reach)| {
        (bits ^ first.to_bits()).leading_zeros() >= length
    };
    BLOCKS.iter().find(fits).map_or(Reach::Public, |&(_, _, reach)| reach)
}

fn judge_v6(address: Ipv6Addr) -> Reach {
    if METADATA_V6.contains(&address) {
        return Reach::Metadata;
    }
    let words = address.segments();
    let ending = v4(words[6], words[7]);
    match words {
        // Mapped (RFC 4291), translated (RFC 2765), NAT64 (RFC 6052).
        [0, 0, 0, 0, 0, 0xffff, ..]
        | [0, 0, 0, 0, 0xffff, 0, ..]
        | [0x64, 0xff9b, 0, 0, 0, 0, ..] => judge_v4(ending),
        // Compatible (RFC 4291): nobody routes it any more. `::` and `::1` are read as 0.0.0.0 and
        // 0.0.0.1, which are this machine, too.
        [0, 0, 0, 0, 0, 0, ..] => not_public(judge_v4(ending)),
        // NAT64 of a private network (RFC 8215).
        [0x64, 0xff9b, 1, ..] => Reach::Private,
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => judge_v4(v4(high, low)),
        // Teredo (RFC 4380): the server's address, and the client's with all bits inverted.
        [0x2001, 0, high, low, ..] => worse(judge_v4(v4(high, low)), judge_v4(!ending)),
        [first, ..] if first & 0xff00 == 0xff00 => Reach::Multicast,
        [first, ..] if first & 0xffc0 == 0xfe80 => Reach::LinkLocal,
        // Unique local (RFC 4193), and the former site local.
        [first, ..] if first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfec0 => Reach::Private,
        // Protocol assignments (RFC 2928), documentation (RFC 3849, RFC 9637).
        [0x2001, second, ..] if second < 0x0200 => Reach::Reserved,
        [0x2001, 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => Reach::Reserved,
        // The range that is assigned for the open internet.
        [0x2000..=0x3fff, ..] => match words {
            // ISATAP (RFC 5214): an IPv4 address at the end of any network.
            [.., 0x0000 | 0x0200, 0x5efe, _, _] => judge_v4(ending),
            _ => Reach::Public,
        },
        _ => Reach::Reserved,
    }
}

fn v4(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}

fn not_public(reach: Reach) -> Reach {
    worse(Reach::Reserved, reach)
}

/// The one of two that is not public; the second if neither is.
fn worse(one: Reach, other: Reach) -> Reach {
    if other.is_public() { one } else { other }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const ALL: [Reach; 7] = [
        Reach::Public,
        Reach::ThisMachine,
        Reach::Private,
        Reach::LinkLocal,
        Reach::Multicast,
        Reach::Reserved,
        Reach::Metadata,
    ];

    #[test]
    fn of_two_places_the_farther_counts_and_of_two_as_far_the_first() {
        for (index, one) in ALL.into_iter().enumerate() {
            for (other_index, other) in ALL.into_iter().enumerate() {
                let near =
                    |reach| matches!(reach, Reach::ThisMachine | Reach::Private | Reach::LinkLocal);
                let far = |reach| matches!(reach, Reach::Multicast | Reach::Reserved);
                let are_as_far = near(one) && near(other) || far(one) && far(other);
                let expected = if are_as_far || index >= other_index { one } else { other };
                assert_eq!(one.farther(other), expected, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn every_place_has_words_of_its_own() {
        let mut words = ALL.map(Reach::words);
        assert!(words.iter().all(|words| words.contains(' ')));
        words.sort_unstable();
        assert!(words.windows(2).all(|two| two[0] != two[1]));
    }

    fn at(address: &str) -> Reach {
        judge(address.parse().unwrap())
    }

    #[rstest]
    #[case("127.0.0.1", Reach::ThisMachine)]
    #[case("127.255.255.255", Reach::ThisMachine)]
    #[case("0.0.0.0", Reach::ThisMachine)]
    #[case("0.1.2.3", Reach::ThisMachine)]
    #[case("10.0.0.1", Reach::Private)]
    #[case("172.16.0.0", Reach::Private)]
    #[case("172.31.255.255", Reach::Private)]
    #[case("192.168.178.1", Reach::Private)]
    #[case("100.64.0.0", Reach::Private)]
    #[case("100.127.255.255", Reach::Private)]
    #[case("169.254.0.1", Reach::LinkLocal)]
    #[case("169.254.169.254", Reach::Metadata)]
    #[case("100.100.100.200", Reach::Metadata)]
    #[case("168.63.129.16", Reach::Metadata)]
    #[case("192.0.0.192", Reach::Metadata)]
    #[case("192.0.2.1", Reach::Reserved)]
    #[case("198.19.255.255", Reach::Reserved)]
    #[case("224.0.0.251", Reach::Multicast)]
    #[case("255.255.255.255", Reach::Reserved)]
    #[case("::", Reach::ThisMachine)]
    #[case("::1", Reach::ThisMachine)]
    #[case("::2", Reach::ThisMachine)]
    #[case("::8.8.8.8", Reach::Reserved)]
    #[case("fc00::1", Reach::Private)]
    #[case("fdff::1", Reach::Private)]
    #[case("fec0::1", Reach::Private)]
    #[case("fe80::1", Reach::LinkLocal)]
    #[case("febf::1", Reach::LinkLocal)]
    #[case("ff02::fb", Reach::Multicast)]
    #[case("fd00:ec2::254", Reach::Metadata)]
    #[case("fd20:ce::254", Reach::Metadata)]
    #[case("64:ff9b:1::8.8.8.8", Reach::Private)]
    #[case("2001:db8::1", Reach::Reserved)]
    #[case("2001:2::1", Reach::Reserved)]
    #[case("3fff:fff::1", Reach::Reserved)]
    #[case("100::1", Reach::Reserved)]
    #[case("5f00::1", Reach::Reserved)]
    #[case("4000::1", Reach::Reserved)]
    // The neighbours of each block are on the open internet.
    #[case("1.0.0.0", Reach::Public)]
    #[case("9.255.255.255", Reach::Public)]
    #[case("11.0.0.0", Reach::Public)]
    #[case("100.63.255.255", Reach::Public)]
    #[case("100.128.0.0", Reach::Public)]
    #[case("126.255.255.255", Reach::Public)]
    #[case("128.0.0.0", Reach::Public)]
    #[case("169.253.255.255", Reach::Public)]
    #[case("169.255.0.0", Reach::Public)]
    #[case("172.15.255.255", Reach::Public)]
    #[case("172.32.0.0", Reach::Public)]
    #[case("192.0.1.0", Reach::Public)]
    #[case("192.0.3.0", Reach::Public)]
    #[case("192.88.98.255", Reach::Public)]
    #[case("192.88.100.0", Reach::Public)]
    #[case("192.167.255.255", Reach::Public)]
    #[case("192.169.0.0", Reach::Public)]
    #[case("198.17.255.255", Reach::Public)]
    #[case("198.20.0.0", Reach::Public)]
    #[case("198.51.99.255", Reach::Public)]
    #[case("198.51.101.0", Reach::Public)]
    #[case("203.0.112.255", Reach::Public)]
    #[case("203.0.114.0", Reach::Public)]
    #[case("223.255.255.255", Reach::Public)]
    #[case("168.63.129.17", Reach::Public)]
    #[case("2000::1", Reach::Public)]
    #[case("2001:200::1", Reach::Public)]
    #[case("2001:db7:ffff::1", Reach::Public)]
    #[case("2001:db9::1", Reach::Public)]
    #[case("2606:4700::1111", Reach::Public)]
    #[case("3fff:1000::1", Reach::Public)]
    fn the_blocks_and_their_neighbours(#[case] address: &str, #[case] reach: Reach) {
        assert_eq!(at(address), reach, "{address}");
    }

    #[rstest]
    #[case("localhost", Reach::ThisMachine)]
    #[case("LOCALHOST.", Reach::ThisMachine)]
    #[case("db.localhost", Reach::ThisMachine)]
    #[case("metadata.google.internal", Reach::Metadata)]
    #[case("Metadata.Google.Internal.", Reach::Metadata)]
    #[case("notlocalhost", Reach::Public)]
    #[case("localhost.example.org", Reach::Public)]
    #[case("metadata.google.internal.example.org", Reach::Public)]
    fn some_names_are_near_whatever_they_resolve_to(#[case] name: &str, #[case] reach: Reach) {
        assert_eq!(judge_name(name), reach);
    }

    /// Every form of an IPv6 address that contains an IPv4 address, written as text.
    fn carriers(inner: Ipv4Addr) -> Vec<IpAddr> {
        let hexadecimal = |bits: u32| format!("{:x}:{:x}", bits >> 16, bits & 0xffff);
        let (bits, turned) = (hexadecimal(inner.to_bits()), hexadecimal(!inner.to_bits()));
        [
            format!("::ffff:{inner}"),
            format!("::ffff:0:{inner}"),
            format!("64:ff9b::{inner}"),
            format!("2002:{bits}::1"),
            // Once as the client's address, once as the server's; the other is 8.8.8.8.
            format!("2001:0:808:808:0:0:{turned}"),
            format!("2001:0:{bits}:0:0:f7f7:f7f7"),
            format!("2606:4700::5efe:{inner}"),
            format!("2606:4700::200:5efe:{inner}"),
        ]
        .map(|text| text.parse().unwrap())
        .to_vec()
    }

    /// Some addresses of each block, since random ones would rarely hit them.
    fn any_v4() -> impl Strategy<Value = Ipv4Addr> {
        let near = (0..BLOCKS.len(), any::<u32>()).prop_map(|(block, random)| {
            let (first, length, _) = BLOCKS[block];
            let own = u32::MAX.checked_shr(length).unwrap_or(0);
            Ipv4Addr::from_bits(first.to_bits() | random & own)
        });
        prop_oneof![any::<u32>().prop_map(Ipv4Addr::from_bits), near]
    }

    proptest! {
        #[test]
        fn what_carries_an_address_leads_where_that_leads(inner in any_v4()) {
            let reach = judge(inner.into());
            for carrier in carriers(inner) {
                prop_assert_eq!(judge(carrier), reach, "{} in {}", inner, carrier);
            }
        }

        #[test]
        fn what_the_standard_library_calls_near_is_not_public(inner in any_v4()) {
            let near = inner.is_private() || inner.is_loopback() || inner.is_link_local()
                || inner.is_broadcast() || inner.is_documentation() || inner.is_unspecified()
                || inner.is_multicast();
            prop_assert!(!near || !judge(inner.into()).is_public(), "{}", inner);
        }

        #[test]
        fn the_same_for_the_longer_ones(bits: u128) {
            let address = Ipv6Addr::from_bits(bits);
            let near = address.is_loopback() || address.is_multicast() || address.is_unspecified()
                || address.is_unique_local() || address.is_unicast_link_local();
            prop_assert!(!near || !judge(address.into()).is_public(), "{}", address);
            // Only one eighth of all addresses is assigned.
            prop_assert!(!judge(address.into()).is_public() || bits >> 125 == 1
                || carries_v4(address), "{}", address);
        }
    }

    fn carries_v4(address: Ipv6Addr) -> bool {
        address.segments()[..4] == [0; 4] || address.segments()[..6] == [0x64, 0xff9b, 0, 0, 0, 0]
    }
}
