# Read by llama.cpp's build (CMAKE_PROJECT_INCLUDE, set by scripts/lib/rust.bash): leaves out what
# the built-in engine never calls. Of llama.cpp's `common` it needs the grammar of a JSON schema and
# what that draws in; the rest is its command line, chat formats, templates and downloads, which
# take longer to compile than all of its models. Without this file the same program is built, more slowly.
# What changes here takes effect in a clean target folder: the bindings do not watch it.
if(PROJECT_NAME STREQUAL "llama.cpp")
    # Several sources at once share the reading of the headers.
    set(CMAKE_UNITY_BUILD ON)

    function(natter_leave_out)
        if(NOT TARGET llama-common)
            return()
        endif()
        get_target_property(sources llama-common SOURCES)
        list(FILTER sources EXCLUDE REGEX
            "(^|/)(arg|chat|chat-.*|console|debug|download|hf-cache|imatrix-loader|peg-parser|preset|subproc)\\.cpp$|(^|/)(jinja|parsers)/")
        set_target_properties(llama-common PROPERTIES SOURCES "${sources}" UNITY_BUILD OFF)
        get_target_property(libraries llama-common LINK_LIBRARIES)
        list(FILTER libraries EXCLUDE REGEX "cpp-httplib")
        set_target_properties(llama-common PROPERTIES LINK_LIBRARIES "${libraries}")
        if(TARGET cpp-httplib)
            set_target_properties(cpp-httplib PROPERTIES EXCLUDE_FROM_ALL ON)
        endif()
    endfunction()
    cmake_language(DEFER CALL natter_leave_out)
endif()
