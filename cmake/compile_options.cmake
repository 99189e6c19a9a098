# How every target of the project is compiled. tensormg_options travels with the libraries (language,
# architecture, sanitizers); tensormg_warnings applies to the project's own sources only.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "${CMAKE_CXX_COMPILER} is g++ ${CMAKE_CXX_COMPILER_VERSION}; g++ 12 or newer is needed")
endif()
if(PROJECT_BINARY_DIR STREQUAL PROJECT_SOURCE_DIR)
  message(FATAL_ERROR "Build outside the source tree: cmake --preset release")
endif()

add_library(tensormg_options INTERFACE)
target_compile_features(tensormg_options INTERFACE cxx_std_20)
target_compile_definitions(tensormg_options INTERFACE "$<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>")
if(TENSORMG_HIGHEST_DEGREE)
  target_compile_definitions(tensormg_options INTERFACE TENSORMG_HIGHEST_DEGREE=${TENSORMG_HIGHEST_DEGREE})
endif()
# In every configuration, so that kernels vectorise; nvcc hands it to its host compiler.
if(TENSORMG_ARCH AND NOT TENSORMG_ARCH STREQUAL portable)
  target_compile_options(tensormg_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-march=${TENSORMG_ARCH}>"
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-march=${TENSORMG_ARCH}>")
endif()
if(TENSORMG_SANITIZE)
  # Bad pointers are the address sanitizer's business; the first two checks double the compile time of the
  # kernels' instances, the third adds a third to it, the fourth is of the same kind. Kernels assume
  # alignment in streaming stores alone, which fault by themselves; to check it everywhere takes a fifth of the compile time.
  target_compile_options(tensormg_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TENSORMG_SANITIZE};-fno-sanitize=null,pointer-overflow,object-size,vptr,alignment;-fno-omit-frame-pointer;-fno-sanitize-recover=all>")
  target_link_options(tensormg_options INTERFACE -fsanitize=${TENSORMG_SANITIZE})
endif()
# Programs that use nothing of a large library do not load it.
target_link_options(tensormg_options INTERFACE -Wl,--as-needed)

add_library(tensormg_warnings INTERFACE)
target_compile_options(tensormg_warnings INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Werror>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra;-Werror=all-warnings>")
# GCC 12 sees overlapping copies in its own std::string (GCC bug 105651).
target_compile_options(tensormg_warnings INTERFACE
  "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>")

# Code that only calls the kernels: time to compile it counts more than its speed. Less than -Og would not do for tests,
# which sum up references: they took five times as long to run.
add_library(tensormg_calling_code INTERFACE)
# Code of the programs, which compute little themselves. With sanitizers it is not optimised: two thirds of the time, and
# nothing is optimised away before it is checked.
add_library(tensormg_program_code INTERFACE)
if(TENSORMG_SANITIZE)
  target_compile_options(tensormg_calling_code INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Og>")
  target_compile_options(tensormg_program_code INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-O0>")
else()
  target_compile_options(tensormg_calling_code INTERFACE
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>")
  target_link_libraries(tensormg_program_code INTERFACE tensormg_calling_code)
endif()
