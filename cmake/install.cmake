# What `cmake --install` puts under a prefix: the program with its man page, models and documents, and the libraries for
# C++ programs that say find_package(mckean): mckean::mckean computes, mckean::run is for threads, ranks and the store.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS mckean_program DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES docs/mckean.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(DIRECTORY models DESTINATION ${CMAKE_INSTALL_DATADIR}/mckean)
# In the layout of the sources, so that links between the pages lead somewhere.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN *.md PATTERN *.svg)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/mckean)
install(TARGETS mckean mckean_run EXPORT mckeanTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/mckean DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT mckeanTargets NAMESPACE mckean:: DESTINATION ${package_folder})
configure_package_config_file(cmake/mckeanConfig.cmake.in mckeanConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(mckeanConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mckeanConfig.cmake ${PROJECT_BINARY_DIR}/mckeanConfigVersion.cmake
  DESTINATION ${package_folder})
