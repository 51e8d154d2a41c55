-- What the controllers keep: operations, claims, what is known of drift and failures; and secrets.

ALTER TABLE resource_types ADD COLUMN plugin_config TEXT NOT NULL DEFAULT '{}';

ALTER TABLE resources ADD COLUMN conditions TEXT NOT NULL DEFAULT '[]';
ALTER TABLE resources ADD COLUMN drift_policy TEXT NOT NULL DEFAULT 'correct';
ALTER TABLE resources ADD COLUMN drift TEXT;
ALTER TABLE resources ADD COLUMN failure TEXT;
ALTER TABLE resources ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE resources ADD COLUMN finalizers TEXT NOT NULL DEFAULT '[]';
ALTER TABLE resources ADD COLUMN holds TEXT NOT NULL DEFAULT '[]';
ALTER TABLE resources ADD COLUMN memory TEXT;
-- Why another operation is wanted, beside the one under way.
ALTER TABLE resources ADD COLUMN wanted TEXT;
ALTER TABLE resources ADD COLUMN begun_generation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE resources ADD COLUMN operation_id INTEGER;
-- The claim: while it is held, next_reconcile_at is the time at which it lapses.
ALTER TABLE resources ADD COLUMN fencing_token INTEGER NOT NULL DEFAULT 0;
ALTER TABLE resources ADD COLUMN lease_holder TEXT;
ALTER TABLE resources ADD COLUMN lease_until INTEGER;
CREATE INDEX resources_due_by_tenant ON resources (tenant_id, next_reconcile_at)
    WHERE deleted_at IS NULL AND next_reconcile_at IS NOT NULL;
CREATE INDEX resources_leased ON resources (lease_until) WHERE lease_until IS NOT NULL;

CREATE TABLE operations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id INTEGER NOT NULL REFERENCES tenants (id),
    resource_id INTEGER NOT NULL REFERENCES resources (id),
    kind TEXT NOT NULL,
    reason TEXT NOT NULL,
    generation INTEGER NOT NULL,
    state TEXT NOT NULL,
    phase TEXT NOT NULL,
    step TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    message TEXT NOT NULL,
    failure TEXT,
    checkpoint TEXT,
    signal TEXT,
    -- What its generation asked for, once something else is asked for.
    desired TEXT,
    fencing_token INTEGER NOT NULL,
    holder TEXT NOT NULL,
    trace_id TEXT NOT NULL,
    resources_created INTEGER NOT NULL,
    resources_updated INTEGER NOT NULL,
    resources_deleted INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    finished_at INTEGER
);
-- One operation per resource, by construction.
CREATE UNIQUE INDEX operations_active ON operations (resource_id) WHERE finished_at IS NULL;
CREATE INDEX operations_in_order ON operations (resource_id, id);
CREATE INDEX operations_by_signal ON operations (signal) WHERE finished_at IS NULL AND signal IS NOT NULL;

CREATE TABLE secrets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id INTEGER NOT NULL REFERENCES tenants (id),
    name TEXT NOT NULL,
    -- Sealed: nobody reads it without the key that key_id names.
    sealed BLOB NOT NULL,
    key_id TEXT NOT NULL,
    hosts TEXT NOT NULL,
    resource_version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX secrets_by_name ON secrets (tenant_id, name);
CREATE INDEX secrets_by_key ON secrets (key_id, id);
