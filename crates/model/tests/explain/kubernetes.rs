//! Kubernetes and Helm.

use model::Class::*;

use super::{applying, assert_classes, destroying};

#[test]
fn what_clusters_and_charts_say() {
    assert_classes(
        applying(),
        &[
            (
                Credentials,
                "namespaces is forbidden: User \"system:serviceaccount:ci:deployer\" cannot create resource \"namespaces\" in API group \"\" at the cluster scope",
            ),
            (
                Credentials,
                "deployments.apps is forbidden: User \"dev\" cannot create resource \"deployments\" in API group \"apps\" in the namespace \"prod\"",
            ),
            (Credentials, "Unauthorized"),
            (Credentials, "the server has asked for the client to provide credentials"),
            (Credentials, "Kubernetes cluster unreachable: the server has asked for the client to provide credentials"),
            (
                Credentials,
                "Get \"https://1.2.3.4/api/v1/namespaces/x\": getting credentials: exec: executable aws failed with exit code 255",
            ),
            (
                Quota,
                "pods \"web-1\" is forbidden: exceeded quota: compute-resources, requested: requests.cpu=2, used: requests.cpu=7, limited: requests.cpu=8",
            ),
            (
                Capacity,
                "Waiting for rollout to finish: 0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available",
            ),
            (
                InvalidConfig,
                "admission webhook \"validate.kyverno.svc-fail\" denied the request: resource Pod/default/web was blocked due to the following policies: require-labels",
            ),
            (
                InvalidConfig,
                "pods \"web\" is forbidden: violates PodSecurity \"restricted:latest\": allowPrivilegeEscalation != false",
            ),
            (
                InvalidConfig,
                "Service \"web\" is invalid: spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
            ),
            (
                InvalidConfig,
                "unable to build kubernetes objects from release manifest: resource mapping not found for name: \"x\" namespace: \"\" from \"\": no matches for kind \"Certificate\" in version \"cert-manager.io/v1\"",
            ),
            (
                InvalidConfig,
                "Deployment.apps \"web\" is invalid: spec.selector: Invalid value: v1.LabelSelector{}: field is immutable",
            ),
            (
                InvalidConfig,
                "chart \"redis\" version \"99.0.0\" not found in https://charts.bitnami.com/bitnami repository",
            ),
            (InvalidConfig, "execution error at (app/templates/deployment.yaml:3:4): image.tag is required"),
            (Conflict, "cannot re-use a name that is still in use"),
            (Conflict, "namespaces \"monitoring\" already exists"),
            (
                Conflict,
                "Unable to continue with install: ServiceAccount \"x\" in namespace \"y\" exists and cannot be imported into the current release: invalid ownership metadata; label validation error: missing key \"app.kubernetes.io/managed-by\": must be set to \"Helm\"",
            ),
            (
                Conflict,
                "Operation cannot be fulfilled on configmaps \"aws-auth\": the object has been modified; please apply your changes to the latest version and try again",
            ),
            (Dependency, "another operation (install/upgrade/rollback) is in progress"),
            (
                Dependency,
                "pods \"x\" is forbidden: unable to create new content in namespace prod because it is being terminated",
            ),
            (
                Network,
                "Get \"http://localhost/api/v1/namespaces/kube-system\": dial tcp [::1]:80: connect: connection refused",
            ),
            (
                Network,
                "Kubernetes cluster unreachable: Get \"https://ABC.gr7.us-east-1.eks.amazonaws.com/version\": dial tcp 10.0.1.5:443: i/o timeout",
            ),
            (Network, "Get \"https://10.0.0.1:6443/api\": x509: certificate signed by unknown authority"),
            (Network, "Get \"https://k8s.example.com/api/v1/secrets\": http2: client connection lost"),
            (Network, "Post \"https://k8s.example.com/api/v1/namespaces\": context deadline exceeded"),
            (Network, "could not download chart: Get \"https://charts.example.com/app-1.0.0.tgz\": EOF"),
            (
                Outage,
                "Internal error occurred: failed calling webhook \"webhook.cert-manager.io\": failed to call webhook: Post \"https://cert-manager-webhook.cert-manager.svc:443/mutate?timeout=10s\": no endpoints available for service \"cert-manager-webhook\"",
            ),
            (Outage, "etcdserver: request timed out"),
            (Outage, "the server is currently unable to handle the request (get deployments.apps)"),
            (Outage, "Internal error occurred: etcdserver: leader changed"),
            (
                Timeout,
                "Waiting for rollout to finish: 1 replicas wanted; 0 replicas Ready\nError: timed out waiting for the condition",
            ),
            (Timeout, "context deadline exceeded"),
            (
                Timeout,
                "release ingress failed, and has been uninstalled due to atomic being set: timed out waiting for the condition",
            ),
            (Timeout, "client rate limiter Wait returned an error: context deadline exceeded"),
            (
                Timeout,
                "Deployment is not ready: prod/web. 0 out of 1 expected pods are ready: context deadline exceeded",
            ),
            (
                Throttle,
                "the server has received too many requests and has asked us to try again later (post namespaces)",
            ),
        ],
    );
    assert_classes(destroying(), &[(Timeout, "timed out waiting for the condition: namespace prod still Terminating")]);
}
