//! Estimates how many tokens an attachment takes.

/// So many pixels are a token, as Anthropic counts; others count in the same range.
/// Source: <https://docs.claude.com/en/docs/build-with-claude/vision#calculate-image-costs>.
const PIXELS: u64 = 750;
/// What a picture takes whose size cannot be read.
const UNKNOWN: u64 = 1_000;
/// Bytes of a token as long as no server has reported a count: less than English has (4), since code,
/// other languages and JSON have less.
pub(crate) const BYTES_PER_TOKEN: f64 = 3.2;

/// What a picture takes, by its size in pixels.
pub(super) fn of_pixels(width: u64, height: u64) -> u64 {
    width.saturating_mul(height).div_ceil(PIXELS).max(1)
}

/// About how many tokens a picture takes, by what its first bytes say of its size.
pub fn picture_tokens(data: &[u8]) -> u64 {
    imagesize::blob_size(data)
        .map_or(UNKNOWN, |size| of_pixels(size.width as u64, size.height as u64))
}

/// About how many tokens a text takes where no server has counted yet.
pub fn text_tokens(text: &str) -> u64 {
    (text.len() as f64 / BYTES_PER_TOKEN).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_takes_tokens_by_its_size() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend([1_500_u32.to_be_bytes(), 1_000_u32.to_be_bytes()].concat());
        png.extend([8, 2, 0, 0, 0]);
        assert_eq!(picture_tokens(&png), 2_000);
        assert_eq!(picture_tokens(b"no picture"), UNKNOWN);
        assert_eq!(of_pixels(0, 7), 1);
    }
}
