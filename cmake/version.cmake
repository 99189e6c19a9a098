# version.h: what was built, from which commit, by which compiler. A step of every build writes it
# again, but touches the file only if it changed, so that a commit rebuilds only what prints it.
set(tensormg_flags "${CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}}")
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}" tensormg_flags)
if(TENSORMG_ARCH)
  string(APPEND tensormg_flags " -march=${TENSORMG_ARCH}")
endif()
if(TENSORMG_SANITIZE)
  string(APPEND tensormg_flags " -fsanitize=${TENSORMG_SANITIZE}")
endif()
if(TENSORMG_CUDA_ENABLED)
  set(tensormg_cuda_compiler "nvcc ${CMAKE_CUDA_COMPILER_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")
endif()

set(tensormg_generated "${PROJECT_BINARY_DIR}/generated")
set(write_version "${CMAKE_COMMAND}"
  "-Dsource_dir=${PROJECT_SOURCE_DIR}"
  "-Doutput=${tensormg_generated}/version.h"
  "-Dversion=${PROJECT_VERSION}"
  "-Dcompiler=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
  "-Dbuild_type=${CMAKE_BUILD_TYPE}"
  "-Dflags=${tensormg_flags}"
  "-Dcuda_compiler=${tensormg_cuda_compiler}"
  -P "${PROJECT_SOURCE_DIR}/cmake/write_version.cmake")
add_custom_target(tensormg_write_version
  COMMAND ${write_version}
  BYPRODUCTS "${tensormg_generated}/version.h"
  COMMENT "Checking version.h"
  VERBATIM)

add_library(tensormg_version INTERFACE)
target_include_directories(tensormg_version INTERFACE "${tensormg_generated}")
add_dependencies(tensormg_version tensormg_write_version)
