#!/usr/bin/env python3
"""A scripted MCP server over stdio that misbehaves on demand.

FAKE_MODE  words separated by spaces; see `Server` for what each one does. Default: a plain legacy server.
FAKE_ID    never read: it marks this process and its descendants in /proc/*/environ.
LEDGER     file that gets one line for each executed tools/call: time, tool, SHA-256 of the arguments.
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time

WORDS = os.environ.get("FAKE_MODE", "").split()
MODES = {word.partition("=")[0]: word.partition("=")[2] for word in WORDS}
LEGACY, MODERN = "2025-11-25", "2026-07-28"


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def raw(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def grumble(text):
    sys.stderr.write(text)
    sys.stderr.flush()


def tool(name, **more):
    return {"name": name, "description": "does " + name, "inputSchema": {"type": "object"}, **more}


TOOLS = [
    tool("echo", annotations={"readOnlyHint": True}),
    tool("env"),
    tool("bye"),
    tool("spam"),
    tool("die_unanswered", annotations={"destructiveHint": True}),
    tool("never"),
    tool("steps"),
    tool("change"),
    tool("refuse"),
    tool("got_cancelled"),
]


class Server:
    def __init__(self):
        self.tools = list(TOOLS)
        self.cancelled = []
        self.modern = False

    def run(self):
        if "ignore-term" in MODES:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if "grandchild" in MODES:
            # Holds our stdout and stderr open, and outlives us.
            subprocess.Popen(["sleep", "1000"])
        if "stamp" in MODES and not os.path.exists(MODES["stamp"]):
            grumble("installing, this takes a while\n")
            open(MODES["stamp"], "w").close()
            time.sleep(1000)
        if "slow" in MODES:
            time.sleep(float(MODES["slow"]))
        if "die" in MODES:
            grumble("starting\nError: SLACK_BOT_TOKEN is missing\nusage: fake [options]\n  --port N\n  --help\n")
            sys.exit(1)
        if "leak" in MODES:
            grumble(f"Error: cannot log in with {os.environ[MODES['leak']]}\n")
            sys.exit(1)
        if "flood" in MODES:
            grumble("".join(f"flood line {n}\n" for n in range(int(MODES["flood"]))))
        if "noise" in MODES:
            raw("Starting server...\n42\n{\"hello\": 1}\n\n\ufeff")
        if "endless" in MODES:
            for _ in range(64):
                raw("x" * (1 << 20))
            time.sleep(1000)
        for line in sys.stdin:
            message = json.loads(line)
            if "id" in message and "method" in message:
                self.request(message)
            elif message.get("method") == "notifications/cancelled":
                self.cancelled.append(message["params"]["requestId"])
        if "ignore-eof" in MODES:
            time.sleep(1000)
        if "exit-mark" in MODES:
            open(MODES["exit-mark"], "w").close()

    def request(self, message):
        method, id, params = message["method"], message["id"], message.get("params") or {}
        if method == "server/discover":
            return self.discover(id)
        if method == "initialize":
            return self.initialize(id, params)
        if method == "tools/list":
            return self.list(id, params)
        if method == "tools/call":
            return self.call(id, params)
        self.error(id, -32601, "method not found: " + method)

    def result(self, id, result):
        if "noise" in MODES:
            raw("a stray line with \x1b[31mcolour\x1b[0m\n")
        say({"jsonrpc": "2.0", "id": id, "result": result})

    def error(self, id, code, text, **more):
        say({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text, **more}})

    def discover(self, id):
        if "modern" in MODES:
            self.modern = True
            capabilities = {"tools": {}}
            return self.result(id, {"resultType": "complete", "supportedVersions": [MODERN],
                                    "capabilities": capabilities, "serverInfo": {"name": "fake", "version": "2"}})
        if "probe-exit" in MODES:
            grumble("Error: unknown method server/discover\n")
            sys.exit(1)
        if "probe-silent" in MODES:
            return None
        if "probe-talks" in MODES:
            return grumble("hm, what is server/discover? " * 300 + "\n")
        if "probe-empty" in MODES:
            return self.result(id, {})
        self.error(id, int(MODES.get("probe-error") or -32601), "no such method")

    def initialize(self, id, params):
        if self.modern:
            return self.error(id, -32022, "already modern", data={"supported": [MODERN]})
        if "chatty" in MODES:
            grumble("chatty\n" * 150_000)
        if "version" in MODES:
            return self.result(id, {"protocolVersion": MODES["version"], "capabilities": {}})
        capabilities = {} if "no-tools" in MODES else {"tools": {"listChanged": True}}
        self.result(id, {"protocolVersion": params["protocolVersion"], "capabilities": capabilities,
                         "serverInfo": {"name": "fake\u202e", "version": "1"}})
        if "die-after-init" in MODES:
            grumble("fatal: no database\n")
            sys.exit(3)

    def list(self, id, params):
        if "list-error" in MODES:
            return self.error(id, -32603, "database is locked")
        if "pages" in MODES:
            page = int(params.get("cursor", "0"))
            tools = [tool(f"t{page * 50 + n}") for n in range(50)]
            return self.result(id, {"tools": tools, **({"nextCursor": str(page + 1)} if page < 2 else {})})
        self.result(id, {"tools": self.tools})

    def call(self, id, params):
        name, arguments = params["name"], params.get("arguments", {})
        if os.environ.get("LEDGER"):
            digest = hashlib.sha256(json.dumps(arguments, separators=(",", ":")).encode()).hexdigest()
            with open(os.environ["LEDGER"], "a") as ledger:
                ledger.write(f"{time.time():.3f} {name} {digest}\n")
        if name == "bye":
            os.kill(os.getpid(), signal.SIGKILL)
        if name == "die_unanswered":
            sys.exit(4)
        if name == "never":
            return None
        if name == "refuse":
            return self.error(id, -32602, "no \x1b[1mthank you")
        text = json.dumps(arguments)
        if name == "env":
            text = "\n".join(sorted(f"{key}={value}" for key, value in os.environ.items()))
        if name == "spam":
            grumble("spam " * 51 * 1024 + "\n")
        if name == "steps":
            for step in range(int(arguments["steps"])):
                time.sleep(float(arguments["every"]))
                say({"jsonrpc": "2.0", "method": "notifications/progress",
                     "params": {"progressToken": params["_meta"]["progressToken"], "progress": step}})
        if name == "change":
            self.tools = [tool for tool in self.tools if tool["name"] != "env"] + [tool("added")]
            for _ in range(50):
                say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        if name == "got_cancelled":
            text = json.dumps(self.cancelled)
        self.result(id, {"content": [{"type": "text", "text": text}]})


if __name__ == "__main__":
    Server().run()
