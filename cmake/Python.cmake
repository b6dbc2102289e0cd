# What the Python package holds beside its modules: libnade.so, under that name alone because wheels have no links, and
# where NADE_CUDA is on the CUDA backend too, without any of NVIDIA's libraries.
add_custom_target(nade_python DEPENDS nade_shared)
install(TARGETS nade_shared LIBRARY DESTINATION nade COMPONENT python)
if(NADE_CUDA)
    include(Cuda)
    add_dependencies(nade_python nade_cuda)
    install(TARGETS nade_cuda LIBRARY DESTINATION nade COMPONENT python)
endif()
