//! The built-in action plugins.

use std::sync::Arc;

use crate::action::Action;
use github_actions::{GithubActions, GithubSettings};
use gitlab_pipeline::{GitlabPipeline, GitlabSettings};

pub mod forge;
pub mod github_actions;
pub mod gitlab_pipeline;
pub mod http;
pub mod noop;
pub mod terraform;

/// What the operator sets for the built-in plugins.
#[derive(Default)]
pub struct Settings {
    pub github: GithubSettings,
    pub gitlab: GitlabSettings,
}

/// All of them.
pub fn builtin(settings: Settings) -> Vec<Arc<dyn Action>> {
    vec![
        Arc::new(noop::Noop::default()),
        Arc::new(http::Http::default()),
        Arc::new(GithubActions::new(settings.github)),
        Arc::new(GitlabPipeline::new(settings.gitlab)),
        Arc::new(terraform::Terraform::default()),
    ]
}
