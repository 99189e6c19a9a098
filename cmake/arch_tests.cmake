# The kernels once more for other instruction sets: what TENSORMG_ARCH=native compiles on one
# machine is only one of the three paths of kernels/core/simd.h (16, 32 and 64-byte vectors). Every
# test of kernels/ with vector code gets a second executable test-kernels-NAME-ARCH and ctest entries
# kernels-NAME-ARCH.*, label host.
#
# TENSORMG_TEST_ARCHS lists them; "x86-64" is the 16-byte path with the conversions of binary16 in
# plain C++, "x86-64-v3" is AVX2. What this machine cannot run is left out. None by default: .ci/run
# builds everything with sanitizers for AVX2. Include after tensormg_add_tests().
set(TENSORMG_TEST_ARCHS "" CACHE STRING
  "Values of -march= that the kernels are tested for as well, e.g. x86-64-v3;x86-64")
include(CheckCXXSourceRuns)

# The sources of operators/ that the tests of kernels/ use.
set(tensormg_arch_sources mesh/grid constant/patch_correction vectors/vector)
list(TRANSFORM tensormg_arch_sources REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/operators/\\1.cc")

# The kernels and what their tests use, compiled for `arch`; no part of the project that is compiled
# for another one, because inline functions of both would be merged.
function(tensormg_add_arch_tests arch)
  string(MAKE_C_IDENTIFIER "${arch}" suffix)
  set(CMAKE_REQUIRED_FLAGS "")
  check_cxx_source_runs("int main() { return __builtin_cpu_supports(\"${arch}\") ? 0 : 1; }"
    TENSORMG_RUNS_${suffix})
  if(NOT TENSORMG_RUNS_${suffix})
    message(STATUS "Kernels are not tested for ${arch}: this machine cannot run it")
    return()
  endif()

  set(library tensormg_kernels_${suffix})
  add_library(${library} STATIC ${kernel_sources} ${tensormg_arch_sources})
  target_compile_features(${library} PUBLIC cxx_std_20)
  target_include_directories(${library} PUBLIC "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
  target_compile_options(${library} PUBLIC "-march=${arch}")
  if(TENSORMG_SANITIZE)
    target_compile_options(${library} PUBLIC
      -fsanitize=${TENSORMG_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${library} PUBLIC -fsanitize=${TENSORMG_SANITIZE})
  endif()
  target_link_libraries(${library} PUBLIC MPI::MPI_CXX LAPACK::LAPACK PRIVATE tensormg_warnings)
  # The kernels' vectors may be wider than the registers of `arch`; they never cross a function
  # call. Only tested, so that time to compile counts more than speed.
  target_compile_options(${library} PRIVATE -Wno-psabi "$<$<CONFIG:Release>:-O1>")

  file(GLOB_RECURSE files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/kernels/*_test.cc")
  # Index maps, work models and plain loops are the same for every instruction set.
  list(FILTER files EXCLUDE REGEX
    "/(adder_probe|device|march/schedule|mma/fragment|mma/layout|patch_inverse|precision|roofline|tensor/layout)_test\\.cc$")
  foreach(file IN LISTS files)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${PROJECT_SOURCE_DIR}/tests/kernels" OUTPUT_VARIABLE name)
    string(REGEX REPLACE "_test\\.cc$" "-${arch}" name "${name}")
    string(REPLACE "/" "-" name "${name}")
    set(target test-kernels-${name})
    add_executable(${target} "${file}")
    target_link_libraries(${target} PRIVATE
      ${library} tensormg_warnings tensormg_calling_code GTest::gtest GTest::gtest_main)
    set_target_properties(${target} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    tensormg_discover_tests(${target} kernels-${name} kernels host)
  endforeach()
endfunction()

foreach(arch IN LISTS TENSORMG_TEST_ARCHS)
  if(GTest_FOUND AND NOT arch STREQUAL TENSORMG_ARCH)
    tensormg_add_arch_tests("${arch}")
  endif()
endforeach()
