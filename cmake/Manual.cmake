# Manual pages and shell completion, written by the programs themselves from their option tables.  A verb is a file
# cli/verb_*.c, and its page is nade-VERB.1; nade-paper is a program of its own.
set(manual_folder ${PROJECT_BINARY_DIR}/share)
set(manual_pages "")

# nade_manual(<file> <program> <words of its help>...) makes that file of the folder and installs it under share.
function(nade_manual file program)
    set(path ${manual_folder}/${file})
    cmake_path(GET path PARENT_PATH folder)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${path} COMMAND ${program} help ${ARGN} > ${path}
                       DEPENDS nade_command nade_paper VERBATIM)
    cmake_path(GET file PARENT_PATH place)
    install(FILES ${path} DESTINATION ${CMAKE_INSTALL_DATADIR}/${place})
    list(APPEND manual_pages ${path})
    set(manual_pages ${manual_pages} PARENT_SCOPE)
endfunction()

nade_manual(man/man1/nade.1 nade_command --man)
file(GLOB verb_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/verb_*.c)
foreach(source IN LISTS verb_sources)
    cmake_path(GET source STEM stem)
    string(REGEX REPLACE "^verb_" "" verb ${stem})
    nade_manual(man/man1/nade-${verb}.1 nade_command --man ${verb})
endforeach()
nade_manual(bash-completion/completions/nade nade_command --completion bash)
nade_manual(zsh/site-functions/_nade nade_command --completion zsh)
nade_manual(man/man1/nade-paper.1 nade_paper --man)
nade_manual(bash-completion/completions/nade-paper nade_paper --completion bash)
nade_manual(zsh/site-functions/_nade-paper nade_paper --completion zsh)

add_custom_target(nade_manual ALL DEPENDS ${manual_pages})
