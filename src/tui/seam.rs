//! Where the approval card and the call editor join the screen.

pub use super::card::{Card, CardContext, Outcome};
pub use super::editor::CallEditor;
