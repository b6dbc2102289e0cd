# find_package(nade) gives nade::nade (shared) and nade::static.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/nade-targets.cmake)
