# The CUDA backend: libnade_cuda.so from src/backend/cuda, which the library opens at run time.  C files go to the C
# compiler, *.cu to nvcc by plain commands: no CUDA language, so that any CMake and toolkit that can do C11 and C++17
# will do.  The runtime is linked in, cuBLASLt is not: it has hundreds of megabytes.
set(NADE_CUDA_ARCHITECTURES 80 90 CACHE STRING "Compute capabilities to compile for; the last one also as PTX, for later chips")
set(NADE_CUDA_FLAGS "" CACHE STRING "More flags for nvcc")

nade_find(NVCC "nvidia-cuda-toolkit or NVIDIA's CUDA toolkit" program NAMES nvcc PATHS /usr/local/cuda/bin)
file(REAL_PATH ${NVCC} nvcc_file)
cmake_path(GET nvcc_file PARENT_PATH toolkit)
cmake_path(GET toolkit PARENT_PATH toolkit)
set(toolkit_libraries HINTS ${toolkit} PATH_SUFFIXES lib64 targets/${CMAKE_SYSTEM_PROCESSOR}-linux/lib)
nade_find(CUDA_INCLUDE_DIR "nvidia-cuda-toolkit or NVIDIA's CUDA toolkit" path NAMES cublasLt.h HINTS ${toolkit}
          PATH_SUFFIXES include targets/${CMAKE_SYSTEM_PROCESSOR}-linux/include)
nade_find(CUDART_LIBRARY "nvidia-cuda-toolkit or NVIDIA's CUDA toolkit" library NAMES libcudart_static.a
          ${toolkit_libraries})
nade_find(CUBLASLT_LIBRARY "nvidia-cuda-toolkit or NVIDIA's CUDA toolkit" library NAMES cublasLt ${toolkit_libraries})

# No -Wshadow: CUDA's own headers take short names such as `half`.
set(nvcc_flags -std=c++17 -O3 -Xcompiler=-fPIC,-fvisibility=hidden,-ffp-contract=off,-Wall,-Wextra
               -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src)
foreach(flag IN LISTS hardening_flags)
    list(APPEND nvcc_flags -Xcompiler=${flag})
endforeach()
if(NADE_WERROR)
    list(APPEND nvcc_flags -Werror all-warnings -Xcompiler=-Werror)
endif()
foreach(number IN LISTS NADE_CUDA_ARCHITECTURES)
    list(APPEND nvcc_flags -gencode arch=compute_${number},code=sm_${number})
endforeach()
list(GET NADE_CUDA_ARCHITECTURES -1 number)
list(APPEND nvcc_flags -gencode arch=compute_${number},code=compute_${number} ${NADE_CUDA_FLAGS})

file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backend/cuda/*.c)
file(GLOB_RECURSE cuda_kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backend/cuda/*.cu)
set(kernel_objects "")
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/cuda_kernels)
foreach(kernel IN LISTS cuda_kernels)
    cmake_path(GET kernel STEM stem)
    set(object ${PROJECT_BINARY_DIR}/cuda_kernels/${stem}.o)
    add_custom_command(OUTPUT ${object} DEPENDS ${kernel} DEPFILE ${object}.d VERBATIM
                       COMMAND ${NVCC} ${nvcc_flags} -MD -MF ${object}.d -MT ${object} -c ${kernel} -o ${object})
    list(APPEND kernel_objects ${object})
endforeach()

cmake_path(GET CUBLASLT_LIBRARY PARENT_PATH cublaslt_folder)

# What an object needs of the library it has inside, hidden like the runtime: nothing but nade_cuda_object is exported.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/backend/cuda/cuda_entries.c PROPERTIES
                            COMPILE_DEFINITIONS NADE_BUILD="${NADE_BUILD}")
function(nade_link_cuda object)
    target_include_directories(${object} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_include_directories(${object} SYSTEM PRIVATE ${CUDA_INCLUDE_DIR})
    target_link_options(${object} PRIVATE LINKER:--exclude-libs,ALL LINKER:--no-undefined LINKER:--as-needed)
    target_link_libraries(${object} PRIVATE $<TARGET_FILE:nade_static> ${CUDART_LIBRARY} ${CUBLASLT_LIBRARY} stdc++ m rt
                                            Threads::Threads ${CMAKE_DL_LIBS})
    add_dependencies(${object} nade_static)
    set_target_properties(${object} PROPERTIES C_VISIBILITY_PRESET hidden BUILD_WITH_INSTALL_RPATH ON
                                               INSTALL_RPATH "$ORIGIN;${cublaslt_folder};/usr/local/cuda/lib64")
endfunction()

add_library(nade_cuda MODULE ${cuda_sources} ${kernel_objects})
nade_link_cuda(nade_cuda)
install(TARGETS nade_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/nade)

# cuda_mutants/FAULT/libnade_cuda.so: the object with one seeded fault of cuda_fault.h each.  The file that has the fault is
# compiled anew, all others are those above; symbols are left out, since they travel to a machine with a device.
function(nade_add_cuda_mutant fault number)
    set(file "")
    foreach(source IN LISTS cuda_sources cuda_kernels)
        file(STRINGS ${source} found REGEX "ND_CUDA_FAULT\\(${fault}\\)")
        if(found)
            list(APPEND file ${source})
        endif()
    endforeach()
    list(LENGTH file files)
    if(NOT files EQUAL 1)
        message(FATAL_ERROR "${fault} is in ${files} files of src/backend/cuda, expected one .c or .cu: ${file}")
    endif()
    cmake_path(GET file STEM stem)
    set(sources ${cuda_sources})
    set(objects ${kernel_objects})
    if(file MATCHES "cu$")
        set(object ${PROJECT_BINARY_DIR}/cuda_mutants/${fault}/${stem}.o)
        add_custom_command(OUTPUT ${object} DEPENDS ${file} ${PROJECT_BINARY_DIR}/cuda_kernels/${stem}.o VERBATIM
                           COMMAND ${NVCC} ${nvcc_flags} -DNADE_FAULT=${number} -c ${file} -o ${object})
        list(REMOVE_ITEM objects ${PROJECT_BINARY_DIR}/cuda_kernels/${stem}.o)
        list(APPEND objects ${object})
    else()
        list(REMOVE_ITEM sources ${file})
        add_library(${fault}_file OBJECT EXCLUDE_FROM_ALL ${file})
        target_compile_definitions(${fault}_file PRIVATE NADE_FAULT=${number})
        target_include_directories(${fault}_file PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
        target_include_directories(${fault}_file SYSTEM PRIVATE ${CUDA_INCLUDE_DIR})
        set_target_properties(${fault}_file PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
        list(APPEND objects $<TARGET_OBJECTS:${fault}_file>)
    endif()
    add_library(${fault} MODULE EXCLUDE_FROM_ALL ${sources} ${objects})
    nade_link_cuda(${fault})
    target_link_options(${fault} PRIVATE LINKER:-s)
    set_target_properties(${fault} PROPERTIES OUTPUT_NAME nade_cuda LIBRARY_OUTPUT_DIRECTORY
                                              ${PROJECT_BINARY_DIR}/cuda_mutants/${fault})
    add_dependencies(${fault} nade_cuda) # whose kernels are made once, before
    add_dependencies(nade_cuda_mutants ${fault})
endfunction()

add_custom_target(nade_cuda_mutants)
file(STRINGS ${PROJECT_SOURCE_DIR}/src/backend/cuda/cuda_fault.h faults REGEX "^ *FAULT_CUDA_[A-Z_]+ = ")
foreach(line IN LISTS faults)
    string(REGEX MATCH "(FAULT_CUDA_[A-Z_]+) = ([0-9]+)" matched "${line}")
    nade_add_cuda_mutant(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
endforeach()
