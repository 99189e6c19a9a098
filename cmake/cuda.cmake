# Decides whether CUDA kernels are built, and for which GPU.
#   TENSORMG_CUDA=AUTO  if nvcc and a GPU are present
#   TENSORMG_CUDA=ON    nvcc is required; without a GPU the code is compiled for Hopper
set(TENSORMG_CUDA_ENABLED OFF)
string(TOUPPER "${TENSORMG_CUDA}" tensormg_cuda_choice)
if(NOT tensormg_cuda_choice MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "TENSORMG_CUDA is '${TENSORMG_CUDA}'; possible: AUTO, ON, OFF")
endif()

# Compute capability of the first GPU as in "90"; empty without a GPU.
set(tensormg_gpu "")
if(NOT tensormg_cuda_choice STREQUAL "OFF")
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE output RESULT_VARIABLE result ERROR_QUIET)
  if(result EQUAL 0 AND output MATCHES "^([0-9]+)\\.([0-9]+)")
    set(tensormg_gpu "${CMAKE_MATCH_1}${CMAKE_MATCH_2}")
  endif()
  find_program(TENSORMG_NVCC nvcc HINTS "$ENV{CUDA_HOME}/bin" /usr/local/cuda/bin
    DOC "The CUDA compiler")
  if(tensormg_cuda_choice STREQUAL "ON" OR (TENSORMG_NVCC AND tensormg_gpu))
    set(TENSORMG_CUDA_ENABLED ON)
  endif()
endif()

if(TENSORMG_CUDA_ENABLED)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(architecture 90)
    if(tensormg_gpu)
      set(architecture ${tensormg_gpu})
    endif()
    # From Hopper on, the suffix opens the instructions of that very generation (setmaxnreg, wgmma).
    if(architecture GREATER_EQUAL 90)
      string(APPEND architecture a)
    endif()
    set(CMAKE_CUDA_ARCHITECTURES ${architecture} CACHE STRING "GPU architectures, e.g. 80;90a")
  endif()
  if(TENSORMG_NVCC AND NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER "${TENSORMG_NVCC}")
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  # CMake 3.25.1 (Debian 12) does not know that nvcc 12 and later speak C++20.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  target_compile_options(tensormg_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>")
  # Before Hopper some kernels are empty, and constants of their tiles have no other use.
  if(CMAKE_CUDA_ARCHITECTURES MATCHES "(^|;)[78][0-9]")
    target_compile_options(tensormg_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:-diag-suppress=177>")
  endif()
  # kernels/core/shared_memory_limit.h: the least of the GPUs of the build.
  if(CMAKE_CUDA_ARCHITECTURES MATCHES "(^|;)(86|89|12[0-9])")
    target_compile_definitions(tensormg_options INTERFACE TENSORMG_SHARED_MEMORY_KIB=99)
  elseif(CMAKE_CUDA_ARCHITECTURES MATCHES "(^|;)8[0-9]")
    target_compile_definitions(tensormg_options INTERFACE TENSORMG_SHARED_MEMORY_KIB=163)
  endif()
endif()
message(STATUS "CUDA kernels: ${TENSORMG_CUDA_ENABLED} (TENSORMG_CUDA=${TENSORMG_CUDA}, "
  "architectures '${CMAKE_CUDA_ARCHITECTURES}')")
