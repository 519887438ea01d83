#!/usr/bin/env bash
# The program as the conformance suite's client: the suite calls this with the address of its server, and with the
# name of the scenario in MCP_CONFORMANCE_SCENARIO. CREWLET_TUI is the program.
set -euo pipefail
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cat >"$here/config.yaml" <<CONFIG
name: Conformance
mcp_servers:
  - { name: suite, transport: http, url: "$1", restart: never }
CONFIG
run() { "$CREWLET_TUI" --config "$here/config.yaml" --state-dir "$here/state" "$@"; }
case "$MCP_CONFORMANCE_SCENARIO" in
  tools_call) run call add_numbers --args '{"a":5,"b":3}' --approve ;;
  sse-retry) run call test_reconnection --approve ;;
  elicitation-sep1034-client-defaults) run call test_client_elicitation_defaults --approve ;;
  *) run tools ;;
esac
