# The host kernels in vector code as a shared library of their own, once for each level of x86-64: the dynamic loader
# (glibc 2.33 or newer; older ones take the first) chooses by the processor when a program starts. To choose by hand:
#   LD_LIBRARY_PATH=LIB/glibc-hwcaps/x86-64-v3 PROGRAM
set(TENSORMG_PORTABLE_LEVELS x86-64 x86-64-v3 x86-64-v4)

# tensormg_portable_kernels(LIST): takes those files out of the list; adds the library tensormg_simd and its siblings.
# All other code stays what every processor runs.
function(tensormg_portable_kernels list)
  set(files ${${list}})
  list(FILTER files INCLUDE REGEX "/(cpu|pack_traces|cpu_partial)\\.cc$|/laplace/cpu/")
  list(REMOVE_ITEM ${list} ${files})
  set(${list} ${${list}} PARENT_SCOPE)
  foreach(level IN LISTS TENSORMG_PORTABLE_LEVELS)
    set(library tensormg_simd)
    set(folder "${PROJECT_BINARY_DIR}/lib")
    if(NOT level STREQUAL x86-64)
      string(APPEND library "_${level}")
      string(APPEND folder "/glibc-hwcaps/${level}")
    endif()
    add_library(${library} SHARED ${files})
    target_link_libraries(${library} PUBLIC tensormg_options PRIVATE tensormg_warnings LAPACK::LAPACK)
    target_include_directories(${library} PUBLIC "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
    # Vectors wider than the registers of a level never cross a function call.
    target_compile_options(${library} PRIVATE "-march=${level}" -Wno-psabi)
    # Inline functions of the same name in the program are compiled for any processor: the library takes its own.
    target_link_options(${library} PRIVATE -Wl,-Bsymbolic -Wl,--no-undefined)
    set_target_properties(${library} PROPERTIES
      OUTPUT_NAME tensormg_simd LIBRARY_OUTPUT_DIRECTORY "${folder}")
    if(NOT library STREQUAL tensormg_simd)
      add_dependencies(tensormg_simd ${library})
    endif()
  endforeach()
endfunction()
