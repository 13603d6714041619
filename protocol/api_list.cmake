# For files NN_name.cc, one for each API: partita_api_list(TEMPLATE OUTPUT FILE...) makes OUTPUT from TEMPLATE, with the number
# and name of each API in place of @APIS@, ascending by number: `API(0, produce) API(1, fetch) ...`.
function(partita_api_list template output)
    set(numbered ${ARGN})
    list(TRANSFORM numbered REPLACE ".*/" "")
    list(FILTER numbered INCLUDE REGEX "^[0-9]+_.*\\.cc$")
    list(SORT numbered COMPARE NATURAL)
    # A number with a leading zero would be an octal one.
    list(TRANSFORM numbered REPLACE "^0*([0-9]+)_(.*)\\.cc$" "API(\\1, \\2)")
    list(JOIN numbered " \\\n    " APIS)
    configure_file(${template} ${output} @ONLY)
endfunction()
