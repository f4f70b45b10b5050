//! Splits a formula in a line where the line may break: behind a relation or an operator that is
//! not within anything.

use ratex_layout::LayoutOptions;
use ratex_parser::ParseNode;
use ratex_parser::parse_node::{AtomFamily, Mode};

use crate::drawing::Drawing;
use crate::{FormulaError, draw};

/// A formula that is narrower is never split, in em.
const NARROW: f64 = 7.0;
/// A part is at least as wide, in em.
const LEAST: f64 = 3.0;

/// The parts of a formula, which is `whole` in one piece.
pub fn split(
    nodes: &[ParseNode],
    options: &LayoutOptions,
    whole: Drawing,
) -> Result<Vec<Drawing>, FormulaError> {
    if whole.width < NARROW {
        return Ok(vec![whole]);
    }
    let mut drawings = Vec::new();
    let mut from = 0;
    for (at, node) in nodes.iter().enumerate() {
        if !breaks_behind(node) || at + 1 == nodes.len() || is_negated(nodes, at) {
            continue;
        }
        let mut part = nodes[from..=at].to_vec();
        // What follows makes the space behind the operator.
        part.push(nothing());
        let drawing = draw(&part, options)?;
        if drawing.width >= LEAST {
            drawings.push(drawing);
            from = at + 1;
        }
    }
    drawings.push(draw(&nodes[from..], options)?);
    Ok(if drawings.len() == 1 { vec![whole] } else { drawings })
}

fn breaks_behind(node: &ParseNode) -> bool {
    matches!(node, ParseNode::Atom { family: AtomFamily::Rel | AtomFamily::Bin, .. })
}

/// Whether another relation or operator follows, which is drawn together with this one.
fn is_negated(nodes: &[ParseNode], at: usize) -> bool {
    nodes.get(at + 1).is_some_and(breaks_behind)
}

fn nothing() -> ParseNode {
    ParseNode::OrdGroup { mode: Mode::Math, body: Vec::new(), semisimple: None, loc: None }
}
