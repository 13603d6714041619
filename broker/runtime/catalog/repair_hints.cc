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
         "move the directory partita-metadata away and start again: the broker then reads topics, configs and committed offsets "
         "from the logs "
         "__partita_catalog-0 and __consumer_offsets-*; of the offsets, only those that these logs still hold. A backup of the "
         "whole data directory has everything"},
    Hint{"/log-start-offset-checkpoint",
         "move it away and start again: clients can then read records again that kafka-delete-records deleted and that a segment "
         "still holds"},
    Hint{"/recovery-point-offset-checkpoint",
         "move it away and start again: the broker then checks every log from its beginning"},
    Hint{"/partita.properties",
         "it holds the format of the directory; write the line format.version=1 into it if a Partita of this version created it, "
         "or restore it from a backup. It holds no topics and no records"},
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
