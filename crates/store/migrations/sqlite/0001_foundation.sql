-- Times are microseconds since 1970 in UTC; JSON is kept as text, since nothing queries inside it.

CREATE TABLE tenants (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    deleted_at INTEGER
);
CREATE UNIQUE INDEX tenants_by_name ON tenants (name) WHERE deleted_at IS NULL;

CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id INTEGER NOT NULL REFERENCES tenants (id),
    name TEXT NOT NULL,
    prefix TEXT NOT NULL UNIQUE,
    hash BLOB NOT NULL,
    role TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    last_used_at INTEGER,
    deleted_at INTEGER
);
CREATE UNIQUE INDEX tokens_by_name ON tokens (tenant_id, name) WHERE deleted_at IS NULL;
CREATE INDEX tokens_in_order ON tokens (tenant_id, id) WHERE deleted_at IS NULL;

CREATE TABLE resource_types (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id INTEGER NOT NULL REFERENCES tenants (id),
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    description TEXT NOT NULL,
    schema TEXT NOT NULL,
    resource_version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER
);
CREATE UNIQUE INDEX resource_types_by_name ON resource_types (tenant_id, name, version) WHERE deleted_at IS NULL;
CREATE INDEX resource_types_in_order ON resource_types (tenant_id, id) WHERE deleted_at IS NULL;

CREATE TABLE resources (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id INTEGER NOT NULL REFERENCES tenants (id),
    type_id INTEGER NOT NULL REFERENCES resource_types (id),
    resource_type_name TEXT NOT NULL,
    resource_type_version TEXT NOT NULL,
    name TEXT NOT NULL,
    action_plugin TEXT NOT NULL,
    plugin_config TEXT NOT NULL,
    spec TEXT NOT NULL,
    labels TEXT NOT NULL,
    annotations TEXT NOT NULL,
    lifecycle TEXT NOT NULL,
    lifecycle_since INTEGER NOT NULL,
    status_message TEXT NOT NULL,
    generation INTEGER NOT NULL,
    observed_generation INTEGER NOT NULL,
    outputs TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    last_reconcile_time INTEGER,
    deletion_requested_at INTEGER,
    reconcile_requested_at INTEGER,
    next_reconcile_at INTEGER,
    resource_version INTEGER NOT NULL,
    deleted_at INTEGER
);
CREATE UNIQUE INDEX resources_by_name ON resources (tenant_id, resource_type_name, name) WHERE deleted_at IS NULL;
CREATE INDEX resources_in_order ON resources (tenant_id, id) WHERE deleted_at IS NULL;
CREATE INDEX resources_by_type_name ON resources (tenant_id, resource_type_name, id) WHERE deleted_at IS NULL;
CREATE INDEX resources_by_lifecycle ON resources (tenant_id, lifecycle, id) WHERE deleted_at IS NULL;
CREATE INDEX resources_by_plugin ON resources (tenant_id, action_plugin, id) WHERE deleted_at IS NULL;
CREATE INDEX resources_by_type ON resources (type_id, resource_version) WHERE deleted_at IS NULL;
CREATE INDEX resources_due ON resources (next_reconcile_at) WHERE deleted_at IS NULL AND next_reconcile_at IS NOT NULL;

CREATE TABLE resource_labels (
    resource_id INTEGER NOT NULL REFERENCES resources (id),
    tenant_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (resource_id, key)
);
CREATE INDEX resource_labels_by_value ON resource_labels (tenant_id, key, value, resource_id);

CREATE TABLE reconciliation_history (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id INTEGER NOT NULL REFERENCES tenants (id),
    resource_id INTEGER NOT NULL REFERENCES resources (id),
    generation INTEGER NOT NULL,
    success BOOLEAN NOT NULL,
    phase TEXT NOT NULL,
    error_message TEXT,
    resources_created INTEGER NOT NULL,
    resources_updated INTEGER NOT NULL,
    resources_deleted INTEGER NOT NULL,
    reconcile_time INTEGER NOT NULL
);
CREATE INDEX reconciliation_history_in_order ON reconciliation_history (resource_id, id);

CREATE TABLE locks (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    fencing_token INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
);

CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    tenant_id INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    object_id INTEGER NOT NULL,
    object_name TEXT NOT NULL,
    action TEXT NOT NULL,
    actor TEXT NOT NULL,
    request_id TEXT,
    before TEXT,
    after TEXT
);
CREATE INDEX events_by_kind ON events (tenant_id, kind, seq);
CREATE INDEX events_by_object ON events (tenant_id, kind, object_id, seq);


CREATE TABLE idempotency_keys (
    tenant_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    status INTEGER NOT NULL,
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

INSERT INTO tenants (id, name, description, created_at) VALUES
    (0, 'fleet', 'What belongs to every tenant', CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
    (1, 'default', 'The tenant that is always there', CAST(unixepoch('subsec') * 1000000 AS INTEGER));
