-- The state service: who brought a version, and who has locked a state.

ALTER TABLE state_versions ADD COLUMN author TEXT;

-- A person's lock. A job under way is one by itself.
CREATE TABLE state_locks (
    resource_id INTEGER PRIMARY KEY REFERENCES resources (id),
    tenant_id INTEGER NOT NULL REFERENCES tenants (id),
    lock_id TEXT NOT NULL,
    -- As Terraform describes it.
    info TEXT NOT NULL,
    author TEXT NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE INDEX jobs_running_by_resource ON jobs (resource_id) WHERE state = 'running';
