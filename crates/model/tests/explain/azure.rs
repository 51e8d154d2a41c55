use model::Class::*;

use super::{applying, assert_classes, destroying};

#[test]
fn what_azure_says_when_it_makes_something() {
    assert_classes(
        applying(),
        &[
            (
                Quota,
                "creating Managed Kubernetes Cluster \"k\" (Resource Group \"rg\"): containerservice.ManagedClustersClient#CreateOrUpdate: Failure sending request: StatusCode=400 -- Original Error: Code=\"QuotaExceeded\" Message=\"Provisioning of resource(s) for container service k in resource group rg failed. Message: Operation could not be completed as it results in exceeding approved Total Regional Cores quota. Additional details - Deployment Model: Resource Manager, Location: eastus, Current Limit: 10, Current Usage: 8, Additional Required: 4, (Minimum) New Limit Required: 12.\"",
            ),
            (
                Quota,
                "creating Linux Virtual Machine: performing CreateOrUpdate: unexpected status 409 (409 Conflict) with error: OperationNotAllowed: Operation could not be completed as it results in exceeding approved standardDSv3Family Cores quota. Additional details - Deployment Model: Resource Manager, Location: westeurope, Current Limit: 0, Current Usage: 0, Additional Required: 4",
            ),
            (
                Quota,
                "compute.VirtualMachinesClient#CreateOrUpdate: Failure responding to request: StatusCode=409 -- Original Error: autorest/azure: Service returned an error. Status=409 Code=\"OperationNotAllowed\" Message=\"Operation results in exceeding quota limits of Core. Maximum allowed: 20, Current in use: 20, Additional requested: 2.\"",
            ),
            (
                Quota,
                "Code=\"ErrCode_InsufficientVCPUQuota\" Message=\"Insufficient vcpu quota requested 4, remaining 0 for family standardDSv2Family for region westus.\"",
            ),
            (
                Quota,
                "StatusCode=400 -- Original Error: Code=\"PublicIPCountLimitReached\" Message=\"Cannot create more than 10 public IP addresses for this subscription in this region.\"",
            ),
            (
                Throttle,
                "StatusCode=429 -- Original Error: Code=\"SubscriptionRequestsThrottled\" Message=\"Number of requests for subscription exceeded the limit of '1200' for time interval '00:05:00'. Please try again after '17' seconds.\"",
            ),
            (
                Throttle,
                "autorest/azure: Service returned an error. Status=429 Code=\"OperationNotAllowed\" Message=\"The server rejected the request because too many requests have been received for this subscription.\"",
            ),
            (
                Throttle,
                "unexpected status 429 (429 Too Many Requests) with error: TooManyRequests: The request is being throttled. Retry-After: 25",
            ),
            (
                Capacity,
                "Code=\"SkuNotAvailable\" Message=\"The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: Standard_D2s_v3' is currently not available in location 'eastus'. Please try another size or deploy to a different location or different zone.\"",
            ),
            (
                Capacity,
                "Code=\"AllocationFailed\" Message=\"Allocation failed. We do not have sufficient capacity for the requested VM size in this region.\"",
            ),
            (
                Capacity,
                "unexpected status 409 (409 Conflict) with error: ZonalAllocationFailed: Allocation failed. We do not have sufficient capacity for the requested VM size in this zone.",
            ),
            (
                Capacity,
                "OverconstrainedZonalAllocationRequest: Allocation failed. VM(s) with the following constraints cannot be allocated",
            ),
            (
                Credentials,
                "StatusCode=403 -- Original Error: Code=\"AuthorizationFailed\" Message=\"The client 'a' with object id 'b' does not have authorization to perform action 'Microsoft.Network/virtualNetworks/write' over scope '/subscriptions/1/resourceGroups/rg' or the scope is invalid. If access was recently granted, please refresh your credentials.\"",
            ),
            (
                Credentials,
                "building AzureRM Client: please ensure you have installed Azure CLI version 2.0.79 or newer. Error parsing json result from the Azure CLI: ERROR: Please run 'az login' to setup account.",
            ),
            (
                Credentials,
                "building account: could not acquire access token to parse claims: clientCredentialsToken: received HTTP status 401 with response: {\"error\":\"invalid_client\",\"error_description\":\"AADSTS7000222: The provided client secret keys for app 'x' are expired.\"}",
            ),
            (
                Credentials,
                "unable to build authorizer for Resource Manager API: could not configure AzureCli Authorizer: could not parse Azure CLI version",
            ),
            (
                Credentials,
                "StatusCode=401 -- Original Error: Code=\"ExpiredAuthenticationToken\" Message=\"The access token expiry UTC time '1/1/2026 1:00:00 AM' is earlier than current UTC time.\"",
            ),
            (
                Credentials,
                "StatusCode=409 -- Original Error: Code=\"MissingSubscriptionRegistration\" Message=\"The subscription is not registered to use namespace 'Microsoft.ContainerService'. See https://aka.ms/rps-not-found for how to register subscriptions.\"",
            ),
            (
                Credentials,
                "`subscription_id` is a required provider property when performing a plan/apply operation: subscription ID could not be determined and was not specified",
            ),
            (
                Network,
                "Get \"https://management.azure.com/subscriptions/1/providers?api-version=2016-02-01\": dial tcp 20.1.2.3:443: connect: connection refused",
            ),
            (
                Network,
                "azure.BearerAuthorizer#WithAuthorization: Failed to refresh the Token for request: StatusCode=0 -- Original Error: Post \"https://login.microsoftonline.com/t/oauth2/token\": unexpected EOF",
            ),
            (
                Outage,
                "StatusCode=500 -- Original Error: Code=\"InternalServerError\" Message=\"Encountered internal server error.\"",
            ),
            (
                Outage,
                "unexpected status 503 (503 Service Unavailable) with error: ServiceUnavailable: The service is unavailable.",
            ),
            (
                Outage,
                "Code=\"GatewayTimeout\" Message=\"The gateway did not receive a response from 'Microsoft.Network' within the specified time period.\"",
            ),
            (
                Timeout,
                "waiting for creation of Managed Cluster: Future#WaitForCompletion: context has been cancelled: StatusCode=200 -- Original Error: context deadline exceeded",
            ),
            (Timeout, "polling after CreateOrUpdate: context deadline exceeded"),
            (
                Timeout,
                "Code=\"OSProvisioningTimedOut\" Message=\"OS Provisioning for VM 'vm' did not finish in the allotted time.\"",
            ),
            (
                InvalidConfig,
                "Code=\"BadRequest\" Message=\"The VM size of Standard_B2s is not allowed in your subscription in location 'eastus'. The available VM sizes are Standard_D2_v2,Standard_D4_v2\"",
            ),
            (
                InvalidConfig,
                "StatusCode=400 -- Original Error: Code=\"K8sVersionNotSupported\" Message=\"Managed cluster k is on version 1.15.0 which is not supported in this region.\"",
            ),
            (
                InvalidConfig,
                "StatusCode=403 -- Original Error: Code=\"RequestDisallowedByPolicy\" Message=\"Resource 'pip' was disallowed by policy. Policy identifiers: '[{\\\"policyAssignment\\\":{\\\"name\\\":\\\"no public ip\\\"}}]'.\"",
            ),
            (
                InvalidConfig,
                "StatusCode=404 -- Original Error: Code=\"ResourceGroupNotFound\" Message=\"Resource group 'rg' could not be found.\"",
            ),
            (
                InvalidConfig,
                "Code=\"InvalidParameter\" Message=\"Required parameter 'adminPassword' is missing (null).\"",
            ),
            (
                Conflict,
                "A resource with the ID \"/subscriptions/1/resourceGroups/rg\" already exists - to be managed via Terraform this resource needs to be imported into the State. Please see the resource documentation for \"azurerm_resource_group\" for more information.",
            ),
            (
                Conflict,
                "StatusCode=409 -- Original Error: Code=\"StorageAccountAlreadyTaken\" Message=\"The storage account named logs is already taken.\"",
            ),
            (
                Conflict,
                "unexpected status 409 (409 Conflict) with error: RoleAssignmentExists: The role assignment already exists.",
            ),
            (
                Conflict,
                "StatusCode=409 -- Original Error: Code=\"ConflictError\" Message=\"A vault with the same name already exists in deleted state. You need to either recover or purge existing key vault.\"",
            ),
            (
                Dependency,
                "StatusCode=409 -- Original Error: Code=\"AnotherOperationInProgress\" Message=\"Another operation on this or dependent resource is in progress. To retrieve status of the operation use uri: https://management.azure.com/x.\"",
            ),
            (
                Dependency,
                "OperationNotAllowed: Operation is not allowed: Another operation (Updating) is in progress, please wait for it to finish before starting a new operation. See https://aka.ms/aks-pending-operation for more details",
            ),
        ],
    );
}

#[test]
fn what_azure_says_when_it_removes_something() {
    assert_classes(
        destroying(),
        &[
            (
                Dependency,
                "deleting Subnet: network.SubnetsClient#Delete: Failure sending request: StatusCode=400 -- Original Error: Code=\"InUseSubnetCannotBeDeleted\" Message=\"Subnet s is in use by /subscriptions/1/networkInterfaces/nic/ipConfigurations/i and cannot be deleted.\"",
            ),
            (
                Dependency,
                "deleting Network Security Group: unexpected status 400 (400 Bad Request) with error: InUseNetworkSecurityGroupCannotBeDeleted: Network security group nsg cannot be deleted because it is in use by the following resources: /subscriptions/1/subnets/s.",
            ),
            (
                Dependency,
                "StatusCode=409 -- Original Error: Code=\"ScopeLocked\" Message=\"The scope '/subscriptions/1/rg' cannot perform delete operation because following scope(s) are locked: '/subscriptions/1/rg'. Please remove the lock and try again.\"",
            ),
            (
                Dependency,
                "deleting Resource Group \"rg\": the Resource Group still contains Resources. Terraform is configured to check for Resources within the Resource Group when deleting the Resource Group",
            ),
            (
                Dependency,
                "PublicIPAddressCannotBeDeleted: Public IP address pip can not be deleted since it is still allocated to resource nic.",
            ),
        ],
    );
}
