#include "tests/support/memory_file_system.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "protocol/assert.h"

namespace partita::test {

/// Writes to its file, where this has bytes.
class MemoryWindow final : public FileWindow {
  public:
    MemoryWindow(std::unique_ptr<File> file, std::uint64_t end) : file_(std::move(file)), end_(end) {}

    [[nodiscard]] std::uint64_t end() const override { return end_; }
    void prepare(std::uint64_t, std::uint64_t) override {}
    StorageResult<void> write_at(std::uint64_t position, std::span<const Bytes> pieces) override {
        std::uint64_t end = position;
        for (const Bytes piece : pieces) {
            end += piece.size();
        }
        PARTITA_ASSERT(end <= end_ && end <= *file_->size(), "a window makes no file longer");
        return file_->write_at(position, pieces);
    }

  private:
    const std::unique_ptr<File> file_;
    const std::uint64_t end_;
};

class MemoryFile final : public File {
  public:
    MemoryFile(MemoryFileSystem& system, std::shared_ptr<MemoryFileSystem::Node> node, std::string path, std::uint64_t generation)
        : system_(system), node_(std::move(node)), path_(std::move(path)), generation_(generation) {}

    StorageResult<std::size_t> read_at(std::uint64_t position, MutableBytes destination) override {
        if (system_.on_read) {
            system_.on_read(path_, position, destination.size());
        }
        const std::lock_guard lock(system_.mutex_);
        if (const int error = system_.fault_locked(false)) {
            return std::unexpected(io_error("read", path_, error));
        }
        const std::string& bytes = node_->current;
        if (position >= bytes.size()) {
            return std::size_t{0};
        }
        const std::size_t count = std::min<std::size_t>(destination.size(), bytes.size() - position);
        std::memcpy(destination.data(), bytes.data() + position, count);
        return count;
    }

    StorageResult<void> write_at(std::uint64_t position, std::span<const Bytes> pieces) override {
        system_.announce_change();
        const std::lock_guard lock(system_.mutex_);
        std::string bytes;
        for (const Bytes piece : pieces) {
            bytes += as_text(piece);
        }
        const int error = system_.write_fault_locked(path_);
        if (error != 0) {
            bytes.resize(bytes.size() / 2);
        }
        if (is_alive() && !bytes.empty()) {
            node_->unsynced.push_back({position, bytes, false});
            MemoryFileSystem::apply(node_->current, node_->unsynced.back());
        }
        if (error != 0) {
            return std::unexpected(io_error("write", path_, error));
        }
        return {};
    }

    StorageResult<void> truncate(std::uint64_t size) override {
        system_.announce_change();
        const std::lock_guard lock(system_.mutex_);
        if (const int error = system_.fault_locked(false)) {
            return std::unexpected(io_error("truncate", path_, error));
        }
        if (!is_alive() || node_->current.size() == size) {
            return {};
        }
        node_->unsynced.push_back({size, "", true});
        MemoryFileSystem::apply(node_->current, node_->unsynced.back());
        return {};
    }

    StorageResult<void> sync_data() override {
        system_.announce_change();
        if (system_.on_sync) {
            system_.on_sync(path_);
        }
        const std::lock_guard lock(system_.mutex_);
        if (const int error = system_.fault_locked(false)) {
            StorageError failure = io_error("sync", path_, error);
            failure.kind = StorageError::Kind::sync_failed;
            return std::unexpected(std::move(failure));
        }
        if (!is_alive()) {
            return {};
        }
        ++system_.single_syncs_;
        node_->durable = node_->current;
        node_->unsynced.clear();
        return {};
    }

    /// A crash may lose or keep any part of this range, as if it had not been written back.
    StorageResult<void> write_back(std::uint64_t position, std::uint64_t length) override {
        if (system_.on_write_back) {
            system_.on_write_back(path_, position, length);
        }
        const std::lock_guard lock(system_.mutex_);
        if (const int error = system_.fault_locked(false)) {
            StorageError failure = io_error("write back", path_, error);
            failure.kind = StorageError::Kind::sync_failed;
            return std::unexpected(std::move(failure));
        }
        return {};
    }

    StorageResult<void> reserve(std::uint64_t, std::uint64_t) override {
        const std::lock_guard lock(system_.mutex_);
        if (const int error = system_.fault_locked(true)) {
            return std::unexpected(io_error("reserve", path_, error));
        }
        return {};
    }

    StorageResult<std::unique_ptr<FileWindow>> open_window(std::uint64_t position, std::uint64_t length) override {
        if (!system_.has_windows) {
            return nullptr;
        }
        return std::make_unique<MemoryWindow>(std::make_unique<MemoryFile>(system_, node_, path_, generation_),
                                              position + length);
    }

    StorageResult<std::uint64_t> size() override { return node_size(); }

    bool is_cached(std::uint64_t, std::uint64_t) override { return true; }
    void read_ahead(std::uint64_t, std::uint64_t) override {}
    int descriptor() const override { return -1; }

  private:
    bool is_alive() const { return generation_ == system_.generation_; }
    std::uint64_t node_size() const {
        const std::lock_guard lock(system_.mutex_);
        return node_->current.size();
    }

    MemoryFileSystem& system_;
    const std::shared_ptr<MemoryFileSystem::Node> node_;
    const std::string path_;
    const std::uint64_t generation_;
};

class MemoryVolume final : public Volume {
  public:
    MemoryVolume(MemoryFileSystem& system, std::string path, std::uint64_t generation)
        : system_(system), path_(std::move(path)), generation_(generation) {}

    StorageResult<bool> sync() override {
        system_.announce_change();
        if (system_.on_sync) {
            system_.on_sync(path_);
        }
        const std::lock_guard lock(system_.mutex_);
        if (const int error = system_.fault_locked(false)) {
            StorageError failure = io_error("sync the volume of", path_, error);
            failure.kind = StorageError::Kind::sync_failed;
            return std::unexpected(std::move(failure));
        }
        if (!system_.volume_vouches || generation_ != system_.generation_) {
            return false;
        }
        ++system_.volume_syncs_;
        MemoryFileSystem::make_durable(*system_.root_);
        return true;
    }

  private:
    MemoryFileSystem& system_;
    const std::string path_;
    const std::uint64_t generation_;
};

namespace {

class MemoryLock final : public FileLock {
  public:
    explicit MemoryLock(std::function<void()> release) : release_(std::move(release)) {}
    ~MemoryLock() override { release_(); }

  private:
    std::function<void()> release_;
};

}  // namespace

MemoryFileSystem::MemoryFileSystem() : root_(std::make_shared<Node>()) { root_->is_directory = true; }

MemoryFileSystem::NodePointer MemoryFileSystem::find_locked(const std::string& path) {
    NodePointer node = root_;
    std::size_t at = 0;
    while (at < path.size()) {
        if (path[at] == '/') {
            ++at;
            continue;
        }
        const std::size_t end = std::min(path.find('/', at), path.size());
        const auto found = node->names.find(path.substr(at, end - at));
        if (found == node->names.end()) {
            return nullptr;
        }
        node = found->second;
        at = end;
    }
    return node;
}

std::pair<MemoryFileSystem::NodePointer, std::string> MemoryFileSystem::parent_locked(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) {
        return {root_, path};
    }
    return {find_locked(path.substr(0, slash)), path.substr(slash + 1)};
}

int MemoryFileSystem::fault_locked(bool grows) {
    if (only_growing_ && !grows) {
        return 0;
    }
    ++calls_;
    const bool fails = fail_at_ != 0 && (calls_ == fail_at_ || (forever_ && calls_ > fail_at_));
    if (!fails) {
        return 0;
    }
    fault_happened_ = true;
    return error_number_;
}

void MemoryFileSystem::fail_call(std::uint64_t n, int error_number, bool forever, bool only_growing) {
    const std::lock_guard lock(mutex_);
    calls_ = 0;
    fail_at_ = n;
    error_number_ = error_number;
    forever_ = forever;
    only_growing_ = only_growing;
    failing_path_.clear();
    fault_happened_ = false;
}

void MemoryFileSystem::fail_write(std::string path_part, int error_number, std::uint64_t after) {
    heal();
    const std::lock_guard lock(mutex_);
    failing_path_ = std::move(path_part);
    writes_before_failure_ = after;
    error_number_ = error_number;
}

int MemoryFileSystem::write_fault_locked(const std::string& path) {
    if (failing_path_.empty()) {
        return fault_locked(true);
    }
    if (!path.contains(failing_path_)) {
        return 0;
    }
    if (writes_before_failure_ > 0) {
        --writes_before_failure_;
        return 0;
    }
    failing_path_.clear();
    fault_happened_ = true;
    return error_number_;
}

void MemoryFileSystem::heal() { fail_call(0, 0); }

void MemoryFileSystem::apply(std::string& bytes, const Write& write) {
    if (write.is_truncate) {
        bytes.resize(write.position, '\0');
        return;
    }
    if (bytes.size() < write.position + write.bytes.size()) {
        bytes.resize(write.position + write.bytes.size(), '\0');
    }
    bytes.replace(write.position, write.bytes.size(), write.bytes);
}

void MemoryFileSystem::apply(Names& names, const NameChange& change) {
    names.erase(change.removed);
    if (!change.added.empty()) {
        names[change.added] = change.node;
    }
}

void MemoryFileSystem::change_names(Node& directory, NameChange change) {
    apply(directory.names, change);
    directory.unsynced_names.push_back(std::move(change));
}

void MemoryFileSystem::settle(const NameChange& removal) {
    if (removal.taker != nullptr) {
        removal.taker->durable_names[removal.taken_as] = removal.node;
    }
}

MemoryFileSystem::Names MemoryFileSystem::copy(const Names& names, Copies& copies) {
    Names copied;
    for (const auto& [name, node] : names) {
        copied.emplace(name, copy(node, copies));
    }
    return copied;
}

MemoryFileSystem::NodePointer MemoryFileSystem::copy(const NodePointer& node, Copies& copies) {
    if (node == nullptr) {
        return nullptr;
    }
    // A file can have several names, of which some are not durable yet.
    NodePointer& known = copies[node.get()];
    if (known) {
        return known;
    }
    const NodePointer copied = known = std::make_shared<Node>(*node);
    copied->names = copy(node->names, copies);
    copied->durable_names = copy(node->durable_names, copies);
    for (NameChange& change : copied->unsynced_names) {
        change.node = copy(change.node, copies);
        change.taker = copy(change.taker, copies);
    }
    return copied;
}

std::unique_ptr<MemoryFileSystem> MemoryFileSystem::left_by_crash(std::optional<std::uint64_t> power_failure) const {
    auto left = std::make_unique<MemoryFileSystem>();
    {
        const std::lock_guard lock(mutex_);
        Copies copies;
        left->root_ = copy(root_, copies);
    }
    left->volume_vouches = volume_vouches;
    if (power_failure) {
        left->crash_power(*power_failure);
    }
    return left;
}

StorageResult<std::shared_ptr<File>> MemoryFileSystem::open(const std::string& path, OpenMode mode) {
    if (mode == OpenMode::create || mode == OpenMode::create_empty) {
        announce_change();
    }
    const std::lock_guard lock(mutex_);
    const bool creates = mode == OpenMode::create || mode == OpenMode::create_empty;
    NodePointer node = find_locked(path);
    if (const int error = fault_locked(creates && node == nullptr)) {
        return std::unexpected(io_error("open", path, error));
    }
    if (node == nullptr) {
        auto [parent, name] = parent_locked(path);
        if (!creates || parent == nullptr) {
            return std::unexpected(io_error("open", path, ENOENT));
        }
        node = std::make_shared<Node>();
        change_names(*parent, {.added = name, .node = node});
    }
    if (node->is_directory) {
        return std::unexpected(io_error("open", path, EISDIR));
    }
    if (mode == OpenMode::create_empty && !node->current.empty()) {
        node->unsynced.push_back({0, "", true});
        node->current.clear();
    }
    return std::make_shared<MemoryFile>(*this, node, path, generation_);
}

StorageResult<void> MemoryFileSystem::make_directories(const std::string& path) {
    announce_change();
    const std::lock_guard lock(mutex_);
    if (find_locked(path) != nullptr) {
        return {};
    }
    if (const int error = fault_locked(true)) {
        return std::unexpected(io_error("create directory", path, error));
    }
    std::size_t at = 0;
    while (at != std::string::npos) {
        at = path.find('/', at + 1);
        const std::string part = path.substr(0, at);
        if (part.empty() || find_locked(part) != nullptr) {
            continue;
        }
        auto [parent, name] = parent_locked(part);
        auto node = std::make_shared<Node>();
        node->is_directory = true;
        change_names(*parent, {.added = name, .node = node});
    }
    return {};
}

StorageResult<std::vector<DirectoryEntry>> MemoryFileSystem::list(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (const int error = fault_locked(false)) {
        return std::unexpected(io_error("list", path, error));
    }
    const NodePointer node = find_locked(path);
    if (node == nullptr || !node->is_directory) {
        return std::unexpected(io_error("list", path, ENOENT));
    }
    std::vector<DirectoryEntry> entries;
    for (const auto& [name, child] : node->names) {
        entries.push_back({name, child->is_directory});
    }
    return entries;
}

StorageResult<void> MemoryFileSystem::rename(const std::string& from, const std::string& to) {
    announce_change();
    const std::lock_guard lock(mutex_);
    if (const int error = fault_locked(false)) {
        return std::unexpected(io_error("rename", from, error));
    }
    const NodePointer node = find_locked(from);
    auto [parent, old_name] = parent_locked(from);
    auto [target, new_name] = parent_locked(to);
    if (node == nullptr || target == nullptr) {
        return std::unexpected(io_error("rename", from, ENOENT));
    }
    if (target == parent) {
        change_names(*parent, {.removed = old_name, .added = new_name, .node = node});
        return {};
    }
    if (!target->is_directory) {
        return std::unexpected(io_error("rename", from, ENOTDIR));
    }
    change_names(*target, {.removed = {}, .added = new_name, .node = node});
    change_names(*parent, {.removed = old_name, .added = {}, .node = node, .taker = target, .taken_as = new_name});
    return {};
}

StorageResult<void> MemoryFileSystem::remove(const std::string& path) {
    announce_change();
    const std::lock_guard lock(mutex_);
    if (const int error = fault_locked(false)) {
        return std::unexpected(io_error("remove", path, error));
    }
    const NodePointer node = find_locked(path);
    if (node == nullptr) {
        return {};
    }
    if (!node->names.empty()) {
        return std::unexpected(io_error("remove", path, ENOTEMPTY));
    }
    auto [parent, name] = parent_locked(path);
    change_names(*parent, {.removed = name});
    return {};
}

StorageResult<void> MemoryFileSystem::sync_directory(const std::string& path) {
    announce_change();
    const std::lock_guard lock(mutex_);
    if (const int error = fault_locked(false)) {
        StorageError failure = io_error("sync directory", path, error);
        failure.kind = StorageError::Kind::sync_failed;
        return std::unexpected(std::move(failure));
    }
    const NodePointer node = find_locked(path);
    if (node == nullptr) {
        return std::unexpected(io_error("open", path, ENOENT));
    }
    ++single_syncs_;
    node->durable_names = node->names;
    for (const NameChange& change : node->unsynced_names) {
        settle(change);
    }
    node->unsynced_names.clear();
    return {};
}

StorageResult<std::unique_ptr<Volume>> MemoryFileSystem::open_volume(const std::string& directory) {
    const std::lock_guard lock(mutex_);
    if (const int error = fault_locked(false)) {
        return std::unexpected(io_error("open", directory, error));
    }
    return std::make_unique<MemoryVolume>(*this, directory, generation_);
}

void MemoryFileSystem::make_durable(Node& node) {
    if (!node.is_directory) {
        node.durable = node.current;
        node.unsynced.clear();
        return;
    }
    node.durable_names = node.names;
    node.unsynced_names.clear();
    for (auto& [name, child] : node.names) {
        make_durable(*child);
    }
}

StorageResult<bool> MemoryFileSystem::exists(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (const int error = fault_locked(false)) {
        return std::unexpected(io_error("stat", path, error));
    }
    return find_locked(path) != nullptr;
}

StorageResult<std::uint64_t> MemoryFileSystem::file_size(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (const int error = fault_locked(false)) {
        return std::unexpected(io_error("stat", path, error));
    }
    const NodePointer node = find_locked(path);
    if (node == nullptr) {
        return std::unexpected(io_error("stat", path, ENOENT));
    }
    return node->current.size();
}

StorageResult<TimestampMs> MemoryFileSystem::modified(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const NodePointer node = find_locked(path);
    if (node == nullptr) {
        return std::unexpected(io_error("stat", path, ENOENT));
    }
    return node->modified;
}

StorageResult<void> MemoryFileSystem::set_modified(const std::string& path, TimestampMs time) {
    const std::lock_guard lock(mutex_);
    const NodePointer node = find_locked(path);
    if (node == nullptr) {
        return std::unexpected(io_error("set the time of", path, ENOENT));
    }
    node->modified = time;
    return {};
}

StorageResult<std::unique_ptr<FileLock>> MemoryFileSystem::lock(const std::string& path, const std::string& content) {
    if (auto file = open(path, OpenMode::create); !file) {
        return std::unexpected(std::move(file.error()));
    }
    const std::lock_guard guard(mutex_);
    if (!locks_.insert(path).second) {
        StorageError error = io_error("lock", path, EAGAIN);
        error.kind = StorageError::Kind::locked;
        return std::unexpected(std::move(error));
    }
    find_locked(path)->current = content;
    const std::uint64_t generation = generation_;
    return std::make_unique<MemoryLock>([this, path, generation] {
        const std::lock_guard again(mutex_);
        if (generation == generation_) {
            locks_.erase(path);
        }
    });
}

void MemoryFileSystem::crash_process() {
    const std::lock_guard lock(mutex_);
    ++generation_;
    locks_.clear();
}

void MemoryFileSystem::crash_power(std::uint64_t seed) {
    const std::lock_guard lock(mutex_);
    ++generation_;
    locks_.clear();
    std::mt19937_64 random(seed);
    crash_node(*root_, random);
}

void MemoryFileSystem::crash_node(Node& node, std::mt19937_64& random) {
    if (node.is_directory) {
        auto names = node.durable_names;
        const std::size_t survive = random() % (node.unsynced_names.size() + 1);
        for (std::size_t i = 0; i < survive; ++i) {
            const NameChange& change = node.unsynced_names[i];
            apply(names, change);
            settle(change);
            // Its directory may have been visited before.
            if (change.taker != nullptr) {
                change.taker->names[change.taken_as] = change.node;
                crash_node(*change.node, random);
            }
        }
        node.names = names;
        node.durable_names = std::move(names);
        node.unsynced_names.clear();
        for (auto& [name, child] : node.names) {
            crash_node(*child, random);
        }
        return;
    }
    // 0: nothing since the sync, 1: everything, 2: a prefix, 3: any subset.
    const auto mode = random() % 4;
    const std::size_t prefix = random() % (node.unsynced.size() + 1);
    std::string bytes = node.durable;
    for (std::size_t i = 0; i < node.unsynced.size(); ++i) {
        Write write = node.unsynced[i];
        const bool survives = mode == 1 || (mode == 2 && i < prefix) || (mode == 3 && random() % 2 == 0);
        if (survives) {
            apply(bytes, write);
        } else if (mode == 2 && i == prefix && !write.is_truncate) {
            const std::size_t blocks = write.bytes.size() / 512;
            write.bytes.resize(random() % (blocks + 1) * 512);
            if (!write.bytes.empty()) {
                apply(bytes, write);
            }
        }
    }
    node.current = bytes;
    node.durable = std::move(bytes);
    node.unsynced.clear();
}

std::string MemoryFileSystem::content(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const NodePointer node = find_locked(path);
    return node == nullptr ? std::string() : node->current;
}

void MemoryFileSystem::set_content(const std::string& path, std::string bytes) {
    const std::lock_guard lock(mutex_);
    NodePointer node = find_locked(path);
    if (node == nullptr) {
        auto [parent, name] = parent_locked(path);
        node = std::make_shared<Node>();
        change_names(*parent, {.added = name, .node = node});
    }
    node->current = bytes;
    node->durable = std::move(bytes);
    node->unsynced.clear();
}

void MemoryFileSystem::collect(const Node& node, const std::string& path, std::vector<std::string>& out) {
    for (const auto& [name, child] : node.names) {
        const std::string child_path = join_path(path, name);
        if (child->is_directory) {
            collect(*child, child_path, out);
        } else {
            out.push_back(child_path);
        }
    }
}

std::vector<std::string> MemoryFileSystem::files_below(const std::string& path) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> files;
    if (const NodePointer node = find_locked(path)) {
        collect(*node, path, files);
    }
    return files;
}

}  // namespace partita::test
