#include "broker/addons/schemas/tools/proto_files.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "broker/addons/schemas/core/protobuf.h"
#include "broker/tools/text.h"
#include "protocol/try.h"

namespace partita::schemas {
namespace {

using tools::failed;
using tools::Outcome;

class Reader {
  public:
    Reader(const std::string& path, std::span<const std::string> directories)
        : directories_(directories.begin(), directories.end()) {
        const auto beside = std::filesystem::path(path).parent_path();
        directories_.push_back(beside.empty() ? "." : beside.string());
    }

    [[nodiscard]] Outcome<void> add(const std::string& name, std::string text) {
        auto imports = ProtobufSchema::imports_of(text);
        if (!imports) {
            return failed(name + ": " + imports.error());
        }
        std::erase_if(*imports, [](const std::string& import) { return ProtobufSchema::is_known_file(import); });
        open_.push_back(name);
        for (const std::string& import : *imports) {
            PARTITA_TRY(add_import(import, name));
        }
        open_.pop_back();
        files_.push_back({name, std::move(text), std::move(*imports)});
        return {};
    }
    [[nodiscard]] std::vector<ProtoFile> take() { return std::move(files_); }

  private:
    [[nodiscard]] Outcome<void> add_import(const std::string& import, const std::string& by) {
        if (std::ranges::find(files_, import, &ProtoFile::name) != files_.end()) {
            return {};
        }
        if (std::ranges::find(open_, import) != open_.end()) {
            return failed(import + " imports itself, through " + by);
        }
        if (files_.size() + open_.size() >= kProtoFilesMax) {
            return failed("more than " + std::to_string(kProtoFilesMax) + " files are imported");
        }
        const std::filesystem::path name(import);
        if (name.is_absolute() || std::ranges::find(name, "..") != name.end()) {
            return failed(by + " imports " + import + ": an import is named from a directory of --import-path on");
        }
        for (const std::string& directory : directories_) {
            const std::string path = (std::filesystem::path(directory) / name).string();
            std::error_code error;
            if (std::filesystem::exists(path, error)) {
                PARTITA_TRY_ASSIGN(auto text, tools::read_file(path));
                return add(import, std::move(text));
            }
        }
        return failed(by + " imports " + import + ", which is in none of these directories: " +
                      tools::joined(directories_, ", ") + "; name its directory with --import-path");
    }

    std::vector<std::string> directories_;
    /// Files whose imports are being read.
    std::vector<std::string> open_;
    std::vector<ProtoFile> files_;
};

}  // namespace

Outcome<std::vector<ProtoFile>> read_proto_files(const std::string& path, const std::string& text,
                                                 std::span<const std::string> directories) {
    Reader reader(path, directories);
    PARTITA_TRY(reader.add(path, text));
    return reader.take();
}

}  // namespace partita::schemas
