//! Replaces names of emoji between colons by the emoji.

use std::borrow::Cow;

/// The longest name, in bytes.
const LONGEST: usize = 50;

/// The text with emoji for whole names: `:smile:`. A name within a word is none.
pub fn with_emoji(text: &str) -> Cow<'_, str> {
    let mut out = Cow::Borrowed("");
    let (mut done, mut at) = (0, 0);
    while let Some(colon) = text[at..].find(':') {
        let start = at + colon;
        at = start + 1;
        let Some((emoji, end)) = emoji_at(text, start) else { continue };
        let out = out.to_mut();
        out.push_str(&text[done..start]);
        out.push_str(emoji);
        (done, at) = (end, end);
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.to_mut().push_str(&text[done..]);
    out
}

/// The emoji whose name begins with this colon, and where the name ends.
fn emoji_at(text: &str, start: usize) -> Option<(&'static str, usize)> {
    let is_free =
        |sign: Option<char>| sign.is_none_or(|sign| !sign.is_alphanumeric() && sign != ':');
    let inside = &text[start + 1..];
    let length = inside.bytes().take(LONGEST).position(|byte| byte == b':')?;
    let end = start + 1 + length + 1;
    let is_whole =
        is_free(text[..start].chars().next_back()) && is_free(text[end..].chars().next());
    let emoji = is_whole.then(|| emojis::get_by_shortcode(&inside[..length])).flatten()?;
    Some((emoji.as_str(), end))
}
