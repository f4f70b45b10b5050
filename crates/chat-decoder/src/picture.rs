//! Turns and shrinks pictures, and leaves out what a camera writes about their making.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageDecoder as _, ImageError, ImageFormat, ImageReader};

use crate::protocol::{Decoded, Failure, Limits, Picture, Reason};

/// The quality of a JPEG, of 100: text in it stays readable.
const QUALITY: u8 = 85;

/// A picture and its thumbnail. Of one that moves it is the first.
pub fn decode(data: &[u8], limits: &Limits) -> Result<Decoded, Failure> {
    let reader = ImageReader::new(Cursor::new(data)).with_guessed_format();
    let mut reader = reader.map_err(|error| Failure::new(Reason::Broken, &error))?;
    let mut bounds = image::Limits::default();
    bounds.max_image_width = Some(limits.side_read);
    bounds.max_image_height = Some(limits.side_read);
    bounds.max_alloc = Some(limits.pixels);
    reader.limits(bounds);
    let mut decoder = reader.into_decoder().map_err(failed)?;
    // Not all decoders keep to it themselves.
    if decoder.total_bytes() > limits.pixels {
        return Err(Failure::new(Reason::TooLarge, "its pixels"));
    }
    // Of one that is damaged the picture may still be good.
    let orientation = decoder.orientation().ok();
    let image = DynamicImage::from_decoder(decoder).map_err(failed)?;
    if image.width() == 0 || image.height() == 0 {
        return Err(Failure::new(Reason::Broken, "no pixels"));
    }
    // It is turned when it is small: that needs a second one.
    let mut image = shrunk(image, limits.side);
    if let Some(orientation) = orientation {
        image.apply_orientation(orientation);
    }
    let image = opaque(image);
    // A photo is known by its small picture: as PNG, the large one takes most of the time and is never kept.
    let small = shrunk(image.clone(), limits.thumbnail);
    let (thumbnail, is_photo) = encode(&small, false)?;
    let (picture, _) = encode(&image, is_photo)?;
    Ok(Decoded::Picture { picture, thumbnail })
}

/// A picture whose sides are at most so long.
fn shrunk(image: DynamicImage, side: u32) -> DynamicImage {
    let longest = image.width().max(image.height());
    if longest <= side {
        return image;
    }
    // The good filter needs sixteen bytes for each pixel.
    let twice = side.saturating_mul(2);
    let image = if longest > twice { image.thumbnail(twice, twice) } else { image };
    image.resize(side, side, FilterType::Lanczos3)
}

/// A picture in eight bits a color, with transparency only where a pixel is transparent.
fn opaque(image: DynamicImage) -> DynamicImage {
    if image.color().has_alpha() {
        let pixels = image.to_rgba8();
        if pixels.pixels().any(|pixel| pixel.0[3] != u8::MAX) {
            return pixels.into();
        }
    }
    image.into_rgb8().into()
}

/// How many times smaller a photo is as JPEG, at least. Drawings are at most a little smaller.
const PHOTO: usize = 3;

/// As PNG if it is transparent or that is smaller, as drawings are; else as JPEG. Of what `is_photo`, only as JPEG. Also
/// gives whether it is one.
fn encode(image: &DynamicImage, is_photo: bool) -> Result<(Picture, bool), Failure> {
    let (width, height) = (image.width(), image.height());
    let is_transparent = image.color().has_alpha();
    let mut png = Vec::new();
    if is_transparent || !is_photo {
        image.write_to(&mut Cursor::new(&mut png), ImageFormat::Png).map_err(failed)?;
    }
    let mut jpeg = Vec::new();
    if !is_transparent {
        let encoder = JpegEncoder::new_with_quality(&mut jpeg, QUALITY);
        image.write_with_encoder(encoder).map_err(failed)?;
    }
    let is_photo = !is_transparent && (is_photo || png.len() > PHOTO * jpeg.len());
    let (mime, data) = if is_transparent || (!is_photo && png.len() <= jpeg.len()) {
        ("image/png", png)
    } else {
        ("image/jpeg", jpeg)
    };
    Ok((Picture { mime: mime.into(), width, height, data }, is_photo))
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` gives")]
fn failed(error: ImageError) -> Failure {
    let reason = match error {
        ImageError::Limits(_) => Reason::TooLarge,
        ImageError::Unsupported(_) => Reason::Unsupported,
        _ => Reason::Broken,
    };
    Failure::new(reason, &error)
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage, Rgba, RgbaImage};

    use super::*;

    fn bytes(image: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
        let mut data = Vec::new();
        image.into().write_to(&mut Cursor::new(&mut data), format).unwrap();
        data
    }

    /// A picture that is red at the left and noisy at the right.
    fn sample(width: u32, height: u32) -> RgbImage {
        RgbImage::from_fn(width, height, |x, y| {
            let noise =
                (x.wrapping_mul(7919) ^ y.wrapping_mul(104_729)).wrapping_mul(2_654_435_761);
            if x < width / 2 { Rgb([255, 0, 0]) } else { Rgb([0, (noise >> 20) as u8, 255]) }
        })
    }

    fn decoded(data: &[u8]) -> (Picture, Picture) {
        match decode(data, &Limits::default()) {
            Ok(Decoded::Picture { picture, thumbnail }) => (picture, thumbnail),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_format_becomes_one_that_is_taken_everywhere() {
        use ImageFormat::{Bmp, Gif, Jpeg, Png, Tiff, WebP};
        for format in [Bmp, Gif, Jpeg, Png, Tiff, WebP] {
            let (picture, thumbnail) = decoded(&bytes(sample(600, 300), format));
            assert_eq!((picture.width, picture.height), (600, 300), "{format:?}");
            assert_eq!((thumbnail.width, thumbnail.height), (256, 128), "{format:?}");
            let made = image::load_from_memory(&picture.data).unwrap();
            assert_eq!(made.width(), 600);
            assert!(["image/png", "image/jpeg"].contains(&&*picture.mime));
        }
    }

    #[test]
    fn noise_is_a_jpeg_and_a_plain_picture_a_png() {
        let noise = RgbImage::from_fn(200, 200, |x, y| Rgb([(x * x * 31 + y * 977) as u8; 3]));
        assert_eq!(decoded(&bytes(noise, ImageFormat::Png)).0.mime, "image/jpeg");
        let plain = RgbImage::from_pixel(200, 200, Rgb([1, 2, 3]));
        assert_eq!(decoded(&bytes(plain, ImageFormat::Png)).0.mime, "image/png");
    }

    #[test]
    fn what_is_transparent_stays_so() {
        let image = RgbaImage::from_pixel(300, 30, Rgba([1, 2, 3, 100]));
        let (picture, thumbnail) = decoded(&bytes(image, ImageFormat::Png));
        for picture in [picture, thumbnail] {
            assert_eq!(picture.mime, "image/png");
            let made = image::load_from_memory(&picture.data).unwrap().to_rgba8();
            assert_eq!(made.get_pixel(5, 5).0[3], 100);
        }
    }

    #[test]
    fn a_large_one_is_shrunk_and_a_line_is_not_lost() {
        let (picture, _) = decoded(&bytes(sample(5_000, 2_500), ImageFormat::Jpeg));
        assert_eq!((picture.width, picture.height), (2_048, 1_024));
        let (picture, thumbnail) = decoded(&bytes(sample(9_000, 1), ImageFormat::Png));
        assert_eq!((picture.width, picture.height), (2_048, 1));
        assert_eq!((thumbnail.width, thumbnail.height), (256, 1));
    }

    #[test]
    fn it_is_turned_and_its_making_left_out() {
        let plain = bytes(sample(64, 32), ImageFormat::Jpeg);
        // The orientation 6: the right side of the sensor is the bottom.
        let exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
        let mut data = plain[..2].to_vec();
        data.extend([0xff, 0xe1, 0, exif.len() as u8 + 2]);
        data.extend(exif);
        data.extend(&plain[2..]);
        let (picture, thumbnail) = decoded(&data);
        assert_eq!((picture.width, picture.height), (32, 64));
        assert_eq!((thumbnail.width, thumbnail.height), (32, 64));
        assert!(!picture.data.windows(4).any(|part| part == b"Exif"));
        let made = image::load_from_memory(&picture.data).unwrap().to_rgb8();
        let [red, _, blue] = made.get_pixel(16, 8).0;
        assert!(red > 200 && blue < 60, "the left of it is its top");
    }

    #[test]
    fn too_many_pixels_are_too_large() {
        let data = bytes(sample(300, 200), ImageFormat::Png);
        let reason = |limits| decode(&data, &limits).map_err(|failure| failure.reason);
        let limits = Limits::default();
        assert_eq!(reason(Limits { side_read: 299, ..limits }), Err(Reason::TooLarge));
        assert_eq!(reason(Limits { pixels: 300 * 200 * 3 - 1, ..limits }), Err(Reason::TooLarge));
        assert!(reason(Limits { side_read: 300, ..limits }).is_ok());
    }

    #[test]
    fn a_cut_one_is_an_answer() {
        for format in [ImageFormat::Png, ImageFormat::Gif, ImageFormat::Tiff, ImageFormat::WebP] {
            let data = bytes(sample(64, 64), format);
            for cut in (0..data.len() / 2).step_by(97) {
                assert!(decode(&data[..cut], &Limits::default()).is_err(), "{format:?} {cut}");
            }
        }
    }
}
