# What this configuration leaves out because something was not found, and what would switch it on. Every search that may fail
# calls tensormg_switched_off(); the list is BUILD/switched-off.txt, which the launcher shows after the tests.
function(tensormg_switched_off what remedy)
  set_property(GLOBAL APPEND PROPERTY tensormg_switched_off "${what}: ${remedy}")
  message(STATUS "Switched off: ${what}: ${remedy}")
endfunction()

function(tensormg_write_switched_off)
  get_property(lines GLOBAL PROPERTY tensormg_switched_off)
  list(TRANSFORM lines APPEND "\n")
  list(JOIN lines "" text)
  file(WRITE "${PROJECT_BINARY_DIR}/switched-off.txt" "${text}")
endfunction()
