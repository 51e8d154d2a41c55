#!/usr/bin/env python3
"""An example of a Terrane plugin: its "infrastructure" is files in a directory.

Only the standard library is used. `GET /` tells what the plugin is, `POST /` asks it one question of the contract
`terrane.plugin/v1`. A plugin keeps nothing between two calls: what it must know later it gives to Terrane, as a
checkpoint (until the step is done) or as memory (for as long as the resource lives).

    python3 plugin.py --directory /tmp/files --port 9000
"""

import argparse
import json
import os
import pathlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CONTRACT = "terrane.plugin/v1"
LARGEST_CALL = 8 * 1024 * 1024

DESCRIPTOR = {
    "name": "files",
    "version": "1.0.0",
    "contracts": [CONTRACT],
    "description": "Keeps a file in a directory.",
    "steps": ["validate", "plan", "apply", "outputs", "observe", "destroy"],
    "config_schema": {
        "type": "object",
        "properties": {"content": {"type": "string", "description": "What the file says."}},
        "examples": [{"content": "Hello from Terrane"}],
    },
}


class Failed(Exception):
    """The step failed. Its class decides whether Terrane tries again."""

    def __init__(self, klass, message, hint=""):
        super().__init__(message)
        self.klass, self.message, self.hint = klass, message, hint


def done(**more):
    return {"result": "done", **more}


def wait(checkpoint, after_seconds, message):
    return {
        "result": "wait",
        "checkpoint": checkpoint,
        "wake": {"after_seconds": after_seconds},
        "message": message,
    }


class Files:
    """The infrastructure."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)

    def path(self, call):
        resource = call["resource"]
        return self.directory / f"{resource['tenant']}-{resource['id']}-{resource['name']}.txt"

    def wanted(self, call):
        return str(call.get("config", {}).get("content", ""))

    def found(self, call):
        try:
            return self.path(call).read_text()
        except FileNotFoundError:
            return None

    def validate(self, call):
        if not self.directory.is_dir():
            raise Failed("invalid_config", f"{self.directory} is not a directory", "Make it, or start with another.")
        return done()

    def plan(self, call):
        found = self.found(call)
        if found is None:
            return done(changes={"created": 1})
        return done(changes={"updated": 0 if found == self.wanted(call) else 1})

    def apply(self, call):
        path = self.path(call)
        # Intent first: Terrane writes the checkpoint down before it asks again. If this process dies now, the next one
        # is asked with the same checkpoint, and knows what was about to happen. Writing a file twice does no harm; for
        # an effect that must not happen twice, the checkpoint is where to keep its idempotency key.
        if call.get("checkpoint") is None:
            intent = {"intent": "write", "created": not path.exists(), "key": f"terrane-{call['operation']['id']}"}
            return wait(intent, 0, f"is about to write {path.name}")
        # Written aside and renamed, so that nobody ever sees half a file.
        aside = path.with_suffix(f".{call['operation']['id']}")
        aside.write_text(self.wanted(call))
        os.replace(aside, path)
        created = call["checkpoint"].get("created", False)
        return done(
            changes={"created": int(created), "updated": int(not created)},
            outputs={"path": str(path)},
            memory={"path": str(path)},
            holds=[f"file {path}"],
        )

    def outputs(self, call):
        return done(outputs={"path": str(self.path(call))})

    def observe(self, call):
        found, wanted = self.found(call), self.wanted(call)
        if found == wanted:
            return done(observation={"verdict": "unchanged"})
        attribute = {"path": "content", "expected": wanted, "found": found}
        return done(observation={"verdict": "drifted", "attributes": [attribute]})

    def destroy(self, call):
        # What is gone already is done: the answer to the last call may have got lost.
        existed = self.path(call).exists()
        self.path(call).unlink(missing_ok=True)
        return done(changes={"deleted": int(existed)}, memory={}, holds=[])

    def answer(self, call):
        try:
            return getattr(self, call["step"])(call)
        except Failed as failed:
            failure = {"class": failed.klass, "step": call["step"], "message": failed.message, "hint": failed.hint}
            return {"result": "failed", **failure}
        except OSError as error:
            klass = "disk" if error.errno == 28 else "crash"
            return {"result": "failed", "class": klass, "step": call["step"], "message": str(error)}


class Handler(BaseHTTPRequestHandler):
    files = None

    def do_GET(self):
        self.reply(200, DESCRIPTOR)

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        if length > LARGEST_CALL:
            self.close_connection = True
            return self.reply(413, {"error": "the call is too large"})
        try:
            call = json.loads(self.rfile.read(length))
        except ValueError as error:
            return self.reply(400, {"error": f"the call is not JSON: {error}"})
        # Fields that we do not know are ignored; steps that we do not know are refused.
        if not isinstance(call, dict) or call.get("step") not in DESCRIPTOR["steps"]:
            return self.reply(400, {"error": "there is no such step"})
        if call.get("contract") != CONTRACT:
            return self.reply(400, {"error": f"this plugin speaks {CONTRACT}"})
        return self.reply(200, self.files.answer(call))

    def reply(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--directory", required=True, help="where the files are kept")
    arguments.add_argument("--port", type=int, default=9000, help="0 takes any; it is printed")
    arguments = arguments.parse_args()
    Handler.files = Files(arguments.directory)
    server = ThreadingHTTPServer(("127.0.0.1", arguments.port), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
