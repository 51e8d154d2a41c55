use model::Class::*;

use super::{applying, assert_classes, destroying};

#[test]
fn what_aws_says_when_it_makes_something() {
    assert_classes(
        applying(),
        &[
            (
                Quota,
                "creating EC2 Instance: operation error EC2: RunInstances, https response error StatusCode: 400, RequestID: 6c2f8f5e-7f0e-4c8d-9c3b-0c2a6b1f9d11, api error VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit.",
            ),
            (
                Quota,
                "Error creating NAT Gateway: NatGatewayLimitExceeded: Performing this operation would exceed the limit of 5 NAT gateways\n\tstatus code: 400, request id: 0a1b2c3d-1111-2222-3333-444455556666",
            ),
            (
                Quota,
                "creating EC2 EIP: operation error EC2: AllocateAddress, https response error StatusCode: 400, RequestID: a, api error AddressLimitExceeded: The maximum number of addresses has been reached.",
            ),
            (
                Quota,
                "Error creating IAM Role prod: LimitExceeded: Cannot exceed quota for RolesPerAccount: 1000\n\tstatus code: 409, request id: 1",
            ),
            (
                Quota,
                "creating S3 Bucket (logs): operation error S3: CreateBucket, https response error StatusCode: 400, api error TooManyBuckets: You have attempted to create more buckets than allowed",
            ),
            (
                Quota,
                "creating EKS Cluster (prod): operation error EKS: CreateCluster, https response error StatusCode: 400, ResourceLimitExceededException: Cluster limit exceeded",
            ),
            (
                Quota,
                "creating RDS DB Instance: InstanceQuotaExceeded: Cannot create more instances: you have used up your quota of 40",
            ),
            (
                Quota,
                "creating API Gateway v2 API: operation error ApiGatewayV2: CreateApi, https response error StatusCode: 429, LimitExceededException: Maximum number of APIs for this account has been reached. Please contact AWS if you need additional APIs.",
            ),
            (
                Quota,
                "creating ELBv2 Load Balancer: ServiceQuotaExceededException: quota for application load balancers",
            ),
            (
                Quota,
                "waiting for Auto Scaling Group (workers) capacity satisfied: timeout while waiting for state to become 'ok' (last state: 'want at least 2 healthy instance(s) in Auto Scaling Group, have 0', timeout: 10m0s)\nscaling activity (7): Failed: Max spot instance count exceeded. Launching EC2 instance failed. MaxSpotInstanceCountExceeded",
            ),
            (
                Quota,
                "error creating DynamoDB Table: LimitExceededException: Subscriber limit exceeded: There is a limit of 2500 tables per subscriber",
            ),
            (
                Throttle,
                "error describing EC2 VPCs: RequestLimitExceeded: Request limit exceeded.\n\tstatus code: 503, request id: 9",
            ),
            (Throttle, "reading Route 53 Hosted Zone: Throttling: Rate exceeded\n\tstatus code: 400, request id: b2"),
            (
                Throttle,
                "creating ECS Service: operation error ECS: CreateService, exceeded maximum number of attempts, 25, https response error StatusCode: 400, RequestID: x, ThrottlingException: Rate exceeded",
            ),
            (Throttle, "putting CloudWatch Logs retention: LimitExceededException: Rate exceeded"),
            (
                Throttle,
                "uploading object: operation error S3: PutObject, https response error StatusCode: 503, api error SlowDown: Please reduce your request rate.",
            ),
            (Throttle, "TooManyRequestsException: Too Many Requests"),
            (
                Throttle,
                "writing item: ProvisionedThroughputExceededException: The level of configured provisioned throughput for the table was exceeded.",
            ),
            (
                Throttle,
                "Route53: PriorRequestNotComplete: The request was rejected because Route 53 was still processing a prior request.",
            ),
            (
                Capacity,
                "creating EC2 Instance: operation error EC2: RunInstances, https response error StatusCode: 500, RequestID: 5f0, api error InsufficientInstanceCapacity: We currently do not have sufficient p4d.24xlarge capacity in the Availability Zone you requested (us-east-1d). Our system will be working on provisioning additional capacity. You can currently get p4d.24xlarge capacity by not specifying an Availability Zone in your request or choosing us-east-1a, us-east-1b.",
            ),
            (
                Capacity,
                "creating EKS Cluster (prod): UnsupportedAvailabilityZoneException: Cannot create cluster 'prod' because us-east-1e, the targeted availability zone, does not currently have sufficient capacity to support the cluster. Retry and choose from these availability zones: us-east-1a, us-east-1b, us-east-1c",
            ),
            (Capacity, "InsufficientDBInstanceCapacity: db.r6g.16xlarge is not available in us-west-2a"),
            (
                Capacity,
                "waiting for EKS Node Group (prod:gpu) create: unexpected state 'CREATE_FAILED', wanted target 'ACTIVE'. last error: AsgInstanceLaunchFailures: Could not launch On-Demand Instances. InsufficientInstanceCapacity - We currently do not have sufficient g5.48xlarge capacity",
            ),
            (
                Capacity,
                "Error launching spot fleet: UnfulfillableCapacity: Unable to fulfill capacity due to your request configuration.",
            ),
            (
                Credentials,
                "creating EKS Cluster (prod): operation error EKS: CreateCluster, https response error StatusCode: 403, RequestID: 1, api error AccessDeniedException: User: arn:aws:iam::123456789012:user/ci is not authorized to perform: eks:CreateCluster on resource: arn:aws:eks:us-east-1:123456789012:cluster/prod",
            ),
            (
                Credentials,
                "Error launching source instance: UnauthorizedOperation: You are not authorized to perform this operation. Encoded authorization failure message: 4zGx9\n\tstatus code: 403, request id: 2",
            ),
            (
                Credentials,
                "configuring Terraform AWS Provider: validating provider credentials: retrieving caller identity from STS: operation error STS: GetCallerIdentity, https response error StatusCode: 403, RequestID: d, api error ExpiredToken: The security token included in the request is expired",
            ),
            (
                Credentials,
                "error configuring Terraform AWS Provider: error validating provider credentials: error calling sts:GetCallerIdentity: InvalidClientTokenId: The security token included in the request is invalid.\n\tstatus code: 403, request id: 8",
            ),
            (
                Credentials,
                "Invalid provider configuration\nProvider \"registry.terraform.io/hashicorp/aws\" requires explicit configuration. Add a provider block to the root module and configure the provider's required arguments as described in the provider documentation. No valid credential sources found",
            ),
            (
                Credentials,
                "No valid credential sources found\nPlease see https://registry.terraform.io/providers/hashicorp/aws for more information about providing credentials. Error: failed to refresh cached credentials, no EC2 IMDS role found, operation error ec2imds: GetMetadata, request canceled, context deadline exceeded",
            ),
            (
                Credentials,
                "SignatureDoesNotMatch: The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.",
            ),
            (
                Credentials,
                "Cannot assume IAM Role\nIAM Role (arn:aws:iam::1:role/deploy) cannot be assumed. operation error STS: AssumeRole, https response error StatusCode: 403, api error AccessDenied: User: arn:aws:sts::1:assumed-role/x is not authorized to perform: sts:AssumeRole",
            ),
            (
                Credentials,
                "RequestError: RequestTimeTooSkewed: The difference between the request time and the current time is too large.",
            ),
            (
                Credentials,
                "OptInRequired: You are not subscribed to this service. Please go to http://aws.amazon.com to subscribe.",
            ),
            (
                Network,
                "error describing VPCs: RequestError: send request failed\ncaused by: Post \"https://ec2.eu-west-1.amazonaws.com/\": dial tcp: lookup ec2.eu-west-1.amazonaws.com on 10.0.0.2:53: no such host",
            ),
            (
                Network,
                "reading EKS Cluster (prod): operation error EKS: DescribeCluster, exceeded maximum number of attempts, 3, https response error StatusCode: 0, RequestID: , request send failed, Get \"https://eks.us-east-1.amazonaws.com/clusters/prod\": read tcp 10.0.0.4:51234->52.1.2.3:443: read: connection reset by peer",
            ),
            (Network, "Post \"https://sts.amazonaws.com/\": net/http: TLS handshake timeout"),
            (
                Outage,
                "creating Lambda Function: operation error Lambda: CreateFunction, https response error StatusCode: 500, RequestID: 77, ServiceException: An error occurred and the request cannot be processed.",
            ),
            (Outage, "InternalError: An internal error has occurred\n\tstatus code: 500, request id: 3c"),
            (
                Outage,
                "describing ECR repo: ServerException: Service Unavailable. Please try again later.\n\tstatus code: 503",
            ),
            (
                Outage,
                "operation error EC2: DescribeSubnets, https response error StatusCode: 503, RequestID: q, api error Unavailable: The service is unavailable. Please try again shortly.",
            ),
            (
                Timeout,
                "waiting for EKS Cluster (prod) create: timeout while waiting for state to become 'ACTIVE' (last state: 'CREATING', timeout: 30m0s)",
            ),
            (
                Timeout,
                "error waiting for NAT Gateway (nat-0a) to become available: timeout while waiting for resource to be available (last state: 'pending', timeout: 10m0s)",
            ),
            (Timeout, "waiting for RDS DB Instance (db) create: ResourceNotReady: exceeded wait attempts"),
            (
                Timeout,
                "waiting for ACM Certificate (arn:aws:acm:us-east-1:1:certificate/2) to be issued: timeout while waiting for state to become 'ISSUED' (last state: 'PENDING_VALIDATION', timeout: 1h15m0s)",
            ),
            (
                InvalidConfig,
                "creating EKS Cluster (prod): InvalidParameterException: unsupported Kubernetes version 1.15",
            ),
            (
                InvalidConfig,
                "creating EC2 Instance: Unsupported: Your requested instance type (t4g.micro) is not supported in your requested Availability Zone (us-east-1e). Please retry your request by not specifying an Availability Zone or choosing us-east-1a, us-east-1b.",
            ),
            (
                InvalidConfig,
                "Error launching source instance: InvalidAMIID.NotFound: The image id '[ami-0abc]' does not exist\n\tstatus code: 400, request id: 5",
            ),
            (InvalidConfig, "creating Security Group Rule: InvalidParameterValue: CIDR block 10.0.0.0/33 is malformed"),
            (InvalidConfig, "creating IAM Policy: MalformedPolicyDocument: Syntax errors in policy."),
            (
                InvalidConfig,
                "ValidationError: 1 validation error detected: Value 'x' at 'engine' failed to satisfy constraint",
            ),
            (
                InvalidConfig,
                "creating EC2 Instance: InsufficientFreeAddressesInSubnet: The specified subnet does not have enough free addresses to satisfy the request.",
            ),
            (InvalidConfig, "reading SSM Parameter (/x): couldn't find resource"),
            (Conflict, "creating EKS Cluster (prod): ResourceInUseException: Cluster already exists with name: prod"),
            (Conflict, "creating DynamoDB Table (locks): ResourceInUseException: Table already exists: locks"),
            (
                Conflict,
                "creating IAM Role (node): operation error IAM: CreateRole, https response error StatusCode: 409, RequestID: 4, EntityAlreadyExists: Role with name node already exists.",
            ),
            (
                Conflict,
                "creating S3 Bucket (assets): BucketAlreadyExists: The requested bucket name is not available. The bucket namespace is shared by all users of the system.",
            ),
            (
                Conflict,
                "creating EC2 Subnet: InvalidSubnet.Conflict: The CIDR '10.0.1.0/24' conflicts with another subnet",
            ),
            (
                Conflict,
                "Error creating Security Group: InvalidGroup.Duplicate: The security group 'web' already exists for VPC 'vpc-1'",
            ),
            (
                Conflict,
                "creating Secrets Manager Secret: InvalidRequestException: You can't create this secret because a secret with this name is already scheduled for deletion.",
            ),
            (
                Conflict,
                "creating KMS Alias: AlreadyExistsException: An alias with the name arn:aws:kms:us-east-1:1:alias/x already exists",
            ),
            (Conflict, "putting DynamoDB Table Item: ConditionalCheckFailedException: The conditional request failed"),
        ],
    );
}

#[test]
fn what_aws_says_when_it_removes_something() {
    assert_classes(
        destroying(),
        &[
            (
                Dependency,
                "deleting EC2 VPC (vpc-1): operation error EC2: DeleteVpc, https response error StatusCode: 400, RequestID: 1, api error DependencyViolation: The vpc 'vpc-1' has dependencies and cannot be deleted.",
            ),
            (Dependency, "deleting EKS Cluster (prod): ResourceInUseException: Cluster has nodegroups attached"),
            (
                Dependency,
                "deleting Security Group (sg-1): DependencyViolation: resource sg-1 has a dependent object\n\tstatus code: 400, request id: 3",
            ),
            (Dependency, "deleting S3 Bucket (logs): BucketNotEmpty: The bucket you tried to delete is not empty"),
            (
                Dependency,
                "deleting IAM Policy: DeleteConflict: Cannot delete a policy attached to entities.\n\tstatus code: 409",
            ),
            (Dependency, "deleting EBS Volume (vol-1): VolumeInUse: Volume vol-1 is currently attached to i-2"),
            (
                Dependency,
                "deleting ECR Repository (app): RepositoryNotEmptyException: The repository with name 'app' in registry with id '1' cannot be deleted because it still contains images",
            ),
            (
                Dependency,
                "deleting Route 53 Hosted Zone: HostedZoneNotEmpty: The specified hosted zone contains non-required resource record sets and so cannot be deleted.",
            ),
            (
                Dependency,
                "deleting ELBv2 Target Group: ResourceInUse: Target group 'arn:aws:elasticloadbalancing:us-east-1:1:targetgroup/x/2' is currently in use by a listener or a rule",
            ),
            (
                Dependency,
                "detaching EC2 Internet Gateway (igw-1) from VPC (vpc-1): DependencyViolation: Network vpc-1 has some mapped public address(es). Please unmap those public address(es) before detaching the gateway.",
            ),
            (
                InvalidConfig,
                "deleting RDS Cluster (db): InvalidParameterCombination: Cannot delete protected Cluster, please disable deletion protection and try again.",
            ),
            (
                Timeout,
                "deleting EKS Node Group (prod:a): waiting for completion: timeout while waiting for resource to be gone (last state: 'DELETING', timeout: 1h0m0s)",
            ),
        ],
    );
}
