//! Good files become text.

use std::fmt::Write as _;

use chat_decoder::protocol::{Decoded, Format, Reason};

use crate::run::{answer, text};
use crate::zip::archive;

const TYPES: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const WORD: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const SHEET: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const SLIDE: &str = "http://schemas.openxmlformats.org/presentationml/2006/main";
const DRAWING: &str = "http://schemas.openxmlformats.org/drawingml/2006/main";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
pub const CONTENT: &str =
    "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>";

/// The relations of a part: what kind the other is of, and where it is.
pub fn relations(kind: &str, target: &str) -> String {
    format!(
        "<Relationships xmlns=\"{PACKAGE}\"><Relationship Id=\"rId1\" Type=\"{TYPES}/{kind}\" \
         Target=\"{target}\"/></Relationships>"
    )
}

/// PDF with these pages; `trailer` is what else its trailer has.
pub fn pdf(pages: &[&str], trailer: &str) -> Vec<u8> {
    let mut objects = vec!["<< /Type /Catalog /Pages 2 0 R >>".to_owned()];
    let kids: Vec<_> = (0..pages.len()).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
    let (kids, count) = (kids.join(" "), pages.len());
    objects.push(format!("<< /Type /Pages /Kids [{kids}] /Count {count} >>"));
    objects.push("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned());
    for (page, words) in pages.iter().enumerate() {
        let content = 5 + 2 * page;
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {content} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>"
        ));
        let drawn = if words.is_empty() {
            "0 0 100 100 re f".to_owned()
        } else {
            format!("BT /F1 24 Tf 72 700 Td ({words}) Tj ET")
        };
        objects.push(format!("<< /Length {} >>\nstream\n{drawn}\nendstream", drawn.len()));
    }
    let mut out = "%PDF-1.4\n".to_owned();
    let mut table = "0000000000 65535 f \n".to_owned();
    for (at, object) in objects.iter().enumerate() {
        let _ = writeln!(table, "{:010} 00000 n ", out.len());
        let _ = write!(out, "{} 0 obj\n{object}\nendobj\n", at + 1);
    }
    let (start, size) = (out.len(), objects.len() + 1);
    let _ =
        write!(out, "xref\n0 {size}\n{table}trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\n");
    let _ = write!(out, "startxref\n{start}\n%%EOF\n");
    out.into_bytes()
}

fn docx() -> Vec<u8> {
    let body = format!(
        "<w:document xmlns:w=\"{WORD}\"><w:body><w:p><w:r><w:t>Bees make honey.</w:t></w:r></w:p>\
         <w:tbl><w:tr><w:tc><w:p><w:r><w:t>hive</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>queen\
         </w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>"
    );
    let root = relations("officeDocument", "word/document.xml");
    archive(&[
        ("[Content_Types].xml", CONTENT),
        ("_rels/.rels", &root),
        ("word/document.xml", &body),
    ])
}

#[test]
fn a_document_is_markdown() {
    let text = text(Format::Office, &docx());
    assert!(text.contains("Bees make honey."), "{text}");
    assert!(text.contains("hive | queen"), "{text}");
}

#[test]
fn sheets_are_tables() {
    let book = format!(
        "<workbook xmlns=\"{SHEET}\" xmlns:r=\"{TYPES}\"><sheets><sheet name=\"Hives\" sheetId=\"1\" \
         r:id=\"rId1\"/></sheets></workbook>"
    );
    let cell = |at: &str, words: &str| {
        format!("<c r=\"{at}\" t=\"inlineStr\"><is><t>{words}</t></is></c>")
    };
    let sheet = format!(
        "<worksheet xmlns=\"{SHEET}\"><sheetData><row r=\"1\">{}{}</row><row r=\"2\">{}<c r=\"B2\">\
         <v>42</v></c></row></sheetData></worksheet>",
        cell("A1", "hive"),
        cell("B1", "bees"),
        cell("A2", "oak")
    );
    let text = text(
        Format::Office,
        &archive(&[
            ("[Content_Types].xml", CONTENT),
            ("_rels/.rels", &relations("officeDocument", "xl/workbook.xml")),
            ("xl/workbook.xml", &book),
            ("xl/_rels/workbook.xml.rels", &relations("worksheet", "worksheets/sheet1.xml")),
            ("xl/worksheets/sheet1.xml", &sheet),
        ]),
    );
    assert!(text.contains("Hives") && text.contains("| oak | 42 |"), "{text}");
}

#[test]
fn slides_are_markdown() {
    let show = format!(
        "<p:presentation xmlns:p=\"{SLIDE}\" xmlns:r=\"{TYPES}\"><p:sldIdLst><p:sldId id=\"256\" \
         r:id=\"rId1\"/></p:sldIdLst></p:presentation>"
    );
    let slide = format!(
        "<p:sld xmlns:p=\"{SLIDE}\" xmlns:a=\"{DRAWING}\"><p:cSld><p:spTree><p:sp><p:nvSpPr><p:cNvPr \
         id=\"2\" name=\"T\"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r>\
         <a:t>Bees dance</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
    );
    let text = text(
        Format::Office,
        &archive(&[
            ("[Content_Types].xml", CONTENT),
            ("_rels/.rels", &relations("officeDocument", "ppt/presentation.xml")),
            ("ppt/presentation.xml", &show),
            ("ppt/_rels/presentation.xml.rels", &relations("slide", "slides/slide1.xml")),
            ("ppt/slides/slide1.xml", &slide),
        ]),
    );
    assert!(text.contains("Bees dance"), "{text}");
}

#[test]
fn pages_have_their_numbers() {
    let text = text(Format::Pdf, &pdf(&["Bees make honey", "", "Flies do not"], ""));
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in {text}"));
    assert!(place("## Page 1") < place("Bees make honey"));
    assert!(place("Bees make honey") < place("## Page 3"));
    assert!(place("## Page 3") < place("Flies do not"));
}

#[test]
fn a_scanned_one_has_no_text() {
    let answer = answer(Format::Pdf, &pdf(&["", ""], "")).expect("whole");
    assert_eq!(answer.unwrap_err().reason, Reason::NoText);
}

#[test]
fn a_cut_document_is_a_failure_or_less_text() {
    let whole = [(Format::Office, docx()), (Format::Pdf, pdf(&["Bees make honey"], ""))];
    for (format, data) in whole {
        for cut in (0..data.len()).step_by(data.len() / 7) {
            let answer = answer(format, &data[..cut]).expect("whole");
            let less = matches!(&answer, Ok(Decoded::Text(text)) if format == Format::Pdf
                && text.contains("Bees"));
            assert!(less || answer.is_err(), "{format:?} {cut}: {answer:?}");
        }
    }
}
