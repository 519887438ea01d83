//! A finished frame in plain ASCII borders and glyphs, for terminals and fonts that have nothing else.
//!
//! Only our own glyphs are replaced; letters of foreign text stay what they are.

use ratatui::buffer::Buffer;

const TABLE: [(&str, &str); 45] = [
    ("╭", "+"),
    ("╮", "+"),
    ("╰", "+"),
    ("╯", "+"),
    ("┌", "+"),
    ("┐", "+"),
    ("└", "+"),
    ("┘", "+"),
    ("├", "+"),
    ("┤", "+"),
    ("┏", "#"),
    ("┓", "#"),
    ("┗", "#"),
    ("┛", "#"),
    ("┠", "#"),
    ("┨", "#"),
    ("┣", "#"),
    ("┫", "#"),
    ("─", "-"),
    ("│", "|"),
    ("━", "="),
    ("┃", "#"),
    ("▌", ">"),
    ("▐", "<"),
    ("…", "~"),
    ("·", "-"),
    ("–", "-"),
    ("—", "-"),
    ("●", "*"),
    ("◐", "~"),
    ("◔", "."),
    ("○", "o"),
    ("✕", "x"),
    ("⚑", "!"),
    ("■", "#"),
    ("✓", "+"),
    ("✗", "-"),
    ("↑", "^"),
    ("↓", "v"),
    ("←", "<"),
    ("→", ">"),
    ("▸", ">"),
    ("▾", "v"),
    ("“", "\""),
    ("”", "\""),
];

/// Replaces our glyphs and borders.
pub fn flatten(buf: &mut Buffer) {
    for cell in &mut buf.content {
        if cell.symbol().is_ascii() {
            continue;
        }
        if let Some((_, plain)) = TABLE.iter().find(|(glyph, _)| *glyph == cell.symbol()) {
            cell.set_symbol(plain);
        }
    }
}
