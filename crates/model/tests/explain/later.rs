//! Texts that were collected after the signs were settled.

use model::Class::*;

use super::{applying, assert_classes, destroying};

#[test]
fn texts_that_nobody_had_in_mind_are_recognised_too() {
    assert_classes(
        applying(),
        &[
            (
                Quota,
                "Error: creating EC2 VPC: VpcLimitExceeded: The maximum number of VPCs has been reached.\n\tstatus code: 400, request id: 9a6b",
            ),
            (
                Quota,
                "creating Lambda Function (fn): operation error Lambda: CreateFunction, https response error StatusCode: 400, RequestID: 3, CodeStorageExceededException: Code storage limit exceeded.",
            ),
            (
                Quota,
                "creating ElastiCache Cluster: operation error ElastiCache: CreateCacheCluster, NodeQuotaForCustomerExceeded: The request cannot be processed because it would exceed the allowed number of cache nodes per customer.",
            ),
            (
                Quota,
                "creating EC2 Internet Gateway: InternetGatewayLimitExceeded: The maximum number of internet gateways has been reached.",
            ),
            (
                Quota,
                "creating ELB: TooManyLoadBalancers: The quota for the number of load balancers for your AWS account has been reached.",
            ),
            (
                Quota,
                "creating RDS DB Instance (db): StorageQuotaExceeded: The request would result in the user exceeding the allowed amount of storage available across all DB instances.",
            ),
            (
                Quota,
                "googleapi: Error 403: QUOTA_EXCEEDED: Quota exceeded: Your project exceeded quota for SSD_TOTAL_GB",
            ),
            (
                Quota,
                "Error creating Cluster: googleapi: Error 403: (1) insufficient regional quota to satisfy request: resource \"IN_USE_ADDRESSES\": request requires '9.0' and is short '1.0'",
            ),
            (
                Quota,
                "Error creating Project: googleapi: Error 429: Your project has exceeded the project creation quota. The number of projects you can create is limited",
            ),
            (
                Quota,
                "performing CreateOrUpdate: unexpected status 400 (400 Bad Request) with error: SubnetCountLimitReached",
            ),
            (
                Quota,
                "StatusCode=409 -- Original Error: Code=\"StorageAccountCountExceeded\" Message=\"Subscription already contains 250 storage accounts in location westus and the maximum allowed is 250.\"",
            ),
            (
                Quota,
                "Error creating Volume: POST https://api.digitalocean.com/v2/volumes: 422 (request \"a\") You've reached the maximum number of volumes allowed for your account.",
            ),
            (Quota, "[400] You have reached your limit of LKE clusters. Open a support ticket to request an increase."),
            (
                Throttle,
                "creating IAM Policy: operation error IAM: CreatePolicy, https response error StatusCode: 429, api error Throttling: Rate exceeded",
            ),
            (Throttle, "EC2ThrottledException: Request was throttled by EC2"),
            (
                Throttle,
                "rpc error: code = ResourceExhausted desc = Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute per user'",
            ),
            (Throttle, "Error 429 (Too Many Requests): slow down"),
            (
                Throttle,
                "compute.DisksClient#Get: Failure responding to request: StatusCode=429 -- Original Error: autorest/azure: error response cannot be parsed: \"\" error: EOF",
            ),
            (
                Capacity,
                "creating EC2 Instance: api error InsufficientHostCapacity: There is not enough capacity on the Dedicated Host",
            ),
            (
                Capacity,
                "Error creating instance: googleapi: Error 503: The zone 'projects/p/zones/us-west1-b' does not have enough resources available to fulfill the request, resource_availability",
            ),
            (
                Capacity,
                "creating node pool: Google Compute Engine: Not all instances running in IGM after 35m. Expected 3, running 0. Current errors: [GCE_STOCKOUT]: Instance 'gke-1' creation failed",
            ),
            (
                Capacity,
                "unexpected status 400 (400 Bad Request) with error: SkuNotAvailable: The requested VM size for resource 'Standard_NC6' is currently not available in location 'westeurope' zones '' for subscription '1'.",
            ),
            (
                Capacity,
                "LKE: [400] [region] Region us-ord is out of capacity for dedicated plans, please select another region",
            ),
            (
                Capacity,
                "POST https://api.digitalocean.com/v2/droplets: 422 The region is currently at capacity for this Droplet size",
            ),
            (
                Credentials,
                "error retrieving AWS account details: UnrecognizedClientException: The security token included in the request is invalid.",
            ),
            (Credentials, "AuthFailure: AWS was not able to validate the provided access credentials"),
            (Credentials, "reading S3 Bucket: Forbidden: Forbidden\n\tstatus code: 403, request id: B, host id: C"),
            (
                Credentials,
                "operation error S3: ListObjectsV2, https response error StatusCode: 403, RequestID: T, api error AccessDenied: Access Denied",
            ),
            (
                Credentials,
                "KMS: User: arn:aws:sts::1:assumed-role/r/s is not authorized to perform: kms:Decrypt on resource: arn:aws:kms:us-east-1:1:key/2 because no identity-based policy allows the kms:Decrypt action",
            ),
            (
                Credentials,
                "Error: Failed to get credentials: failed to assume role: WebIdentityErr: failed to retrieve credentials caused by: InvalidIdentityToken: Couldn't retrieve verification key from your identity provider",
            ),
            (Credentials, "googleapi: Error 403: The caller does not have permission, forbidden"),
            (Credentials, "googleapi: Error 403: Request had insufficient authentication scopes."),
            (
                Credentials,
                "Error: Invalid provider configuration: \"credentials\" is not valid: JSON credentials are not valid: invalid character 'x' looking for beginning of value",
            ),
            (
                Credentials,
                "dialing: google: error getting credentials using GOOGLE_APPLICATION_CREDENTIALS environment variable: open /x/key.json: no such file or directory",
            ),
            (
                Credentials,
                "LinkedAuthorizationFailed: The client has permission to perform action 'Microsoft.Network/virtualNetworks/subnets/join/action' but is not authorized on linked scope",
            ),
            (
                Credentials,
                "Error: Error building ARM Config: obtain subscription() from Azure CLI: Error parsing json result from the Azure CLI: Error waiting for the Azure CLI: exit status 1: ERROR: No subscription found. Run 'az account set' to select a subscription.",
            ),
            (
                Credentials,
                "Error: Unable to list provider registration status, it is possible that this is due to invalid credentials or the service principal does not have permission to use the Resource Manager API, Azure error: StatusCode=401",
            ),
            (
                Credentials,
                "Error: Missing DigitalOcean API token\nThe provider cannot create the client as there is a missing or empty value for the token",
            ),
            (Credentials, "[401] Invalid OAuth Token"),
            (
                Credentials,
                "Error: configmaps \"aws-auth\" is forbidden: User \"eks-admin\" cannot get resource \"configmaps\" in API group \"\" in the namespace \"kube-system\"",
            ),
            (
                Credentials,
                "Error: Kubernetes cluster unreachable: invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable",
            ),
            (
                Network,
                "Error: Get \"https://api.linode.com/v4/account\": dial tcp: lookup api.linode.com on 127.0.0.53:53: server misbehaving",
            ),
            (Network, "read tcp 10.0.0.5:39312->140.82.121.6:443: read: connection reset by peer"),
            (Network, "Error: Failed to dial: ssh: handshake failed: EOF"),
            (Network, "net/http: TLS handshake timeout"),
            (
                Network,
                "Post \"https://login.microsoftonline.com/x/oauth2/v2.0/token\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
            ),
            (Network, "proxyconnect tcp: dial tcp 10.1.1.1:3128: connect: no route to host"),
            (Network, "http2: server sent GOAWAY and closed the connection; LastStreamID=1999, ErrCode=NO_ERROR"),
            (Network, "timeout - last error: dial tcp 34.1.2.3:22: connect: connection timed out"),
            (Outage, "googleapi: Error 502: Bad Gateway"),
            (Outage, "creating ECS Cluster: ServerException: Internal server error"),
            (
                Outage,
                "operation error EKS: DescribeCluster, https response error StatusCode: 504, RequestID: x, api error GatewayTimeout: Gateway Timeout",
            ),
            (Outage, "InternalFailure: We encountered an internal error, please try again."),
            (
                Outage,
                "Code=\"InternalOperationError\" Message=\"An internal execution error occurred. Please retry later.\"",
            ),
            (Outage, "Error creating LKE cluster: [500] An unexpected error occurred. Please try again."),
            (Outage, "GET https://api.digitalocean.com/v2/kubernetes/clusters/1: 502 (request \"\") "),
            (
                Outage,
                "the server was unable to return a response in the time allotted, but may still be processing the request",
            ),
            (
                Timeout,
                "waiting for CloudFront Distribution (E1) deploy: timeout while waiting for state to become 'Deployed' (last state: 'InProgress', timeout: 1h30m0s)",
            ),
            (
                Timeout,
                "Error waiting for instance (i-1) to become ready: timeout while waiting for state to become 'running' (last state: 'pending', timeout: 10m0s)",
            ),
            (
                Timeout,
                "waiting for Kubernetes Cluster Node Pool to become available: internal-error: context deadline exceeded",
            ),
            (
                Timeout,
                "waiting for ELBv2 Load Balancer (arn:aws:elasticloadbalancing:x) create: exceeded max wait time for LoadBalancerAvailable waiter",
            ),
            (Timeout, "Waiting for service account token: timed out after 5m0s"),
            (
                Timeout,
                "Error: release my-app failed, and has been uninstalled due to atomic being set: context deadline exceeded",
            ),
            (
                Timeout,
                "Error waiting for load balancer (lb-1) to become active: timeout while waiting for state to become 'active' (last state: 'new', timeout: 10m0s)",
            ),
            (
                InvalidConfig,
                "creating EKS Cluster (x): InvalidParameterException: Subnets specified must be in at least two different AZs",
            ),
            (
                InvalidConfig,
                "creating RDS DB Instance: InvalidParameterCombination: Cannot find version 9.6 for postgres",
            ),
            (
                InvalidConfig,
                "creating Auto Scaling Group: ValidationError: You must use a valid fully-formed launch template. The requested configuration is currently not supported.",
            ),
            (InvalidConfig, "NoSuchEntity: The role with name x cannot be found."),
            (
                InvalidConfig,
                "googleapi: Error 400: Invalid value for field 'resource.ipCidrRange': '10.0.0.0/33'. Must be a valid CIDR, invalid",
            ),
            (InvalidConfig, "googleapi: Error 400: No valid versions with the prefix \"1.15\" found., badRequest"),
            (InvalidConfig, "\"location\" was not found in the list of supported Azure Locations: \"westus,eastus\""),
            (
                InvalidConfig,
                "unexpected status 400 (400 Bad Request) with error: LocationNotAvailableForResourceType: The provided location 'x' is not available for resource type 'Microsoft.Network/virtualNetworks'.",
            ),
            (
                InvalidConfig,
                "Code=\"InvalidTemplateDeployment\" Message=\"The template deployment failed with multiple errors\"",
            ),
            (
                InvalidConfig,
                "POST https://api.digitalocean.com/v2/droplets: 422 (request \"b\") invalid key identifiers for Droplet creation",
            ),
            (InvalidConfig, "[400] [region] region is not valid"),
            (InvalidConfig, "Error: Unsupported block type\nBlocks of type \"foo\" are not expected here."),
            (
                InvalidConfig,
                "Error: Invalid index\nThe given key does not identify an element in this collection value.",
            ),
            (
                InvalidConfig,
                "Error: Missing resource instance key\nBecause aws_instance.x has \"count\" set, its attributes must be accessed on specific instances.",
            ),
            (
                InvalidConfig,
                "error: unable to decode manifest: yaml: line 4: mapping values are not allowed in this context",
            ),
            (
                InvalidConfig,
                "values don't meet the specifications of the schema(s) in the following chart(s): app: - replicas: Invalid type. Expected: integer, given: string",
            ),
            (
                Conflict,
                "creating CloudWatch Logs Log Group (/aws/eks/x): ResourceAlreadyExistsException: The specified log group already exists",
            ),
            (
                Conflict,
                "creating ELBv2 Target Group: DuplicateTargetGroupName: A target group with the same name 'x' exists, but with different settings",
            ),
            (Conflict, "creating IAM Instance Profile: EntityAlreadyExists: Instance Profile x already exists."),
            (
                Conflict,
                "creating Route 53 Record: InvalidChangeBatch: [Tried to create resource record set [name='a.example.com.', type='A'] but it already exists]",
            ),
            (Conflict, "creating DB Subnet Group: DBSubnetGroupAlreadyExists: The DB subnet group 'x' already exists."),
            (
                Conflict,
                "googleapi: Error 409: Already exists: projects/p/locations/us-central1/clusters/c., alreadyExists",
            ),
            (Conflict, "googleapi: Error 409: Requested entity already exists"),
            (
                Conflict,
                "Code=\"DnsRecordInUse\" Message=\"DNS record x.eastus.cloudapp.azure.com is already used by another public IP.\"",
            ),
            (Conflict, "a resource with the ID \"x\" already exists"),
            (Conflict, "[400] [label] Label is already in use"),
            (Conflict, "services \"web\" already exists"),
            (Conflict, "Apply failed with 1 conflict: conflict with \"kubectl\" using v1: .data.key"),
            (
                StateLock,
                "Error: Error acquiring the state lock\nError message: 2 errors occurred:\n\t* ResourceNotFoundException: x\n\t* lock already held by bob\nLock Info:\n  ID: 5",
            ),
            (
                StateLock,
                "Error acquiring the state lock\nError message: the state is already locked by another terraform client",
            ),
            (
                StateLock,
                "Error releasing the state lock\nError message: failed to retrieve lock info: unexpected end of JSON input",
            ),
            (StateLock, "error locking state: consul lock was lost\nLock Info"),
            (StateLock, "Failed to acquire state lock: HTTP 423 Locked"),
            (
                StateCorruption,
                "Failed to load state: state snapshot was created by OpenTofu v1.9.0, which is newer than current v1.8.0",
            ),
            (
                StateCorruption,
                "Failed to load backend: error loading state: unsupported checkable object kind in state file",
            ),
            (
                StateCorruption,
                "Error loading state: md5 of the state object does not match the digest in DynamoDB: state data in S3 does not have the expected content",
            ),
            (
                StateCorruption,
                "Failed to read state file: The state file could not be read: EOF parsing JSON; state file is corrupted",
            ),
            (
                Crash,
                "The terraform-provider-google_v5.0.0_x5 plugin crashed!\n\nThis is always indicative of a bug within the plugin.",
            ),
            (Crash, "rpc error: code = Unavailable desc = error reading from server: EOF"),
            (
                Crash,
                "runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow\ngoroutine 1 [running]:",
            ),
            (Crash, "Killed: out of memory"),
            (
                Crash,
                "Error: Provider produced invalid plan\nProvider \"x\" planned an invalid value for y. This is a bug in the provider",
            ),
            (Disk, "Error: Failed to install provider: open /tmp/terraform-provider123: no space left on device"),
            (Disk, "error creating temporary file: mkdir /tmp/x: no space left on device"),
            (
                Installation,
                "Error: Failed to install provider\nError while installing hashicorp/helm v2.0.0: authentication signature from unknown issuer",
            ),
            (
                Installation,
                "Invalid provider registry host\nThe host \"registry.example.com\" given in provider source address does not offer a Terraform provider registry.",
            ),
            (
                Installation,
                "Error: Failed to query available provider packages: the registry returned an error: 503 Service Unavailable",
            ),
            (
                Installation,
                "Error: Module not found\nModule \"x\" cannot be found in the module registry at registry.terraform.io.",
            ),
            (
                Installation,
                "Error accessing remote module registry\nFailed to retrieve available versions for module \"vpc\" from registry.terraform.io: Get \"https://registry.terraform.io/v1/modules\": dial tcp: i/o timeout",
            ),
            (
                Dependency,
                "updating EKS Cluster (x) version: ResourceInUseException: Cannot update because cluster x currently has update in progress",
            ),
            (Dependency, "modifying RDS DB Instance: InvalidDBInstanceState: DB instance is not in available state."),
            (
                Dependency,
                "googleapi: Error 400: Operation operation-1 is currently upgrading cluster x. Please wait and try again once it is done., failedPrecondition",
            ),
        ],
    );
    assert_classes(
        destroying(),
        &[
            (
                Dependency,
                "deleting EC2 Subnet (subnet-1): operation error EC2: DeleteSubnet, api error DependencyViolation: The subnet 'subnet-1' has dependencies and cannot be deleted.",
            ),
            (
                Dependency,
                "deleting IAM Role (r): DeleteConflict: Cannot delete entity, must detach all policies first.",
            ),
            (
                Dependency,
                "deleting ECS Cluster: ClusterContainsServicesException: The Cluster cannot be deleted while Services are active.",
            ),
            (Dependency, "deleting EFS: FileSystemInUse: Cannot delete file system because it contains mount targets"),
            (
                Dependency,
                "googleapi: Error 400: The network resource 'n' is already being used by 'f', resourceInUseByAnotherResource",
            ),
            (Dependency, "deleting Virtual Network: InUseSubnetCannotBeDeleted"),
            (
                Dependency,
                "DELETE https://api.digitalocean.com/v2/vpcs/1: 403 (request \"x\") Can not delete VPC with members",
            ),
            (
                Dependency,
                "DELETE https://api.digitalocean.com/v2/certificates/1: 403 Certificate is in use and cannot be deleted",
            ),
            (Dependency, "[400] Firewall is in use by a NodeBalancer and can't be removed"),
            (
                Dependency,
                "deleting DB Subnet Group: InvalidDBSubnetGroupStateFault: Cannot delete the subnet group 'x' because at least one database instance: y is still using it.",
            ),
        ],
    );
}

#[test]
fn nor_are_these_mistaken_for_others() {
    assert_classes(
        applying(),
        &[
            (
                Quota,
                "creating Security Group Rule: RulesPerSecurityGroupLimitExceeded: The maximum number of rules per security group has been reached.",
            ),
            (
                Quota,
                "creating EC2 Instance: InstanceLimitExceeded: You have requested more instances (21) than your current instance limit of 20 allows for the specified instance type.",
            ),
            (
                Quota,
                "Error creating BackendService: googleapi: Error 403: Exceeded limit 'BACKEND_SERVICES' on resource 'x'. Limit: 9.0, limitExceeded",
            ),
            (
                Quota,
                "creating Public IP: Code=\"IPv4StandardSkuPublicIpCountLimitReached\" Message=\"Cannot create more than 20 IPv4 Standard SKU public IP addresses for this subscription in this region.\"",
            ),
            (
                Quota,
                "persistentvolumeclaims \"data\" is forbidden: exceeded quota: storage, requested: requests.storage=50Gi, used: requests.storage=60Gi, limited: requests.storage=100Gi",
            ),
            (
                Quota,
                "Error creating LoadBalancer: POST https://api.digitalocean.com/v2/load_balancers: 403 (request \"x\") load balancer limit reached, open a ticket",
            ),
            (Throttle, "reading CloudFormation Stack: Throttling: Rate exceeded\n\tstatus code: 400"),
            (Throttle, "googleapi: Error 403: Queries per minute quota exceeded: rateLimitExceeded"),
            (Throttle, "Response returned an error: HTTP 429, Retry-After: 60"),
            (Throttle, "You have exceeded your API rate limit; wait and try again"),
            (
                Capacity,
                "Launching a new EC2 instance. Status Reason: We currently do not have sufficient m5.large capacity in the Availability Zone you requested (eu-west-1c). Launching EC2 instance failed.",
            ),
            (
                Capacity,
                "Error: creating Spot Instance Request: waiting for fulfillment: unexpected state 'capacity-not-available'",
            ),
            (Credentials, "error listing zones: 403 Forbidden: insufficient permissions"),
            (Credentials, "Error: error configuring S3 Backend: no valid credential sources for S3 Backend found."),
            (Credentials, "sts: api error AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity"),
            (Credentials, "Error: storage.NewClient() failed: dialing: google: could not find default credentials."),
            (
                Credentials,
                "oauth2/google: unable to generate access token: status code 403: Permission 'iam.serviceAccounts.getAccessToken' denied on resource",
            ),
            (Credentials, "The subscription 'x' could not be found. SubscriptionNotFound"),
            (
                Credentials,
                "secrets is forbidden: User \"system:anonymous\" cannot list resource \"secrets\" in API group \"\" in the namespace \"default\"",
            ),
            (
                Network,
                "Error: Post \"https://management.azure.com/x\": read tcp 10.0.0.1:1->20.0.0.1:443: wsarecv: An existing connection was forcibly closed by the remote host. connection was forcibly closed",
            ),
            (
                Network,
                "Error: error communicating with the API: Get \"https://api.digitalocean.com/v2/account\": tls: failed to verify certificate: x509: certificate has expired or is not yet valid",
            ),
            (
                Network,
                "stream error: stream ID 7; INTERNAL_ERROR; received from peer"
                    .replace("INTERNAL_ERROR; ", "")
                    .as_str(),
            ),
            (Network, "dial tcp: lookup sts.us-east-1.amazonaws.com: Temporary failure in name resolution"),
            (Outage, "unexpected response code 500 from the API"),
            (Outage, "HTTP response was not successful: 503 Service Temporarily Unavailable"),
            (Outage, "api error ServiceUnavailableException: Service is temporarily unavailable"),
            (
                Timeout,
                "error waiting for Route53 change: timeout while waiting for state to become 'INSYNC' (last state: 'PENDING', timeout: 30m0s)",
            ),
            (Timeout, "Error: Waiting for Delete Service Attachment: timed out"),
            (Timeout, "Error: timed out waiting for the condition on deployments/web"),
            (
                InvalidConfig,
                "Error: creating ECS Service: InvalidParameterException: The target group does not have an associated load balancer.",
            ),
            (
                InvalidConfig,
                "Error: error creating Application: ValidationException: Value at 'name' failed to satisfy constraint: Member must have length less than or equal to 255",
            ),
            (
                InvalidConfig,
                "Error: Invalid value for input variable\nThe given value is not suitable for var.size declared at main.tf:1,1-16: a number is required.",
            ),
            (InvalidConfig, "name exceeds the maximum limit of 63 characters"),
            (
                InvalidConfig,
                "Ingress.networking.k8s.io \"x\" is invalid: spec.rules[0].host: Invalid value: \"*x\": a wildcard DNS-1123 subdomain must start with '*.'",
            ),
            (InvalidConfig, "[400] [image] Image is deprecated and cannot be used"),
            (InvalidConfig, "Error: the argument \"image\" is required"),
            (Conflict, "creating Key Pair (deploy): InvalidKeyPair.Duplicate: The keypair already exists"),
            (
                Conflict,
                "creating ECR Repository (app): RepositoryAlreadyExistsException: The repository with name 'app' already exists in the registry",
            ),
            (
                Conflict,
                "googleapi: Error 409: The Cloud SQL instance already exists. When you delete an instance, you cannot reuse the name of the deleted instance until one week from the deletion date., instanceAlreadyExists",
            ),
            (Conflict, "409 Conflict"),
            (StateLock, "Error acquiring the state lock: state is locked by another process"),
            (
                StateCorruption,
                "state data was saved with serial 5 but the newer state has serial 7: cannot overwrite existing state with serial 7 with a different state that has the same serial",
            ),
            (Crash, "terraform-provider-azurerm: fatal error: concurrent map writes\n\ngoroutine 88 [running]:"),
            (
                Crash,
                "Error: Plugin error\nThe plugin returned an unexpected error from plugin.(*GRPCProvider).UpgradeResourceState: rpc error: code = Unavailable desc = transport is closing",
            ),
            (
                Installation,
                "Could not download module \"eks\" (main.tf:9) source code from \"https://github.com/x/archive/v1.tar.gz\": bad response code: 404",
            ),
            (Disk, "fork: write /dev/shm/x: no space left on device"),
        ],
    );
}
