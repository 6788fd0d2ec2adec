#!/usr/bin/env bash
# Builds framelane and its tests and runs every test that this machine can run.
#   bash tests/run.sh              all of them
#   bash tests/run.sh -R overlay   arguments go to ctest
# FRAMELANE_PRESET chooses another preset of CMakePresets.json than release: debug, asan, tsan, cuda-dev.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=${FRAMELANE_PRESET:-release}

# shellcheck source=app/packages.sh
source "$root/app/packages.sh"
install_packages "${FRAMELANE_BUILD_PACKAGES[@]}" libgtest-dev libgmock-dev ffmpeg xvfb xauth xdotool x11-utils imagemagick
# The report's page is looked at in a browser. By command, since node may come from elsewhere than Debian; without them
# that one test is skipped (Ubuntu has Chromium only as a snap).
browser=()
command -v chromium >/dev/null || command -v google-chrome >/dev/null || browser+=(chromium fonts-liberation)
command -v node >/dev/null || browser+=(nodejs)
command -v npm >/dev/null || browser+=(npm)
install_packages "${browser[@]}" || echo "framelane: no browser and node, so the report's page is not checked" >&2

cd "$root"
cmake --preset "$preset" -DFRAMELANE_TESTS=ON
cmake --build --preset "$preset"
# Tests start pipelines with threads of their own: two at a time keep two cores busy without starving timing tests.
exec ctest --test-dir "build/$preset" --output-on-failure --timeout 600 -j "$(nproc)" "$@"
