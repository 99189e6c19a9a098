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
  find_program(TENSORMG_NVCC nvcc PATHS "$ENV{CUDA_HOME}/bin" /usr/local/cuda/bin
    DOC "The CUDA compiler")
  if(tensormg_cuda_choice STREQUAL "ON" OR (TENSORMG_NVCC AND tensormg_gpu))
    set(TENSORMG_CUDA_ENABLED ON)
  endif()
endif()

if(TENSORMG_CUDA_ENABLED)
  # What the user sets stays. Otherwise, anew in each configuration: CUDAARCHS, as CMake itself reads it, the portable
  # choice, the GPU of this machine, what was chosen before on another machine, Hopper.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES OR CMAKE_CUDA_ARCHITECTURES STREQUAL "${TENSORMG_CHOSEN_ARCHITECTURES}")
    if(NOT "$ENV{CUDAARCHS}" STREQUAL "")
      set(architectures "$ENV{CUDAARCHS}")
    elseif(TENSORMG_CUDA_PORTABLE)
      set(architectures 80 90a-real 90-virtual)
    elseif(tensormg_gpu GREATER_EQUAL 90)
      # The suffix opens the instructions of that very generation (setmaxnreg, wgmma).
      set(architectures ${tensormg_gpu}a)
    elseif(tensormg_gpu)
      set(architectures ${tensormg_gpu})
    elseif(DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(architectures ${CMAKE_CUDA_ARCHITECTURES})
    else()
      set(architectures 90a)
    endif()
    set(CMAKE_CUDA_ARCHITECTURES "${architectures}" CACHE STRING "GPU architectures, e.g. 80;90a" FORCE)
    set(TENSORMG_CHOSEN_ARCHITECTURES "${architectures}" CACHE INTERNAL "Architectures that no user has set")
  endif()
  if(TENSORMG_NVCC AND NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER "${TENSORMG_NVCC}")
  endif()
  # nvcc for the language's version, its code for Hopper; an older one fails with messages about its flags.
  set(oldest_nvcc 12.0)
  set(output "")
  if(CMAKE_CUDA_COMPILER)
    execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" --version OUTPUT_VARIABLE output ERROR_QUIET)
  endif()
  if(output MATCHES "release ([0-9]+\\.[0-9]+)" AND CMAKE_MATCH_1 VERSION_LESS oldest_nvcc)
    message(FATAL_ERROR "${CMAKE_CUDA_COMPILER} is of CUDA ${CMAKE_MATCH_1}; CUDA ${oldest_nvcc} or newer is needed")
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
