# Manual pages and shell completion, written by the command itself from its option tables.  A verb is a file cli/verb_*.c,
# and its page is nade-VERB.1.
set(manual_folder ${PROJECT_BINARY_DIR}/share)
set(manual_pages "")

# nade_manual(<file> <words of nade help>...) makes that file of the folder and installs it under share.
function(nade_manual file)
    set(path ${manual_folder}/${file})
    cmake_path(GET path PARENT_PATH folder)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${path} COMMAND nade_command help ${ARGN} > ${path} DEPENDS nade_command VERBATIM)
    cmake_path(GET file PARENT_PATH place)
    install(FILES ${path} DESTINATION ${CMAKE_INSTALL_DATADIR}/${place})
    list(APPEND manual_pages ${path})
    set(manual_pages ${manual_pages} PARENT_SCOPE)
endfunction()

nade_manual(man/man1/nade.1 --man)
file(GLOB verb_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/verb_*.c ${PROJECT_SOURCE_DIR}/paper/verb_*.c)
foreach(source IN LISTS verb_sources)
    cmake_path(GET source STEM stem)
    string(REGEX REPLACE "^verb_" "" verb ${stem})
    nade_manual(man/man1/nade-${verb}.1 --man ${verb})
endforeach()
nade_manual(bash-completion/completions/nade --completion bash)
nade_manual(zsh/site-functions/_nade --completion zsh)

add_custom_target(nade_manual ALL DEPENDS ${manual_pages})
