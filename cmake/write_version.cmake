# Script (cmake -P) that writes version.h; the arguments are in version.cmake.
set(git_hash "unknown")
find_program(git git)
if(git AND EXISTS "${source_dir}/.git")
  execute_process(COMMAND "${git}" -C "${source_dir}" describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE described RESULT_VARIABLE result ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(result EQUAL 0)
    set(git_hash "${described}")
  endif()
endif()
configure_file("${CMAKE_CURRENT_LIST_DIR}/version.h.in" "${output}" @ONLY)
