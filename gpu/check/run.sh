#!/bin/sh
# Checks and measures the GPU of this machine: gpu/check/run.sh [flags of the check]
# Builds the program where there is Go, else takes build/gpu-check as it is.
set -e
cd "$(dirname "$0")/../.."
if command -v go >/dev/null; then
  make -s gpu-check
fi
test -x build/gpu-check || { echo "build/gpu-check is missing: run make gpu-check on a machine with Go and copy it here" >&2; exit 1; }
if command -v compute-sanitizer >/dev/null; then
  echo "compute-sanitizer over the ops"
  compute-sanitizer --error-exitcode 9 build/gpu-check -only ops -out build/sanitizer "$@"
fi
exec build/gpu-check "$@"
