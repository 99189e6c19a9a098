#!/usr/bin/env bash
# Checks of device code on a machine with a GPU in one go: builds the test programs of label gpu, runs them, and once more
# with each tool of compute-sanitizer and few cases (TENSORMG_TEST_FEW_CASES=1). One line per program and tool.
#
#   tools/check_device.sh [OPTION]... BUILD      BUILD: a build folder with CUDA, e.g. build/cuda
#     --tools LIST      of test,memcheck,racecheck,initcheck,synccheck (default: all); test: the program alone
#     --programs REGEX  only programs whose name matches, e.g. kernels-laplace
#     --limit SECONDS   for a program with a tool (1200)
#     --jobs N          run so many at a time (1); those whose source says "Needs a GPU of its own" run alone, last
#     --output FILE     the summary (BUILD/check_device.json)
#     --no-build        take the programs as they are
#
# The summary is {device, driver, git, date, command, programs: [{name, tool, errors, skipped, seconds, failure}]}; errors: of the
# tool, or tests that failed; null if nobody counted them. Exit codes: 0 all passed, 1 not, 2 usage, 77 no GPU.
set -euo pipefail

command="$0 $*"
tools=test,memcheck,racecheck,initcheck,synccheck
programs='' limit=1200 jobs=1 output='' builds=true build=''
usage()
{
  printf 'tensormg: check_device: %s (the file begins with how to use it)\n' "$1" >&2
  exit "${2:-2}"
}
while (($# > 0)); do
  case $1 in
    --tools | --programs | --limit | --jobs | --output)
      (($# > 1)) || usage "$1 needs a value"
      declare "${1#--}=$2"
      shift
      ;;
    --no-build) builds=false ;;
    -*) usage "unknown option $1" ;;
    *)
      [[ -z $build ]] || usage "more than one build folder"
      build=$1
      ;;
  esac
  shift
done
[[ -d $build ]] || usage "no build folder '$build'"
[[ $limit =~ ^[1-9][0-9]*$ && $jobs =~ ^[1-9][0-9]*$ ]] || usage "--limit and --jobs are positive numbers"
IFS=, read -r -a tool_list <<<"$tools"
for tool in "${tool_list[@]}"; do
  [[ $tool =~ ^(test|memcheck|racecheck|initcheck|synccheck)$ ]] || usage "unknown tool $tool"
done
build=$(realpath "$build")
output=$(realpath "${output:-$build/check_device.json}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1) || gpu=
[[ -n $gpu ]] || usage 'no GPU' 77
[[ $tools == test ]] || command -v compute-sanitizer >/dev/null || usage 'no compute-sanitizer' 1
! $builds || cmake --build "$build" --target gpu_tests

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The ranks that the source of a program names first; 1 if it names none.
ranks_of()
{
  local file name ranks=''
  while read -r file; do
    name=${file#tests/}
    name=${name%_test.cu}
    [[ ${name//\//-} != "$1" ]] || ranks=$(sed -n 's|^// ranks: \([0-9]*\).*|\1|p' "$file" | head -n 1)
  done < <(find tests -name '*_test.cu')
  printf '%s' "${ranks:-1}"
}
[[ $(id -u) != 0 ]] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# check NUMBER PROGRAM TOOL: leaves NUMBER.json, and NUMBER.failed if it did not pass.
check()
{
  local program=$build/tests/test-$2 log=$work/$1.log start=$SECONDS code=0 errors='' failure='' skipped
  local run=(timeout --kill-after=10 "$limit") ranks
  ranks=$(ranks_of "$2")
  [[ $3 == test ]] || run+=(env TENSORMG_TEST_FEW_CASES=1)
  ((ranks == 1)) || run+=(mpirun --oversubscribe -n "$ranks")
  # Tests provoke errors of the runtime, and code under test looks at each of them.
  [[ $3 == test ]] || run+=(compute-sanitizer --tool "$3" --report-api-errors no --error-exitcode 99)
  "${run[@]}" "$program" --gtest_brief=1 </dev/null >"$log" 2>&1 || code=$?
  if [[ $3 == test ]]; then
    errors=$(grep -c '^\[  FAILED  \] .* ms)$' "$log" || true)
  else # one summary per process
    errors=$(awk '/(ERROR|RACECHECK) SUMMARY:/ { sum += $4; seen = 1 } END { if (seen) print sum }' "$log")
  fi
  skipped=$(awk '/^\[  SKIPPED \] [0-9]+ tests?\.$/ { sum += $4 } END { print sum + 0 }' "$log")
  case $code in
    0) ;;
    77) failure=skipped ;;
    99) failure='errors' ;;
    124 | 137) failure="not over after $limit s" ;;
    *) failure="exit code $code" ;;
  esac
  [[ -x $program ]] || failure='not built'
  [[ -n $failure || -n $errors ]] || failure='no summary'
  [[ -n $failure || $errors == 0 ]] || failure='errors'
  local seconds=$((SECONDS - start)) note=''
  ((skipped == 0)) || note=" ($skipped skipped)"
  printf '%-40s %-10s %4s errors %5d s  %s%s\n' "$2" "$3" "${errors:-?}" "$seconds" "${failure:-passed}" "$note"
  printf '  {"name": "%s", "tool": "%s", "errors": %s, "skipped": %d, "seconds": %d, "failure": %s}\n' "$2" "$3" \
    "${errors:-null}" "$skipped" "$seconds" "$([[ -n $failure ]] && echo "\"$failure\"" || echo null)" >"$work/$1.json"
  [[ -z $failure ]] || { tail -n 25 "$log" >"$work/$1.failed"; }
}

number=1000000 # so that names are in the order of numbers
sources()
{
  find tests -name '*_test.cu' | sort | xargs grep "$1" 'Needs a GPU of its own' || true
}
run_all() # AT_A_TIME: programs of the sources on stdin, with each tool
{
  local names tool name
  names=$(sed 's|^tests/||; s|_test\.cu$||; s|/|-|g' | grep -E -e "$programs" || true)
  for tool in "${tool_list[@]}"; do
    for name in $names; do
      while (($(jobs -pr | wc -l) >= $1)); do wait -n || true; done
      number=$((number + 1))
      check "$number" "$name" "$tool" &
    done
  done
  wait
}
run_all "$jobs" < <(sources -L)
run_all 1 < <(sources -l)
((number > 1000000)) || usage "no program matches '$programs'" 1

escaped=${command//\\/\\\\}
git=$(sed -n 's/.*git_hash = "\([^"]*\)".*/\1/p' "$build/generated/version.h" 2>/dev/null) ||
  git=$(git describe --always --dirty 2>/dev/null) || git=
{
  printf '{\n "device": "%s",\n "driver": "%s",\n "git": "%s",\n "date": "%s",\n "command": "%s",\n "programs": [\n' \
    "${gpu%,*}" "${gpu##*, }" "${git:-unknown}" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "${escaped//\"/\\\"}"
  sed '$!s/$/,/' <(cat "$work"/*.json)
  printf ' ]\n}\n'
} >"$output"
tail -n +1 "$work"/*.failed 2>/dev/null || { printf 'all passed: %s\n' "$output"; exit 0; }
printf 'FAILED: %d of %d, %s\n' "$(find "$work" -name '*.failed' | wc -l)" $((number - 1000000)) "$output"
exit 1
