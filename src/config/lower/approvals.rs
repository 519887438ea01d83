//! `engine.approvals`: decisions with the line that makes them, narrower rules, and how long a question waits.

use std::sync::Arc;
use std::time::Duration;

use super::{Lower, seconds, text};
use crate::config::diagnostic::{child, item, quoted};
use crate::config::model::{ApprovalRule, ApprovalSettings, PlacedDecision, PolicyDecision, Server};
use crate::config::shape::did_you_mean;
use crate::config::tree::Node;
use crate::org::Org;

const PATH: &str = "engine.approvals";

impl Lower<'_> {
    /// `engine.approvals`, or its defaults.
    pub(super) fn approvals(&mut self, node: Option<&Node>, servers: &[Server], org: &Org) -> ApprovalSettings {
        let mut settings = ApprovalSettings::default();
        let Some(node) = node else { return settings };
        let slots = [
            ("read", &mut settings.read),
            ("write", &mut settings.write),
            ("destructive", &mut settings.destructive),
            ("unknown", &mut settings.unknown),
            ("connector", &mut settings.connector),
        ];
        for (key, slot) in slots {
            if let Some(entry) = node.entry(key)
                && let Some(decision) = decision(&entry.value)
            {
                *slot = PlacedDecision { decision, place: Some(self.place(entry.mark)) };
            }
        }
        if let Some(wait) = node.get("wait_seconds") {
            settings.wait = self.wait(wait).unwrap_or(settings.wait);
        }
        settings.hold = node.get("hold_seconds").and_then(seconds).unwrap_or(settings.hold);
        self.hold_within_wait(node, settings.wait);
        let holds = node.get("hold_by_client").map(Node::entries).unwrap_or_default();
        settings.hold_by_client =
            holds.iter().filter_map(|entry| Some((entry.key.clone(), seconds(&entry.value)?))).collect();
        settings.rules = self.rules(node, servers, org);
        settings
    }

    fn wait(&mut self, node: &Node) -> Option<Duration> {
        let wait = seconds(node)?;
        if wait.is_zero() {
            self.report
                .error(node.mark, child(PATH, "wait_seconds"), "with 0 no person could ever answer")
                .help("write the seconds that a question waits, such as 300");
        }
        Some(wait)
    }

    fn hold_within_wait(&mut self, node: &Node, wait: Duration) {
        let Some(hold) = node.get("hold_seconds") else { return };
        if seconds(hold).is_some_and(|hold| hold > wait) {
            let message = format!("a call is not held longer than a question waits ({} s)", wait.as_secs_f64());
            self.report.warning(hold.mark, child(PATH, "hold_seconds"), message).help("raise `wait_seconds` as well");
        }
    }

    fn rules(&mut self, approvals: &Node, servers: &[Server], org: &Org) -> Vec<ApprovalRule> {
        let mut rules = Vec::new();
        for (index, node) in approvals.get("rules").map(Node::items).unwrap_or_default().iter().enumerate() {
            let path = item("engine.approvals.rules", index);
            let (Some(tool), Some(decision)) = (node.get("tool"), node.get("decision").and_then(decision)) else {
                continue;
            };
            let Some(glob) = tool.text() else { continue };
            self.rule_tool(tool, glob, &child(&path, "tool"), servers);
            let seat = text(node, "seat");
            self.rule_seat(node, seat.as_ref(), &path, org);
            rules.push(ApprovalRule { tool: glob.clone(), seat, decision, place: self.place(node.mark) });
        }
        rules
    }

    /// A rule that can match nothing is no protection, so it is said.
    fn rule_tool(&mut self, node: &Node, glob: &Arc<str>, path: &str, servers: &[Server]) {
        let Some((server, _)) = glob.split_once('/') else {
            if !glob.starts_with('*') {
                self.report.error(node.mark, path, format!("{} names no server", quoted(glob))).help(format!(
                    "write `server/tool`, or `*/{}` for every server",
                    crate::config::diagnostic::shortened(glob)
                ));
            }
            return;
        };
        if !server.contains(['*', '?']) && !servers.iter().any(|known| known.name.as_str() == server) {
            let known = servers.iter().map(|server| server.name.as_str());
            let otherwise = || "write the name of one of the `mcp_servers`".to_owned();
            let help = did_you_mean(self.report, server, known, otherwise);
            self.report.warning(node.mark, path, format!("there is no server {}", quoted(server))).help(help);
        }
    }

    fn rule_seat(&mut self, node: &Node, seat: Option<&Arc<str>>, path: &str, org: &Org) {
        let (Some(seat), Some(value)) = (seat, node.get("seat")) else { return };
        if !seat.contains(['*', '?']) && !org.seats.iter().any(|known| known.handle.as_str() == &**seat) {
            let message = format!("there is no seat {}", quoted(seat));
            self.report.warning(value.mark, child(path, "seat"), message).help("write a handle, or a pattern with `*`");
        }
    }
}

fn decision(node: &Node) -> Option<PolicyDecision> {
    [PolicyDecision::Allow, PolicyDecision::Ask, PolicyDecision::Type, PolicyDecision::Deny]
        .into_iter()
        .find(|decision| node.text().is_some_and(|text| &**text == decision.as_str()))
}
