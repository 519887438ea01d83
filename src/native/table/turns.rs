//! The two ends of a turn.

use super::{LINE, NAME};
use crate::native::tool::{Audience, Effects, Field, Handler, Kind, Part, Tool};
use crate::native::turns;
use crate::tool::annotations::Hint::{No, Yes};
use crate::turns::{BEGIN, END};

/// Longest text at the end of a turn, in characters.
const CLOSING: usize = 20_000;
const KEEPS_BOOKS: Effects = Effects([No, No, Yes, No]);

/// Begin and end.
pub static TOOLS: &[Tool] = &[
    Tool {
        name: BEGIN,
        title: "Begin a turn",
        about: "Begins a turn: call it when something wakes you, before you act, and say whether somebody waits for an \
                answer. A turn that still goes on ends with it.",
        hints: KEEPS_BOOKS,
        delivers: None,
        part: Part::Turns,
        audience: Audience::Seats,
        fields: &[
            Field::optional("trigger", Kind::Body(LINE), "What woke you, in one line."),
            Field::required(
                "reply",
                Kind::Text(NAME),
                "Who waits for an answer. none: nobody. tool: somebody, and a tool of yours has to carry it. \
                 tool:SURFACE: the same, on that surface: the name of a server, tracker or pages. engine: somebody, \
                 and the text that you give to turn_end is the answer.",
            ),
        ],
        handler: Handler::Run(turns::begin),
    },
    Tool {
        name: END,
        title: "End a turn",
        about: "Ends your turn and says how. Whether that is so is checked against the calls that you made in it: where \
                it is not, the verdict is correct, the message says what is missing, and the turn goes on. You are \
                corrected once; after another claim that is not so the turn is recorded as incomplete.",
        hints: KEEPS_BOOKS,
        delivers: None,
        part: Part::Turns,
        audience: Audience::Seats,
        fields: &[
            Field::required(
                "outcome",
                Kind::OneOf(turns::CLAIMS),
                "delivered: the work is done, and whoever waited has an answer. no_action: there was nothing to do. \
                 blocked: you cannot go on; say why in text.",
            ),
            Field::optional("text", Kind::Body(CLOSING), "What there is to say at the end."),
        ],
        handler: Handler::Run(turns::end),
    },
];
