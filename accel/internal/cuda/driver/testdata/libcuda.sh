#!/bin/sh
# Fetches a real libcuda.so from Debian's non-free section into a folder, for
# the test of symbols, and prints its path:
#
#	QUERN_LIBCUDA=$(testdata/libcuda.sh /tmp/libcuda) go test -run Symbols .
set -e
dir=${1:?folder}
deb=libcuda1_550.163.01-2_amd64.deb
mkdir -p "$dir"
curl -sSf -o "$dir/$deb" "http://deb.debian.org/debian/pool/non-free/n/nvidia-graphics-drivers/$deb"
dpkg-deb -x "$dir/$deb" "$dir"
find "$dir" -name 'libcuda.so.5*' -type f
