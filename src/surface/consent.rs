//! `engine.approvals.connector: ask`: a call of the scoped connector that passed its own checks waits for a person, by
//! the same desk as everybody's. A caller that has waited as long as it is held hears that it is to repeat the call;
//! one that goes away withdraws its question. However it ends, the connector's own audit has one line of it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Shared;
use super::call::longest_hold;
use crate::engine::handle::{CallReport, CallRequest, Consent, Hold, Waited};
use crate::engine::snapshot::{CallPhase, Caller, Withdrawal};
use crate::ids::{ConnectionName, SeatHandle};
use crate::native::Badge;
use crate::native::connector::{Answer, Connector, Unasked};
use crate::tool::{Arguments, Digest};

/// How soon a caller that could not leave when its time was over is asked again.
const AGAIN: Duration = Duration::from_millis(250);
/// Most calls that wait while their callers are away.
const MOST: usize = 256;

/// An invocation as it came.
pub(super) struct Wanted<'w> {
    pub(super) badge: &'w Arc<Badge>,
    pub(super) tool: &'w str,
    pub(super) arguments: &'w str,
    /// Empty for a plain call.
    pub(super) session: Arc<str>,
    pub(super) client: Arc<str>,
}

/// What identifies a call that is repeated.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    token: Arc<str>,
    client: Arc<str>,
    tool: String,
    arguments: Digest,
}

/// A call in the pipeline. Dropped before its end it is given up, and its line is written once it has ended.
struct Pending {
    connector: Arc<Connector>,
    badge: Arc<Badge>,
    tool: String,
    hold: Hold,
    cancel: CancellationToken,
    report: Option<Waited>,
    /// Its caller was told to come back: that invocation has its line.
    told: bool,
}

impl Drop for Pending {
    fn drop(&mut self) {
        let Some(report) = self.report.take() else { return };
        self.hold.gone_because(Withdrawal::CallerGone);
        self.cancel.cancel();
        let (connector, badge, tool) = (self.connector.clone(), self.badge.clone(), std::mem::take(&mut self.tool));
        let recording = async move { answer(&connector, &badge, &tool, report.await.ok()).await };
        // Without a runtime everything has ended, and so has the call.
        if let (false, Ok(runtime)) = (self.told, tokio::runtime::Handle::try_current()) {
            runtime.spawn(recording);
        }
    }
}

/// Calls that wait for a person while their callers are away.
#[derive(Default)]
pub(super) struct Consents {
    away: Mutex<HashMap<Key, VecDeque<(Instant, Pending)>>>,
}

impl Consents {
    /// False when there are too many: the call is given up.
    fn park(&self, key: Key, mut pending: Pending) -> bool {
        if let Some(report) = &mut pending.report {
            report.let_go();
        }
        let mut away = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        let full = away.values().map(VecDeque::len).sum::<usize>() >= MOST;
        if !full {
            away.entry(key).or_default().push_back((Instant::now(), pending));
        }
        !full
    }

    fn pick_up(&self, key: &Key) -> Option<Pending> {
        let mut away = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        let alike = away.get_mut(key)?;
        let (_, mut pending) = alike.pop_front()?;
        if alike.is_empty() {
            away.remove(key);
        }
        pending.told = false;
        pending.hold.come_back();
        Some(pending)
    }

    /// Gives up what nobody came back for in this time.
    pub(super) fn sweep(&self, kept: Duration) {
        let mut away = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        for alike in away.values_mut() {
            alike.retain(|(since, _)| since.elapsed() <= kept);
        }
        away.retain(|_, alike| !alike.is_empty());
    }
}

/// Asks a person about a call that passed the connector's checks, and answers as it ended.
pub(super) async fn ask(shared: &Arc<Shared>, connector: &Arc<Connector>, wanted: &Wanted<'_>) -> Answer {
    let Wanted { badge, tool, client, .. } = wanted;
    // They were read before; they are the same.
    let arguments = Arguments::parse(wanted.arguments).unwrap_or_else(|_| Arguments::empty());
    let key = Key {
        token: badge.id.clone(),
        client: client.clone(),
        tool: (*tool).to_owned(),
        arguments: arguments.digest(),
    };
    let mut pending = match shared.consents.pick_up(&key) {
        Some(pending) => pending,
        None => match start(shared, connector, wanted, arguments) {
            Some(pending) => pending,
            None => return answer(connector, badge, tool, None).await,
        },
    };
    let held = tokio::time::sleep(longest_hold(&shared.handle.settings(), client));
    tokio::pin!(held);
    loop {
        let Some(report) = pending.report.as_mut() else { return answer(connector, badge, tool, None).await };
        tokio::select! {
            biased;
            report = report => {
                pending.report = None;
                return answer(connector, badge, tool, report.ok()).await;
            }
            () = &mut held => {
                // What is decided this very moment is waited for, and so is a question that is still to be put.
                held.as_mut().reset(Instant::now() + AGAIN);
                if pending.hold.leave() {
                    pending.told = true;
                    let message = if shared.consents.park(key, pending) {
                        "waiting for a person; repeat the same call to pick up the decision. Nothing was run yet"
                    } else {
                        "too many calls wait for a person, so this one was given up; try again later"
                    };
                    return connector.not_run(badge, tool, Unasked::Waits, message).await;
                }
            }
        }
    }
}

fn start(shared: &Shared, connector: &Arc<Connector>, wanted: &Wanted<'_>, arguments: Arguments) -> Option<Pending> {
    let Wanted { badge, tool, session, client, .. } = wanted;
    let holder = SeatHandle::of_connector(&badge.id);
    let (hold, cancel) = (Hold::default(), CancellationToken::new());
    let request = CallRequest {
        caller: Caller::Operator { holder, session: session.clone(), client: client.clone() },
        tool: format!("{}/{tool}", ConnectionName::CONNECTOR).into(),
        arguments,
        consent: Consent::None,
        cancel: cancel.clone(),
    };
    let report = shared.handle.start_call(request, hold.clone()).ok()?;
    Some(Pending {
        connector: connector.clone(),
        badge: (*badge).clone(),
        tool: (*tool).to_owned(),
        hold,
        cancel,
        report: Some(report),
        told: false,
    })
}

/// What a call came to. What ran has left its line in the connector's audit itself.
async fn answer(connector: &Connector, badge: &Badge, tool: &str, report: Option<CallReport>) -> Answer {
    let Some(report) = report else {
        return connector.not_run(badge, tool, Unasked::Withdrawn, "the dashboard is ending; nothing was run").await;
    };
    let why = match (&report.output, &report.phase) {
        (Some(output), _) => {
            let mut answer = Answer::of_result(output.structured.as_ref(), output.is_error);
            // That a person changed the arguments is said, too.
            if let (Some(note), Some(body)) = (&report.note, answer.body.as_object_mut()) {
                body.insert("note".to_owned(), Value::String(note.to_string()));
            }
            return answer;
        }
        (None, CallPhase::Denied { .. }) => Unasked::Denied,
        (None, CallPhase::Expired) => Unasked::Expired,
        (None, CallPhase::Withdrawn(_)) => Unasked::Withdrawn,
        (None, CallPhase::Refused { .. }) => Unasked::Policy,
        (None, _) => Unasked::Failed,
    };
    connector.not_run(badge, tool, why, &report.message).await
}
