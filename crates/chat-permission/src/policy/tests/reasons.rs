//! Why something is asked: every reason, the most serious first.

use super::*;

#[test]
fn of_several_things_the_most_serious_is_told() {
    let request =
        Request::Run(Run { sandboxed: false, network: true, ..command("ls $x > /tmp/x") });
    assert_eq!(why(&[], Mode::Ask, &request), Some(Why::Unsandboxed));
    let own = path("/etc/hosts").guarded(Guard::Own);
    assert_eq!(why(&["-read:/**"], Mode::Ask, &Request::Read { path: own }), Some(Why::Own));
}

#[test]
fn every_reason_is_told_and_none_hides_behind_what_is_unknown() {
    let word = str::to_owned;
    let reaching = |text| Request::Run(Run { network: true, ..command(text) });
    for (request, expected) in [
        (run("make; make"), vec![Why::Mode]),
        (
            reaching("A=1 curl $x < /etc/hosts"),
            vec![
                Why::Outside,
                Why::CommandNetwork,
                Why::NotLiteral(word("$x")),
                Why::Assignment(word("A")),
            ],
        ),
        (
            run("A=1 B=2 make $x $y > /tmp/x; sudo make"),
            vec![
                Why::Outside,
                Why::HandsOver(word("sudo")),
                Why::NotLiteral(word("$x")),
                Why::NotLiteral(word("$y")),
                Why::Assignment(word("A")),
                Why::Assignment(word("B")),
            ],
        ),
        (reaching("sudo make"), vec![Why::CommandNetwork, Why::HandsOver(word("sudo"))]),
        (
            reaching("echo $x | bash"),
            vec![Why::CommandNetwork, Why::RunsInput(word("bash")), Why::NotLiteral(word("$x"))],
        ),
        (run("cat /etc/hosts .env"), vec![Why::Secret(word(".env")), Why::Outside]),
        (read("/etc/.env"), vec![Why::Secret(word("/etc/.env")), Why::Outside]),
        (
            Request::Read { path: path("/etc/hosts").with_several_links() },
            vec![Why::Outside, Why::SeveralLinks],
        ),
        (
            Request::Run(Run { sandboxed: false, network: true, ..command("ls $x > /tmp/x") }),
            vec![Why::Unsandboxed, Why::Outside, Why::CommandNetwork, Why::NotLiteral(word("$x"))],
        ),
    ] {
        assert_eq!(reasons(&[], Mode::Ask, &request), expected, "{request:?}");
    }
    let unknown = reasons(&[], Mode::Ask, &reaching("'"));
    assert!(matches!(&unknown[..], [Why::CommandNetwork, Why::Unparsable(_)]), "{unknown:?}");
    let rules = ["-run:rm *"];
    assert_eq!(
        reasons(&rules, Mode::Ask, &reaching("sudo $x")),
        [
            Why::PerhapsDenied(word("run:rm *")),
            Why::CommandNetwork,
            Why::HandsOver(word("sudo")),
            Why::NotLiteral(word("$x")),
        ]
    );
    // A rule removes the reasons that it allows, and no others.
    assert_eq!(
        reasons(&["+run+network:curl x"], Mode::Ask, &reaching("curl x > /tmp/x")),
        [Why::Outside]
    );
}
