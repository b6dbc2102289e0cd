# What `make install` puts where: headers, both libraries, the programs, docs with the paper's recipes, nade.pc, and a
# CMake package (nade::nade is the shared library, nade::static the static one); Manual.cmake adds pages and completion.
# Both package files find their folder by themselves, so a prefix given at install time, or moved later, is right.
include(CMakePackageConfigHelpers)

install(TARGETS nade_shared nade_static EXPORT nade)
install(TARGETS nade_command nade_paper)
install(DIRECTORY include/nade TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE NOTICE SECURITY.md TYPE DOC)

# Help texts and messages name pages of docs, and those tell to copy a recipe and to check data.
install(DIRECTORY docs TYPE DOC)
set(paper_folder ${CMAKE_INSTALL_DOCDIR}/paper)
install(DIRECTORY paper/recipes DESTINATION ${paper_folder})
install(FILES paper/data-checksums.txt paper/curve.json DESTINATION ${paper_folder})
install(PROGRAMS paper/check-data DESTINATION ${paper_folder})

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/nade)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nade-config-version.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT nade NAMESPACE nade:: FILE nade-targets.cmake DESTINATION ${package_folder})
install(FILES cmake/nade-config.cmake ${PROJECT_BINARY_DIR}/nade-config-version.cmake DESTINATION ${package_folder})

set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${pkgconfig_folder}
           OUTPUT_VARIABLE prefix_from_pkgconfig)
configure_file(cmake/nade.pc.in nade.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/nade.pc DESTINATION ${pkgconfig_folder})
