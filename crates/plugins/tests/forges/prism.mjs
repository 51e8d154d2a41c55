// Holds every request that the stories made of GitHub against GitHub's own OpenAPI description, by Prism.
// Called by scripts/prism-test with the folder of node_modules and the folder of the requests.

import { spawn } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [modules, folder] = process.argv.slice(2);
const port = 20000 + (process.pid % 20000);

const described = JSON.parse(readFileSync(join(modules, "@octokit/openapi/generated/api.github.com.json")));
const repository = "/repos/{owner}/{repo}";
const ours = [
  repository,
  ...["workflows/{workflow_id}/dispatches", "workflows/{workflow_id}/runs", "runs/{run_id}", "runs/{run_id}/jobs",
    "runs/{run_id}/artifacts", "runs/{run_id}/cancel", "runs/{run_id}/force-cancel"].map((path) => `${repository}/actions/${path}`),
];

// The whole description takes Prism minutes to read: only what is asked for is kept, with all that it refers to.
const reduced = { openapi: described.openapi, info: described.info, paths: {}, components: {} };
const keep = (value) => {
  if (value === null || typeof value !== "object") return;
  if (typeof value.$ref === "string") {
    const [, , kind, name] = value.$ref.split("/");
    reduced.components[kind] ??= {};
    if (!(name in reduced.components[kind])) {
      reduced.components[kind][name] = described.components[kind][name];
      keep(reduced.components[kind][name]);
    }
  }
  Object.values(value).forEach(keep);
};
for (const path of ours) {
  reduced.paths[path] = described.paths[path];
  keep(described.paths[path]);
}
// Its text says that it is a range, as in a search; its format says that it is one time.
delete reduced.components.parameters.created.schema.format;

const description = join(folder, "..", "github-openapi.json");
writeFileSync(description, JSON.stringify(reduced));

const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
const all = files.flatMap((name) => JSON.parse(readFileSync(join(folder, name))));
const requests = [...new Map(all.map((request) => [JSON.stringify(request), request])).values()];

const prism = spawn(process.execPath, [join(modules, "@stoplight/prism-cli/dist/index.js"), "mock", "-p", `${port}`, description]);
const ready = new Promise((resolve, reject) => {
  const seen = (data) => `${data}`.includes("Prism is listening") && resolve();
  prism.stdout.on("data", seen);
  prism.stderr.on("data", seen);
  prism.on("exit", (code) => reject(new Error(`Prism ended with ${code}`)));
});
await ready;

const wrong = [];
for (const { method, path, body } of requests) {
  // GitHub's documentation asks for `application/vnd.github+json`, and the stand-in for that; the description knows only this.
  const headers = { accept: "application/json", ...(body === null ? {} : { "content-type": "application/json" }) };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body: body === null ? undefined : JSON.stringify(body) });
  const violations = answer.headers.get("sl-violations");
  const text = await answer.text();
  const told = violations && JSON.parse(violations).filter((it) => it.location[0] === "request");
  if (told?.length || text.includes("stoplight.io/prism/errors")) wrong.push({ method, path, body, told, text: text.slice(0, 400) });
}
prism.removeAllListeners("exit");
prism.kill();

const operations = new Set(requests.map(({ method, path }) => `${method} ${path.split("?")[0].replace(/\d{4}/, "{id}")}`));
if (wrong.length || operations.size < 9) {
  console.error(JSON.stringify(wrong, null, 2));
  console.error(`${wrong.length} of ${requests.length} requests are not as GitHub describes them; ${operations.size} operations`);
  process.exit(1);
}
console.log(`${requests.length} requests to ${operations.size} operations are as GitHub describes them`);
