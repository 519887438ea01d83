//! Roles, styles, glyphs and borders. Only this module names colours.
//!
//! The shipped themes are data (`themes/*.yaml`, compiled in); a user's theme comes as text from the composition
//! root. A theme is complete or refused. [`ascii`] turns a finished frame into plain ASCII.

pub mod ascii;
pub mod color;
pub mod load;

use ratatui::style::{Modifier, Style};

/// What a piece of text means. Every meaning also has a glyph or a word: colour alone says nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Role {
    /// Body text: always the terminal's own foreground and background.
    Text,
    /// Secondary text.
    Dim,
    /// The product's name, the current view.
    Accent,
    /// Borders of panes without the focus.
    Border,
    /// Borders of the focused pane.
    BorderFocused,
    /// Titles of panes.
    Title,
    /// The selected row.
    Selection,
    /// Status ready.
    Ready,
    /// Status starting.
    Starting,
    /// Status back-off.
    Backoff,
    /// Status stopped and disabled.
    Stopped,
    /// Status failed; errors.
    Failed,
    /// Class read.
    ClassRead,
    /// Class write.
    ClassWrite,
    /// Class destructive: loud.
    ClassDestructive,
    /// Class unknown: warm.
    ClassUnknown,
    /// A hint that is yes.
    HintYes,
    /// A hint that is no.
    HintNo,
    /// A hint that nobody stated.
    HintUnknown,
    /// Warnings.
    Warning,
    /// Waiting approvals: the only loud thing in the header.
    Alert,
    /// A match of the search.
    Match,
    /// A key in a hint line.
    Key,
    /// Keys that do not work yet.
    KeyDead,
    /// The border of the approval card.
    CardBorder,
}

impl Role {
    /// The name in theme files: `class_destructive`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Dim => "dim",
            Self::Accent => "accent",
            Self::Border => "border",
            Self::BorderFocused => "border_focused",
            Self::Title => "title",
            Self::Selection => "selection",
            Self::Ready => "ready",
            Self::Starting => "starting",
            Self::Backoff => "backoff",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::ClassRead => "class_read",
            Self::ClassWrite => "class_write",
            Self::ClassDestructive => "class_destructive",
            Self::ClassUnknown => "class_unknown",
            Self::HintYes => "hint_yes",
            Self::HintNo => "hint_no",
            Self::HintUnknown => "hint_unknown",
            Self::Warning => "warning",
            Self::Alert => "alert",
            Self::Match => "match",
            Self::Key => "key",
            Self::KeyDead => "key_dead",
            Self::CardBorder => "card_border",
        }
    }

    /// All roles, in order.
    pub const ALL: [Self; 25] = [
        Self::Text,
        Self::Dim,
        Self::Accent,
        Self::Border,
        Self::BorderFocused,
        Self::Title,
        Self::Selection,
        Self::Ready,
        Self::Starting,
        Self::Backoff,
        Self::Stopped,
        Self::Failed,
        Self::ClassRead,
        Self::ClassWrite,
        Self::ClassDestructive,
        Self::ClassUnknown,
        Self::HintYes,
        Self::HintNo,
        Self::HintUnknown,
        Self::Warning,
        Self::Alert,
        Self::Match,
        Self::Key,
        Self::KeyDead,
        Self::CardBorder,
    ];
}

/// A complete set of styles and glyphs.
#[derive(Clone, Debug)]
pub struct Theme {
    styles: [Style; Role::ALL.len()],
    /// Glyphs and borders in plain ASCII.
    pub ascii: bool,
}

impl Theme {
    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }

    /// No colour at all (`NO_COLOR`, `TERM=dumb`): modifiers and glyphs carry every meaning.
    pub fn plain() -> Self {
        let mut styles = [Style::new(); Role::ALL.len()];
        let mut set = |role: Role, modifier| {
            if let Some(style) = styles.get_mut(role as usize) {
                *style = Style::new().add_modifier(modifier);
            }
        };
        set(Role::Selection, Modifier::REVERSED);
        set(Role::Title, Modifier::BOLD);
        set(Role::Alert, Modifier::REVERSED.union(Modifier::BOLD));
        set(Role::ClassDestructive, Modifier::REVERSED.union(Modifier::BOLD));
        set(Role::Match, Modifier::UNDERLINED);
        set(Role::Key, Modifier::BOLD);
        set(Role::Accent, Modifier::BOLD);
        set(Role::Failed, Modifier::BOLD);
        set(Role::Warning, Modifier::BOLD);
        Self { styles, ascii: false }
    }

    /// True when nothing in it has a colour.
    pub fn is_plain(&self) -> bool {
        self.styles.iter().all(|style| style.fg.is_none() && style.bg.is_none() && style.underline_color.is_none())
    }

    /// The same theme with every colour brought down to what the terminal has.
    #[must_use]
    pub fn at_depth(mut self, depth: color::Depth) -> Self {
        for style in &mut self.styles {
            style.fg = style.fg.map(|color| depth.bring_down(color));
            style.bg = style.bg.map(|color| depth.bring_down(color));
        }
        self
    }
}
