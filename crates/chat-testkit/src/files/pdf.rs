//! Makes PDF.

use std::fmt::Write as _;

/// The number of the object that all pages share: their font.
const FONT: usize = 3;

/// PDF with these pages. One without words has a drawing.
pub fn pdf(pages: &[&str]) -> Vec<u8> {
    let pages: Vec<_> = pages.iter().map(|words| drawn(words)).collect();
    write(&pages, Vec::new(), "")
}

/// The same, which needs a password.
pub fn locked_pdf(pages: &[&str]) -> Vec<u8> {
    let pages: Vec<_> = pages.iter().map(|words| drawn(words)).collect();
    let word = "00112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF";
    let encrypt = format!(
        "/ID [<0123> <0123>] /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -3904 /O <{word}> \
         /U <{word}> >>"
    );
    write(&pages, Vec::new(), &encrypt)
}

/// One page with words and a photo, which is a JPEG.
pub fn pdf_with_photo(words: &str, jpeg: &[u8], width: u32, height: u32) -> Vec<u8> {
    let page = format!("{}\nq 200 0 0 200 72 400 cm /Photo Do Q", drawn(words));
    let about = format!(
        "/Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceRGB \
         /BitsPerComponent 8 /Filter /DCTDecode"
    );
    write(&[page], stream(&about, jpeg), "")
}

fn drawn(words: &str) -> String {
    if words.is_empty() {
        "0 0 100 100 re f".to_owned()
    } else {
        format!("BT /F1 24 Tf 72 700 Td ({words}) Tj ET")
    }
}

fn stream(about: &str, data: &[u8]) -> Vec<u8> {
    let start = format!("<< {about} /Length {} >>\nstream\n", data.len());
    [start.as_bytes(), data, b"\nendstream"].concat()
}

/// A file with pages that are drawn so, a photo where it has bytes, and what else is in its trailer.
fn write(pages: &[String], photo: Vec<u8>, trailer: &str) -> Vec<u8> {
    let number = |page: usize| FONT + 1 + 2 * page;
    let photo_number = number(pages.len());
    let kids: Vec<_> = (0..pages.len()).map(|page| format!("{} 0 R", number(page))).collect();
    let (kids, count) = (kids.join(" "), pages.len());
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Kids [{kids}] /Count {count} >>").into_bytes(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_vec(),
    ];
    let photos = if photo.is_empty() {
        String::new()
    } else {
        format!("/XObject << /Photo {photo_number} 0 R >>")
    };
    for (page, drawn) in pages.iter().enumerate() {
        let content = number(page) + 1;
        objects.push(
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {content} 0 R \
                 /Resources << /Font << /F1 {FONT} 0 R >> {photos} >> >>"
            )
            .into_bytes(),
        );
        objects.push(stream("", drawn.as_bytes()));
    }
    if !photo.is_empty() {
        objects.push(photo);
    }
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut table = "0000000000 65535 f \n".to_owned();
    for (at, object) in objects.iter().enumerate() {
        let _ = writeln!(table, "{:010} 00000 n ", out.len());
        out.extend(format!("{} 0 obj\n", at + 1).into_bytes());
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    let (start, size) = (out.len(), objects.len() + 1);
    let end = format!(
        "xref\n0 {size}\n{table}trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n\
         %%EOF\n"
    );
    out.extend(end.into_bytes());
    out
}
