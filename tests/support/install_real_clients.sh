#!/usr/bin/env bash
# Installs the MCP clients that tests/real_clients.rs drives: npm only, nothing global, versions pinned.
# They go to $CREWLET_REAL_CLIENTS, else target/real-clients beside the sources, and are kept there.
# Without an argument the inspector and the conformance suite; with `agents` the agents' own programs (900 MB).
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
home=${CREWLET_REAL_CLIENTS:-$root/target/real-clients}
what=${1:-clients}

case "$what" in
  clients) packages=(@modelcontextprotocol/inspector@2.12.0 @modelcontextprotocol/conformance@0.1.16) ;;
  agents) packages=(@anthropic-ai/claude-code@2.1.332 @openai/codex@0.171.0 @google/gemini-cli@0.61.0) ;;
  *) echo "usage: $0 [agents]" >&2; exit 2 ;;
esac
for program in node npm; do
  command -v "$program" >/dev/null || { echo "$program is missing: real clients need node and npm" >&2; exit 1; }
done
mkdir -p "$home"
cd "$home"

# The inspector needs node 22.19; where the system has an older one, npm brings one for us alone.
recent='const [major, minor] = process.versions.node.split("."); process.exit(major > 22 || (major == 22 && minor >= 19) ? 0 : 1)'
if [ ! -e node/node_modules/.bin/node ] && ! node -e "$recent"; then
  npm install --prefix node --no-audit --no-fund --loglevel=error node@22
fi
PATH="$home/node/node_modules/.bin:$PATH"
node -e "$recent" || { echo "node $(node --version) is too old for the inspector" >&2; exit 1; }

if [ "$(cat "$what/.done" 2>/dev/null)" != "${packages[*]}" ]; then
  npm install --prefix "$what" --no-audit --no-fund --loglevel=error "${packages[@]}"
  echo "${packages[*]}" >"$what/.done"
fi
echo "real clients ($what) are in $home"
