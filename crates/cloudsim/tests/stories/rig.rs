//! A world, a mirror of the providers, and Terraform folders ("stacks") that use them; all of it gone with the test.

use std::{
    fmt::Debug,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

/// More than anything here takes, even on a busy machine.
const BOUND: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);

pub struct Rig {
    folder: TempDir,
}

pub struct Stack {
    folder: PathBuf,
    environment: Vec<(String, String)>,
}

impl Rig {
    pub fn new() -> Rig {
        let rig = Rig { folder: tempfile::tempdir().expect("a folder") };
        let cli_config = rig.cloudsim(&["mirror", &rig.text_path("mirror")]);
        fs::write(rig.path("cli.tfrc"), cli_config).expect("a file");
        rig
    }

    /// A folder for Terraform with this root module, which names its providers itself; initialised.
    pub fn root(&self, name: &str, contents: &str) -> Stack {
        let stack = self.folder(name).with_environment("CLOUDSIM_WORLD", &self.world());
        stack.write(contents);
        stack.succeeds(&["init"]);
        stack
    }

    fn folder(&self, name: &str) -> Stack {
        let environment = vec![("TF_CLI_CONFIG_FILE".to_owned(), self.text_path("cli.tfrc"))];
        let stack = Stack { folder: self.path(name), environment };
        fs::create_dir(&stack.folder).expect("a folder");
        stack
    }

    /// A folder for Terraform with these resources of the simulator's own provider, initialised.
    pub fn stack(&self, name: &str, resources: &str) -> Stack {
        let stack = self.folder(name);
        let provider = format!(
            r#"
            terraform {{
              required_providers {{
                cloudsim = {{ source = "terrane/cloudsim" }}
              }}
            }}
            provider "cloudsim" {{
              world = {:?}
            }}
            "#,
            self.world()
        );
        fs::write(stack.folder.join("provider.tf"), provider).expect("a file");
        stack.write(resources);
        stack.succeeds(&["init"]);
        stack
    }

    pub fn world(&self) -> String {
        self.text_path("world")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn text_path(&self, name: &str) -> String {
        self.path(name).into_os_string().into_string().expect("a path in UTF-8")
    }

    pub fn objects(&self) -> Vec<Value> {
        lines(&self.cloudsim(&["objects", &self.world()]))
    }

    /// The object with this name, or null. Also when there is no world yet.
    pub fn object(&self, name: &str) -> Value {
        let listed = run(program().args(["objects", &self.world()]));
        let objects = lines(&String::from_utf8(listed.stdout).expect("UTF-8"));
        objects.into_iter().find(|object| object["name"] == name).unwrap_or_default()
    }

    pub fn ledger(&self) -> Vec<Value> {
        lines(&self.cloudsim(&["ledger", &self.world()]))
    }

    /// The ledger, in short: what happened to whom.
    pub fn effects(&self) -> Vec<String> {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        self.ledger().iter().map(|entry| text(&entry["effect"]) + " " + &text(&entry["name"])).collect()
    }

    pub fn cloudsim(&self, args: &[&str]) -> String {
        let output = run(program().args(args));
        assert!(output.status.success(), "cloudsim {args:?}: {}", text(&output));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    pub fn cloudsim_fails(&self, args: &[&str]) -> String {
        let output = run(program().args(args));
        assert!(!output.status.success(), "cloudsim {args:?} succeeded: {}", text(&output));
        text(&output)
    }
}

impl Stack {
    pub fn write(&self, resources: &str) {
        fs::write(self.folder.join("main.tf"), resources).expect("a file");
    }

    pub fn with_environment(mut self, name: &str, value: &str) -> Stack {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn succeeds(&self, args: &[&str]) -> String {
        let output = run(&mut self.terraform(args));
        assert!(output.status.success(), "terraform {args:?}: {}", text(&output));
        text(&output)
    }

    pub fn fails(&self, args: &[&str]) -> String {
        let output = run(&mut self.terraform(args));
        assert_eq!(output.status.code(), Some(1), "terraform {args:?}: {}", text(&output));
        text(&output)
    }

    pub fn apply(&self) -> String {
        self.succeeds(&["apply", "-auto-approve"])
    }

    pub fn apply_fails(&self) -> String {
        self.fails(&["apply", "-auto-approve"])
    }

    pub fn output(&self, name: &str) -> Value {
        serde_json::from_str(&self.succeeds(&["output", "-json", name])).expect("JSON")
    }

    pub fn destroy(&self) -> String {
        self.succeeds(&["destroy", "-auto-approve"])
    }

    pub fn start(&self, args: &[&str]) -> Child {
        self.terraform(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("terraform is in PATH")
    }

    /// Whether a plan finds something to do.
    pub fn has_changes(&self) -> bool {
        let output = run(&mut self.terraform(&["plan", "-detailed-exitcode"]));
        match output.status.code() {
            Some(0) => false,
            Some(2) => true,
            _ => panic!("terraform plan: {}", text(&output)),
        }
    }

    /// The addresses in the state.
    pub fn state(&self) -> Vec<String> {
        self.resources().iter().map(|resource| resource["address"].as_str().expect("an address").to_owned()).collect()
    }

    /// The attributes of one address, as the state has them.
    pub fn attributes(&self, address: &str) -> Value {
        let found = self.resources().into_iter().find(|resource| resource["address"] == address);
        found.unwrap_or_else(|| panic!("{address} is not in the state"))["values"].clone()
    }

    fn resources(&self) -> Vec<Value> {
        let shown: Value = serde_json::from_str(&self.succeeds(&["show", "-json"])).expect("JSON");
        shown["values"]["root_module"]["resources"].as_array().cloned().unwrap_or_default()
    }

    fn terraform(&self, args: &[&str]) -> Command {
        let mut terraform = command("terraform");
        match args {
            ["providers", ..] => terraform.args(args),
            // Flags come before arguments.
            [subcommand, rest @ ..] => terraform.args([subcommand, "-no-color"]).args(rest),
            [] => panic!("a subcommand is missing"),
        };
        terraform.current_dir(&self.folder).stdin(Stdio::null());
        terraform.envs(self.environment.iter().cloned()).env("CHECKPOINT_DISABLE", "1").env("TF_INPUT", "0");
        terraform
    }
}

/// Waits until it is so, and fails if it never is.
#[expect(clippy::disallowed_methods, reason = "nothing else runs on this thread, and other processes ring no bell")]
pub fn eventually<T: Debug>(what: &str, look: impl Fn() -> T, so: impl Fn(&T) -> bool) -> T {
    let start = Instant::now();
    loop {
        let seen = look();
        if so(&seen) {
            return seen;
        }
        assert!(start.elapsed() < BOUND, "{what}: never, but {seen:?}");
        thread::sleep(PAUSE);
    }
}

pub fn alive(pid: &Value) -> bool {
    Path::new(&format!("/proc/{pid}/exe")).exists()
}

/// Sends a signal, as in `signal("KILL", …)`. The process may have left by itself.
pub fn signal(signal: &str, pid: &Value) {
    run(command("sh").args(["-c", &format!("kill -{signal} {pid}")]));
}

pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

fn program() -> Command {
    command(env!("CARGO_BIN_EXE_cloudsim"))
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// The variables of whoever runs the tests do not count.
#[expect(clippy::disallowed_methods, reason = "these tests are about processes")]
fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        let told = ["TF_", "CLOUDSIM_", "AWS_", "ARM_", "GOOGLE_", "DIGITALOCEAN_", "LINODE_", "KUBE_"];
        if told.iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(&*name);
        }
    }
    command
}
