//! The gRPC face: which path calls which function of the provider. Paths that are not listed (the plugin library's broker
//! and standard-output streams, newer parts of the protocol) are answered as unimplemented, which Terraform accepts.

use std::{convert::Infallible, sync::Arc};

use hyper::{Request, Response, body::Incoming};
use prost::Message;
use tokio::sync::{Notify, mpsc};
use tonic::{Status, body::Body, server::Grpc};
use tonic_prost::ProstCodec;
use tower::service_fn;

use crate::{
    protocol::{DiagnosticsResponse, Empty},
    provider::Provider,
};

#[derive(Clone)]
pub struct Service {
    provider: Arc<Provider>,
    /// What a call under way holds on to, so that the process does not leave before it.
    underway: mpsc::Sender<Infallible>,
    shutdown: Arc<Notify>,
}

impl Service {
    pub fn new(provider: Provider, underway: mpsc::Sender<Infallible>) -> Service {
        Service { provider: Arc::new(provider), underway, shutdown: Arc::default() }
    }

    /// Rings when Terraform has asked the process to leave.
    pub fn shutdown(&self) -> Arc<Notify> {
        self.shutdown.clone()
    }

    pub async fn answer(self, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
        let path = request.uri().path().to_owned();
        Ok(match path.as_str() {
            "/tfplugin6.Provider/GetProviderSchema" => self.call(request, async |p, _: Empty| p.schema()).await,
            "/tfplugin6.Provider/ValidateProviderConfig" => {
                self.call(request, async |p, r| p.validate_config(&r)).await
            }
            "/tfplugin6.Provider/ConfigureProvider" => self.call(request, async |p, r| p.configure(&r)).await,
            "/tfplugin6.Provider/ValidateResourceConfig" => self.call(request, async |p, r| p.validate(&r)).await,
            "/tfplugin6.Provider/ValidateDataResourceConfig" => {
                self.call(request, async |_, _: Empty| DiagnosticsResponse::default()).await
            }
            "/tfplugin6.Provider/UpgradeResourceState" => self.call(request, async |p, r| p.upgrade(&r)).await,
            "/tfplugin6.Provider/PlanResourceChange" => self.call(request, async |p, r| p.plan(&r)).await,
            "/tfplugin6.Provider/ApplyResourceChange" => self.call(request, async |p, r| p.apply(&r).await).await,
            "/tfplugin6.Provider/ReadResource" => self.call(request, async |p, r| p.read(&r)).await,
            "/tfplugin6.Provider/ReadDataSource" => self.call(request, async |p, r| p.read_data(&r)).await,
            "/tfplugin6.Provider/ImportResourceState" => self.call(request, async |p, r| p.import(&r)).await,
            // Asks for haste, not for cancellation: what the cloud has accepted, it finishes.
            "/tfplugin6.Provider/StopProvider" => self.call(request, async |_, _: Empty| Empty {}).await,
            "/plugin.GRPCController/Shutdown" => {
                self.shutdown.notify_one();
                self.call(request, async |_, _: Empty| Empty {}).await
            }
            _ => Status::unimplemented(path).into_http(),
        })
    }

    /// Decodes, calls, encodes. The call runs in a task of its own: the connection's end would otherwise cut it short.
    async fn call<Q, A, F>(&self, request: Request<Incoming>, call: impl Fn(Arc<Provider>, Q) -> F) -> Response<Body>
    where
        Q: Message + Default + 'static,
        A: Message + 'static,
        F: Future<Output = A> + Send + 'static,
    {
        let unary = service_fn(|message: tonic::Request<Q>| {
            let answer = call(self.provider.clone(), message.into_inner());
            let underway = self.underway.clone();
            let task = tokio::spawn(async move {
                let answer = answer.await;
                drop(underway);
                answer
            });
            async move { task.await.map(tonic::Response::new).map_err(|failed| Status::internal(failed.to_string())) }
        });
        Grpc::new(ProstCodec::<A, Q>::default()).unary(unary, request).await
    }
}
