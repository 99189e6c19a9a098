# Installing what is missing, configuring and building. Read by ./tensormg.
# shellcheck shell=bash

progress_seconds=30

# packages LIST...: the names in tools/packages-LIST.txt
packages()
{
  local list line
  for list in "$@"; do
    while read -r line; do
      [[ -z $line || $line == '#'* ]] && continue
      # deal.II from elsewhere replaces the package
      [[ $line == libdeal.ii-dev && -n ${DEAL_II_DIR:-} ]] && continue
      printf '%s\n' "$line"
    done <"$root/tools/packages-$list.txt"
  done
}

# with_progress TEXT LOG COMMAND...: runs the command. A terminal needs no more; others get a line twice a minute.
with_progress()
{
  local text=$1 log=$2 ticker='' code=0
  shift 2
  if [[ ! -t 2 ]]; then
    (while sleep "$progress_seconds" 2>/dev/null && kill -0 "$$" 2>/dev/null; do say "$text$(steps "$log")"; done) \
      </dev/null >/dev/null 9>&- &
    ticker=$!
    disown
  fi
  "$@" || code=$?
  [[ -z $ticker ]] || kill "$ticker" 2>/dev/null || true
  return "$code"
}

# steps LOG: ": 40 of 120", by the last line in which ninja counts
steps()
{
  sed -n 's/^\[\([0-9]*\)\/\([0-9]*\)\].*/: \1 of \2/p' "$1" 2>/dev/null | tail -n 1
}

# install_packages LIST...: installs what is missing of these lists
install_packages()
{
  [[ ${TENSORMG_INSTALL:-yes} != no ]] && command -v dpkg-query >/dev/null || return 0
  local wanted missing=() present name
  mapfile -t wanted < <(packages "$@")
  present=$(dpkg-query -W -f='${Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
    sed -n 's/^install ok installed //p') || true
  for name in "${wanted[@]}"; do
    [[ $'\n'$present$'\n' == *$'\n'"$name"$'\n'* ]] || missing+=("$name")
  done
  ((${#missing[@]})) || return 0

  local sudo=()
  if [[ $(id -u) != 0 ]]; then
    sudo=(sudo -n)
    if ! sudo -n true 2>/dev/null; then
      say "these packages are missing and this user may not install them; run"
      say "  sudo apt-get install --no-install-recommends ${missing[*]}"
      exit "$exit_packages"
    fi
  fi
  local log=$root/build/install.log size=''
  [[ " ${missing[*]} " != *' libdeal.ii-dev '* ]] || size='; with what they need some 500 MB, a minute or two'
  say "installing ${missing[*]} (log: build/install.log$size)"
  local apt=(with_progress 'installing packages' "$log" apt_get "$log" "${sudo[@]}")
  # Old package lists are good enough if they suffice.
  : >"$log"
  if ! "${apt[@]}" install --no-install-recommends "${missing[@]}"; then
    "${apt[@]}" update || true
    if ! "${apt[@]}" install --no-install-recommends "${missing[@]}"; then
      tail -n 15 "$log" >&2
      say "installing failed (whole log: build/install.log); by hand:"
      say "  apt-get install --no-install-recommends ${missing[*]}"
      exit "$exit_packages"
    fi
  fi
}

# apt_get LOG [sudo -n] ARGUMENT...
apt_get()
{
  local log=$1 sudo=()
  shift
  if [[ $1 == sudo ]]; then
    sudo=("$1" "$2")
    shift 2
  fi
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@" \
    >>"$log" 2>&1 </dev/null
}

# As many compilers as cores, but 2 GB of memory for each.
build_jobs()
{
  local jobs kilobytes
  jobs=$(cores_allowed)
  kilobytes=$(sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' /proc/meminfo)
  if [[ -n $kilobytes ]] && ((kilobytes / 2000000 < jobs)); then
    jobs=$((kilobytes / 2000000))
  fi
  printf '%s' "$((jobs > 1 ? jobs : 1))"
}

# Ends the launcher if a tool that builds is missing, and names the package that has it.
require_tools()
{
  local tool missing=''
  for tool in cmake:cmake ninja:ninja-build c++:g++; do
    [[ $tool == c++:* && -n ${CXX:-} ]] && continue
    command -v "${tool%%:*}" >/dev/null || missing+=", ${tool%%:*} (package ${tool##*:} of Debian and Ubuntu)"
  done
  [[ -n $missing ]] || return 0
  say "not found: ${missing#, }; install what is missing, or load its module, and call again"
  exit "$exit_packages"
}

# What a configuration depends on: a line that the last one did not see is a reason for the next.
configuration_key()
{
  local wanted
  mapfile -t wanted < <(packages core test plots)
  dpkg-query -W -f='${Status} ${Package} ${Version}\n' "${wanted[@]}" 2>/dev/null | grep '^install ok' || true
  printf '%s=%s\n' CUDAARCHS "${CUDAARCHS:-}" DEAL_II_DIR "${DEAL_II_DIR:-}" CMAKE_PREFIX_PATH "${CMAKE_PREFIX_PATH:-}"
  if [[ $preset == cuda* ]]; then
    printf 'nvcc %s\n' "$(nvcc_version || true)"
    ! gpu_visible || printf 'GPU %s\n' "$(capability)"
  fi
}

# needs_configuration TARGET FOLDER: whether there is no configuration, or one that may miss what is there now
needs_configuration()
{
  [[ -e $2/build.ninja && -e $2/configured-for ]] || return 0
  # Whatever tests were left out for: it may have come in any way.
  [[ $1 != all || ! -s $2/switched-off.txt ]] || return 0
  configuration_key | grep -vxF -f "$2/configured-for" >/dev/null
}

# What CMake says when a library is missing, what that is, and the package that has it.
libraries()
{
  cat <<'END'
deal.II 9.4 or newer not found;deal.II 9.4 or newer;libdeal.ii-dev
built without MPI;a deal.II with MPI;libdeal.ii-dev
Could NOT find MPI;MPI;libopenmpi-dev openmpi-bin
Could NOT find (LAPACK|BLAS);LAPACK;liblapack-dev
json.hpp not found;nlohmann-json;nlohmann-json3-dev
CLI.hpp not found;CLI11;libcli11-dev
muParser not found;muParser;libmuparser-dev
CMake 3.25 or higher;CMake 3.25 or newer;cmake
Unrecognized .version. field;CMake 3.25 or newer;cmake
g.. 12 or newer is needed;g++ 12 or newer;g++-12, with CXX=g++-12
(No CMAKE_CUDA_COMPILER could be found|is of CUDA [0-9.]+. CUDA);CUDA 12.0 or newer;the toolkit of NVIDIA
No CMAKE_CXX_COMPILER could be found;a C++ compiler, g++ 12 or newer;g++
END
}

# configure FOLDER LOG
configure()
{
  local folder=$1 log=$2 pattern name package found=''
  require_tools
  say "configuring (preset $preset, log: build/$preset.log)"
  if (cd "$root" && cmake --preset "$preset") >"$log" 2>&1; then
    configuration_key >"$folder/configured-for"
    return
  fi
  while IFS=';' read -r pattern name package; do
    grep -qE "$pattern" "$log" || continue
    found=yes
    say "not found: $name (Debian and Ubuntu: $package); elsewhere install it and name its folder in CMAKE_PREFIX_PATH"
  done < <(libraries)
  if [[ -n $found ]]; then
    say "CMake's words: build/$preset.log"
    exit "$exit_packages"
  fi
  build_failed "$log"
}

# build_failed LOG: shows the errors and ends the launcher
build_failed()
{
  grep -E -A 12 -m 5 '(error|Error|FAILED|undefined reference)' "$1" | head -n 60 >&2 || true
  say "the build failed; whole log: build/$preset.log"
  exit "$exit_build"
}

# build TARGET: configures if needed and builds; a build that is up to date costs a few milliseconds
build()
{
  local target=$1 folder=$root/build/$preset log=$root/build/$preset.log
  # CMake and Ninja cannot use a build folder that was moved or copied with its repository.
  local origin
  origin=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$folder/CMakeCache.txt" 2>/dev/null) ||
    origin=
  [[ -z $origin || $origin -ef $root ]] || rm -rf "$folder"
  ! needs_configuration "$target" "$folder" || configure "$folder" "$log"
  require_tools
  # Speak as soon as there is something to wait for; a terminal sees the steps count.
  announce()
  {
    say "building $target (preset $preset, log: build/$preset.log)"
    announce() { :; }
  }
  [[ -e $folder/bin/$target || $target == all ]] || announce
  compile()
  {
    NINJA_STATUS='[%f/%t] ' ninja -C "$folder" -j "$(build_jobs)" "$target" 2>&1 | tee "$log" | while read -r line; do
      case $line in
        *Building* | *Linking*)
          announce
          [[ ! -t 2 ]] || printf '\r%s ' "${line%% *}" >&2
          ;;
      esac
    done
  }
  with_progress "building $target" "$log" compile || build_failed "$log"
  [[ ! -t 2 ]] || printf '\r\e[K' >&2
}

# build_alone TARGET: one launcher at a time; the lock ends with the parentheses
build_alone()
{
  (
    if ! flock -n 9; then
      say "waiting for another ./tensormg that builds here"
      with_progress "still waiting" "" flock 9
    fi
    build "$1"
  ) 9>"$root/build/lock"
}
