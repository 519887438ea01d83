#!/usr/bin/env bash
# Installs the third-party MCP servers that tests/real_servers.rs drives: npm and PyPI only, nothing global.
# They go to $CREWLET_REAL_SERVERS, else target/real-servers beside the sources, and are kept there.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
home=${CREWLET_REAL_SERVERS:-$root/target/real-servers}
mkdir -p "$home"
cd "$home"

if [ ! -e npm/.done ]; then
  npm install --prefix npm --no-audit --no-fund --loglevel=error \
    @modelcontextprotocol/server-everything@2026 \
    @modelcontextprotocol/server-filesystem@2026 \
    @modelcontextprotocol/server-memory@2026 \
    @modelcontextprotocol/server-slack \
    tavily-mcp
  touch npm/.done
fi

# Each in an environment of its own: they pin different SDK generations.
for package in mcp-server-git mcp-server-time mcp-atlassian mcp-linear; do
  [ -e "py/$package/.done" ] && continue
  python3 -m venv "py/$package"
  "py/$package/bin/pip" install --quiet --disable-pip-version-check "$package"
  touch "py/$package/.done"
done
echo "real servers are in $home"
