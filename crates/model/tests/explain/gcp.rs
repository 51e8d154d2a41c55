use model::Class::*;

use super::{applying, assert_classes, destroying};

#[test]
fn what_google_cloud_says_when_it_makes_something() {
    assert_classes(
        applying(),
        &[
            (Quota, "googleapi: Error 403: Insufficient regional quota to satisfy request: resource \"CPUS\": request requires '12.0' and is short '4.0'. project has a quota of '8.0' with '8.0' available. View and manage quotas at https://console.cloud.google.com/iam-admin/quotas?usage=USED&project=p., forbidden"),
            (Quota, "Error waiting for instance to create: Quota 'CPUS_ALL_REGIONS' exceeded.  Limit: 12.0 globally."),
            (Quota, "Error creating Address: googleapi: Error 403: Quota 'STATIC_ADDRESSES' exceeded. Limit: 8.0 in region europe-west1., quotaExceeded"),
            (Quota, "Error creating Network: googleapi: Error 403: Quota 'NETWORKS' exceeded. Limit: 5.0 globally.\nDetails: [ { \"@type\": \"type.googleapis.com/google.rpc.ErrorInfo\", \"reason\": \"QUOTA_EXCEEDED\" } ]"),
            (Quota, "googleapi: Error 429: The project exceeded its quota for clusters: QUOTA_EXCEEDED"),
            (Quota, "Error creating service account: googleapi: Error 429: Maximum number of service accounts on project reached., rateLimitExceeded".trim_end_matches(", rateLimitExceeded")),
            (Throttle, "googleapi: Error 429: Quota exceeded for quota metric 'Queries' and limit 'Queries per minute' of service 'compute.googleapis.com' for consumer 'project_number:1'., rateLimitExceeded"),
            (Throttle, "Error reading instance: googleapi: Error 403: Rate Limit Exceeded, rateLimitExceeded"),
            (Throttle, "googleapi: Error 403: User Rate Limit Exceeded. Rate of requests for user exceed configured project quota, you may consider re-evaluating expected per-user traffic, userRateLimitExceeded"),
            (Throttle, "googleapi: Error 403: Quota exceeded for quota group 'ReadGroup' and limit 'Read requests per 100 seconds' of service 'compute.googleapis.com'"),
            (Throttle, "googleapi: Error 429: Resource has been exhausted (e.g. check quota)., RESOURCE_EXHAUSTED"),
            (Capacity, "Error waiting for instance to create: The zone 'projects/p/zones/us-central1-a' does not have enough resources available to fulfill the request. '(resource type:compute)'."),
            (Capacity, "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS: The zone 'projects/p/zones/europe-west4-b' does not have enough resources available"),
            (Capacity, "googleapi: Error 503: The zone 'projects/p/zones/asia-east1-a' does not have enough resources available to fulfill the request. Try a different zone, or try again later., ZONE_RESOURCE_POOL_EXHAUSTED"),
            (Capacity, "error creating NodePool: [GCE_STOCKOUT]: Instance 'gke-a' creation failed: The zone does not currently have sufficient capacity for the requested resources."),
            (Credentials, "Attempted to load application default credentials since neither `credentials` nor `access_token` was set in the provider block.  No credentials loaded. To use your gcloud credentials, run 'gcloud auth application-default login'"),
            (Credentials, "google: could not find default credentials. See https://cloud.google.com/docs/authentication/external/set-up-adc for more information"),
            (Credentials, "Error creating Network: googleapi: Error 403: Required 'compute.networks.create' permission for 'projects/p/global/networks/main', forbidden"),
            (Credentials, "Error creating Cluster: googleapi: Error 403: Permission 'container.clusters.create' denied on resource '//container.googleapis.com/projects/p' (or it may not exist)., forbidden"),
            (Credentials, "googleapi: Error 401: Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential."),
            (Credentials, "oauth2: cannot fetch token: 400 Bad Request\nResponse: {\"error\":\"invalid_grant\",\"error_description\":\"Invalid JWT Signature.\"}"),
            (Credentials, "googleapi: Error 403: Compute Engine API has not been used in project 123 before or it is disabled. Enable it by visiting https://console.developers.google.com/apis/api/compute.googleapis.com then retry., accessNotConfigured"),
            (Credentials, "googleapi: Error 403: sa@p.iam.gserviceaccount.com does not have storage.buckets.create access to the Google Cloud project., forbidden"),
            (Credentials, "googleapi: Error 400: The user does not have access to service account \"default\". Ask a project owner to grant you the iam.serviceAccountUser role. Required \"iam.serviceAccounts.actAs\" permission"),
            (Network, "Post \"https://oauth2.googleapis.com/token\": dial tcp 142.250.1.95:443: i/o timeout"),
            (Network, "Error when reading or editing Network: Get \"https://compute.googleapis.com/compute/v1/projects/p/global/networks/n?alt=json\": oauth2: cannot fetch token: Post \"https://oauth2.googleapis.com/token\": dial tcp: lookup oauth2.googleapis.com: no such host"),
            (Outage, "googleapi: Error 503: The service is currently unavailable., backendError"),
            (Outage, "googleapi: Error 500: Internal error encountered., backendError"),
            (Outage, "googleapi: got HTTP response code 502 with body: <html><title>Error 502 (Server Error)!!1</title></html>"),
            (Outage, "Error creating Cluster: googleapi: Error 504: Deadline expired before operation could complete."),
            (Timeout, "Error waiting for creating GKE cluster: timeout while waiting for state to become 'DONE' (last state: 'RUNNING', timeout: 40m0s)"),
            (Timeout, "Error waiting for Creating ServiceNetworkingConnection: context deadline exceeded"),
            (InvalidConfig, "Error creating instance: googleapi: Error 400: Invalid value for field 'resource.machineType': 'zones/us-central1-a/machineTypes/n9-standard-4'. The referenced resource does not exist., invalid"),
            (InvalidConfig, "googleapi: Error 400: Master version \"1.15\" is unsupported., badRequest"),
            (InvalidConfig, "googleapi: Error 404: The resource 'projects/p/global/networks/none' was not found, notFound"),
            (InvalidConfig, "googleapi: Error 412: Constraint constraints/compute.vmExternalIpAccess violated for project 1. Add instance projects/p to the constraint to use external IP with it., conditionNotMet"),
            (Conflict, "Error creating Network: googleapi: Error 409: The resource 'projects/p/global/networks/main' already exists, alreadyExists"),
            (Conflict, "Error creating service account: googleapi: Error 409: Service account deploy already exists within project projects/p., alreadyExists"),
            (Conflict, "googleapi: Error 409: Your previous request to create the named bucket succeeded and you already own it., conflict"),
            (Dependency, "googleapi: Error 400: Cluster is running incompatible operation operation-1700000000-abc., failedPrecondition"),
            (Dependency, "Error creating Subnetwork: googleapi: Error 400: The resource 'projects/p/global/networks/main' is not ready, resourceNotReady"),
        ],
    );
}

#[test]
fn what_google_cloud_says_when_it_removes_something() {
    assert_classes(
        destroying(),
        &[
            (
                Dependency,
                "Error waiting for Deleting Network: The network resource 'projects/p/global/networks/main' is already being used by 'projects/p/global/firewalls/gke-x'",
            ),
            (
                Dependency,
                "Error when reading or editing Subnetwork: googleapi: Error 400: The subnetwork resource 'projects/p/regions/r/subnetworks/s' is already being used by 'projects/p/zones/z/instances/i', resourceInUseByAnotherResource",
            ),
            (
                Dependency,
                "Error trying to delete bucket containing objects without `force_destroy` set to true: googleapi: Error 409: The bucket you tried to delete is not empty., conflict",
            ),
            (
                InvalidConfig,
                "Cannot destroy cluster because deletion_protection is set to true. Set it to false to proceed with cluster deletion.",
            ),
        ],
    );
}
