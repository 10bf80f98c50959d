#!/bin/sh
# Checks and measures the GPU of this machine: gpu/check/run.sh [flags of the check]
# Builds the program where there is Go, else takes build/gpu-check and
# build/gpu-check-kernels as they are.
set -e
cd "$(dirname "$0")/../.."
if command -v go >/dev/null; then
  make -s gpu-check
fi
test -x build/gpu-check || { echo "build/gpu-check is missing: run make gpu-check on a machine with Go and copy it and build/gpu-check-kernels here" >&2; exit 1; }
status=0
build/gpu-check "$@" || status=$?
if command -v compute-sanitizer >/dev/null; then
  echo "compute-sanitizer over the ops"
  timeout 300 compute-sanitizer --error-exitcode 9 build/gpu-check -only ops -out build/sanitizer "$@" || status=$?
fi
exit $status
