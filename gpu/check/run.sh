#!/bin/sh
# Checks and measures the GPU of this machine: gpu/check/run.sh [flags of the check]
# Builds the program where there is Go, else takes build/gpu-check and
# build/gpu-check-kernels as they are.
cd "$(dirname "$0")/../.." || exit 1
if command -v go >/dev/null && command -v make >/dev/null; then
  make -s gpu-check || echo "it cannot be built here (see above), so what is in build is taken" >&2
fi
test -x build/gpu-check || {
  echo "build/gpu-check is missing: run make gpu-check on a machine with Go and copy it and build/gpu-check-kernels here" >&2
  exit 1
}
exec build/gpu-check "$@"
