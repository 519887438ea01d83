//! `engine`: the listener, the state folder and what seats are offered.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::{Lower, text};
use crate::config::diagnostic::{child, item, quoted};
use crate::config::model::{Autopilot, Discovery, Embeddings, EngineSettings, Native, Server};
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
            embeddings: node.get("embeddings").and_then(|node| self.embeddings(node)),
        }
    }

    fn embeddings(&mut self, node: &Node) -> Option<Embeddings> {
        const PATH: &str = "engine.embeddings";
        let url = self.template_at(node, "url", PATH)?;
        // An address that is not known before the variables are is looked at when it is used.
        if let Some(text) = url.literal()
            && !(text.starts_with("http://") || text.starts_with("https://"))
        {
            let mark = node.get("url").map_or(node.mark, |url| url.mark);
            self.report
                .error(mark, child(PATH, "url"), format!("{} is no http address", quoted(&text)))
                .help("such as `https://api.example.com/v1`, without `/embeddings`");
        }
        let key = node.get("key").filter(|key| !key.is_null());
        if let Some(key) = key.filter(|key| key.text().is_some_and(|text| text.trim().is_empty())) {
            self.report
                .error(key.mark, child(PATH, "key"), "is empty")
                .help("a reference such as `${VAR}`, or no `key`");
        }
        Some(Embeddings { url, model: text(node, "model")?, key: self.template_at(node, "key", PATH) })
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
