# The library that programs of others call, libtensormg.so, and what find_package(tensormg) needs. Its headers are those of
# include/; what it is built from, and how it was compiled, is no concern of its users.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/package/version.cc" @ONLY
  CONTENT "#include \"tensormg/version.h\"\n\nconst char *tensormg::version() { return \"@PROJECT_VERSION@\"; }\n")
add_library(tensormg SHARED "${PROJECT_BINARY_DIR}/package/version.cc")
set_target_properties(tensormg PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
target_link_libraries(tensormg PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,tensormg_operators>")
target_compile_features(tensormg INTERFACE cxx_std_20)
target_include_directories(tensormg INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
add_library(tensormg::tensormg ALIAS tensormg)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/tensormg")
install(TARGETS tensormg EXPORT tensormgTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS tensormg-solve RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
set_target_properties(tensormg-solve PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" INSTALL_RPATH_USE_LINK_PATH ON)
if(TARGET tensormg_simd) # kernels for several processors
  install(DIRECTORY "${PROJECT_BINARY_DIR}/lib/" DESTINATION "${CMAKE_INSTALL_LIBDIR}" FILES_MATCHING PATTERN "libtensormg_simd.so")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/tensormg" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT tensormgTargets NAMESPACE tensormg:: DESTINATION "${package}")
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/package/tensormgConfig.cmake" @ONLY
  CONTENT "include(\"\${CMAKE_CURRENT_LIST_DIR}/tensormgTargets.cmake\")\n")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/tensormgConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/tensormgConfig.cmake" "${PROJECT_BINARY_DIR}/package/tensormgConfigVersion.cmake"
  DESTINATION "${package}")
