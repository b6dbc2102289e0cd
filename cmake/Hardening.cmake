# What makes a mistake in memory end the program instead of handing it over: on unless NADE_HARDEN=OFF, each flag where
# the compiler has it.  tools/check-hardening looks at the built files.
include(CheckCCompilerFlag)
include(CheckPIESupported)

option(NADE_HARDEN "Build with stack protector, fortified libc calls, full RELRO and control-flow protection" ON)
if(NOT NADE_HARDEN)
    return()
endif()

check_pie_supported(LANGUAGES C)
set(control_flow -fcf-protection=full)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(control_flow -mbranch-protection=standard)
endif()
foreach(flag -fstack-protector-strong -fstack-clash-protection ${control_flow})
    string(MAKE_C_IDENTIFIER "has${flag}" has)
    check_c_compiler_flag(${flag} ${has})
    if(${has})
        add_compile_options(${flag})
        list(APPEND hardening_flags ${flag})
    endif()
endforeach()

# Fortified calls need an optimising compiler, and the sanitizers look at the plain ones.  Level 3 also knows sizes that are
# only known at run time.  Debian's own builds may bring a level: it is taken back first.
if(NOT NADE_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL Debug)
    add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
    list(APPEND hardening_flags -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
endif()
add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
