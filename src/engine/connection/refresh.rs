//! Listing the tools of a ready server again whenever it says that they changed, and passing on what else it says changed.
//!
//! The supervisor runs [`run`] beside a ready session. Legacy servers send a notice by themselves; modern ones have to
//! be asked for it. A burst of notices is one listing.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::{Instant, sleep, timeout};

use super::client::{Answer, Client, Role};
use super::outbox::Outbox;
use super::tools::{self, ToolSupport};
use super::{ConnectionEvent, ConnectionSpec, protocol};
use crate::engine::status::{Era, Offer};
use crate::tool::Listing;

/// A burst of changes of a tool list is taken as one when it falls into this time.
const SETTLE: Duration = Duration::from_millis(250);
/// Time between two listings that the server asks for.
const REST: Duration = Duration::from_secs(1);
/// Time before an ended subscription is asked for again, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// A subscription that lasted for this long was a good one.
const GROWN_UP: Duration = Duration::from_secs(20);

/// Tells `outbox` each new listing, until dropped.
pub(super) async fn run(spec: Arc<ConnectionSpec>, client: Client, support: ToolSupport, outbox: Outbox) -> Infallible {
    let era = client.era().unwrap_or(Era::Legacy);
    let listing = async {
        loop {
            client.tools_changed().await;
            sleep(SETTLE).await;
            // What came meanwhile is covered by the listing that follows.
            let _ = client.tools_changed().now_or_never();
            list(&spec, &client, (era, support), &outbox).await;
            sleep(REST).await;
        }
    };
    tokio::select! {
        never = listing => never,
        never = tell(&client, Offer::Resources, &outbox) => never,
        never = tell(&client, Offer::Prompts, &outbox) => never,
        never = subscribe(&client, era, support) => never,
    }
}

/// Tells that a list other than the tools' changed. Nobody keeps these lists, so nothing is read.
async fn tell(client: &Client, offer: Offer, outbox: &Outbox) -> Infallible {
    loop {
        client.offer_changed(offer).await;
        sleep(SETTLE).await;
        let _ = client.offer_changed(offer).now_or_never();
        outbox.send(ConnectionEvent::OfferChanged(offer)).await;
        sleep(REST).await;
    }
}

async fn list(spec: &ConnectionSpec, client: &Client, (era, support): (Era, ToolSupport), outbox: &Outbox) {
    let error = match timeout(spec.startup_timeout, tools::list(client, &spec.redactor, era, support)).await {
        Ok(Ok(listing)) => {
            log_listing(spec, &listing);
            return outbox.send(ConnectionEvent::Listed(listing)).await;
        }
        Ok(Err(reason)) => spec.redactor.redact(&crate::text::clean(&reason)).into_owned(),
        Err(_elapsed) => "no answer in time".to_owned(),
    };
    // The list that is known stays: tools do not vanish because a server stumbles over a question.
    tracing::warn!(server = %spec.name, error, "tools_not_listed_again");
}

/// Keeps a modern server's subscription open, where it offers one.
async fn subscribe(client: &Client, era: Era, support: ToolSupport) -> Infallible {
    let (tools, offers) = (support == ToolSupport::Announced, client.announced());
    if era != Era::Modern || !(tools || offers.resources || offers.prompts) {
        return std::future::pending().await;
    }
    let wanted = [("tools", tools), ("resources", offers.resources), ("prompts", offers.prompts)];
    let wanted = wanted.iter().filter(|(_, wanted)| *wanted).map(|(list, _)| format!(r#""{list}ListChanged":true"#));
    let filter = format!("{{{}}}", wanted.collect::<Vec<_>>().join(","));
    let mut pause = FIRST_PAUSE;
    loop {
        let began = Instant::now();
        match client.request(Role::Standing, "subscriptions/listen", |_| protocol::listen(&filter)).await {
            // Not offered after all, or the end of everything.
            Answer::Error(_) | Answer::Ended(_) => return std::future::pending().await,
            Answer::Result(_) | Answer::Undelivered(_) => {}
        }
        pause = if began.elapsed() >= GROWN_UP { FIRST_PAUSE } else { LONGEST_PAUSE.min(pause * 2) };
        sleep(pause).await;
        // Nobody told us what changed while there was no subscription.
        if tools {
            client.note_tools_changed();
        }
        Offer::ALL.into_iter().filter(|offer| offers.has(*offer)).for_each(|offer| client.note_offer_changed(offer));
    }
}

/// Names of tools in one log line.
const LOGGED_NAMES: usize = 50;

/// Writes a listing to the log.
pub(super) fn log_listing(spec: &ConnectionSpec, listing: &Listing) {
    let names = listing.tools.iter().take(LOGGED_NAMES);
    let names: Vec<_> = names.map(|tool| crate::text::visible(&tool.raw_name)).collect();
    let tool_count = listing.tools.len();
    tracing::info!(server = %spec.name, tool_count, tool_names = names.join(" "), "tools_listed");
    if let Some(reason) = &listing.cut {
        tracing::warn!(server = %spec.name, %reason, "tool_list_cut");
    }
}
