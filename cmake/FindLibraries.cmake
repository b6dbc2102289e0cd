# Finds Jansson, libjpeg, libpng and zlib, or ends with the name of the Debian package that is missing.

# nade_find(<variable> <package> path|library ...) is find_path or find_library with that message.
macro(nade_find variable package kind)
    cmake_language(CALL find_${kind} ${variable} ${ARGN})
    if(NOT ${variable})
        message(FATAL_ERROR "${variable} was not found: install Debian's package ${package}, or set it with "
                            "-D${variable}=... if you have it elsewhere.")
    endif()
    mark_as_advanced(${variable})
endmacro()

nade_find(ZLIB_INCLUDE_DIR zlib1g-dev path NAMES zlib.h)
nade_find(ZLIB_LIBRARY zlib1g-dev library NAMES z)
if(NADE_PYTHON)
    return()
endif()

# For the programs alone: the library has JSON of its own (src/base/json.h).
nade_find(JANSSON_INCLUDE_DIR libjansson-dev path NAMES jansson.h)
nade_find(JANSSON_STATIC_LIBRARY libjansson-dev library NAMES libjansson.a jansson)
nade_find(ZLIB_STATIC_LIBRARY zlib1g-dev library NAMES libz.a z)
nade_find(PNG_INCLUDE_DIR libpng-dev path NAMES png.h)
nade_find(PNG_LIBRARY libpng-dev library NAMES png16 png)
nade_find(PNG_STATIC_LIBRARY libpng-dev library NAMES libpng16.a libpng.a png16 png)
nade_find(JPEG_INCLUDE_DIR libjpeg62-turbo-dev path NAMES jpeglib.h)
nade_find(JPEG_LIBRARY libjpeg62-turbo-dev library NAMES jpeg)
nade_find(JPEG_STATIC_LIBRARY libjpeg62-turbo-dev library NAMES libjpeg.a jpeg)
