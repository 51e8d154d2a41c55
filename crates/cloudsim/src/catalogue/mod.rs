//! The providers that can be simulated. There is one; another is another entry here.

mod thing;

use crate::schema::{Attribute, ProviderType, Type, Usage};

pub static CLOUDSIM: ProviderType = ProviderType {
    namespace: "terrane",
    name: "cloudsim",
    description: "A simulated cloud that lives in a folder.",
    config: &[
        Attribute::new(
            "world",
            Type::String,
            Usage::Optional,
            "The folder in which the simulated cloud lives. Needed, unless the environment has CLOUDSIM_WORLD.",
        ),
        Attribute::new(
            "token",
            Type::String,
            Usage::Optional,
            "A credential that nobody checks, to see where it shows up.",
        )
        .sensitive(),
    ],
    resources: &[thing::THING],
};
