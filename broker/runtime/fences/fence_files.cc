#include "broker/runtime/fences/fence_files.h"

#include <utility>

#include "broker/config/log_setup.h"
#include "protocol/byte_buffer.h"
#include "protocol/crc32c.h"
#include "protocol/try.h"

namespace partita::runtime {
namespace {

constexpr std::string_view kDirectory = "partita-fences";
constexpr std::size_t kChecksumBytes = 4;

void warn(std::string_view name, std::string_view reason) {
    log::warning("expansion", "cannot read a stored fence; records of an expansion may reach groups out of order",
                 {{"topic_id", name}, {"reason", reason}});
}

std::expected<insight::Fence, std::string> decode(std::string_view content, TimestampMs now) {
    if (content.size() < kChecksumBytes) {
        return std::unexpected("the file is too short for a checksum");
    }
    const std::string_view fence = content.substr(kChecksumBytes);
    if (load_big_endian<std::uint32_t>(as_bytes(content).data()) != crc32c(as_bytes(fence))) {
        return std::unexpected("the checksum of the file is wrong");
    }
    return insight::Fence::decode(fence, now);
}

}  // namespace

FenceFiles::FenceFiles(FileSystem& file_system, const std::string& data_directory)
    : files_(file_system), directory_(join_path(data_directory, kDirectory)) {}

std::map<TopicId, insight::Fence> FenceFiles::load(TimestampMs now) const {
    std::map<TopicId, insight::Fence> fences;
    if (const auto exists = files_.exists(directory_); exists && !*exists) {
        return fences;
    }
    const auto entries = files_.list(directory_);
    if (!entries) {
        warn(kDirectory, entries.error().message);
        return fences;
    }
    for (const auto& [name, kind] : *entries) {
        TopicId topic;
        if (!Uuid::parse(name, topic)) {
            continue;
        }
        const auto content = read_whole_file(files_, join_path(directory_, name), kBytesMax);
        if (!content) {
            warn(name, content.error().message);
        } else if (auto fence = decode(*content, now)) {
            fences.emplace(topic, std::move(*fence));
        } else {
            warn(name, fence.error());
        }
    }
    return fences;
}

std::string FenceFiles::path_of(const TopicId& topic) const { return join_path(directory_, topic.to_string()); }

StorageResult<void> FenceFiles::store(const TopicId& topic, std::string_view encoded_fence, bool durable) {
    PARTITA_TRY(files_.make_directories(directory_));
    if (durable && !is_directory_durable_.load(std::memory_order_relaxed)) {
        // The directory may be new. Then a power failure could take it with all its files.
        PARTITA_TRY(files_.sync_directory(parent_directory(directory_)));
        is_directory_durable_.store(true, std::memory_order_relaxed);
    }
    ByteBuffer content;
    content.append_big_endian(crc32c(as_bytes(encoded_fence)));
    content.append(as_bytes(encoded_fence));
    return replace_file(files_, path_of(topic), content.bytes(), durable);
}

StorageResult<void> FenceFiles::remove(const TopicId& topic) { return files_.remove(path_of(topic)); }

}  // namespace partita::runtime
