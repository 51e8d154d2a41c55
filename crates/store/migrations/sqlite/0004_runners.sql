-- Runners that are processes of their own: an operator enrols them, and so fixes whose work they do, and which.

CREATE TABLE runners (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    -- Of its token: the public part, and a digest of the secret one.
    prefix TEXT NOT NULL UNIQUE,
    hash BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    last_seen_at INTEGER,
    deleted_at INTEGER
);
CREATE UNIQUE INDEX runners_by_name ON runners (name) WHERE deleted_at IS NULL;

CREATE TABLE runner_tenants (
    runner_id INTEGER NOT NULL REFERENCES runners (id),
    tenant_id INTEGER NOT NULL REFERENCES tenants (id),
    PRIMARY KEY (runner_id, tenant_id)
);

CREATE TABLE runner_labels (
    runner_id INTEGER NOT NULL REFERENCES runners (id),
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (runner_id, key)
);

-- What a job asks of the runner that does it.
CREATE TABLE job_labels (
    job_id INTEGER NOT NULL REFERENCES jobs (id),
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (job_id, key)
);
