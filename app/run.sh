#!/usr/bin/env bash
# Builds framelane (once; later starts only check that nothing changed) and runs it.
#   bash app/run.sh                       the demo: three modes side by side, files in out/
#   bash app/run.sh run IN -o OUT --vf …  anything that framelane takes (see: bash app/run.sh --help)
set -euo pipefail
here=$PWD
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/run
program=$build/app/framelane

# shellcheck source=app/packages.sh
source "$root/app/packages.sh"
if [ ! -e "$build/.packages" ] || [ "$root/app/packages.sh" -nt "$build/.packages" ]; then
  install_packages "${FRAMELANE_BUILD_PACKAGES[@]}"
  mkdir -p "$build" && touch "$build/.packages"
fi

# The log is shown only when the build fails, or on a terminal while the first build runs (minutes).
if [ ! -x "$program" ]; then
  echo "framelane: building into $build (the first time takes minutes)" >&2
fi
# For this machine's GPU only, or for none: machine code for all that are known takes several times as long.
cuda=(-DFRAMELANE_CUDA=AUTO -DCMAKE_CUDA_ARCHITECTURES=native)
if ! nvidia-smi -L >/dev/null 2>&1; then
  cuda=(-DFRAMELANE_CUDA=OFF)
  [ -x "$program" ] || echo "framelane: no NVIDIA GPU here, so this build filters on the CPU only" >&2
fi
log=$build/build.log
cd "$root"
if ! { { [ -e "$build/build.ninja" ] || cmake --preset run "${cuda[@]}"; } &&
  cmake --build --preset run --target framelane; } >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  echo "framelane: the build failed; the whole log is in $log" >&2
  exit 1
fi
cd "$here"

if [ $# -eq 0 ]; then
  set -- demo --output-dir "$root/out"
fi
exec "$program" "$@"
