//! `aws_iam_policy_document`: a policy in blocks becomes a policy in JSON.

use serde_json::{Map, Value as Json, json};

use crate::value;

pub fn document(values: &Json) -> Json {
    let mut policy = Map::new();
    policy.insert("Version".to_owned(), json!(non_empty(value::text(values, "version")).unwrap_or("2012-10-17")));
    if let Some(id) = non_empty(value::text(values, "policy_id")) {
        policy.insert("Id".to_owned(), json!(id));
    }
    let statements: Vec<_> = values["statement"].as_array().into_iter().flatten().map(statement).collect();
    policy.insert("Statement".to_owned(), Json::Array(statements));
    let pretty = serde_json::to_string_pretty(&policy).unwrap_or_default();
    let plain = serde_json::to_string(&policy).unwrap_or_default();
    json!({ "json": pretty, "minified_json": plain, "version": "2012-10-17" })
}

fn statement(block: &Json) -> Json {
    let mut statement = Map::new();
    if let Some(sid) = non_empty(value::text(block, "sid")) {
        statement.insert("Sid".to_owned(), json!(sid));
    }
    statement.insert("Effect".to_owned(), json!(non_empty(value::text(block, "effect")).unwrap_or("Allow")));
    for (name, from) in [
        ("Action", "actions"),
        ("NotAction", "not_actions"),
        ("Resource", "resources"),
        ("NotResource", "not_resources"),
    ] {
        let texts = value::at(block, from);
        if !texts.is_empty() {
            statement.insert(name.to_owned(), one_or_many(texts));
        }
    }
    for (name, from) in [("Principal", "principals"), ("NotPrincipal", "not_principals")] {
        if let Some(principal) = principal(&block[from]) {
            statement.insert(name.to_owned(), principal);
        }
    }
    let mut conditions = Map::new();
    for condition in block["condition"].as_array().into_iter().flatten() {
        let test = conditions.entry(value::text(condition, "test").to_owned()).or_insert_with(|| json!({}));
        test[value::text(condition, "variable")] = one_or_many(value::at(condition, "values"));
    }
    if !conditions.is_empty() {
        statement.insert("Condition".to_owned(), Json::Object(conditions));
    }
    Json::Object(statement)
}

fn principal(blocks: &Json) -> Option<Json> {
    let mut principals = Map::new();
    for block in blocks.as_array().filter(|blocks| !blocks.is_empty())? {
        let identifiers = one_or_many(value::at(block, "identifiers"));
        let kind = value::text(block, "type");
        if kind == "*" && identifiers == "*" {
            return Some(json!("*"));
        }
        principals.insert(kind.to_owned(), identifiers);
    }
    Some(Json::Object(principals))
}

fn one_or_many(texts: Vec<&Json>) -> Json {
    match texts.as_slice() {
        [one] => (*one).clone(),
        many => many.iter().map(|text| (*text).clone()).collect(),
    }
}

fn non_empty(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_in_blocks_becomes_the_policy_that_aws_reads() {
        let blocks = json!({ "statement": [
            {
                "sid": "Assume",
                "actions": ["sts:AssumeRoleWithWebIdentity"],
                "principals": [{ "type": "Federated", "identifiers": ["arn:aws:iam::1:oidc-provider/x"] }],
                "condition": [
                    { "test": "StringEquals", "variable": "x:sub", "values": ["system:serviceaccount:a:b"] },
                    { "test": "StringEquals", "variable": "x:aud", "values": ["sts.amazonaws.com", "other"] },
                ],
            },
            { "effect": "Deny", "actions": ["s3:*", "kms:*"], "resources": ["*"], "principals": [{ "type": "*", "identifiers": ["*"] }] },
        ] });
        let document = document(&blocks);
        let policy: Json = serde_json::from_str(document["json"].as_str().unwrap()).unwrap();
        assert_eq!(
            policy,
            json!({
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Sid": "Assume",
                        "Effect": "Allow",
                        "Action": "sts:AssumeRoleWithWebIdentity",
                        "Principal": { "Federated": "arn:aws:iam::1:oidc-provider/x" },
                        "Condition": { "StringEquals": {
                            "x:sub": "system:serviceaccount:a:b",
                            "x:aud": ["sts.amazonaws.com", "other"],
                        } },
                    },
                    { "Effect": "Deny", "Action": ["s3:*", "kms:*"], "Resource": "*", "Principal": "*" },
                ],
            })
        );
        assert_eq!(serde_json::from_str::<Json>(document["minified_json"].as_str().unwrap()).unwrap(), policy);
    }
}
