//! Names that the engine keeps for tools that nobody lists. Pure.
//!
//! A server's tool that would go by one of them is refused: whoever calls `delegate` means the engine's. This is about
//! our own names alone; no server's tool is known here. First-party tools that are listed, the tracker's and the
//! pages', stand in no list: [`super::names`] gives them their names before any server's, which then goes by another.

/// Control tools, as they are and as they were called.
const CONTROL: [&str; 13] = [
    "a2a_ask",
    "a2a_inbox",
    "a2a_reply",
    "activate_tool",
    "close_a2a_channel",
    "delegate",
    "list_mcp_server_tools",
    "request_a2a_channel",
    "run_sandbox",
    "send_a2a_message",
    "spawn_subagent",
    "turn_begin",
    "turn_end",
];
/// Tools of memory and of who is who.
const OWN: [&str; 8] = [
    "load_tool_skill",
    "lookup_colleague",
    "mark_onboarded",
    "query_episodes",
    "refine_skill",
    "reflect_and_persist",
    "refresh_memory",
    "use_skill",
];

/// Whether the engine keeps this name for itself.
pub fn is_reserved(name: &str) -> bool {
    is_control(name) || OWN.contains(&name)
}

/// Whether it is a control tool's: whoever holds one acts for the seat itself, in its turn and towards its colleagues.
pub fn is_control(name: &str) -> bool {
    CONTROL.contains(&name)
}
