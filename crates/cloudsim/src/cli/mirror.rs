//! A mirror on disk from which `terraform init` installs the provider, as it would from a registry.

use std::{env, fs, io, os::unix::fs::PermissionsExt, path, path::Path};

use crate::{catalogue::CLOUDSIM, schema::ProviderType};

const VERSION: &str = env!("CARGO_PKG_VERSION");
const REGISTRY: &str = "registry.terraform.io";

/// Writes the mirror, and returns the configuration that makes Terraform use it. With `copy` the program is in it too: for
/// whoever sees nothing of this machine but the mirror.
pub fn write(dir: &Path, copy: bool) -> io::Result<String> {
    let ProviderType { namespace, name, .. } = CLOUDSIM;
    let dir = path::absolute(dir)?;
    let package = dir.join(REGISTRY).join(namespace).join(name).join(VERSION).join(platform());
    fs::create_dir_all(&package)?;
    let launcher = package.join(format!("terraform-provider-{name}_v{VERSION}"));
    // Terraform's lock files hold a hash of the package. A launcher stays the same when the program is built anew.
    let program = if copy { copied(&dir)? } else { env::current_exe()? };
    let script = format!("#!/bin/sh\nexec {} \"$@\"\n", quoted(&program.display().to_string()));
    fs::write(&launcher, script)?;
    fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755))?;
    Ok(format!(
        r#"provider_installation {{
  filesystem_mirror {{
    path    = {dir:?}
    include = ["{REGISTRY}/{namespace}/{name}"]
  }}
  direct {{
    exclude = ["{REGISTRY}/{namespace}/{name}"]
  }}
}}
"#,
        dir = dir.display().to_string(),
    ))
}

/// Beside the packages, whose hashes are locked: a program that is built anew changes none of them.
fn copied(dir: &Path) -> io::Result<path::PathBuf> {
    let place = dir.join("cloudsim");
    let draft = dir.join(".cloudsim");
    fs::copy(env::current_exe()?, &draft)?;
    fs::set_permissions(&draft, fs::Permissions::from_mode(0o755))?;
    fs::rename(&draft, &place)?;
    Ok(place)
}

/// As Terraform calls it.
fn platform() -> String {
    let os = match env::consts::OS {
        "macos" => "darwin",
        os => os,
    };
    let arch = match env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        arch => arch,
    };
    format!("{os}_{arch}")
}

/// For the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
