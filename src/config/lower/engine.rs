//! `engine`: the listener, the state folder and what seats are offered.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::{Lower, text};
use crate::config::diagnostic::{child, item, quoted};
use crate::config::model::{Autopilot, Discovery, EngineSettings, Native, Server};
use crate::config::shape::did_you_mean;
use crate::config::tree::Node;
use crate::ids::SeatHandle;
use crate::org::Org;

impl Lower<'_> {
    /// `engine`, or its defaults.
    pub(super) fn engine(&mut self, node: Option<&Node>, servers: &[Server], org: &Org) -> EngineSettings {
        let Some(node) = node else { return EngineSettings::default() };
        let native = |key: &str| node.get("native").and_then(|native| native.get(key)?.flag()).unwrap_or(true);
        EngineSettings {
            listen: node.get("listen").and_then(|listen| self.listen(listen)),
            state_dir: text(node, "state_dir").map(|path| PathBuf::from(&*path)),
            discovery: match text(node, "discovery").as_deref() {
                Some("progressive") => Discovery::Progressive,
                _ => Discovery::All,
            },
            approvals: self.approvals(node.get("approvals"), servers, org),
            turn_tools: node.get("turn_tools").and_then(Node::flag).unwrap_or(true),
            native: Native { tracker: native("tracker"), pages: native("pages") },
            autopilots: self.autopilots(node, org),
        }
    }

    fn listen(&mut self, node: &Node) -> Option<SocketAddr> {
        let text = node.text()?;
        if &**text == "off" {
            return None;
        }
        let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
        let Ok(address) = numeric.as_deref().unwrap_or(text).parse::<SocketAddr>() else {
            let port = if text.parse::<u16>().is_ok() { text } else { "7420" };
            self.report
                .error(node.mark, "engine.listen", format!("{} is no address with a port", quoted(text)))
                .help(format!("such as `127.0.0.1:{port}`, or `off`"));
            return None;
        };
        if !address.ip().is_loopback() {
            self.report
                .error(node.mark, "engine.listen", format!("{} can be reached from other machines", quoted(text)))
                .help("the file takes loopback addresses only (`127.0.0.1`); for one run use `--listen`");
        }
        Some(address)
    }

    fn autopilots(&mut self, engine: &Node, org: &Org) -> Vec<Autopilot> {
        let mut ids = HashSet::new();
        let mut autopilots = Vec::new();
        for (index, node) in engine.get("autopilots").map(Node::items).unwrap_or_default().iter().enumerate() {
            let path = item("engine.autopilots", index);
            let (Some(id), Some(prompt)) = (text(node, "id"), text(node, "prompt")) else { continue };
            if !ids.insert(id.clone()) {
                let message = format!("the autopilot {} stands twice", quoted(&id));
                self.report.error(node.mark, child(&path, "id"), message).help("give each its own id");
            }
            if let Some(seat) = self.known_seat(node, &path, org) {
                autopilots.push(Autopilot { id, seat, prompt });
            }
        }
        autopilots
    }

    /// The seat that a section names by its handle.
    pub(super) fn known_seat(&mut self, node: &Node, path: &str, org: &Org) -> Option<SeatHandle> {
        let value = node.get("seat")?;
        let handle = SeatHandle::new(value.text()?.clone());
        if org.seat(&handle).is_none() {
            let known = org.seats.iter().map(|seat| seat.handle.as_str());
            let otherwise = || "write the handle of one of the roles".to_owned();
            let help = did_you_mean(self.report, handle.as_str(), known, otherwise);
            let message = format!("there is no seat {}", quoted(handle.as_str()));
            self.report.error(value.mark, child(path, "seat"), message).help(help);
            return None;
        }
        Some(handle)
    }
}
