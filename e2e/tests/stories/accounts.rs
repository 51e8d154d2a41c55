//! A run gets the credentials of the account that its resource names, and no other's.

use e2e::cloud::{Cloud, declare, stands};
use e2e::{Database, until};
use serde_json::json;

const PINNED: &str = r#"
variable "pin" {
  type      = number
  sensitive = true
}
resource "cloudsim_thing" "it" {
  name = "it"
  size = var.pin
}
"#;

#[tokio::test]
async fn a_run_works_with_the_credentials_of_its_account() {
    let (cloud, database) = (Cloud::open(), Database::sqlite().await);
    let module = cloud.module("pinned", PINNED);
    let server = cloud.server(&database, &[]).await;
    let api = server.api();
    let config = json!({ "account": "mine", "variables": {} });
    let id = declare(&api, "it", &module, json!({}), config).await;
    let failed = stands(&api, id, "failed", 1).await;
    assert_eq!(failed["failure"]["class"], "credentials", "{failed}");
    assert!(failed["failure"]["message"].as_str().is_some_and(|it| it.contains("no cloud account mine")), "{failed}");

    for (name, pin) in [("mine", "70001"), ("yours", "80002")] {
        let put = api.request(reqwest::Method::PUT, &format!("/api/v1/secrets/{name}-pin"));
        api.send(put.json(&json!({ "value": pin }))).await.expect("an answer").ok();
        let credentials = json!({ "TF_VAR_pin": { "secret": format!("{name}-pin") } });
        let account = json!({ "name": name, "provider": "other", "credentials": credentials });
        api.post("/api/v1/accounts", &account).await.ok();
    }
    api.post(&format!("/api/v1/resources/{id}/reconcile"), &json!({})).await.ok();
    stands(&api, id, "ready", 1).await;
    assert_eq!(cloud.objects()[0]["attributes"]["size"], 70001);

    assert_eq!(api.delete("/api/v1/accounts/mine").await.status, 409, "it is in use");
    assert_eq!(api.delete(&format!("/api/v1/resources/{id}")).await.status, 202);
    until("it to be gone", async || api.get(&format!("/api/v1/resources/{id}")).await.status == 404).await;
    assert!(cloud.objects().is_empty());
    assert_eq!(api.delete("/api/v1/accounts/mine").await.status, 204);
}
