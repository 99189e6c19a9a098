# Which preset serves this machine, and why its GPU is not used where it is not. Read by ./tensormg.
# shellcheck shell=bash

device_files='/dev/nvidia[0-9]*'
oldest_nvcc=12.0 # as in cmake/cuda.cmake
oldest_capability=80

# Whether a GPU is here that programs may see.
gpu_visible()
{
  compgen -G "$device_files" >/dev/null || return 1
  [[ -z ${CUDA_VISIBLE_DEVICES+set} || $CUDA_VISIBLE_DEVICES =~ ^\ *([0-9]|GPU-|MIG-) ]]
}

# How many GPUs programs may see.
visible_gpus()
{
  local count=0 commas=${CUDA_VISIBLE_DEVICES:-}
  commas=${commas//[^,]/}
  ! gpu_visible || count=$(compgen -G "$device_files" | wc -l)
  [[ -z ${CUDA_VISIBLE_DEVICES+set} ]] || ((${#commas} + 1 >= count)) || count=$((${#commas} + 1))
  printf '%s' "$count"
}

# The compute capability of the first GPU, as in 90; empty where nvidia-smi does not tell.
capability()
{
  { nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null || true; } |
    sed -n '1s/^\([0-9]*\)\.\([0-9]\).*/\1\2/p'
}

nvcc_version() { nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p'; }

# Whether the first version is older than the second.
older() { [[ $1 != "$2" && $(printf '%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]; }

# Why no CUDA kernels can be built for the GPU of this machine, and what to do; empty if nothing stands against it.
why_no_cuda()
{
  local version gpu
  if ! command -v nvcc >/dev/null; then
    printf 'there is no nvcc; install the CUDA toolkit, %s or newer, or put its bin folder into PATH, and call again' "$oldest_nvcc"
    return
  fi
  version=$(nvcc_version)
  if [[ -n $version ]] && older "$version" "$oldest_nvcc"; then
    printf 'nvcc is of CUDA %s; put one of %s or newer first into PATH and call again' "$version" "$oldest_nvcc"
    return
  fi
  gpu=$(capability)
  [[ -n $gpu ]] || return 0
  if ((gpu < oldest_capability)); then
    printf 'its compute capability is %s.%s, the kernels need %s.%s; nothing is to be done' \
      "${gpu%?}" "${gpu: -1}" "${oldest_capability%?}" "${oldest_capability: -1}"
  elif [[ -z ${CUDAARCHS:-} ]] && ! nvcc --list-gpu-arch 2>/dev/null | grep "_$gpu\$" >/dev/null; then
    printf 'nvcc of CUDA %s is too old for its compute capability %s.%s; install a newer CUDA toolkit, or call with TENSORMG_PRESET=cuda-portable' \
      "$version" "${gpu%?}" "${gpu: -1}"
  fi
}

# built PRESET: whether it has the program of the subcommand
built() { [[ $subcommand != test && -x $root/build/$1/bin/tensormg-$subcommand ]]; }

# Among presets that are built, the first one.
first_built()
{
  local candidate
  for candidate in "$@"; do
    if built "$candidate"; then
      printf '%s' "$candidate"
      return
    fi
  done
}

# The preset: sets `preset`, `as_built` (non-empty: take what is built, without a compiler) and `gpu_trouble` (why a
# GPU that is here stays idle).
choose_preset()
{
  preset=release as_built='' gpu_trouble=''
  local found
  if [[ -n ${TENSORMG_PRESET:-} ]]; then
    preset=$TENSORMG_PRESET
    [[ ! $preset =~ ^(release|debug|sanitize)$ ]] ||
      gpu_trouble="TENSORMG_PRESET=$preset has no CUDA kernels; unset it, or set it to cuda"
  elif ! compgen -G "$root/kernels/*/*.cu" >/dev/null; then
    return
  elif inside_mpi; then
    found=$(if gpu_visible; then first_built cuda cuda-portable release; else first_built release cuda cuda-portable; fi)
    preset=${found:-$(gpu_visible && printf cuda || printf release)}
    [[ $preset != release ]] ||
      gpu_trouble="only the preset release is built; call TENSORMG_PRESET=cuda ./tensormg $subcommand once without mpirun and srun on a node with such a GPU, or TENSORMG_PRESET=cuda-portable on one without"
  elif gpu_visible; then
    gpu_trouble=$(why_no_cuda)
    found=$(first_built cuda cuda-portable)
    if [[ -z $gpu_trouble ]]; then
      preset=${found:-cuda} # what was built for GPUs elsewhere serves this one, too
    elif [[ -n $found ]] && ! command -v nvcc >/dev/null; then
      preset=$found as_built=yes gpu_trouble=''
    fi
  fi
}

# What the ranks of mpirun and srun, which do not build, are to be told.
how_to_build()
{
  if [[ -n ${TENSORMG_PRESET:-} || $preset == release ]]; then
    printf 'call TENSORMG_PRESET=%s ./tensormg %s once without them' "$preset" "$subcommand"
  else
    printf 'call TENSORMG_PRESET=cuda ./tensormg %s once without them on a node with such a GPU, or TENSORMG_PRESET=cuda-portable on one without' "$subcommand"
  fi
}

# Builds on a machine without a GPU are often for another one.
tell_about_other_nodes()
{
  if built "$preset" || gpu_visible || [[ -n ${CUDA_VISIBLE_DEVICES+set} ]] || ! command -v nvcc >/dev/null; then
    return
  fi
  if [[ $preset == release && -z ${TENSORMG_PRESET:-} ]]; then
    say "no GPU here: building for the CPU; for nodes with a GPU: TENSORMG_PRESET=cuda-portable ./tensormg $subcommand ..., or TENSORMG_PRESET=cuda with the GPU's CUDAARCHS, e.g. 80 or 90a"
  elif [[ $preset == cuda && -z ${CUDAARCHS:-} ]]; then
    say "no GPU here: compiling for the GPU of earlier calls or for 9.0; CUDAARCHS=80, e.g., names another compute capability"
  fi
}

# requested SECTION KEY: the value that --set or else the parameter file gives; a simple look, the program reads for good
requested()
{
  local argument previous='' setting file='' value=''
  for argument in "${arguments[@]}"; do
    setting=''
    case $previous:$argument in
      -s:* | --set:*) setting=$argument ;;
      *:--set=*) setting=${argument#--set=} ;;
      *:-s?*) setting=${argument#-s} ;;
      *.prm | *.json) file=$argument ;;
    esac
    [[ ! $setting =~ ^\ *$1\.$2\ *=\ *(.*[^ ])\ *$ ]] || value=${BASH_REMATCH[1]}
    previous=$argument
  done
  if [[ -z $value && -f $file ]]; then
    value=$(sed -nE -e "s/^[[:space:]]*(set|SET)[[:space:]]+$2[[:space:]]*=[[:space:]]*([^#]*[^#[:space:]]).*/\2/p" \
      -e "s/.*\"$2\"[[:space:]]*:[[:space:]]*\"?([^\",}]*[^\",}[:space:]]).*/\1/p" "$file" | tail -n 1)
  fi
  printf '%s' "$value"
}

# Whether the run shall be on a GPU, if there is one: `solve`, `converge` and `benchmark` by their backend, `compare` with whole solves.
wants_gpu()
{
  case $subcommand in
    solve | converge) [[ ! $(requested operator backend) =~ ^(cpu|reference)$ ]] ;;
    benchmark) [[ ! " ${arguments[*]} " =~ \ --backend[\ =]cpu\  ]] ;;
    compare)
      [[ " ${arguments[*]} " == *' --solve '* || $(requested compare solve) == true ]] || return 1
      [[ ! $(requested compare backends) =~ ^((cpu|reference),?\ *)+$ ]]
      ;;
    *) return 1 ;;
  esac
}

# asked_ranks: how many ranks this call is to have, as far as it says so
asked_ranks()
{
  if inside_mpi; then
    printf '%s' "${OMPI_COMM_WORLD_SIZE:-${PMI_SIZE:-${SLURM_NTASKS:-}}}"
  elif [[ ${TENSORMG_MPIRUN:-} =~ (^|\ )(-n|-np|--ntasks)[\ =]*([0-9]+) ]]; then
    printf '%s' "${BASH_REMATCH[3]}"
  elif [[ -z ${TENSORMG_MPIRUN:-} ]]; then
    printf '%s' "$ranks"
  fi
}

# One line if there is a GPU that this call will leave idle without having asked for that.
tell_about_gpu()
{
  gpu_visible || return 0
  case $subcommand in
    solve | converge | benchmark) wants_gpu || return 0 ;;
  esac
  [[ ${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-0}}} == 0 ]] || return 0
  local count gpus=1
  count=${OMPI_COMM_WORLD_LOCAL_SIZE:-${SLURM_NTASKS_PER_NODE:-$(asked_ranks)}}
  [[ $subcommand == compare ]] || gpus=$(visible_gpus)
  if [[ -z $gpu_trouble && $count =~ ^[0-9]+$ ]] && ((count > gpus)) && wants_gpu; then
    gpu_trouble="it cannot be shared by $count ranks; take one for each GPU (the default here), or ask for operator.backend = cpu"
  fi
  [[ -z $gpu_trouble ]] || say "the GPU is not used: $gpu_trouble"
}
