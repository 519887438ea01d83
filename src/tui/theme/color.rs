//! Colours by name, number or `#rrggbb`, brought down to what a terminal has.

use ratatui::style::Color;

/// How many colours a terminal has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// The sixteen of the ANSI palette.
    Ansi,
    /// 256.
    Indexed,
    /// All.
    True,
}

impl Depth {
    /// By `COLORTERM` and `TERM`.
    pub fn of(colorterm: &str, term: &str) -> Self {
        if matches!(colorterm, "truecolor" | "24bit") || term.ends_with("-direct") {
            Self::True
        } else if term.contains("256color") || term.contains("kitty") || term.contains("alacritty") {
            Self::Indexed
        } else {
            Self::Ansi
        }
    }

    /// The nearest colour that the terminal has.
    pub fn bring_down(self, color: Color) -> Color {
        match (self, color) {
            (Self::Indexed, Color::Rgb(r, g, b)) => Color::Indexed(to_index(r, g, b)),
            (Self::Ansi, Color::Rgb(r, g, b)) => to_ansi(r, g, b),
            (Self::Ansi, Color::Indexed(index)) => {
                let (r, g, b) = from_index(index);
                to_ansi(r, g, b)
            }
            (_, color) => color,
        }
    }
}

const ANSI: [(&str, Color, (u8, u8, u8)); 16] = [
    ("black", Color::Black, (0, 0, 0)),
    ("red", Color::Red, (205, 0, 0)),
    ("green", Color::Green, (0, 205, 0)),
    ("yellow", Color::Yellow, (205, 205, 0)),
    ("blue", Color::Blue, (0, 0, 238)),
    ("magenta", Color::Magenta, (205, 0, 205)),
    ("cyan", Color::Cyan, (0, 205, 205)),
    ("gray", Color::Gray, (229, 229, 229)),
    ("dark_gray", Color::DarkGray, (127, 127, 127)),
    ("light_red", Color::LightRed, (255, 0, 0)),
    ("light_green", Color::LightGreen, (0, 255, 0)),
    ("light_yellow", Color::LightYellow, (255, 255, 0)),
    ("light_blue", Color::LightBlue, (92, 92, 255)),
    ("light_magenta", Color::LightMagenta, (255, 0, 255)),
    ("light_cyan", Color::LightCyan, (0, 255, 255)),
    ("white", Color::White, (255, 255, 255)),
];

/// Reads a colour: a name of the ANSI palette, `default`, 0 to 255, or `#rrggbb`.
pub fn parse(text: &str) -> Option<Color> {
    if text == "default" {
        return Some(Color::Reset);
    }
    if let Some(hex) = text.strip_prefix('#') {
        let value = u32::from_str_radix(hex, 16).ok().filter(|_| hex.len() == 6 && !hex.starts_with('+'))?;
        let [_, r, g, b] = value.to_be_bytes();
        return Some(Color::Rgb(r, g, b));
    }
    if let Ok(index) = text.parse() {
        return Some(Color::Indexed(index));
    }
    ANSI.iter().find(|(name, ..)| *name == text).map(|(_, color, _)| *color)
}

/// The red, green and blue of a colour as pictures show it; `None` for the terminal's own.
pub fn rgb(color: Color) -> Option<(u8, u8, u8)> {
    match color {
        Color::Reset => None,
        Color::Rgb(r, g, b) => Some((r, g, b)),
        Color::Indexed(index) => Some(from_index(index)),
        named => ANSI.iter().find(|(_, color, _)| *color == named).map(|(.., rgb)| *rgb),
    }
}

/// The 256-colour palette: 16 ANSI, a cube of 6 x 6 x 6, 24 greys.
fn from_index(index: u8) -> (u8, u8, u8) {
    if let Some((.., rgb)) = ANSI.get(usize::from(index)) {
        return *rgb;
    }
    if index >= 232 {
        let grey = 8 + 10 * (index - 232);
        return (grey, grey, grey);
    }
    let cube = index - 16;
    let level = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
    (level(cube / 36), level(cube / 6 % 6), level(cube % 6))
}

fn to_index(r: u8, g: u8, b: u8) -> u8 {
    (16..=255).min_by_key(|index| distance(from_index(*index), (r, g, b))).unwrap_or(15)
}

fn to_ansi(r: u8, g: u8, b: u8) -> Color {
    ANSI.iter().min_by_key(|(.., rgb)| distance(*rgb, (r, g, b))).map_or(Color::Reset, |(_, color, _)| *color)
}

fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> u32 {
    let square = |x: u8, y: u8| u32::from(x.abs_diff(y)).pow(2);
    square(a.0, b.0) + square(a.1, b.1) + square(a.2, b.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_in_three_spellings() {
        assert_eq!(parse("light_red"), Some(Color::LightRed));
        assert_eq!(parse("208"), Some(Color::Indexed(208)));
        assert_eq!(parse("#ff8700"), Some(Color::Rgb(255, 135, 0)));
        for text in ["", "256", "-1", "#ff87", "#+f8700", "Red", "#gg0000"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn colours_come_down_to_the_nearest() {
        assert_eq!(Depth::Indexed.bring_down(Color::Rgb(255, 135, 0)), Color::Indexed(208));
        assert_eq!(Depth::Ansi.bring_down(Color::Rgb(250, 5, 5)), Color::LightRed);
        assert_eq!(Depth::Ansi.bring_down(Color::Indexed(240)), Color::DarkGray);
        assert_eq!(Depth::True.bring_down(Color::Rgb(1, 2, 3)), Color::Rgb(1, 2, 3));
        assert_eq!(Depth::Ansi.bring_down(Color::Reset), Color::Reset);
    }

    #[test]
    fn terminals_are_told_apart() {
        assert_eq!(Depth::of("truecolor", "xterm"), Depth::True);
        assert_eq!(Depth::of("", "tmux-256color"), Depth::Indexed);
        assert_eq!(Depth::of("", "screen"), Depth::Ansi);
    }
}
