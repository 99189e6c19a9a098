#!/usr/bin/env bash
# Compiles the host kernels for 64-bit ARM and runs their tests in an emulator: some three minutes on two cores. Needs a
# Debian or Ubuntu with g++-aarch64-linux-gnu and qemu-user, and the package index of arm64 (dpkg --add-architecture arm64;
# apt-get update); the libraries of arm64 are unpacked to FOLDER, not installed.
#
#   tools/check_arm.sh [FOLDER]     FOLDER: build/arm
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(realpath -m "${1:-build/arm}")
unpacked=$folder/unpacked/usr
libraries=$unpacked/lib/aarch64-linux-gnu
mkdir -p "$folder/packages" "$folder/objects"
if [[ ! -e $libraries/libgtest.a ]]; then
  (cd "$folder/packages" &&
    apt-get download -q libblas3:arm64 liblapack3:arm64 libgfortran5:arm64 libgtest-dev:arm64)
  for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$folder/unpacked"; done
fi
# The instances of the Laplace kernels are written by CMake.
cmake --preset release >"$folder/configure.log"
compile=(aarch64-linux-gnu-g++ -std=c++20 -O1 -Wno-psabi -I. -Iinclude "-I$unpacked/include")
# shellcheck disable=SC2016 # the shell that is started expands it
{
  find kernels -name '*.cc' -not -path 'kernels/diagnostics/*'
  printf '%s\n' build/release/kernels/laplace/cpu/*.cc operators/vectors/vector.cc
} | xargs -P "$(nproc)" -I{} bash -c '"${@:3}" -c "$1" -o "$2/${1//\//_}.o"' - {} "$folder/objects" "${compile[@]}"
rm -f "$folder/libkernels.a"
aarch64-linux-gnu-ar rcs "$folder/libkernels.a" "$folder"/objects/*.o
path=$libraries/lapack:$libraries/blas:$libraries
for test in core/block core/divisor laplace/laplace laplace/wide transfer/transfer vector/basis vector/vector; do
  program=$folder/test-${test//\//-}
  "${compile[@]}" "tests/kernels/${test}_test.cc" -o "$program" "$folder/libkernels.a" "$libraries"/libgtest{_main,}.a \
    "$libraries"/lapack/liblapack.so.3 "$libraries"/blas/libblas.so.3 "$libraries"/libgfortran.so.5
  printf '%s\n' "$test"
  qemu-aarch64 -L /usr/aarch64-linux-gnu -E "LD_LIBRARY_PATH=$path" "$program" --gtest_brief=1
done
