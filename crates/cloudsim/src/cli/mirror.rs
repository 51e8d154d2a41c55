//! A mirror on disk from which `terraform init` installs the providers, as it would from a registry.

use std::{
    env, fs, io,
    os::unix::fs::PermissionsExt,
    path::{self, Path, PathBuf},
};

use crate::{catalogue, cli::CliError, environment, schema::ProviderSchema};

const OWN_VERSION: &str = env!("CARGO_PKG_VERSION");

/// What goes into a mirror.
pub struct Mirror<'a> {
    pub dir: &'a Path,
    /// The program goes in too: for whoever sees nothing of this machine but the mirror.
    pub copy: bool,
    /// Where the simulated cloud is, for providers whose environment does not say so.
    pub world: Option<&'a Path>,
    /// Dumps of further providers' schemas.
    pub schemas: &'a [PathBuf],
}

impl Mirror<'_> {
    /// Writes the mirror, and returns the configuration that makes Terraform use it.
    pub fn write(&self) -> Result<String, CliError> {
        let dir = path::absolute(self.dir)?;
        fs::create_dir_all(&dir)?;
        let program = if self.copy { copied(&dir)? } else { env::current_exe()? };
        let mut sources = Vec::new();
        for name in catalogue::names() {
            let schema = catalogue::provider(name)?.schema;
            self.package(&dir, &program, &schema, name)?;
            sources.push(schema.source);
        }
        for file in self.schemas {
            let file = if self.copy { placed(&dir, file)? } else { path::absolute(file)? };
            for schema in catalogue::dump(&file)? {
                if !sources.contains(&schema.source) {
                    self.package(&dir, &program, &schema, &format!("{}#{}", file.display(), schema.source))?;
                    sources.push(schema.source);
                }
            }
        }
        let sources: Vec<_> = sources.iter().map(|source| format!("{source:?}")).collect();
        let sources = sources.join(", ");
        Ok(format!(
            r#"provider_installation {{
  filesystem_mirror {{
    path    = {dir:?}
    include = [{sources}]
  }}
  direct {{
    exclude = [{sources}]
  }}
}}
"#,
            dir = dir.display().to_string(),
        ))
    }

    /// Terraform's lock files hold a hash of the package. A launcher stays the same when the program is built anew.
    fn package(&self, dir: &Path, program: &Path, schema: &ProviderSchema, name: &str) -> Result<(), CliError> {
        let version = if schema.version.is_empty() { OWN_VERSION } else { &schema.version };
        let package = dir.join(&schema.source).join(version).join(platform());
        fs::create_dir_all(&package)?;
        let launcher = package.join(format!("terraform-provider-{}_v{version}", schema.name()));
        let world = self.world.map(|world| {
            let world = quoted(&path::absolute(world)?.display().to_string());
            Ok::<_, io::Error>(format!("[ -n \"${0}\" ] || {0}={world}\nexport {0}\n", environment::WORLD))
        });
        let world = world.transpose()?.unwrap_or_default();
        let program = quoted(&program.display().to_string());
        let script = format!("#!/bin/sh\n{world}exec {program} {} \"$@\"\n", quoted(name));
        fs::write(&launcher, script)?;
        fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755))?;
        Ok(())
    }
}

/// Beside the packages, whose hashes are locked: a program that is built anew changes none of them.
fn copied(dir: &Path) -> io::Result<PathBuf> {
    let place = dir.join("cloudsim");
    let draft = dir.join(".cloudsim");
    fs::copy(env::current_exe()?, &draft)?;
    fs::set_permissions(&draft, fs::Permissions::from_mode(0o755))?;
    fs::rename(&draft, &place)?;
    Ok(place)
}

fn placed(dir: &Path, file: &Path) -> io::Result<PathBuf> {
    let place = dir.join(file.file_name().unwrap_or_default());
    fs::copy(file, &place)?;
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
