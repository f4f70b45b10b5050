//! Tests attempts to escape from the sandbox. Each fails with every back end, and the command gets
//! an error. Each has its controls: it succeeds where nothing is enforced, and a similar allowed
//! command succeeds inside.

mod data;
mod files;
mod left_over;
mod limits;
mod meanwhile;
mod nested;
mod network;
mod processes;
mod project;
mod repositories;
mod secrets;
mod system;

use chat_sandbox::{Enforcement, Preference, Sandbox};

use crate::support::{Outcome, Scene, WAYS};
use crate::unprivileged;

/// Where nothing enforces, none of what follows proves anything.
#[test]
fn something_enforces_here() {
    unprivileged::run(async || {
        let sandbox = Sandbox::probe(Preference::Best).await;
        assert_ne!(sandbox.enforcement(), Enforcement::None, "{:?}", sandbox.why_not());
    });
}

/// An attempt in each way: it fails where something enforces, and succeeds where nothing does.
async fn attempt(prepare: impl Fn(&Scene) -> String) -> Vec<(Preference, Scene, Outcome)> {
    let mut outcomes = Vec::new();
    for way in WAYS {
        let Some(scene) = Scene::new(way).await else { continue };
        let text = prepare(&scene);
        let outcome = scene.run(&text).await;
        if way == Preference::None {
            assert!(outcome.exit.is_success(), "without a sandbox: {text}: {outcome:?}");
        } else {
            assert!(!outcome.exit.is_success(), "{way:?}: {text}: {outcome:?}");
            assert!(!outcome.said.trim().is_empty(), "{way:?} says nothing: {text}");
        }
        outcomes.push((way, scene, outcome));
    }
    outcomes
}

/// Something lawful, which succeeds in each way.
async fn lawful(prepare: impl Fn(&Scene) -> String) {
    for way in WAYS {
        let Some(scene) = Scene::new(way).await else { continue };
        let text = prepare(&scene);
        let outcome = scene.run(&text).await;
        assert!(outcome.exit.is_success(), "{way:?}: {text}: {outcome:?}");
    }
}
