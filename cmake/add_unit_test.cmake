# Registers the tests. Every tests/FOLDER/NAME_test.cc is one executable test-FOLDER-NAME.
#
#   kernels/, solvers/   one ctest entry per test case, label host; no MPI. With sanitizers one per executable, since
#                        a process takes 0.5 s to start then
#   operators/, apps/    one ctest entry per executable, label operators or apps; main() starts MPI
#   "// ranks: 1 2 4"    in the first five lines: one entry per number of ranks under mpirun, label mpi
#   *_test.py            run by python3; exit code 77 means skipped; *_cuda_test.py with CUDA only
#   *_test.cu            with CUDA only; label gpu, one at a time
#
# A skipped test (GTEST_SKIP) shows as skipped, never as passed: the entries per executable end with
# code 77 if nothing failed and something was skipped.
find_package(GTest QUIET)
if(NOT GTest_FOUND)
  tensormg_switched_off("all tests in C++" "install GoogleTest (libgtest-dev)")
endif()
include(GoogleTest)
# The system's interpreter first: that is the one which packages of the distribution serve.
find_program(TENSORMG_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH DOC "Interpreter of the Python tests")
find_program(TENSORMG_PYTHON python3)
if(NOT TENSORMG_PYTHON)
  tensormg_switched_off("all tests in Python" "install python3")
endif()
# tensormg_python_module(module what package): without the module, tests in Python leave something out.
function(tensormg_python_module module what package)
  execute_process(COMMAND "${TENSORMG_PYTHON}" -c "import importlib.util as u, sys; sys.exit(u.find_spec('${module}') is None)"
    RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
  if(TENSORMG_PYTHON AND missing)
    tensormg_switched_off("${what}" "install ${package}")
  endif()
endfunction()
tensormg_python_module(matplotlib "tests of plots" "Matplotlib for ${TENSORMG_PYTHON} (python3-matplotlib)")
tensormg_python_module(vtkmodules "the test that reads field output back" "VTK for ${TENSORMG_PYTHON} (python3-vtk9)")

set(tensormg_test_environment
  OMP_NUM_THREADS=1
  OPENBLAS_NUM_THREADS=1
  OMPI_ALLOW_RUN_AS_ROOT=1
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_mpi_yield_when_idle=1
  OMPI_MCA_btl_vader_single_copy_mechanism=none
  "TENSORMG_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
  "TENSORMG_BINARY_DIR=${PROJECT_BINARY_DIR}")
set(tensormg_test_timeout 300)

# Before all other libraries: deal.II's has copies of what the standard library instantiates, and a test that took one
# of those would load it, with the 200 libraries behind it, at every start (0.4 s, 500 times).
set(tensormg_test_runtime stdc++ m)

# Flags of mpirun that let any number of ranks start anywhere.
set(tensormg_mpirun_flags "")
if(MPI_CXX_LIBRARY_VERSION_STRING MATCHES "Open MPI" OR MPIEXEC_EXECUTABLE MATCHES "openmpi|orterun")
  set(tensormg_mpirun_flags --oversubscribe --bind-to none)
else()
  execute_process(COMMAND "${MPIEXEC_EXECUTABLE}" --version OUTPUT_VARIABLE mpirun_version ERROR_QUIET)
  if(mpirun_version MATCHES "Open MPI|OpenRTE")
    set(tensormg_mpirun_flags --oversubscribe --bind-to none)
  endif()
endif()

# tensormg_discover_tests(target name label...): one ctest entry per test case of the executable.
function(tensormg_discover_tests target name)
  gtest_discover_tests(${target} TEST_PREFIX "${name}." TEST_LIST ${target}_cases NO_PRETTY_VALUES
    DISCOVERY_TIMEOUT 60 WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  # Properties that are lists do not survive gtest_discover_tests(): ctest sets them with this file.
  set(properties "LABELS [[${ARGN}]] ENVIRONMENT [[${tensormg_test_environment}]]"
    " TIMEOUT ${tensormg_test_timeout}")
  if("gpu" IN_LIST ARGN)
    list(APPEND properties " RESOURCE_LOCK gpu")
  endif()
  if("emulation" IN_LIST ARGN) # the longest tests first, so that no core waits at the end
    list(APPEND properties " COST 1")
  endif()
  list(JOIN properties "" properties)
  set(file "${PROJECT_BINARY_DIR}/tests/${target}-properties.cmake")
  file(WRITE "${file}" "foreach(case IN LISTS ${target}_cases)\n"
    "  set_tests_properties(\"\${case}\" PROPERTIES ${properties})\nendforeach()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${file}")
endfunction()

# tensormg_start_alone(entry): a temporary directory of its own for a test that starts MPI. Open MPI 4 makes and
# removes one directory for all jobs of a user, so two that start at once may fail (Open MPI issue 8510).
function(tensormg_start_alone entry)
  set(folder "${PROJECT_BINARY_DIR}/tests/tmp/${entry}")
  file(MAKE_DIRECTORY "${folder}")
  set_property(TEST ${entry} APPEND PROPERTY ENVIRONMENT "TMPDIR=${folder}")
endfunction()

# tensormg_ranks_of(file result): the numbers of ranks that a test in C++ names, 0 if it names none; a change of that line configures again.
function(tensormg_ranks_of file result)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(STRINGS "${file}" lines LIMIT_COUNT 5)
  set(ranks 0)
  if(lines MATCHES "// ranks:([ 0-9]+)")
    string(STRIP "${CMAKE_MATCH_1}" ranks)
    string(REGEX REPLACE " +" ";" ranks "${ranks}")
  endif()
  set(${result} "${ranks}" PARENT_SCOPE)
endfunction()

# add_unit_test(file): one source file, see the top of this file.
function(add_unit_test file)
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${PROJECT_SOURCE_DIR}/tests" OUTPUT_VARIABLE relative)
  cmake_path(GET relative PARENT_PATH folder)
  cmake_path(GET relative STEM stem)
  string(REPLACE "/" "-" folder_name "${folder}")
  string(REGEX REPLACE "_test$" "" stem "${stem}")
  string(REGEX MATCH "^[^/]+" top "${folder}")
  set(name "${folder_name}-${stem}")

  set(labels ${top})
  if(top MATCHES "^(kernels|solvers|tools)$")
    list(APPEND labels host)
  endif()
  if(file MATCHES "\\.cu$")
    set(labels ${top} gpu)
  endif()

  if(file MATCHES "\\.py$")
    add_test(NAME ${name} COMMAND "${TENSORMG_PYTHON}" "${file}"
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 LABELS "${labels}"
      TIMEOUT ${tensormg_test_timeout} ENVIRONMENT "${tensormg_test_environment}")
    if(NOT top STREQUAL "tools") # those start no MPI, and look at folders of their own as at a source tree
      tensormg_start_alone(${name})
    endif()
    return()
  endif()

  tensormg_ranks_of("${file}" ranks)

  set(target test-${name})
  add_executable(${target} "${file}")
  set(code calling_code)
  set(libraries tensormg_test_libraries)
  # Tests that compute little: of programs, and of maps that are known when they are compiled.
  if(top STREQUAL "apps")
    set(code program_code)
  elseif(top STREQUAL "kernels")
    set(code kernel_tests)
    set(libraries tensormg_kernel_test_libraries)
  endif()
  target_link_libraries(${target} PRIVATE ${tensormg_test_runtime} ${libraries} tensormg_warnings tensormg_${code})
  # Where a test has no device code, nvcc would take twice as long.
  set(is_cpp TRUE)
  if(file MATCHES "\\.cu$")
    file(STRINGS "${file}" device_code LIMIT_COUNT 1 REGEX "\\.cuh\"|__global__")
    if(device_code)
      set(is_cpp FALSE)
    else()
      set_source_files_properties("${file}" PROPERTIES LANGUAGE CXX)
    endif()
  endif()
  if(is_cpp)
    target_precompile_headers(${target} REUSE_FROM tensormg_precompiled_${code})
  endif()
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")

  if("gpu" IN_LIST labels)
    add_dependencies(gpu_tests ${target})
  elseif("host" IN_LIST labels)
    add_dependencies(host_tests ${target})
  endif()

  if(ranks EQUAL 0 AND top MATCHES "^(kernels|solvers)$")
    target_link_libraries(${target} PRIVATE GTest::gtest_main)
    if(TENSORMG_SANITIZE)
      add_test(NAME ${name} COMMAND ${target} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
      set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${tensormg_test_timeout}
        ENVIRONMENT "${tensormg_test_environment}" SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
      return()
    endif()
    tensormg_discover_tests(${target} ${name} ${labels})
    return()
  endif()

  target_link_libraries(${target} PRIVATE tensormg_mpi_main)
  foreach(n IN LISTS ranks)
    if(n EQUAL 0)
      set(entry ${name})
      add_test(NAME ${entry} COMMAND ${target} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
      set(entry_labels ${labels})
    else()
      set(entry ${name}.ranks${n})
      add_test(NAME ${entry}
        COMMAND "${MPIEXEC_EXECUTABLE}" ${tensormg_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} ${n}
                $<TARGET_FILE:${target}>
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
      set_tests_properties(${entry} PROPERTIES PROCESSORS ${n})
      set(entry_labels ${labels} mpi)
      if(n EQUAL 1 AND 2 IN_LIST ranks)
        list(APPEND entry_labels also_with_2_ranks)
      endif()
    endif()
    set_tests_properties(${entry} PROPERTIES LABELS "${entry_labels}" SKIP_RETURN_CODE 77
      TIMEOUT ${tensormg_test_timeout} ENVIRONMENT "${tensormg_test_environment}")
    tensormg_start_alone(${entry})
    if("gpu" IN_LIST labels)
      set_tests_properties(${entry} PROPERTIES RESOURCE_LOCK gpu)
    endif()
  endforeach()
endfunction()

# GoogleTest is parsed once, not for every test. By a program, as the tests are: flags must be the same.
set(tensormg_precompiled_source "${PROJECT_BINARY_DIR}/tests/precompiled.cc")
file(CONFIGURE OUTPUT "${tensormg_precompiled_source}" CONTENT "int main() {}\n")

# What tests in C++ are linked with.
function(tensormg_add_test_libraries folder)
  add_library(tensormg_test_libraries INTERFACE)
  target_link_libraries(tensormg_test_libraries INTERFACE tensormg_programs tensormg_dealii GTest::gtest)
  if(TARGET tensormg_gmsh)
    target_link_libraries(tensormg_test_libraries INTERFACE tensormg_gmsh)
  endif()
  # What several tests share: tests/support/*.cc (mpi_main.cc is linked by the tests with MPI only).
  file(GLOB support CONFIGURE_DEPENDS "${folder}/support/*.cc")
  list(FILTER support EXCLUDE REGEX "/mpi_main\\.cc$")
  if(support)
    add_library(tensormg_test_support ${support})
    target_link_libraries(tensormg_test_support PUBLIC tensormg_apps tensormg_dealii GTest::gtest)
    target_link_libraries(tensormg_test_support PRIVATE tensormg_warnings tensormg_calling_code)
    target_link_libraries(tensormg_test_libraries INTERFACE tensormg_test_support)
    if(TENSORMG_SANITIZE) # little but deal.II's templates, which take minutes with checks
      set_source_files_properties("${folder}/support/sipg_oracle.cc" "${folder}/support/dealii_krylov.cc"
        PROPERTIES COMPILE_OPTIONS -fno-sanitize=all)
    endif()
  endif()
  # Tests of the kernels use parts of operators/ without deal.II. Its 200 libraries, which a linker opens for each program, stand
  # behind the target; so the library is named by its file.
  add_library(tensormg_kernel_test_libraries INTERFACE)
  target_link_libraries(tensormg_kernel_test_libraries INTERFACE "$<TARGET_FILE:tensormg_operators>"
    tensormg_solvers tensormg_kernels MPI::MPI_CXX LAPACK::LAPACK GTest::gtest)
  add_dependencies(tensormg_kernel_test_libraries tensormg_operators)
  add_library(tensormg_kernel_tests INTERFACE)
  target_link_libraries(tensormg_kernel_tests INTERFACE tensormg_calling_code)

  add_library(tensormg_mpi_main OBJECT "${folder}/support/mpi_main.cc")
  target_link_libraries(tensormg_mpi_main PUBLIC GTest::gtest MPI::MPI_CXX
    PRIVATE tensormg_options tensormg_warnings)

  foreach(code IN ITEMS calling_code program_code kernel_tests)
    set(name tensormg_precompiled_${code})
    set(libraries tensormg_test_libraries)
    if(code STREQUAL "kernel_tests")
      set(libraries tensormg_kernel_test_libraries)
    endif()
    add_executable(${name} EXCLUDE_FROM_ALL "${tensormg_precompiled_source}")
    target_link_libraries(${name} PRIVATE ${libraries} tensormg_warnings tensormg_${code})
    target_precompile_headers(${name} PRIVATE <gtest/gtest.h>)
  endforeach()
endfunction()

# Registers everything below `folder`.
function(tensormg_add_tests folder)
  set(patterns "")
  if(TENSORMG_PYTHON)
    list(APPEND patterns "${folder}/*_test.py")
  endif()
  if(GTest_FOUND)
    tensormg_add_test_libraries("${folder}")
    list(APPEND patterns "${folder}/*_test.cc")
  endif()
  add_custom_target(host_tests) # the executables of label host but the emulated ones
  if(TENSORMG_CUDA_ENABLED)
    add_custom_target(gpu_tests) # the executables of label gpu
    if(GTest_FOUND)
      list(APPEND patterns "${folder}/*_test.cu")
    endif()
  endif()
  set(files "")
  if(patterns)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${patterns})
  endif()
  if(NOT TARGET tensormg_gmsh)
    list(FILTER files EXCLUDE REGEX "/gmsh_[a-z]+_test\\.cc$")
  endif()
  if(NOT TENSORMG_CUDA_ENABLED)
    list(FILTER files EXCLUDE REGEX "_cuda_test\\.py$")
  endif()
  if(TENSORMG_SANITIZE) # constant maps, which have no memory to be wrong about
    list(FILTER files EXCLUDE REGEX "/(march/schedule|mma/fragment|mma/layout|tensor/layout)_test\\.cc$")
  endif()
  if(NOT TENSORMG_MEASURING)
    list(FILTER files EXCLUDE REGEX "${tensormg_measuring_sources}")
  endif()
  foreach(file IN LISTS files)
    add_unit_test("${file}")
  endforeach()
endfunction()
