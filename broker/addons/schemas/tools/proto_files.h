#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "broker/tools/tool.h"

namespace partita::schemas {

/// A .proto file with the names of the files that it imports, without those that every compiler has.
struct ProtoFile {
    /// The name by which others import it; that of the first file is its path.
    std::string name;
    std::string text;
    std::vector<std::string> imports;
};

/// Most files that are read for one.
inline constexpr std::size_t kProtoFilesMax = 256;

/// Reads a .proto file and those that it imports, directly or through others: each after its own imports, so that the file itself
/// is the last. Looks for an import in the `directories` in their order, then beside the file. Fails for a file that is missing,
/// for files that import each other in a circle, and for a name that leads out of a directory.
[[nodiscard]] tools::Outcome<std::vector<ProtoFile>> read_proto_files(const std::string& path, const std::string& text,
                                                                      std::span<const std::string> directories);

}  // namespace partita::schemas
