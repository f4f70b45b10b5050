//! Tests what commands see of `/etc`, by its parts and by a copy of them.

use std::time::{Duration, Instant};

use chat_sandbox::Preference;

use crate::support::Scene;
use crate::unprivileged;

/// Says into a file of the project what is there, what links say, and what files hold.
const LOOK: &str = "exec > seen && cd /etc \
    && find . -mindepth 1 \\( -type l -o -readable \\) -printf '%P %y %l\\n' | sort \
    && find . -type f -readable -print0 | sort -z | xargs -0 sha256sum";

/// Whether it is a copy that is seen.
const IS_COPY: &str = "grep -q ' /etc ro' /proc/self/mountinfo";

#[test]
fn a_later_command_sees_by_a_copy_what_the_first_one_saw() {
    unprivileged::run(async || {
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        scene.run(format!("! {IS_COPY} && {LOOK}")).await.success();
        let first = seen(&scene);
        assert!(first.contains("\npasswd f"), "{first}");
        copied(&scene).await;
        scene.run(LOOK).await.success();
        assert_eq!(seen(&scene), first);
        for text in [": > /etc/new", ": >> /etc/passwd", "rm -f /etc/passwd", "chmod 700 /etc"] {
            assert!(!scene.run(text).await.exit.is_success(), "{text}");
        }
        scene.run(LOOK).await.success();
        assert_eq!(seen(&scene), first);
    });
}

#[test]
fn a_copy_that_was_taken_away_is_missed_by_nobody() {
    unprivileged::run(async || {
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        copied(&scene).await;
        let copies = std::fs::read_dir(scene.home(".cache/natter")).unwrap();
        for copy in copies {
            std::fs::remove_dir_all(copy.unwrap().path()).unwrap();
        }
        scene.run(format!("! {IS_COPY} && cat /etc/passwd")).await.success();
        copied(&scene).await;
    });
}

/// Runs commands until one sees the copy, which is made in the background.
async fn copied(scene: &Scene) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !scene.run(IS_COPY).await.exit.is_success() {
        assert!(Instant::now() < deadline, "no copy was made");
    }
}

fn seen(scene: &Scene) -> String {
    std::fs::read_to_string(scene.project("seen")).unwrap()
}
