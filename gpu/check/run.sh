#!/bin/sh
# Checks and measures the GPU of this machine: gpu/check/run.sh [flags of the check]
# Builds the programs if Go is installed; otherwise uses the existing build/gpu-check,
# build/gpu-check-kernels and build/gpu-check-bench.
cd "$(dirname "$0")/../.." || exit 1
if command -v go >/dev/null && command -v make >/dev/null; then
  make -s gpu-check || echo "cannot build it here (see above): using the existing build" >&2
fi
test -x build/gpu-check || {
  echo "build/gpu-check is missing: run make gpu-check on a machine with Go and copy build/gpu-check* here" >&2
  exit 1
}
exec build/gpu-check "$@"
