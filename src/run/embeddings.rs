//! The service for embeddings that the configuration names, made ready.

use crate::config::expand::{ProcessEnvironment, Template};
use crate::config::model::{Config, Embeddings};
use crate::native::Embedder;
use crate::secret::{Redactor, Secret};

/// The service, or what keeps it from being used: then what seats remember is found by words alone.
pub(super) fn open(config: &Config, redactor: &Redactor) -> (Option<Embedder>, Option<String>) {
    let Some(wanted) = &config.engine.embeddings else { return (None, None) };
    match made(wanted, redactor) {
        Ok(embedder) => (Some(embedder), None),
        Err(problem) => {
            tracing::error!(config = "engine.embeddings", %problem, "embeddings_not_used");
            (None, Some(format!("engine.embeddings is not used: {problem}; memories are found by words alone")))
        }
    }
}

fn made(wanted: &Embeddings, redactor: &Redactor) -> Result<Embedder, String> {
    let resolve = |template: &Template| -> Result<Secret, String> {
        redactor.learn(template.values(&ProcessEnvironment));
        template.resolve(&ProcessEnvironment).map_err(|missing| {
            let names: Vec<&str> = missing.iter().map(|one| &*one.variable).collect();
            tracing::warn!(
                config = "engine.embeddings",
                path = template.path(),
                names = names.join(" "),
                "config_reference_unresolved"
            );
            missing.first().map(ToString::to_string).unwrap_or_default()
        })
    };
    let url = resolve(&wanted.url)?;
    let key = wanted.key.as_ref().map(resolve).transpose()?;
    redactor.learn(key.clone());
    Embedder::new(&url, &wanted.model, key)
}
