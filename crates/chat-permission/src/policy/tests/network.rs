//! Tests which rules let a tool or a command reach a host, on the internet or nearby.

use super::*;

#[test]
fn a_command_needs_its_own_leave_for_the_network() {
    let request = Request::Run(Run { network: true, ..command("curl x") });
    assert_eq!(why(&["+run:*"], Mode::Ask, &request), Some(Why::CommandNetwork));
    assert_eq!(always(&["+run:*"], Mode::Ask, &request), ["run+network:curl x"]);
    // It may reach this machine and the local network: no rule about hosts allows that for a
    // command.
    for hosts in ["network:*", "network:local *", "network:local 127.0.0.1", "network:x"] {
        let hosts = format!("+{hosts}");
        assert_eq!(outcome(&["+run:*", &hosts], Mode::Ask, &request), "ask", "{hosts}");
        assert_eq!(outcome(&["+run:*", &hosts], Mode::Unattended, &request), "refuse", "{hosts}");
    }
    for allowed in ["+run+network:curl x", "+run+network:curl *", "+run+network:*"] {
        assert_eq!(outcome(&[allowed], Mode::Ask, &request), "pass", "{allowed}");
        assert_eq!(outcome(&[allowed], Mode::Unattended, &request), "pass", "{allowed}");
        assert_eq!(outcome(&[allowed], Mode::Ask, &run("curl x")), "pass", "{allowed}");
    }
    let piped = Request::Run(Run { network: true, ..command("curl x | jq .") });
    assert_eq!(
        always(&["+run:jq *"], Mode::Ask, &piped),
        ["run+network:curl x", "run+network:jq ."]
    );
    let denied = ["+run+network:*", "-network:evil.test"];
    assert!(matches!(why(&denied, Mode::Ask, &request), Some(Why::PerhapsDenied(_))));
    assert_eq!(outcome(&denied, Mode::Ask, &request), "ask");
    assert_eq!(outcome(&denied, Mode::Unattended, &request), "refuse");
    for denied in ["-network:*", "-network:local *", "-run:curl *", "-run+network:curl *"] {
        assert_eq!(outcome(&["+run+network:*", denied], Mode::Ask, &request), "refuse", "{denied}");
    }
    // What is denied with the network is not denied without it.
    assert_eq!(outcome(&["+run:*", "-run+network:*"], Mode::Ask, &run("curl x")), "pass");
    assert_eq!(outcome(&["+run:*", "-run+network:*"], Mode::Ask, &run("'")), "ask");
}

#[test]
fn a_rule_that_opened_every_host_opens_none_any_more() {
    let old = ["+network:local *", "+run:curl x"];
    for request in [host("example.org"), host("localhost"), host("192.168.1.5")] {
        assert_eq!(outcome(&old, Mode::Ask, &request), "ask", "{request:?}");
    }
    for text in ["curl x", "curl y"] {
        let request = Request::Run(Run { network: true, ..command(text) });
        assert_eq!(outcome(&old, Mode::Ask, &request), "ask", "{text}");
    }
    assert_eq!(outcome(&old, Mode::Ask, &run("curl x")), "pass");
    assert_eq!(outcome(&["-network:local *", "+network:*"], Mode::Ask, &host("a.b")), "refuse");
}

#[test]
fn hosts_pass_by_rule_and_private_ones_only_by_name() {
    assert_eq!(always(&[], Mode::Ask, &host("Example.ORG.")), ["network:example.org"]);
    assert_eq!(outcome(&["+network:*.example.org"], Mode::Ask, &host("www.example.org")), "pass");
    assert_eq!(
        outcome(&["+network:*", "-network:*.example.org"], Mode::Ask, &host("www.example.org")),
        "refuse"
    );
    assert_eq!(
        outcome(&["+network:example.org", "-network:example.net"], Mode::Ask, &host("evil.test")),
        "ask"
    );
    assert_eq!(why(&["+network:*"], Mode::Ask, &host("a b")), Some(Why::NoHost));
    let private =
        Request::Network { host: "127.1".to_owned(), private: true, leads_to: Vec::new() };
    assert_eq!(why(&["+network:*"], Mode::Ask, &private), Some(Why::PrivateAddress));
    assert_eq!(outcome(&["+network:*"], Mode::Ask, &private), "refuse");
    assert_eq!(outcome(&["+network:127.0.0.1"], Mode::Unattended, &private), "pass");
}

#[test]
fn leave_for_a_service_of_this_machine_is_none_for_the_others_there() {
    for address in ["127.0.0.1", "::1", "127.1", "0.0.0.0", "::"] {
        let service =
            Request::Network { host: address.to_owned(), private: false, leads_to: Vec::new() };
        let page =
            Request::Network { host: address.to_owned(), private: true, leads_to: Vec::new() };
        let stored = always(&[], Mode::Ask, &service);
        assert_eq!(stored, ["network:localhost"]);
        let stored = format!("+{}", stored[0]);
        assert_eq!(outcome(&[&stored], Mode::Unattended, &service), "pass");
        assert_eq!(why(&[&stored], Mode::Ask, &page), Some(Why::PrivateAddress));
        let by_name =
            Request::Network { host: "localhost".to_owned(), private: true, leads_to: Vec::new() };
        assert_eq!(why(&[&stored], Mode::Ask, &by_name), Some(Why::PrivateAddress));
        assert_eq!(outcome(&["+network:*", "-network:localhost"], Mode::Ask, &service), "refuse");
        assert_eq!(outcome(&[&format!("+network:{address}")], Mode::Ask, &service), "pass");
    }
    assert_eq!(always(&[], Mode::Ask, &host("93.184.216.34")), ["network:93.184.216.34"]);
}

#[test]
fn leave_for_a_service_of_the_local_network_is_none_for_the_rest_of_its_machine() {
    for address in [
        "192.168.1.5",
        "10.0.0.9",
        "172.16.0.1",
        "100.64.0.7",
        "169.254.1.1",
        "fd00::5",
        "198.18.0.1",
        "64:ff9b::c0a8:105",
    ] {
        let service =
            Request::Network { host: address.to_owned(), private: false, leads_to: Vec::new() };
        let page =
            Request::Network { host: address.to_owned(), private: true, leads_to: Vec::new() };
        let stored = always(&[], Mode::Ask, &service);
        assert_eq!(stored, [format!("network:service {address}")]);
        let stored = format!("+{}", stored[0]);
        assert_eq!(outcome(&[&stored], Mode::Unattended, &service), "pass");
        assert_eq!(why(&[&stored], Mode::Ask, &page), Some(Why::PrivateAddress));
        assert_eq!(outcome(&[&format!("+network:{address}")], Mode::Ask, &service), "pass");
        assert_eq!(outcome(&[&stored.replace('+', "-")], Mode::Ask, &service), "refuse");
    }
    let other =
        Request::Network { host: "192.168.1.6".to_owned(), private: false, leads_to: Vec::new() };
    assert_eq!(outcome(&["+network:service 192.168.1.5"], Mode::Ask, &other), "ask");
    let command = Request::Run(Run { network: true, ..command("curl x") });
    assert_eq!(outcome(&["+run:*", "+network:service 192.168.1.5"], Mode::Ask, &command), "ask");
}

#[test]
fn what_denies_an_address_denies_every_name_for_it() {
    let leading = |to: &str| {
        let (host, leads_to) = ("name.example".to_owned(), vec![to.parse().unwrap()]);
        Request::Network { host, private: false, leads_to }
    };
    let rules = ["+network:*", "-network:93.184.216.34", "-network:localhost"];
    for to in ["93.184.216.34", "64:ff9b::5db8:d822", "2002:5db8:d822::1", "127.0.0.1", "::"] {
        assert_eq!(outcome(&rules, Mode::Ask, &leading(to)), "refuse", "{to}");
    }
    assert_eq!(outcome(&rules, Mode::Ask, &leading("93.184.216.35")), "pass");
    // A rule that allows an address does not allow its names.
    assert_eq!(outcome(&["+network:93.184.216.34"], Mode::Ask, &leading("93.184.216.34")), "ask");
}

#[test]
fn leave_for_a_public_name_is_none_for_where_it_leads_later() {
    let name = host("rebind.test");
    let private =
        Request::Network { host: "rebind.test".to_owned(), private: true, leads_to: Vec::new() };
    let stored = always(&[], Mode::Ask, &name);
    assert_eq!(stored, ["network:rebind.test"]);
    let stored = format!("+{}", stored[0]);
    assert_eq!(outcome(&[&stored], Mode::Ask, &name), "pass");
    assert_eq!(why(&[&stored], Mode::Ask, &private), Some(Why::PrivateAddress));
    assert_eq!(outcome(&[&stored, "+network:local *"], Mode::Ask, &private), "refuse");
    for request in [name, private] {
        assert_eq!(outcome(&["+network:local rebind.test"], Mode::Ask, &request), "pass");
        assert_eq!(outcome(&["-network:local rebind.test"], Mode::Ask, &request), "refuse");
    }
}
