//! GitHub and GitLab, through the plugins' front door and a real socket. The servers are stand-ins written from the published
//! APIs: what is not documented there they refuse, and the test fails.

mod github;
mod github_lost;
mod github_server;
mod gitlab;
mod gitlab_server;
mod journey;
mod stand;
