#include "storage/announced_removals.h"

#include <algorithm>
#include <string_view>

namespace partita {
namespace {

constexpr std::string_view kFileName = "partita-removals";
constexpr std::size_t kLargestFile = 1024 * 1024 * 1024;

}  // namespace

AnnouncedRemovals::AnnouncedRemovals(FileSystem& file_system, const std::string& directory)
    : file_system_(file_system), path_(join_path(directory, kFileName)) {}

void AnnouncedRemovals::read() {
    auto text = read_whole_file(file_system_, path_, kLargestFile);
    if (!text) {
        return;
    }
    is_on_disk_ = true;
    for (std::string_view rest = *text; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        TopicId id;
        if (Uuid::parse(rest.substr(0, end), id)) {
            removals_.emplace(id, false);
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
}

StorageResult<void> AnnouncedRemovals::write() {
    std::string text;
    for (const auto& [id, is_concluded] : removals_) {
        if (!is_concluded) {
            text += id.to_string() + "\n";
        }
    }
    if (!text.empty()) {
        auto written = replace_file(file_system_, path_, as_bytes(text), false);
        is_on_disk_ = is_on_disk_ || written;
        return written;
    }
    if (!is_on_disk_) {
        return {};
    }
    auto removed = file_system_.remove(path_);
    if (removed) {
        is_on_disk_ = false;
    }
    return removed;
}

void AnnouncedRemovals::announce(std::span<const TopicId> topics) {
    for (const TopicId& id : topics) {
        removals_[id] = false;
    }
    // Best effort, as the header says: without the note a crash leaves a directory that is reported.
    (void)write();
}

void AnnouncedRemovals::conclude(std::span<const TopicId> topics) {
    for (const TopicId& id : topics) {
        if (const auto found = removals_.find(id); found != removals_.end()) {
            found->second = true;
        }
    }
}

void AnnouncedRemovals::conclude_all() {
    for (auto& [id, is_concluded] : removals_) {
        is_concluded = true;
    }
}

void AnnouncedRemovals::forget_concluded() {
    const bool is_news = std::erase_if(removals_, [](const auto& removal) { return removal.second; }) > 0;
    if (is_news) {
        // If the file keeps the note, the next start only tries the removal again.
        (void)write();
    }
}

std::vector<TopicId> AnnouncedRemovals::topics() const {
    std::vector<TopicId> topics;
    for (const auto& [id, is_concluded] : removals_) {
        topics.push_back(id);
    }
    return topics;
}

}  // namespace partita
