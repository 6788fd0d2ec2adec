# Sourced by app/run.sh and tests/run.sh: installs the Debian/Ubuntu packages that are missing.
# Usage: install_packages NAME...   Says what it installs; asks for sudo only when it is not root.

FRAMELANE_BUILD_PACKAGES=(
  cmake ninja-build g++ pkg-config
  libavcodec-dev libavformat-dev libavdevice-dev libavutil-dev libswscale-dev
  libopencv-core-dev libopencv-imgproc-dev
  libspdlog-dev libfmt-dev libcli11-dev nlohmann-json3-dev libmuparser-dev libsdl2-dev
)

install_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null; then
    echo "framelane needs these Debian packages or their like: ${missing[*]}" >&2
    return 1
  fi
  echo "framelane: installing ${missing[*]}" >&2
  local root=()
  [ "$(id -u)" -eq 0 ] || root=(sudo)
  # A package list that is there may do; an old or missing one is renewed.
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >&2 ||
    { "${root[@]}" apt-get update -q >&2 &&
      "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >&2; }
}
