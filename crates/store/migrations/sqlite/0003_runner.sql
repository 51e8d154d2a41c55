-- Work for runners: jobs, their logs, and the states that they leave behind.

CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id INTEGER NOT NULL REFERENCES tenants (id),
    resource_id INTEGER NOT NULL REFERENCES resources (id),
    operation_id INTEGER NOT NULL REFERENCES operations (id),
    state TEXT NOT NULL,
    request TEXT NOT NULL,
    -- Grows each time a runner takes it.
    fencing_token INTEGER NOT NULL DEFAULT 0,
    runner TEXT,
    lease_until INTEGER,
    -- What a person asked of it: interrupt, or kill.
    stop TEXT,
    report TEXT,
    -- The plan that consent is asked for, sealed; and who consented.
    plan_sealed BLOB,
    plan_key_id TEXT,
    plan_sha256 TEXT,
    approved_by TEXT,
    approved_at INTEGER,
    progress TEXT,
    log_bytes INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER
);
CREATE INDEX jobs_queued ON jobs (id) WHERE state = 'queued';
CREATE INDEX jobs_running ON jobs (lease_until) WHERE state = 'running';
CREATE INDEX jobs_by_operation ON jobs (operation_id, id);
CREATE INDEX jobs_by_resource ON jobs (resource_id, id);

-- A log is one sequence of bytes; each piece says where it begins.
CREATE TABLE job_log (
    job_id INTEGER NOT NULL REFERENCES jobs (id),
    start INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (job_id, start)
);

-- Terraform states, sealed: one for each finished job, and the newest of one under way.
CREATE TABLE state_versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id INTEGER NOT NULL REFERENCES tenants (id),
    resource_id INTEGER NOT NULL REFERENCES resources (id),
    job_id INTEGER,
    serial INTEGER NOT NULL,
    lineage TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    objects INTEGER NOT NULL,
    sealed BLOB NOT NULL,
    key_id TEXT NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE INDEX state_versions_in_order ON state_versions (resource_id, id);
CREATE INDEX state_versions_by_key ON state_versions (key_id, id);
