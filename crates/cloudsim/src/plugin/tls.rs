//! The mutual TLS that Terraform asks of every plugin: each side is known by one self-signed certificate, exchanged
//! through the environment and the handshake line. Terraform signs with a P-521 key, which ring cannot verify, and its
//! certificate is an authority used as an end entity, which webpki refuses; so its bytes are pinned, and possession of
//! its key is verified here.

use std::sync::Arc;

use p521::ecdsa::{Signature, VerifyingKey, signature::Verifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, PeerIncompatible, ServerConfig, SignatureScheme,
    client::danger::HandshakeSignatureValid,
    crypto::{WebPkiSupportedAlgorithms, ring, verify_tls13_signature},
    pki_types::{
        AlgorithmIdentifier, CertificateDer, InvalidSignature, PrivateKeyDer, PrivatePkcs8KeyDer,
        SignatureVerificationAlgorithm, UnixTime, alg_id, pem::PemObject,
    },
    server::danger::{ClientCertVerified, ClientCertVerifier},
    version::TLS13,
};

use super::PluginError;

/// The server's side of the connection, and the certificate that Terraform has to be told.
pub struct Identity {
    pub config: Arc<ServerConfig>,
    pub certificate: CertificateDer<'static>,
}

pub fn identity(client_certificate: &str) -> Result<Identity, PluginError> {
    let client =
        CertificateDer::from_pem_slice(client_certificate.as_bytes()).map_err(PluginError::ClientCertificate)?;
    // Terraform expects its plugins to be called so.
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let certificate = own.cert.der().clone();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(Arc::new(Pinned(client)))
        .with_single_cert(vec![certificate.clone()], key)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Identity { config: Arc::new(config), certificate })
}

/// Lets in the holder of one certificate's key, and nobody else.
#[derive(Debug)]
struct Pinned(CertificateDer<'static>);

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        presented: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        if *presented == self.0 {
            Ok(ClientCertVerified::assertion())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        // Never asked for: the server speaks nothing but TLS 1.3.
        Err(PeerIncompatible::SupportedVersionsExtensionRequired.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &ALGORITHMS)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ALGORITHMS.supported_schemes()
    }
}

static ALGORITHMS: WebPkiSupportedAlgorithms = WebPkiSupportedAlgorithms {
    all: &[&EcdsaP521Sha512],
    mapping: &[(SignatureScheme::ECDSA_NISTP521_SHA512, &[&EcdsaP521Sha512])],
};

#[derive(Debug)]
struct EcdsaP521Sha512;

impl SignatureVerificationAlgorithm for EcdsaP521Sha512 {
    fn verify_signature(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        let key = VerifyingKey::from_sec1_bytes(public_key).map_err(|_| InvalidSignature)?;
        let signature = Signature::from_der(signature).map_err(|_| InvalidSignature)?;
        key.verify(message, &signature).map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_P521
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_SHA512
    }
}
