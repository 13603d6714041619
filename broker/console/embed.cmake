# cmake -DDIRECTORY=web -DADDED=FILE.js;... -DOUTPUT=console_files.cc -P embed.cmake: writes the files of the console as a C++ source.
# index.html is the first page; @VERSION@ in it becomes the hash of all files. ADDED are scripts of addons: NAME.js exports NAME, a tab of
# the broker's page. This script also writes addons.js, which lists these names.
set(EXTENSION_js "text/javascript; charset=utf-8")
set(EXTENSION_css "text/css; charset=utf-8")
set(EXTENSION_svg "image/svg+xml")
set(EXTENSION_html "text/html; charset=utf-8")

file(GLOB names RELATIVE ${DIRECTORY} ${DIRECTORY}/*.js ${DIRECTORY}/*.css ${DIRECTORY}/*.svg)
foreach(name index.html ${names})
    set(PATH_${name} ${DIRECTORY}/${name})
endforeach()
set(tabs "")
foreach(path IN LISTS ADDED)
    get_filename_component(name ${path} NAME)
    get_filename_component(tab ${path} NAME_WE)
    set(PATH_${name} ${path})
    list(APPEND names ${name})
    list(APPEND tabs "\"${tab}\"")
endforeach()
list(JOIN tabs ", " tabs)
set(PATH_addons.js ${OUTPUT}.addons.js)
file(WRITE ${PATH_addons.js} "// Tabs of the broker's page that addons bring.\nexport const kAddedTabs = [${tabs}];\n")
list(APPEND names addons.js)
list(SORT names)
set(everything "")
foreach(name index.html ${names})
    file(READ ${PATH_${name}} content)
    string(APPEND everything "${name}\n${content}")
endforeach()
string(SHA256 version "${everything}")
string(SUBSTRING ${version} 0 16 version)

function(row name out)
    file(READ ${PATH_${name}} content)
    if(content MATCHES "\\)partita\"")
        message(FATAL_ERROR "${name} contains the end of a raw string literal")
    endif()
    string(REPLACE "@VERSION@" "${version}" content "${content}")
    string(REGEX MATCH "[a-z]+$" extension ${name})
    set(${out} "{\"${name}\", \"${EXTENSION_${extension}}\", R\"partita(${content})partita\"}" PARENT_SCOPE)
endfunction()

set(rows "")
foreach(name ${names})
    row(${name} text)
    string(APPEND rows "    File${text},\n")
endforeach()
row(index.html first)
list(LENGTH names count)
file(WRITE ${OUTPUT}.new "#include \"broker/console/console_files.h\"

namespace partita::console {
namespace {

constexpr File kFirst${first};
constexpr File kFiles[${count}] = {
${rows}};

}  // namespace

const File& first_page() { return kFirst; }
std::span<const File> files() { return kFiles; }
std::string_view version() { return \"${version}\"; }

}  // namespace partita::console
")
file(RENAME ${OUTPUT}.new ${OUTPUT})
