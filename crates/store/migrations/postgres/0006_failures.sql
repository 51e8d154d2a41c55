-- What follows from failures: alerts that stand, what a person wants imported, and outputs that only some may see.

-- A row stands as long as its alert does; why is told by the resource's failure.
CREATE TABLE alerts (
    resource_id BIGINT PRIMARY KEY REFERENCES resources (id),
    tenant_id BIGINT NOT NULL REFERENCES tenants (id),
    since BIGINT NOT NULL
);
CREATE INDEX alerts_by_tenant ON alerts (tenant_id, resource_id);

-- What exists already and is to be taken into the state by the next job.
CREATE TABLE imports (
    resource_id BIGINT PRIMARY KEY REFERENCES resources (id),
    tenant_id BIGINT NOT NULL REFERENCES tenants (id),
    address TEXT NOT NULL,
    import_id TEXT NOT NULL
);

-- The sensitive outputs of a resource, sealed as one JSON object; their names are open.
CREATE TABLE sealed_outputs (
    resource_id BIGINT PRIMARY KEY REFERENCES resources (id),
    tenant_id BIGINT NOT NULL REFERENCES tenants (id),
    names TEXT NOT NULL,
    sealed BYTEA NOT NULL,
    key_id TEXT NOT NULL
);
