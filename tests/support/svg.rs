//! A picture of the screen as SVG, for people.

use std::fmt::Write as _;

use crewlet_tui::text::width;
use crewlet_tui::tui::theme::color::rgb;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

const CELL: (usize, usize) = (8, 17);

/// The colours that the picture's terminal has of its own.
#[derive(Clone, Copy)]
pub struct Terminal {
    pub background: (u8, u8, u8),
    pub foreground: (u8, u8, u8),
}

/// A dark terminal.
pub const DARK: Terminal = Terminal { background: (22, 24, 29), foreground: (216, 220, 228) };
/// A light terminal.
pub const LIGHT: Terminal = Terminal { background: (252, 252, 250), foreground: (40, 42, 46) };

/// Draws a buffer.
pub fn of(buf: &Buffer, terminal: Terminal) -> String {
    let (w, h) = (usize::from(buf.area.width) * CELL.0 + 16, usize::from(buf.area.height) * CELL.1 + 16);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{}\"/>\n",
        hex(terminal.background)
    );
    for position in buf.area.positions() {
        let cell = &buf[position];
        let (fg, bg) = colours(cell, terminal);
        let (x, y) = (8 + usize::from(position.x) * CELL.0, 8 + usize::from(position.y) * CELL.1);
        if bg != terminal.background {
            let _ = writeln!(
                out,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>",
                CELL.0,
                CELL.1,
                hex(bg)
            );
        }
        if cell.symbol() == " " {
            continue;
        }
        let cells = width(cell.symbol()).max(1) * CELL.0;
        let mut style = String::new();
        if cell.modifier.contains(Modifier::BOLD) {
            style.push_str(" font-weight=\"bold\"");
        }
        if cell.modifier.contains(Modifier::UNDERLINED) {
            style.push_str(" text-decoration=\"underline\"");
        }
        if cell.modifier.contains(Modifier::DIM) {
            style.push_str(" opacity=\"0.6\"");
        }
        let _ = writeln!(
            out,
            "<text x=\"{x}\" y=\"{}\" textLength=\"{cells}\" lengthAdjust=\"spacingAndGlyphs\" fill=\"{}\"{style}>{}</text>",
            y + 13,
            hex(fg),
            escape(cell.symbol())
        );
    }
    out.push_str("</svg>\n");
    out
}

fn colours(cell: &Cell, terminal: Terminal) -> ((u8, u8, u8), (u8, u8, u8)) {
    let of = |color: Color, own| rgb(color).unwrap_or(own);
    let (fg, bg) = (of(cell.fg, terminal.foreground), of(cell.bg, terminal.background));
    if cell.modifier.contains(Modifier::REVERSED) { (bg, fg) } else { (fg, bg) }
}

fn hex((r, g, b): (u8, u8, u8)) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
