//! The operators' tokens: named by the configuration, resolved once at the start, compared in constant time.

use std::sync::Arc;

use subtle::{ConditionallySelectable, ConstantTimeEq};

use super::tokens::{self, TokenError};
use crate::config::expand::Environment;
use crate::config::model::Operator;
use crate::native::Badge;
use crate::secret::Redactor;
use crate::tool::Digest;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Badges {
    known: Vec<(Digest, Arc<Badge>)>,
}

impl Badges {
    /// Operators whose token cannot be used are returned with the reason; nobody gets in as them. Neither does anybody
    /// by a token that two of them share: it would not say who is there.
    pub(super) fn open(
        operators: &[Operator],
        environment: &dyn Environment,
        redactor: &Redactor,
    ) -> (Self, Vec<TokenError>) {
        let (mut known, mut problems) = (Vec::<(Digest, Arc<Badge>)>::new(), Vec::new());
        for operator in operators {
            let token = match tokens::resolve(&operator.token, environment) {
                Ok(token) => token,
                Err(problem) => {
                    problems.push(TokenError::Operator { operator: operator.id.clone(), problem });
                    continue;
                }
            };
            let digest = Digest::of(token.expose().as_bytes());
            redactor.learn([token]);
            known.push((digest, Arc::new(Badge::of(operator))));
        }
        let shared = |digest: &Digest| known.iter().filter(|(other, _)| other == digest).count() > 1;
        let (twice, known): (Vec<_>, Vec<_>) = known.iter().cloned().partition(|(digest, _)| shared(digest));
        problems.extend(twice.into_iter().map(|(_, badge)| TokenError::Operator {
            operator: badge.id.clone(),
            problem: "another operator has the same token; give each its own".to_owned(),
        }));
        (Self { known }, problems)
    }

    /// Whose token this is. Takes the same time for every token.
    pub(super) fn holder(&self, token: Option<&str>) -> Option<&Arc<Badge>> {
        let given = Digest::of(token?.as_bytes());
        let mut found = u64::MAX;
        for (index, (digest, _)) in (0_u64..).zip(&self.known) {
            found.conditional_assign(&index, digest.0.ct_eq(&given.0));
        }
        self.known.get(usize::try_from(found).ok()?).map(|(_, badge)| badge)
    }
}
