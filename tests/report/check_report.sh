#!/usr/bin/env bash
# Checks the page of `compare --report` in Chromium.  check_report.sh FIXTURE_PROGRAM FOLDER
# FOLDER gets pages, screenshots and playwright-core. Exit code 77: what it needs is not here (a skip, with the reason).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fixture=$1 folder=$2

skip() {
  echo "skipped: $*"
  exit 77
}
first_command() {
  local name
  for name in "$@"; do command -v "$name" && return; done
}

browser=$(first_command chromium chromium-browser google-chrome) || skip "no Chromium for the report's page"
command -v node >/dev/null && command -v npm >/dev/null || skip "no node and npm for the report's page"
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 18 ] || skip "node $(node --version) is too old, 18 will do"

mkdir -p "$folder"
# Modules are found beside the scripts that import them, so these are copied to where npm may write.
cp "$here"/*.mjs "$here"/package.json "$here"/package-lock.json "$folder"
cd "$folder"
if ! cmp -s package-lock.json node_modules/.installed-lock; then
  npm ci --no-audit --no-fund --loglevel=error || skip "npm cannot install playwright-core"
  cp package-lock.json node_modules/.installed-lock
fi
REPORT_FIXTURE=$fixture REPORT_FOLDER=$folder/pages REPORT_CHROMIUM=$browser exec node --test check_report.mjs
