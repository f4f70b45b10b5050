//! Makes pictures.

use std::io::Cursor;

pub use image::ImageFormat;
use image::codecs::jpeg::JpegEncoder;
use image::{Rgb, RgbImage};

/// A picture in this format: its left half is red, its right half is blue.
///
/// # Panics
/// Where no encoder for the format is built in.
pub fn picture(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let color = |x, _| if x < width / 2 { Rgb([255, 0, 0]) } else { Rgb([0, 0, 255]) };
    let mut data = Vec::new();
    RgbImage::from_fn(width, height, color)
        .write_to(&mut Cursor::new(&mut data), format)
        .expect("encoded");
    data
}

/// What a camera makes, JPEG: colors that change slowly, and grain all over, so that a pixel takes as many bytes as in
/// a real photo.
///
/// # Panics
/// Where a side has no pixels.
pub fn photo(width: u32, height: u32) -> Vec<u8> {
    let mut random = 1_u32;
    let mut data = Vec::new();
    let color = |x, y| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let level = |part: u32, all: u32, grain: u32| (part * 220 / all + grain % 24) as u8;
        let [_, blue, green, red] = random.to_le_bytes().map(u32::from);
        Rgb([level(x, width, red), level(y, height, green), level(x + y, width + height, blue)])
    };
    let photo = RgbImage::from_fn(width, height, color);
    JpegEncoder::new_with_quality(&mut data, 90).encode_image(&photo).expect("encoded");
    data
}

/// What a camera wrote that was held upright: the red left is to be the top, and the EXIF that says so names the
/// camera `Natterphone`.
pub fn turned_photo(width: u32, height: u32) -> Vec<u8> {
    let plain = picture(width, height, ImageFormat::Jpeg);
    // Two entries: who made the camera, 12 bytes at 38; and the orientation 6.
    let exif = b"Exif\0\0II*\0\x08\0\0\0\x02\0\
        \x0f\x01\x02\0\x0c\0\0\0\x26\0\0\0\
        \x12\x01\x03\0\x01\0\0\0\x06\0\0\0\
        \0\0\0\0Natterphone\0";
    let mut data = plain[..2].to_vec();
    data.extend([0xff, 0xe1, 0, exif.len() as u8 + 2]);
    data.extend(exif);
    data.extend(&plain[2..]);
    data
}

/// A few bytes of PNG that say they are a picture of this size.
pub fn png_of_size(width: u32, height: u32) -> Vec<u8> {
    let chunk = |kind: &[u8], data: &[u8]| {
        let body = [kind, data].concat();
        let crc = crc32fast::hash(&body).to_be_bytes();
        [&(data.len() as u32).to_be_bytes()[..], &body, &crc].concat()
    };
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
    let png = [
        b"\x89PNG\r\n\x1a\n".to_vec(),
        chunk(b"IHDR", &header),
        chunk(b"IDAT", b"\x78\x9c\x03\0\0\0\0\x01"),
        chunk(b"IEND", b""),
    ];
    png.concat()
}
