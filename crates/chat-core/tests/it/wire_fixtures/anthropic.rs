//! Tests what the client makes of the answers of Anthropic's server.

use super::*;

#[tokio::test]
async fn anthropic() {
    let provider = |json: &str| Delta::Provider {
        call: None,
        data: ProviderData {
            origin: Origin {
                protocol: "anthropic".to_owned(),
                connection: "here".to_owned(),
                server: Some("there".to_owned()),
                model: "scripted".to_owned(),
            },
            json: json.to_owned(),
        },
    };
    let (deltas, error) = streamed(ANTHROPIC, Fixture::ANTHROPIC.read("stream.sse")).await;
    assert_eq!(error, None);
    let signed = r#"{"type":"thinking","thinking":"They want the \u0077eather in \"Köln\".","signature":"EqQBCkYIARgCKkBn\/+4="}"#;
    let redacted = r#"{"type":"redacted_thinking","data":"EmwKAhgBEgy3va3pzix\/LafPsn4a"}"#;
    let expected = [
        thinking("They want the weather in \"Köln\"."),
        provider(signed),
        provider(redacted),
        text("I look it up."),
        call(0, "toolu_01T1x1fJ34qAmk2tNTrN7Up6", "get_weather", r#"{"city": "Köln"}"#),
        call(1, "toolu_02", "get_time", "{}"),
        Delta::Usage(Usage { cached_tokens: Some(1_500), ..tokens(1_812, 89) }),
        Delta::Finish(Finish::ToolCalls),
    ];
    assert_eq!(deltas, expected);

    let deltas = whole(ANTHROPIC, Fixture::ANTHROPIC).await;
    let expected = [
        thinking("It said rain."),
        text("It rains in Köln."),
        Delta::Usage(Usage { cached_tokens: Some(1_800), ..tokens(1_820, 22) }),
        Delta::Finish(Finish::Stop),
    ];
    let said = deltas.into_iter().filter(|delta| !matches!(delta, Delta::Provider { .. }));
    assert_eq!(said.collect::<Vec<_>>(), expected);

    let (deltas, error) = streamed(ANTHROPIC, Fixture::ANTHROPIC.read("stream-error.sse")).await;
    assert_eq!((&deltas[..], error.unwrap().kind), (&[text("Half an")][..], Kind::Busy));

    let models = models(Fixture::ANTHROPIC, &[]).await;
    assert_eq!((&*models[0].name, models[0].context_length), ("claude-opus-4-6", Some(200_000)));
    let can = |at: usize| {
        let can = models[at].capabilities;
        (can.tools, can.vision, can.thinking)
    };
    assert_eq!(can(0), (Some(true), Some(true), Some(true)));
    assert_eq!(can(1), (Some(true), Some(true), Some(false)));
    let expected = Kind::InputTooLong { window: Some(200_000), largest: Some(200_000) };
    assert_eq!(refused(Fixture::ANTHROPIC, 400).await, expected);
}
