//! Finds bare addresses in a text: of web pages with and without a scheme, and of mail. The rules
//! are those of GitHub Flavored Markdown.

use std::ops::Range;

/// An address in a text.
pub struct Bare {
    /// Its bytes.
    pub range: Range<usize>,
    /// Its target.
    pub address: String,
}

/// The first address in a text.
pub fn bare_address(text: &str) -> Option<Bare> {
    let page = first(text, "http", with_scheme);
    let named = first(text, "www.", without_scheme);
    let mail = first(text, "@", mail);
    [page, named, mail].into_iter().flatten().min_by_key(|bare| bare.range.start)
}

/// The first occurrence of a sign that begins an address.
fn first(text: &str, sign: &str, read: fn(&str, usize) -> Option<Bare>) -> Option<Bare> {
    text.match_indices(sign).find_map(|(at, _)| read(text, at))
}

/// The page whose scheme begins here.
fn with_scheme(text: &str, at: usize) -> Option<Bare> {
    let scheme = ["https://", "http://"].into_iter().find(|s| text[at..].starts_with(s))?;
    let page = page(text, at)?;
    (page.len() > scheme.len())
        .then(|| Bare { range: page.clone(), address: text[page].to_owned() })
}

/// The page whose host name begins here.
fn without_scheme(text: &str, at: usize) -> Option<Bare> {
    let page = page(text, at)?;
    let domain = text[page.clone()].split(['/', '?', '#', ':']).next().unwrap_or_default();
    let parts: Vec<&str> = domain.split('.').collect();
    let is_name = |part: &&str| {
        !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_')
    };
    // The last two labels say who owns the name.
    let owner = &parts[parts.len().saturating_sub(2)..];
    let is_domain = parts.len() > 1
        && parts.iter().all(is_name)
        && owner.iter().all(|part| !part.contains('_'));
    is_domain.then(|| Bare { range: page.clone(), address: format!("http://{}", &text[page]) })
}

/// The range from here to the end of an address. An address does not begin after a letter, and does
/// not include the punctuation of its sentence.
fn page(text: &str, at: usize) -> Option<Range<usize>> {
    if text[..at].ends_with(char::is_alphanumeric) {
        return None;
    }
    let rest = &text[at..];
    let end = rest.find(|c: char| c.is_whitespace() || "<>\"".contains(c)).unwrap_or(rest.len());
    let mut address = &rest[..end];
    loop {
        let closes =
            address.ends_with(')') && address.matches(')').count() > address.matches('(').count();
        if !closes && !address.ends_with(['.', ',', ':', ';', '!', '?', '\'', '*', '_', '~', ']']) {
            return Some(at..at + address.len());
        }
        address = &address[..address.len() - 1];
    }
}

/// The mail address whose `@` is here.
fn mail(text: &str, at: usize) -> Option<Bare> {
    let in_name = |c: &char| c.is_ascii_alphanumeric() || ".-_+".contains(*c);
    let in_domain = |c: &char| c.is_ascii_alphanumeric() || ".-_".contains(*c);
    let name = text[..at].chars().rev().take_while(in_name).count();
    let domain = text[at + 1..].chars().take_while(in_domain).count();
    let behind = text[at + 1 + domain..].chars().next();
    let domain = text[at + 1..at + 1 + domain].trim_end_matches('.');
    let is_domain = domain.contains('.')
        && !domain.starts_with('.')
        && !domain.ends_with(['-', '_'])
        && !matches!(behind, Some('+' | '@'));
    let range = at - name..at + 1 + domain.len();
    (name > 0 && is_domain)
        .then(|| Bare { address: format!("mailto:{}", &text[range.clone()]), range })
}
