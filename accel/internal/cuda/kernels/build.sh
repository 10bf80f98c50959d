#!/bin/sh
# Compiles each NAME.cu given, by default all, to one NAME_VARIANT.ptx.gz for each
# variant in the file's line "// variants:", in the folder OUT (by default this
# one), and writes the checksum of what it read and wrote to testdata/built.txt,
# by which a test finds outdated files. The versions are pinned, so that the same sources give the same
# files everywhere:
#
#   clang    19.1.7 (Debian's clang-19)
#   PTX      7.0 for sm_80, which every driver since CUDA 11.0 loads;
#            8.0 for sm_90a in the variants *_sm90, since CUDA 12.0;
#            8.4 for sm_89 in the variants *_sm89, since CUDA 12.4
set -eu
cd "$(dirname "$0")"
clang=${CLANG:-clang-19}
out=${OUT:-.}
sums=${OUT:-testdata}/built.txt
touch "$sums"
export LC_ALL=C # for the order of files
# Without --cuda-path, clang would take the PTX version from a CUDA toolkit on PATH.
version=$($clang --version | sed -n '1s/.*clang version \([0-9.]*\).*/\1/p')
if [ "$version" != 19.1.7 ]; then
	echo "build.sh: needs clang 19.1.7, but $clang is $version" >&2
	exit 1
fi
[ $# -gt 0 ] || set -- *.cu
for source; do
	name=${source%.cu}
	for variant in $(sed -n 's/^\/\/ variants://p' "$source"); do
		define="-DVARIANT=$variant -DIS_${variant%%_*}" arch=sm_80 ptx=+ptx70
		case $variant in
		f32 | bf16 | f16) define="$define -DREAL=float" ;;
		f64) define="$define -DREAL=double" ;;
		*_sm89) arch=sm_89 ptx=+ptx84 ;;
		*_sm90) arch=sm_90a ptx=+ptx80 ;;
		*_*) define="$define -DHEAD=${variant#*_}" ;;
		esac
		made=$out/${name}_$variant.ptx.gz
		$clang -x cuda --cuda-device-only -S -nocudainc -nocudalib --cuda-path=/nonexistent --cuda-gpu-arch=$arch \
			-Xclang -target-feature -Xclang $ptx -std=c++17 -O3 -Wall -Wextra -Werror \
			-Wno-unknown-cuda-version -Wno-unused-function \
			$define -o "$made.tmp" "$name.cu"
		# Comments and empty lines are a third of the bytes.
		sed -e 's/[[:space:]]*\/\/.*$//' -e '/^[[:space:]]*$/d' "$made.tmp" | gzip -9n >"$made"
		rm "$made.tmp"
	done
	sum=$({ cat build.sh ./*.h "$source"; gzip -dc "$out/${name}"_*.ptx.gz; } | sha256sum)
	{ grep -v "^$name " "$sums" || true; echo "$name ${sum%% *}"; } | sort >"$sums.tmp"
	mv "$sums.tmp" "$sums"
done
