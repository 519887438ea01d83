//! The discovery pair, under `engine.discovery: progressive`.

use super::NAME;
use crate::native::discovery;
use crate::native::tool::{Audience, Effects, Field, Handler, Kind, Part, Tool};
use crate::tool::annotations::Hint::{No, Unknown, Yes};

/// Longest name of a tool that is taken, in characters: connection and raw name.
const TOOL: usize = 400;

/// Finding a server's tools, and making one of them active.
pub static TOOLS: &[Tool] = &[
    Tool {
        name: "list_mcp_server_tools",
        title: "List a server's tools",
        about: "Lists every tool of one of your servers, also those that are not in your tool list yet: name and what it \
                does. Unknown names are answered with the names of your servers. activate_tool makes a tool callable.",
        hints: Effects([Yes, Unknown, Yes, No]),
        delivers: None,
        part: Part::Discovery,
        audience: Audience::Seats,
        fields: &[Field::required("server", Kind::Text(NAME), "The server's name.")],
        handler: Handler::Run(discovery::run_list),
    },
    Tool {
        name: "activate_tool",
        title: "Activate a tool",
        about: "Puts one tool of your servers into your tool list, for the rest of your session, and gives its \
                arguments' schema. A tool that is not active cannot be called. list_mcp_server_tools has the names.",
        hints: Effects([No, No, Yes, No]),
        delivers: None,
        part: Part::Discovery,
        audience: Audience::Seats,
        fields: &[Field::required("name", Kind::Text(TOOL), "The tool's name, as list_mcp_server_tools gives it.")],
        handler: Handler::Run(discovery::run_activate),
    },
];
