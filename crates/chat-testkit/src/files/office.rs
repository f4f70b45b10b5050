//! Makes documents, sheets and slides.

use std::io::{Cursor, Write};

use super::zip::{archive, bomb};

const TYPES: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const WORD: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const SHEET: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const SLIDE: &str = "http://schemas.openxmlformats.org/presentationml/2006/main";
const DRAWING: &str = "http://schemas.openxmlformats.org/drawingml/2006/main";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
const CONTENT: &str =
    "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>";

/// The relations of a part: what kind the other is of, and where it is.
fn relations(kind: &str, target: &str) -> String {
    format!(
        "<Relationships xmlns=\"{PACKAGE}\"><Relationship Id=\"rId1\" Type=\"{TYPES}/{kind}\" \
         Target=\"{target}\"/></Relationships>"
    )
}

/// A document with a paragraph, and a table of the cells `hive` and `queen`.
pub fn docx(words: &str) -> Vec<u8> {
    let body = format!(
        "<w:document xmlns:w=\"{WORD}\"><w:body><w:p><w:r><w:t>{words}</w:t></w:r></w:p>\
         <w:tbl><w:tr><w:tc><w:p><w:r><w:t>hive</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>queen\
         </w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>"
    );
    archive(&[
        ("[Content_Types].xml", CONTENT),
        ("_rels/.rels", &relations("officeDocument", "word/document.xml")),
        ("word/document.xml", &body),
    ])
}

/// The sheet `Hives`: `hive` and `bees`, and below them these two values.
pub fn xlsx(hive: &str, bees: u32) -> Vec<u8> {
    let book = format!(
        "<workbook xmlns=\"{SHEET}\" xmlns:r=\"{TYPES}\"><sheets><sheet name=\"Hives\" sheetId=\"1\" \
         r:id=\"rId1\"/></sheets></workbook>"
    );
    let cell = |at: &str, words: &str| {
        format!("<c r=\"{at}\" t=\"inlineStr\"><is><t>{words}</t></is></c>")
    };
    let sheet = format!(
        "<worksheet xmlns=\"{SHEET}\"><sheetData><row r=\"1\">{}{}</row><row r=\"2\">{}<c r=\"B2\">\
         <v>{bees}</v></c></row></sheetData></worksheet>",
        cell("A1", "hive"),
        cell("B1", "bees"),
        cell("A2", hive)
    );
    archive(&[
        ("[Content_Types].xml", CONTENT),
        ("_rels/.rels", &relations("officeDocument", "xl/workbook.xml")),
        ("xl/workbook.xml", &book),
        ("xl/_rels/workbook.xml.rels", &relations("worksheet", "worksheets/sheet1.xml")),
        ("xl/worksheets/sheet1.xml", &sheet),
    ])
}

/// A slide with these words.
pub fn pptx(words: &str) -> Vec<u8> {
    let show = format!(
        "<p:presentation xmlns:p=\"{SLIDE}\" xmlns:r=\"{TYPES}\"><p:sldIdLst><p:sldId id=\"256\" \
         r:id=\"rId1\"/></p:sldIdLst></p:presentation>"
    );
    let slide = format!(
        "<p:sld xmlns:p=\"{SLIDE}\" xmlns:a=\"{DRAWING}\"><p:cSld><p:spTree><p:sp><p:nvSpPr><p:cNvPr \
         id=\"2\" name=\"T\"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r>\
         <a:t>{words}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
    );
    archive(&[
        ("[Content_Types].xml", CONTENT),
        ("_rels/.rels", &relations("officeDocument", "ppt/presentation.xml")),
        ("ppt/presentation.xml", &show),
        ("ppt/_rels/presentation.xml.rels", &relations("slide", "slides/slide1.xml")),
        ("ppt/slides/slide1.xml", &slide),
    ])
}

/// A document of a few megabytes that unpacks to four gigabytes.
pub fn docx_bomb() -> Vec<u8> {
    packed_bomb("word/document.xml")
}

/// A workbook of a few megabytes that unpacks to four gigabytes.
pub fn xlsx_bomb() -> Vec<u8> {
    packed_bomb("xl/workbook.xml")
}

fn packed_bomb(part: &str) -> Vec<u8> {
    let root = relations("officeDocument", part);
    bomb(&[("[Content_Types].xml", CONTENT), ("_rels/.rels", &root)], part)
}

/// A document, sheet or show that needs a password.
pub fn locked_office() -> Vec<u8> {
    compound(&["/EncryptionInfo", "/EncryptedPackage"])
}

/// A document as Word wrote them before 2007.
pub fn old_document() -> Vec<u8> {
    compound(&["/WordDocument", "/1Table"])
}

/// A compound file with these streams.
fn compound(streams: &[&str]) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).expect("created");
    for name in streams {
        let mut stream = file.create_stream(name).expect("a stream");
        stream.write_all(&[0; 5_000]).expect("written");
    }
    file.flush().expect("written");
    file.into_inner().into_inner()
}
