//! Whole explanations, as the person who is woken by them reads them.

use super::{applying, explain_text, said};

/// Address, text; then message and hint.
const EXPLAINED: &[(&str, &str, &str, &str)] = &[
    (
        "aws_eks_node_group.a",
        "creating EC2 Instance: operation error EC2: RunInstances, https response error StatusCode: 400, RequestID: 6c2f, api error VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to in us-east-1. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit.",
        "aws_eks_node_group.a: the vCPU limit of 32 is reached in us-east-1",
        "Raise the limit under AWS Service Quotas, in the region in question, or remove what is no longer needed; then reconcile",
    ),
    (
        "google_compute_instance.web",
        r#"googleapi: Error 403: Insufficient regional quota to satisfy request: resource "CPUS": request requires '12.0' and is short '4.0'. project has a quota of '8.0' with '8.0' available. View and manage quotas at https://console.cloud.google.com/iam-admin/quotas?usage=USED&project=p., forbidden"#,
        "google_compute_instance.web: the CPUS limit of 8 is reached: 12 needed",
        "Raise the limit to at least 12 under Google Cloud's IAM & Admin > Quotas, or remove what is no longer needed; then reconcile",
    ),
    (
        "google_compute_address.ip",
        "Error creating Address: googleapi: Error 403: Quota 'STATIC_ADDRESSES' exceeded. Limit: 8.0 in region europe-west1., quotaExceeded",
        "google_compute_address.ip: the STATIC_ADDRESSES limit of 8 is reached in europe-west1",
        "Raise the limit under Google Cloud's IAM & Admin > Quotas, or remove what is no longer needed; then reconcile",
    ),
    (
        "azurerm_kubernetes_cluster.main",
        r#"creating Managed Kubernetes Cluster "k" (Resource Group "rg"): containerservice.ManagedClustersClient#CreateOrUpdate: Failure sending request: StatusCode=400 -- Original Error: Code="QuotaExceeded" Message="Provisioning of resource(s) for container service k in resource group rg failed. Message: Operation could not be completed as it results in exceeding approved Total Regional Cores quota. Additional details - Deployment Model: Resource Manager, Location: eastus, Current Limit: 10, Current Usage: 8, Additional Required: 4, (Minimum) New Limit Required: 12.""#,
        "azurerm_kubernetes_cluster.main: the Total Regional Cores limit of 10 is reached in eastus: 12 needed, 8 in use",
        "Raise the limit to at least 12 in the Azure portal under Subscriptions > Usage + quotas, or remove what is no longer needed; then reconcile",
    ),
    (
        "digitalocean_droplet.web",
        r#"Error creating droplet: POST https://api.digitalocean.com/v2/droplets: 422 (request "fe2ff026-6ef3-43f7-afd3-9f75464815f9") creating this/these droplet(s) will exceed your droplet limit"#,
        "digitalocean_droplet.web: a limit of the account is reached: creating this/these droplet(s) will exceed your droplet limit",
        "Raise the limit with a support ticket to DigitalOcean, or remove what is no longer needed; then reconcile",
    ),
    (
        "linode_instance.web",
        "Error creating a Linode Instance: [400] Account Limit reached. Please open a support ticket.",
        "linode_instance.web: a limit of the account is reached: Account Limit reached. Please open a support ticket",
        "Raise the limit with a support ticket to Linode, or remove what is no longer needed; then reconcile",
    ),
    (
        "kubernetes_deployment.web",
        r#"pods "web-1" is forbidden: exceeded quota: compute-resources, requested: requests.cpu=2, used: requests.cpu=7, limited: requests.cpu=8"#,
        "kubernetes_deployment.web: the compute-resources limit of requests.cpu=8 is reached: requests.cpu=2 more needed, requests.cpu=7 in use",
        "Raise the limit in the namespace's ResourceQuota, or remove what is no longer needed; then reconcile",
    ),
    (
        "aws_nat_gateway.a",
        "Error creating NAT Gateway: NatGatewayLimitExceeded: Performing this operation would exceed the limit of 5 NAT gateways\n\tstatus code: 400, request id: 0a1b2c3d-1111-2222-3333-444455556666",
        "aws_nat_gateway.a: the NAT gateway limit of 5 is reached",
        "Raise the limit under AWS Service Quotas, in the region in question, or remove what is no longer needed; then reconcile",
    ),
    (
        "azurerm_subnet.a",
        r#"StatusCode=429 -- Original Error: Code="SubscriptionRequestsThrottled" Message="Number of requests for subscription exceeded the limit of '1200' for time interval '00:05:00'. Please try again after '17' seconds.""#,
        "azurerm_subnet.a: Azure asks to slow down: SubscriptionRequestsThrottled: Number of requests for subscription exceeded the limit of '1200' for time interval '00:05:00'. Please try again after '17' seconds",
        "Nothing to fix: it is tried again after the 17 s it asks for. If it goes on, let fewer operations run at once",
    ),
    (
        "aws_instance.gpu",
        "creating EC2 Instance: operation error EC2: RunInstances, https response error StatusCode: 500, RequestID: 5f0, api error InsufficientInstanceCapacity: We currently do not have sufficient p4d.24xlarge capacity in the Availability Zone you requested (us-east-1d). Our system will be working on provisioning additional capacity. You can currently get p4d.24xlarge capacity by not specifying an Availability Zone in your request or choosing us-east-1a, us-east-1b.",
        "aws_instance.gpu: AWS has no room for p4d.24xlarge in us-east-1d just now",
        "Choose another zone (us-east-1a, us-east-1b would do) or another size; the same is tried again later by itself",
    ),
    (
        "aws_eks_cluster.main",
        "creating EKS Cluster (prod): operation error EKS: CreateCluster, https response error StatusCode: 403, RequestID: 1, api error AccessDeniedException: User: arn:aws:iam::123456789012:user/ci is not authorized to perform: eks:CreateCluster on resource: arn:aws:eks:us-east-1:123456789012:cluster/prod",
        "aws_eks_cluster.main: eks:CreateCluster is denied on arn:aws:eks:us-east-1:123456789012:cluster/prod",
        "Grant eks:CreateCluster to arn:aws:iam::123456789012:user/ci by an IAM policy (mind service control policies), then reconcile",
    ),
    (
        "aws_vpc.main",
        "creating EC2 VPC: operation error EC2: CreateVpc, https response error StatusCode: 403, RequestID: 2, api error UnauthorizedOperation: You are not authorized to perform this operation. Encoded authorization failure message: 4zGx9",
        "aws_vpc.main: ec2:CreateVpc is denied",
        "Grant ec2:CreateVpc to the credential in use by an IAM policy (mind service control policies), then reconcile",
    ),
    (
        "azurerm_virtual_network.v",
        r#"StatusCode=403 -- Original Error: Code="AuthorizationFailed" Message="The client 'a' with object id 'b' does not have authorization to perform action 'Microsoft.Network/virtualNetworks/write' over scope '/subscriptions/1/resourceGroups/rg' or the scope is invalid. If access was recently granted, please refresh your credentials.""#,
        "azurerm_virtual_network.v: Microsoft.Network/virtualNetworks/write is denied on /subscriptions/1/resourceGroups/rg",
        "Grant Microsoft.Network/virtualNetworks/write to a by a role assignment, then reconcile",
    ),
    (
        "google_compute_network.main",
        "Error creating Network: googleapi: Error 403: Required 'compute.networks.create' permission for 'projects/p/global/networks/main', forbidden",
        "google_compute_network.main: compute.networks.create is denied on projects/p/global/networks/main",
        "Grant compute.networks.create to the credential in use by an IAM role, then reconcile",
    ),
    (
        "kubernetes_deployment.web",
        r#"deployments.apps is forbidden: User "dev" cannot create resource "deployments" in API group "apps" in the namespace "prod""#,
        "kubernetes_deployment.web: create deployments is denied on namespace prod",
        "Grant create deployments to dev by a Role and a RoleBinding, then reconcile",
    ),
    (
        "",
        "configuring Terraform AWS Provider: validating provider credentials: retrieving caller identity from STS: operation error STS: GetCallerIdentity, https response error StatusCode: 403, RequestID: d, api error ExpiredToken: The security token included in the request is expired",
        "the credential for AWS has expired: ExpiredToken: The security token included in the request is expired",
        "Store a fresh one in the tenant's secret, then reconcile",
    ),
    (
        "",
        "No valid credential sources found\nPlease see https://registry.terraform.io/providers/hashicorp/aws for more information about providing credentials. Error: failed to refresh cached credentials, no EC2 IMDS role found, operation error ec2imds: GetMetadata, request canceled, context deadline exceeded",
        "no credential for AWS was found",
        "Give the tenant a secret with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role to assume, then reconcile",
    ),
    (
        "digitalocean_droplet.x",
        r#"Error creating droplet: POST https://api.digitalocean.com/v2/droplets: 401 (request "3") Unable to authenticate you"#,
        "digitalocean_droplet.x: DigitalOcean denies access: Unable to authenticate you",
        "Check that the tenant's credential (DIGITALOCEAN_TOKEN) is right and may do this, then reconcile",
    ),
    (
        "aws_vpc.x",
        r#"error describing VPCs: RequestError: send request failed
caused by: Post "https://ec2.eu-west-1.amazonaws.com/": dial tcp: lookup ec2.eu-west-1.amazonaws.com on 10.0.0.2:53: no such host"#,
        "aws_vpc.x: ec2.eu-west-1.amazonaws.com cannot be reached: its name does not resolve",
        "It is tried again by itself. If it stays, check the way from the runner to ec2.eu-west-1.amazonaws.com: DNS, firewall, proxy",
    ),
    (
        "helm_release.ingress",
        r#"Kubernetes cluster unreachable: Get "http://localhost:80/version": dial tcp [::1]:80: connect: connection refused"#,
        "helm_release.ingress: localhost:80 cannot be reached: the connection is refused",
        "The provider looks for a cluster on the runner itself: its host, token or kubeconfig is not set, or the cluster they are read from does not exist yet",
    ),
    (
        "google_sql.x",
        "googleapi: Error 503: The service is currently unavailable., backendError",
        "google_sql.x: Google Cloud does not work at the moment (503): The service is currently unavailable",
        "The fault is on their side; it is tried again by itself. See status.cloud.google.com",
    ),
    (
        "aws_lambda_function.f",
        "creating Lambda Function: operation error Lambda: CreateFunction, https response error StatusCode: 500, RequestID: 77aa88bb-1, ServiceException: An error occurred and the request cannot be processed.",
        "aws_lambda_function.f: AWS does not work at the moment (500): ServiceException: An error occurred and the request cannot be processed",
        "The fault is on their side; it is tried again by itself. See health.aws.amazon.com. Their support wants the request id 77aa88bb-1",
    ),
    (
        "aws_eks_cluster.main",
        "waiting for EKS Cluster (prod) create: timeout while waiting for state to become 'ACTIVE' (last state: 'CREATING', timeout: 30m0s)",
        "aws_eks_cluster.main: after 30m0s it was still 'CREATING' and not 'ACTIVE'",
        "It may still get there: look at it in the cloud's console, then reconcile to go on from where it is; if it is only slow, raise the resource's `timeouts` in the module",
    ),
    (
        "",
        r#"Error: Unsupported argument

  on main.tf line 2, in resource "terraform_data" "x":
   2:   inptu = 1

An argument named "inptu" is not expected here. Did you mean "input"?"#,
        r#"terraform_data.x: unsupported argument: An argument named "inptu" is not expected here. Did you mean "input"? (main.tf:2)"#,
        "Write input for inptu, then reconcile",
    ),
    (
        "aws_vpc.x",
        r#"expected instance_tenancy to be one of ["default" "dedicated"], got shared"#,
        r#"aws_vpc.x: expected instance_tenancy to be one of ["default" "dedicated"], got shared"#,
        r#"Set instance_tenancy to one of "default" "dedicated", then reconcile"#,
    ),
    (
        "linode_instance.x",
        "Error creating a Linode Instance: [400] [type] A valid plan type by that ID was not found",
        "linode_instance.x: [type] A valid plan type by that ID was not found",
        "Correct type, then reconcile",
    ),
    (
        "kubernetes_service.web",
        r#"Service "web" is invalid: spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive"#,
        r#"kubernetes_service.web: Service "web" is invalid: spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive"#,
        "Correct spec.ports[0].port, then reconcile",
    ),
    (
        "aws_eks_cluster.main",
        "creating EKS Cluster (prod): operation error EKS: CreateCluster, https response error StatusCode: 400, InvalidParameterException: unsupported Kubernetes version 1.15",
        "aws_eks_cluster.main: InvalidParameterException: unsupported Kubernetes version 1.15",
        "Correct the resource's spec or its module, then reconcile",
    ),
    (
        "azurerm_resource_group.rg",
        r#"A resource with the ID "/subscriptions/1/resourceGroups/rg" already exists - to be managed via Terraform this resource needs to be imported into the State. Please see the resource documentation for "azurerm_resource_group" for more information."#,
        r#"azurerm_resource_group.rg: it is there already, and not ours: A resource with the ID "/subscriptions/1/resourceGroups/rg" already exists"#,
        "Take it over with an `import` block in the module (its id is /subscriptions/1/resourceGroups/rg), choose another name, or remove the one that is there; then reconcile",
    ),
    (
        "aws_iam_role.node",
        "creating IAM Role (node): operation error IAM: CreateRole, https response error StatusCode: 409, RequestID: 4, EntityAlreadyExists: Role with name node already exists.",
        "aws_iam_role.node: it is there already, and not ours: EntityAlreadyExists: Role with name node already exists",
        "Take it over with an `import` block in the module, choose another name, or remove the one that is there; then reconcile",
    ),
    (
        "aws_vpc.main",
        "deleting EC2 VPC (vpc-1): operation error EC2: DeleteVpc, https response error StatusCode: 400, RequestID: 1, api error DependencyViolation: The vpc 'vpc-1' has dependencies and cannot be deleted.",
        "aws_vpc.main: something else still needs it: DependencyViolation: The vpc 'vpc-1' has dependencies and cannot be deleted",
        "Remove what was attached to it by hand or by a controller (load balancers, network interfaces, volumes, nodes); it is tried again by itself",
    ),
    (
        "azurerm_subnet.s",
        r#"deleting Subnet: network.SubnetsClient#Delete: Failure sending request: StatusCode=400 -- Original Error: Code="InUseSubnetCannotBeDeleted" Message="Subnet s is in use by /subscriptions/1/networkInterfaces/nic/ipConfigurations/i and cannot be deleted.""#,
        "azurerm_subnet.s: something else still needs it: InUseSubnetCannotBeDeleted: Subnet s is in use by /subscriptions/1/networkInterfaces/nic/ipConfigurations/i and cannot be deleted",
        "Remove what holds it, if nothing else does: /subscriptions/1/networkInterfaces/nic/ipConfigurations/i. It is tried again by itself",
    ),
    (
        "google_compute_network.n",
        "Error waiting for Deleting Network: The network resource 'projects/p/global/networks/main' is already being used by 'projects/p/global/firewalls/gke-x'",
        "google_compute_network.n: something else still needs it: Error waiting for Deleting Network: The network resource 'projects/p/global/networks/main' is already being used by 'projects/p/global/firewalls/gke-x'",
        "Remove what holds it, if nothing else does: projects/p/global/firewalls/gke-x. It is tried again by itself",
    ),
    (
        "",
        "state snapshot was created by Terraform v1.13.0, which is newer than current v1.11.4; upgrade to Terraform v1.13.0 or greater to work with this state",
        "the state was written by version 1.13.0, which is newer than the one in use",
        "Use version 1.13.0 or later, or restore a state from before it was used",
    ),
    (
        "",
        "Error refreshing state: state data in S3 does not have the expected content.\n\nThe checksum calculated for the state stored in S3 does not match the checksum stored in DynamoDB.",
        "the state cannot be used: The checksum calculated for the state stored in S3 does not match the checksum stored in DynamoDB",
        "Choose one of the resource's restore points and restore it; nothing is changed until then",
    ),
    (
        "aws_x.y",
        "Plugin did not respond\nThe plugin encountered an error, and failed to respond to the plugin6.(*GRPCProvider).ApplyResourceChange call. The plugin logs may contain more details.",
        "aws_x.y: the provider crashed",
        "Log and last state are kept. It is tried again once; if it comes back, use another version of the provider and report it to its makers",
    ),
    (
        "",
        "Request cancelled\nStack trace from the terraform-provider-aws_v5.31.0_x5 plugin:\n\npanic: runtime error: invalid memory address or nil pointer dereference",
        "the provider aws 5.31.0 crashed",
        "Log and last state are kept. It is tried again once; if it comes back, use another version of the provider and report it to its makers",
    ),
    (
        "",
        "Failed to install provider\nError while installing hashicorp/aws v5.31.0: write /srv/stack/.terraform/providers/terraform-provider-aws: no space left on device",
        "the runner's disk is full at /srv/stack/.terraform/providers/terraform-provider-aws",
        "An operator has to make room on the runner; it is tried again by itself, on another one where there is one",
    ),
    (
        "",
        "Failed to install provider\nError while installing hashicorp/aws v5.31.0: the local package for registry.terraform.io/hashicorp/aws 5.31.0 doesn't match any of the checksums previously recorded in the dependency lock file (this might be because the available checksums are for packages targeting different platforms)",
        "provider hashicorp/aws 5.31.0 could not be installed: the local package for registry.terraform.io/hashicorp/aws 5.31.0 doesn't match any of the checksums previously recorded in the dependency lock file (this might be because the available checksums are for packages targeting different platforms)",
        "What was downloaded is not what the module's lock file expects. Compare it with the provider's published checksums; if they are right, renew .terraform.lock.hcl with `terraform providers lock`",
    ),
    (
        "",
        r#"Failed to query available provider packages
Could not retrieve the list of available versions for provider hashicorp/aws: could not connect to registry.terraform.io: failed to request discovery document: Get "https://registry.terraform.io/.well-known/terraform.json": net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)"#,
        r#"provider hashicorp/aws could not be installed: could not connect to registry.terraform.io: failed to request discovery document: Get "https://registry.terraform.io/.well-known/terraform.json": net/http: request canceled while waiting for connection (Client.Timeout…"#,
        "It is tried again by itself. If it stays, check the way from the runner to the registry, or use a mirror",
    ),
    (
        "terraform_data.x",
        "local-exec provisioner error\nError running command './bootstrap.sh': exit status 4. Output: ",
        "terraform_data.x: local-exec provisioner error: Error running command './bootstrap.sh': exit status 4. Output",
        "A command that the module runs has failed: read its output in the run's log and correct it, then reconcile",
    ),
    (
        "google_project_service.x",
        "googleapi: Error 403: Compute Engine API has not been used in project 123 before or it is disabled. Enable it by visiting https://console.developers.google.com/apis/api/compute.googleapis.com then retry., accessNotConfigured",
        "google_project_service.x: the service is not enabled for this account: Compute Engine API has not been used in project 123 before or it is disabled. Enable it by visiting https://console.developers.google.com/apis/api/compute.googleapis.com then retry",
        "Enable the named API for the project, wait a few minutes, then reconcile",
    ),
];

#[test]
fn an_explanation_says_what_failed_where_and_how_to_fix_it() {
    for (address, text, message, hint) in EXPLAINED {
        let at = if address.is_empty() { applying() } else { applying().at(address) };
        assert_eq!(said(&explain_text(text, at)), format!("{message}\n{hint}"), "{text}");
    }
}

#[test]
fn a_failure_as_a_whole_names_its_class_and_step() {
    let explanation =
        explain_text("VpcLimitExceeded: The maximum number of VPCs has been reached.", applying().at("aws_vpc.a"));
    assert_eq!(
        explanation.failure.to_string(),
        "aws_vpc.a: the VPCs limit is reached (quota, during apply). Raise the limit under AWS Service Quotas, in the region \
         in question, or remove what is no longer needed; then reconcile"
    );
}
