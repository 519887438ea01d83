#!/usr/bin/env python3
"""An MCP server over stdio that offers what the protocol's conformance suite asks a server for.

The suite talks to a seat's endpoint of ours and this stands behind it, so what the suite sees is what we pass on.
Names, texts and schemas are the suite's.
"""

import base64
import json
import struct
import sys
import time
import zlib


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


RED_DOT = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) \
    + chunk(b"IDAT", zlib.compress(b"\x00\xff\x00\x00")) + chunk(b"IEND", b"")
SILENCE = b"RIFF" + struct.pack("<I", 38) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16) \
    + b"data" + struct.pack("<Ih", 2, 0)
PNG, WAV = base64.b64encode(RED_DOT).decode(), base64.b64encode(SILENCE).decode()


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(words):
    return {"type": "text", "text": words}


def image():
    return {"type": "image", "data": PNG, "mimeType": "image/png"}


def resource(uri, kind, words):
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": words}}


def strings(*names):
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": list(names)}


NOTHING = {"type": "object", "properties": {}}
PLAIN = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [image()],
    "test_audio_content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}],
    "test_embedded_resource": [
        resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
    "test_multiple_content_types": [
        text("Multiple content types test:"), image(),
        resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')],
    "json_schema_2020_12_tool": [text("fine")],
    "test_reconnection": [text("Reconnection test completed successfully")],
}
SCHEMAS = {
    "test_sampling": strings("prompt"),
    "test_elicitation": strings("message"),
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
        "$defs": {"address": {"type": "object", "properties": {
            "street": {"type": "string"}, "city": {"type": "string"}}}},
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
        "additionalProperties": False},
}
ACTIVE = [
    "test_tool_with_logging", "test_tool_with_progress", "test_error_handling", "test_sampling", "test_elicitation",
    "test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums",
]
DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
TITLED = [{"const": f"value{n}", "title": f"Choice {n}"} for n in (1, 2, 3)]
PLAIN_ENUM = ["option1", "option2", "option3"]
ENUMS = {
    "untitledSingle": {"type": "string", "enum": PLAIN_ENUM},
    "titledSingle": {"type": "string", "oneOf": TITLED},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
                   "enumNames": ["Option One", "Option Two", "Option Three"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": PLAIN_ENUM}},
    "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
}
RESOURCES = {
    "test://static-text": {"mimeType": "text/plain", "text": "This is the content of the static text resource."},
    "test://static-binary": {"mimeType": "image/png", "blob": PNG},
    "test://watched-resource": {"mimeType": "text/plain", "text": "Nothing happens here."},
}
PROMPTS = {
    "test_simple_prompt": [],
    "test_prompt_with_arguments": ["arg1", "arg2"],
    "test_prompt_with_embedded_resource": ["resourceUri"],
    "test_prompt_with_image": [],
}


class Server:
    def __init__(self):
        self.asked = 0

    def run(self):
        for line in sys.stdin:
            message = json.loads(line)
            if "id" not in message or "method" not in message:
                continue
            try:
                result = self.answer(message["method"], message.get("params") or {})
            except KeyError as missing:
                say({"id": message["id"], "error": {"code": -32602, "message": f"there is no {missing}"}})
            else:
                if result is None:
                    say({"id": message["id"], "error": {"code": -32601, "message": "method not found"}})
                else:
                    say({"id": message["id"], "result": result})

    def answer(self, method, params):
        if method == "initialize":
            return {"protocolVersion": params["protocolVersion"],
                    "serverInfo": {"name": "conformance-fixture", "version": "1"},
                    "capabilities": {"tools": {}, "logging": {}, "completions": {}, "prompts": {},
                                     "resources": {"subscribe": True}}}
        if method == "tools/list":
            return {"tools": [{"name": name, "description": "asked for by the conformance suite",
                               "inputSchema": SCHEMAS.get(name, NOTHING)} for name in [*PLAIN, *ACTIVE]]}
        if method == "tools/call":
            return self.call(params["name"], params.get("arguments") or {}, params.get("_meta") or {})
        if method == "resources/list":
            return {"resources": [{"uri": uri, "name": uri.split("//")[1], "description": "for the suite",
                                   "mimeType": what["mimeType"]} for uri, what in RESOURCES.items()]}
        if method == "resources/templates/list":
            return {"resourceTemplates": [{"uriTemplate": "test://template/{id}/data", "name": "template",
                                           "description": "for the suite", "mimeType": "application/json"}]}
        if method == "resources/read":
            return {"contents": [self.read(params["uri"])]}
        if method == "prompts/list":
            return {"prompts": [{"name": name, "description": "for the suite", "arguments": [
                {"name": argument, "required": True} for argument in arguments]}
                for name, arguments in PROMPTS.items()]}
        if method == "prompts/get":
            return {"messages": self.prompt(params["name"], params.get("arguments") or {})}
        if method == "completion/complete":
            return {"completion": {"values": ["paris", "park", "party"], "total": 3, "hasMore": False}}
        if method in ("ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"):
            return {}
        return None

    def read(self, uri):
        if uri.startswith("test://template/"):
            id = uri.split("/")[3]
            words = json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})
            return {"uri": uri, "mimeType": "application/json", "text": words}
        return {"uri": uri, **RESOURCES[uri]}

    def prompt(self, name, given):
        said = {
            "test_simple_prompt": [text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments": [
                text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")],
            "test_prompt_with_embedded_resource": [
                resource(given.get("resourceUri"), "text/plain", "Embedded resource content for testing."),
                text("Please process the embedded resource above.")],
            "test_prompt_with_image": [image(), text("Please analyze the image above.")],
        }[name]
        return [{"role": "user", "content": content} for content in said]

    def call(self, name, arguments, meta):
        if name in PLAIN:
            return {"content": PLAIN[name]}
        if name == "test_error_handling":
            return {"isError": True, "content": [text("This tool intentionally returns an error for testing")]}
        if name == "test_tool_with_logging":
            for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
                say({"method": "notifications/message", "params": {"level": "info", "data": words}})
                time.sleep(0.05)
            return {"content": [text("logged")]}
        if name == "test_tool_with_progress":
            # Slower than the suite wants at least: progress that comes faster may be thinned out on its way.
            for progress in (0, 50, 100):
                if "progressToken" in meta:
                    say({"method": "notifications/progress", "params": {
                        "progressToken": meta["progressToken"], "progress": progress, "total": 100}})
                time.sleep(0.15)
            return {"content": [text("went on")]}
        if name == "test_sampling":
            said = [{"role": "user", "content": text(arguments.get("prompt", ""))}]
            answer = self.ask("sampling/createMessage", {"messages": said, "maxTokens": 100})
            return {"content": [text(f"LLM response: {json.dumps(answer)}")]}
        fields = {"test_elicitation": {"username": {"type": "string"}, "email": {"type": "string"}},
                  "test_elicitation_sep1034_defaults": DEFAULTS, "test_elicitation_sep1330_enums": ENUMS}[name]
        required = list(fields) if name == "test_elicitation" else []
        answer = self.ask("elicitation/create", {
            "message": arguments.get("message", "Please fill this in"),
            "requestedSchema": {"type": "object", "properties": fields, "required": required}})
        return {"content": [text(f"Elicitation completed: {json.dumps(answer)}")]}

    def ask(self, method, params):
        """Asks our client something and waits for its answer; what else comes meanwhile is refused."""
        self.asked += 1
        id = f"asked-{self.asked}"
        say({"id": id, "method": method, "params": params})
        for line in sys.stdin:
            message = json.loads(line)
            if message.get("id") == id and "method" not in message:
                return message.get("result", message.get("error"))
            if "id" in message and "method" in message:
                say({"id": message["id"], "error": {"code": -32603, "message": "busy asking"}})
        return None


Server().run()
