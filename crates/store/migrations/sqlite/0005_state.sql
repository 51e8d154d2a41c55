-- States and accounts: who brought a version, who has locked a state, and with whose credentials Terraform works.

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

-- Cloud accounts. Credentials are names of secrets.
CREATE TABLE accounts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id INTEGER NOT NULL REFERENCES tenants (id),
    name TEXT NOT NULL,
    provider TEXT NOT NULL,
    credentials TEXT NOT NULL,
    region TEXT,
    resource_version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX accounts_by_name ON accounts (tenant_id, name);
