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
install_packages "${FRAMELANE_BUILD_PACKAGES[@]}" libgtest-dev libgmock-dev libbenchmark-dev ffmpeg xvfb xauth xdotool x11-utils imagemagick

cd "$root"
cmake --preset "$preset" -DFRAMELANE_TESTS=ON
cmake --build --preset "$preset"
# Tests start pipelines with threads of their own: two at a time keep two cores busy without starving timing tests.
exec ctest --test-dir "build/$preset" --output-on-failure --timeout 600 -j "$(nproc)" "$@"
