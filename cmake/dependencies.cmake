# The libraries from outside: MPI, LAPACK, zlib, deal.II (as tensormg_dealii), nlohmann-json, CLI11 and, if found, Gmsh.
set(MPI_CXX_SKIP_MPICXX ON) # the deprecated C++ bindings
find_package(MPI REQUIRED COMPONENTS CXX)
find_package(LAPACK REQUIRED)
find_package(ZLIB REQUIRED) # compresses what ParaView reads

# Header-only libraries: their CMake package, or just the header somewhere in the prefix path.
function(tensormg_header_library package target header)
  find_package(${package} QUIET)
  if(NOT TARGET ${target})
    find_path(${package}_INCLUDE_DIR ${header})
    if(NOT ${package}_INCLUDE_DIR)
      message(FATAL_ERROR "${header} not found: install ${package} or extend CMAKE_PREFIX_PATH")
    endif()
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} SYSTEM INTERFACE "${${package}_INCLUDE_DIR}")
  else()
    set_target_properties(${target} PROPERTIES IMPORTED_GLOBAL TRUE)
  endif()
endfunction()
tensormg_header_library(nlohmann_json nlohmann_json::nlohmann_json nlohmann/json.hpp)
tensormg_header_library(CLI11 CLI11::CLI11 CLI/CLI.hpp)

# muParser evaluates the expressions; deal.II brings it, but does not hand on its header.
find_path(MUPARSER_INCLUDE_DIR muParser.h)
find_library(MUPARSER_LIBRARY muparser)
if(NOT MUPARSER_INCLUDE_DIR OR NOT MUPARSER_LIBRARY)
  message(FATAL_ERROR "muParser not found: install libmuparser-dev or extend CMAKE_PREFIX_PATH")
endif()
add_library(tensormg_muparser INTERFACE)
target_include_directories(tensormg_muparser SYSTEM INTERFACE "${MUPARSER_INCLUDE_DIR}")
target_link_libraries(tensormg_muparser INTERFACE "${MUPARSER_LIBRARY}")

# Gmsh reads its mesh files; a deal.II that was built with it brings it.
find_path(GMSH_INCLUDE_DIR gmsh.h)
find_library(GMSH_LIBRARY gmsh)
if(GMSH_INCLUDE_DIR AND GMSH_LIBRARY)
  add_library(tensormg_gmsh INTERFACE)
  target_include_directories(tensormg_gmsh SYSTEM INTERFACE "${GMSH_INCLUDE_DIR}")
  target_link_libraries(tensormg_gmsh INTERFACE "${GMSH_LIBRARY}")
else()
  tensormg_switched_off("mesh files of Gmsh" "install Gmsh's library (libgmsh-dev) or extend CMAKE_PREFIX_PATH")
endif()

include(dealii)
