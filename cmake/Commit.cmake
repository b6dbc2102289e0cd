# Writes OUTPUT, a C file with the commit that the sources in SOURCE are of, "unknown" where git does not know; a file
# that says the same already is left alone, so that nothing is built again: cmake -P this file.
cmake_policy(VERSION 3.25)
set(commit "")
find_program(git git)
if(git AND EXISTS ${SOURCE}/.git)
    execute_process(COMMAND ${git} describe --always --dirty --exclude=* WORKING_DIRECTORY ${SOURCE}
                    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(commit STREQUAL "")
    set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
     "/* Made by cmake/Commit.cmake. */\n#include \"paper_result.h\"\n\nconst char *const paper_commit = \"@commit@\";\n"
     @ONLY)
