//! Tests `ask_user`, `update_todos` and `fetch_output`.

use chat_core::message::{Question, Todo, TodoState, ToolView};
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn a_question_reaches_the_person_and_the_answer_the_model() {
    let world = World::new();
    let said = world
        .says("ask_user", json!({ "question": "Which colour?", "choices": ["red", "blue"] }))
        .await;
    assert_eq!(said, "The user answered: blue");
    let question = Question {
        text: "Which colour?".to_owned(),
        choices: vec!["red".to_owned(), "blue".to_owned()],
    };
    assert_eq!(*world.host.questions.lock().unwrap(), [question]);
    assert!(world.fails("ask_user", json!({ "question": " " })).await.contains("empty"));
    assert!(
        world
            .fails("ask_user", json!({ "question": "a", "choices": [""] }))
            .await
            .contains("choices")
    );
}

#[tokio::test]
async fn the_plan_is_replaced_whole() {
    let world = World::new();
    let todos = json!([{ "text": "read", "state": "done" }, { "text": "write", "state": "doing" }]);
    let output = world.call("update_todos", json!({ "todos": todos })).await.unwrap();
    assert_eq!(output.text, "Plan updated: 1 of 2 steps done");
    let plan = vec![
        Todo { text: "read".to_owned(), state: TodoState::Done },
        Todo { text: "write".to_owned(), state: TodoState::Doing },
    ];
    assert_eq!(*world.host.todos.lock().unwrap(), plan);
    assert_eq!(output.view, Some(ToolView::Todos { todos: plan }));
    assert!(
        world
            .fails("update_todos", json!({ "todos": [{ "text": "", "state": "open" }] }))
            .await
            .contains("needs a text")
    );
}

#[tokio::test]
async fn parts_of_an_output_are_fetched_by_its_name_alone() {
    let world = World::new();
    world.put_outside("outputs/out1.txt", "one\ntwo\n");
    world.put_outside("secret.txt", "secret");
    assert_eq!(world.says("fetch_output", json!({ "id": "out1", "from": 2 })).await, "2\ttwo\n");
    for id in ["../secret", "out2", "out1.txt", "/etc/passwd"] {
        assert!(
            world
                .fails("fetch_output", json!({ "id": id }))
                .await
                .starts_with("There is no output"),
            "{id}"
        );
    }
    assert_eq!(
        world.fails("fetch_output", json!({ "id": "out1", "from": 3 })).await,
        "The output has only 2 lines."
    );
}
