#!/bin/sh
# Makes the .ptx of the .cu files beside it with clang 19.
set -e
cd "$(dirname "$0")"
for f in *.cu; do
  ${CLANG:-clang-19} -x cuda --cuda-device-only -S -nocudainc -nocudalib --cuda-gpu-arch=sm_80 \
    -Xclang -target-feature -Xclang +ptx70 -O3 -D'__device__=__attribute__((device))' -o "${f%.cu}.ptx" "$f"
done
