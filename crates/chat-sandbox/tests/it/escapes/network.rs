//! Tests reaching services outside, over any kind of socket.

use std::io::Read;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use chat_sandbox::Preference;

use super::attempt;
use crate::support::{Scene, WAYS};
use crate::unprivileged;

#[test]
fn this_machine_is_not_reached_unless_the_network_is_granted() {
    unprivileged::run(async || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let text = format!("echo hello > /dev/tcp/127.0.0.1/{port}");
        attempt(|_| text.clone()).await;
        assert!(listener.accept().is_ok());
        assert!(listener.accept().is_err(), "only the control may come through");
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            let mut command = scene.command(&text);
            command.network = true;
            scene.run_command(command).await.success();
            let (mut connection, _) = listener.accept().unwrap();
            connection.set_nonblocking(false).unwrap();
            let mut said = String::new();
            connection.read_to_string(&mut said).unwrap();
            assert_eq!(said, "hello\n", "{way:?}");
        }
    });
}

/// Connects to a Unix socket whose address Python reads from this literal.
fn connect(address: &str) -> String {
    format!(
        "python3 -c \"import socket; s = socket.socket(socket.AF_UNIX); s.connect({address}); \
         s.send(b'x')\""
    )
}

#[test]
fn sockets_of_the_session_are_not_reached_with_the_network_either() {
    unprivileged::run(async || {
        for network in [false, true] {
            for way in WAYS {
                let Some(scene) = Scene::new(way).await else { continue };
                let name = format!("natter-escape-{}", std::process::id());
                let hidden = SocketAddr::from_abstract_name(&name).unwrap();
                let abstract_socket = UnixListener::bind_addr(&hidden).unwrap();
                let by_path = UnixListener::bind(scene.beside("bus")).unwrap();
                let path = scene.beside("bus");
                for (listener, address) in [
                    (abstract_socket, format!("b'\\0{name}'")),
                    (by_path, format!("'{}'", path.display())),
                ] {
                    listener.set_nonblocking(true).unwrap();
                    let mut command = scene.command(connect(&address));
                    command.network = network;
                    let outcome = scene.run_command(command).await;
                    let succeeds = way == Preference::None;
                    assert_eq!(outcome.exit.is_success(), succeeds, "{way:?}: {outcome:?}");
                    assert_eq!(listener.accept().is_ok(), succeeds, "{way:?} {address}");
                }
            }
        }
    });
}

#[test]
fn names_are_resolved_as_outside_where_the_network_is_granted() {
    unprivileged::run(async || {
        let Ok(expected) = std::fs::read_to_string("/etc/resolv.conf") else { return };
        for way in [Preference::Bubblewrap, Preference::Landlock] {
            let Some(scene) = Scene::new(way).await else { continue };
            let mut command = scene.command("cat /etc/resolv.conf");
            command.network = true;
            let outcome = scene.run_command(command).await;
            assert_eq!(outcome.success(), expected.trim_end(), "{way:?}");
        }
    });
}

#[test]
fn programs_inside_reach_each_other() {
    unprivileged::run(async || {
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        let text = "python3 -c \"
import socket
for family, address in [(socket.AF_INET, ('127.0.0.1', 0)), (socket.AF_UNIX, 'here')]:
    listener = socket.socket(family); listener.bind(address); listener.listen()
    socket.socket(family).connect(listener.getsockname()); listener.accept()
\"";
        scene.run(text).await.success();
    });
}
