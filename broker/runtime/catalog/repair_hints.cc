#include "broker/runtime/catalog/repair_hints.h"

#include <array>
#include <string_view>

namespace partita::runtime {
namespace {

struct Hint {
    /// A part of the path that precedes the message.
    std::string_view file;
    std::string_view what_to_do;
};

constexpr std::array kHints = {
    Hint{"/partita-metadata",
         "move the directory partita-metadata away and start again: topics, configs and committed offsets are read from the logs "
         "__partita_catalog-0 and __consumer_offsets-* then, and of offsets only what these still hold; a backup of the whole "
         "data "
         "directory has all"},
    Hint{"/log-start-offset-checkpoint",
         "move it away and start again: what was deleted with kafka-delete-records and is still in a segment can be read again "
         "then"},
    Hint{"/recovery-point-offset-checkpoint", "move it away and start again: every log is checked from its beginning then"},
    Hint{"/partita.properties",
         "it says which format the directory has; write the line format.version=1 into it when a Partita of this version made "
         "it, or "
         "restore it from a backup. Topics and records are not in it"},
};

}  // namespace

std::string with_repair_hint(const StorageError& error) {
    if (error.kind != StorageError::Kind::corrupt) {
        return error.message;
    }
    for (const Hint& hint : kHints) {
        if (error.message.find(hint.file) != std::string::npos) {
            return error.message + "; nothing was changed. What to do: " + std::string(hint.what_to_do);
        }
    }
    return error.message;
}

}  // namespace partita::runtime
