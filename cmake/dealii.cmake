# tensormg_dealii: deal.II's headers (as system headers) and library, nothing else.
#
# deal.II's package wants to own the project: it hands on its language standard, optimisation and
# warning flags and overwrites variables such as CMAKE_CUDA_ARCHITECTURES. This file takes what a user
# of the headers needs; the function keeps the package's variables to itself. Works with deal.II 9.4
# (described by variables) and 9.5+ (by targets).
include(CheckLinkerFlag)

function(tensormg_find_dealii)
  find_package(deal.II 9.4 QUIET HINTS "${DEAL_II_DIR}" "$ENV{DEAL_II_DIR}")
  if(NOT deal.II_FOUND)
    message(FATAL_ERROR "deal.II 9.4 or newer not found: install libdeal.ii-dev or set DEAL_II_DIR")
  endif()
  if(NOT DEAL_II_WITH_MPI)
    message(FATAL_ERROR "deal.II at ${DEAL_II_PATH} is built without MPI")
  endif()

  # deal.II's own checks go with its debug library.
  set(variant RELEASE)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND DEAL_II_BUILD_TYPE MATCHES "Debug")
    set(variant DEBUG)
  endif()
  message(STATUS "deal.II ${DEAL_II_PACKAGE_VERSION} (${variant}) at ${DEAL_II_PATH}")

  add_library(tensormg_dealii INTERFACE)
  target_link_libraries(tensormg_dealii INTERFACE MPI::MPI_CXX)
  if(DEAL_II_PACKAGE_VERSION VERSION_LESS 9.5)
    foreach(directory IN LISTS DEAL_II_INCLUDE_DIRS)
      if(IS_DIRECTORY "${directory}")
        target_include_directories(tensormg_dealii SYSTEM INTERFACE "${directory}")
      endif()
    endforeach()
    target_compile_definitions(tensormg_dealii INTERFACE
      ${DEAL_II_USER_DEFINITIONS} ${DEAL_II_USER_DEFINITIONS_${variant}})
    # All of them, since the headers call some inline; the linker keeps those in use.
    target_link_libraries(tensormg_dealii INTERFACE ${DEAL_II_LIBRARIES_${variant}})
  else()
    # Remove the flags from the target and from every deal.II target behind it.
    set(todo ${DEAL_II_TARGET_${variant}})
    set(done "")
    while(todo)
      list(POP_FRONT todo target)
      if(TARGET ${target} AND NOT target IN_LIST done)
        list(APPEND done ${target})
        set_target_properties(${target} PROPERTIES
          INTERFACE_COMPILE_OPTIONS "" INTERFACE_LINK_OPTIONS "")
        get_target_property(behind ${target} INTERFACE_LINK_LIBRARIES)
        string(REGEX MATCHALL "dealii::[A-Za-z0-9_.]+" behind "${behind}")
        list(APPEND todo ${behind})
      endif()
    endwhile()
    target_link_libraries(tensormg_dealii INTERFACE ${DEAL_II_TARGET_${variant}})
  endif()

  # Some 200 shared libraries stand behind a distribution's deal.II: a link costs bfd 9 s of CPU time, gold 1.6 s,
  # lld 0.5 s.
  foreach(linker IN ITEMS lld gold)
    string(TOUPPER "TENSORMG_HAVE_${linker}" found)
    if(NOT ${found}) # it may have been installed since
      unset(${found} CACHE)
    endif()
    check_linker_flag(CXX -fuse-ld=${linker} ${found})
    if(${found})
      target_link_options(tensormg_dealii INTERFACE "$<$<LINK_LANGUAGE:CXX>:-fuse-ld=${linker}>")
      break()
    endif()
  endforeach()

  # Its headers insist on the vector instructions that the library was built with. `native` has them,
  # since the library runs here; any other choice gets deal.II's own flag where deal.II is used.
  string(REGEX MATCH "-march=[^ ]+" march "${DEAL_II_CXX_FLAGS}")
  if(march AND NOT TENSORMG_ARCH STREQUAL "native")
    target_compile_options(tensormg_dealii INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${march}>")
  endif()
endfunction()
tensormg_find_dealii()
