#include "storage/lmdb_check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "protocol/file_descriptor.h"
#include "protocol/try.h"
#include "protocol/types.h"

namespace partita {
namespace {

constexpr std::uint32_t kMagic = 0xBEEFC0DE;
constexpr std::uint32_t kDataVersion = 1;
constexpr std::size_t kPageHeaderBytes = 16;
constexpr std::size_t kNodeHeaderBytes = 8;
constexpr std::size_t kTreeBytes = 48;
constexpr std::uint64_t kNoPage = ~0ULL;
constexpr std::uint64_t kFirstTreePage = 2;
/// LMDB's own limit on the height of a tree (CURSOR_STACK).
constexpr std::uint32_t kMaxDepth = 32;

constexpr std::uint16_t kBranchPage = 0x01;
constexpr std::uint16_t kLeafPage = 0x02;
constexpr std::uint16_t kOverflowPage = 0x04;
constexpr std::uint16_t kMetaPage = 0x08;
constexpr std::uint16_t kBigDataNode = 0x01;
constexpr std::uint16_t kSubTreeNode = 0x02;

template <class Integer>
Integer load(const std::byte* place) {
    Integer value;
    std::memcpy(&value, place, sizeof value);
    return value;
}

/// MDB_db: the root of one tree and its counts.
struct Tree {
    std::uint32_t pad = 0;
    std::uint16_t flags = 0;
    std::uint16_t depth = 0;
    std::uint64_t branch_pages = 0;
    std::uint64_t leaf_pages = 0;
    std::uint64_t overflow_pages = 0;
    std::uint64_t entries = 0;
    std::uint64_t root = kNoPage;

    static Tree at(const std::byte* place) {
        return {load<std::uint32_t>(place),      load<std::uint16_t>(place + 4),  load<std::uint16_t>(place + 6),
                load<std::uint64_t>(place + 8),  load<std::uint64_t>(place + 16), load<std::uint64_t>(place + 24),
                load<std::uint64_t>(place + 32), load<std::uint64_t>(place + 40)};
    }
};

struct Meta {
    std::uint64_t map_size = 0;
    Tree free_list;
    Tree main;
    std::uint64_t last_page = 0;
    std::uint64_t transaction = 0;
};

class Checker {
  public:
    Checker(const std::string& path, int descriptor, std::uint64_t file_size)
        : path_(path), descriptor_(descriptor), file_size_(file_size) {}

    StorageResult<LmdbFileSummary> run(bool walk_pages) {
        PARTITA_TRY_ASSIGN(auto meta, read_metas());
        summary_.file_size_bytes = file_size_;
        summary_.map_size_bytes = meta.map_size;
        summary_.last_page = meta.last_page;
        summary_.transaction = meta.transaction;
        if (meta.last_page >= file_size_ / page_size_) {
            return damaged("it is " + std::to_string(file_size_) + " bytes long, but page " + std::to_string(meta.last_page) +
                           " of " + std::to_string(page_size_) + " bytes is in use");
        }
        if (!walk_pages) {
            return summary_;
        }
        last_page_ = meta.last_page;
        used_.assign(last_page_ + 1, false);
        PARTITA_TRY(walk_tree(meta.main, TreeKind::main));
        // The free list comes last: the pages that it names must not be in use.
        PARTITA_TRY(walk_tree(meta.free_list, TreeKind::free_list));
        for (const std::uint64_t page : free_pages_) {
            if (used_[page]) {
                return damaged("page " + std::to_string(page) + " is free and in use");
            }
            used_[page] = true;
        }
        return summary_;
    }

  private:
    enum class TreeKind { main, sub, free_list };
    using Buffer = std::vector<std::byte>;

    std::unexpected<StorageError> damaged(std::string what) const {
        return std::unexpected(corrupt_error(path_, std::move(what)));
    }
    std::unexpected<StorageError> damaged_page(std::uint64_t page, std::string_view what) const {
        return damaged("page " + std::to_string(page) + " " + std::string(what));
    }

    StorageResult<void> read(std::uint64_t position, std::byte* destination, std::size_t size) const {
        std::size_t done = 0;
        while (done < size) {
            const ssize_t count = ::pread(descriptor_, destination + done, size - done, static_cast<off_t>(position + done));
            if (count < 0 && errno == EINTR) {
                continue;
            }
            if (count < 0) {
                return std::unexpected(io_error("read", path_, errno));
            }
            if (count == 0) {
                return damaged("it ends before byte " + std::to_string(position + size));
            }
            done += static_cast<std::size_t>(count);
        }
        return {};
    }

    StorageResult<Meta> read_meta(std::uint64_t position) const {
        constexpr std::size_t kMetaBytes = kPageHeaderBytes + 4 + 4 + 8 + 8 + 2 * kTreeBytes + 8 + 8;
        Buffer page(kMetaBytes);
        PARTITA_TRY(read(position, page.data(), page.size()));
        const std::byte* meta = page.data() + kPageHeaderBytes;
        if ((load<std::uint16_t>(page.data() + 10) & kMetaPage) == 0 || load<std::uint32_t>(meta) != kMagic) {
            return damaged("byte " + std::to_string(position) + " is not a meta page of LMDB");
        }
        if (const auto version = load<std::uint32_t>(meta + 4) & 0xffff; version != kDataVersion) {
            return std::unexpected(StorageError{
                StorageError::Kind::newer_format, 0,
                path_ + " has version " + std::to_string(version) + " of LMDB's format, this program knows version 1"});
        }
        return Meta{.map_size = load<std::uint64_t>(meta + 16),
                    .free_list = Tree::at(meta + 24),
                    .main = Tree::at(meta + 24 + kTreeBytes),
                    .last_page = load<std::uint64_t>(meta + 24 + 2 * kTreeBytes),
                    .transaction = load<std::uint64_t>(meta + 32 + 2 * kTreeBytes)};
    }

    /// The meta page that LMDB will use: the one with the later transaction.
    StorageResult<Meta> read_metas() {
        auto first = read_meta(0);
        PARTITA_TRY(first);
        page_size_ = first->free_list.pad;
        if (page_size_ < 512 || page_size_ > 65536 || (page_size_ & (page_size_ - 1)) != 0) {
            return damaged("its pages would be " + std::to_string(page_size_) + " bytes large");
        }
        summary_.page_size = page_size_;
        auto second = read_meta(page_size_);
        PARTITA_TRY(second);
        if (second->free_list.pad != page_size_) {
            return damaged("its two meta pages contradict each other");
        }
        return first->transaction < second->transaction ? second : first;
    }

    /// Counts a page as used, once, and reads it.
    StorageResult<void> take_page(std::uint64_t number, Buffer& buffer) {
        if (number < kFirstTreePage || number > last_page_) {
            return damaged_page(number, "is named, but does not exist");
        }
        if (used_[number]) {
            return damaged_page(number, "is used twice");
        }
        used_[number] = true;
        ++summary_.checked_pages;
        buffer.resize(page_size_);
        PARTITA_TRY(read(number * page_size_, buffer.data(), page_size_));
        if (load<std::uint64_t>(buffer.data()) != number) {
            return damaged_page(number, "has another number");
        }
        return {};
    }

    StorageResult<void> walk_tree(const Tree& tree, TreeKind kind) {
        const std::uint16_t allowed_flags = kind == TreeKind::free_list ? 0x08 : 0;  // MDB_INTEGERKEY
        if ((tree.flags & ~allowed_flags) != 0) {
            return damaged("a tree has unknown flags");
        }
        if (tree.root == kNoPage) {
            if (tree.entries != 0 || tree.depth != 0) {
                return damaged("a tree without pages has entries");
            }
            return {};
        }
        if (tree.depth == 0 || tree.depth > kMaxDepth) {
            return damaged("a tree has an impossible height");
        }
        Tree found;
        PARTITA_TRY(walk_page(tree.root, tree.depth, kind, found));
        if (found.entries != tree.entries || found.branch_pages != tree.branch_pages || found.leaf_pages != tree.leaf_pages ||
            found.overflow_pages != tree.overflow_pages) {
            return damaged("a tree has other pages or entries than it counts");
        }
        return {};
    }

    StorageResult<void> walk_page(std::uint64_t number, std::uint32_t height, TreeKind kind, Tree& found) {
        Buffer page;
        PARTITA_TRY(take_page(number, page));
        const auto flags = load<std::uint16_t>(page.data() + 10);
        const auto lower = load<std::uint16_t>(page.data() + 12);
        const auto upper = load<std::uint16_t>(page.data() + 14);
        const bool is_leaf = height == 1;
        if (flags != (is_leaf ? kLeafPage : kBranchPage)) {
            return damaged_page(number, "is of a wrong kind");
        }
        if (lower < kPageHeaderBytes || lower > upper || upper > page_size_ || (lower - kPageHeaderBytes) % 2 != 0) {
            return damaged_page(number, "has wrong bounds");
        }
        ++(is_leaf ? found.leaf_pages : found.branch_pages);
        const std::size_t count = (lower - kPageHeaderBytes) / 2;
        if (count == 0 || (!is_leaf && count < 2 && kind != TreeKind::free_list)) {
            return damaged_page(number, "has too few nodes");
        }
        Bytes previous_key;
        for (std::size_t index = 0; index < count; ++index) {
            const auto start = load<std::uint16_t>(page.data() + kPageHeaderBytes + 2 * index);
            if (start < upper || start + kNodeHeaderBytes > page_size_) {
                return damaged_page(number, "has a node outside");
            }
            const std::byte* node = page.data() + start;
            const std::size_t room = page_size_ - start - kNodeHeaderBytes;
            const auto key_size = load<std::uint16_t>(node + 6);
            if (key_size > room) {
                return damaged_page(number, "has a key that is too long");
            }
            const Bytes key(node + kNodeHeaderBytes, key_size);
            const bool is_first_of_branch = !is_leaf && index == 0;
            if (index > (is_leaf ? 0u : 1u) && !is_less(previous_key, key, kind)) {
                return damaged_page(number, "has keys out of order");
            }
            if (kind == TreeKind::free_list && !is_first_of_branch && key_size != 8) {
                return damaged_page(number, "has a free list key of a wrong size");
            }
            previous_key = key;
            const std::uint64_t low = load<std::uint16_t>(node);
            const std::uint64_t high = load<std::uint16_t>(node + 2);
            const auto node_flags = load<std::uint16_t>(node + 4);
            auto walked =
                is_leaf ? walk_value(number, node_flags, Bytes(key.data() + key.size(), room - key_size), low | high << 16, kind,
                                     found)
                        : walk_page(low | high << 16 | static_cast<std::uint64_t>(node_flags) << 32, height - 1, kind, found);
            PARTITA_TRY(walked);
        }
        return {};
    }

    static bool is_less(Bytes left, Bytes right, TreeKind kind) {
        if (kind == TreeKind::free_list) {
            return left.size() == 8 && right.size() == 8 && load<std::uint64_t>(left.data()) < load<std::uint64_t>(right.data());
        }
        return as_text(left) < as_text(right);
    }

    /// `inside` is the rest of the page behind the key.
    StorageResult<void> walk_value(std::uint64_t page, std::uint16_t flags, Bytes inside, std::uint64_t size, TreeKind kind,
                                   Tree& found) {
        ++found.entries;
        if (flags == kBigDataNode) {
            if (inside.size() < 8) {
                return damaged_page(page, "has a value outside");
            }
            return walk_overflow(load<std::uint64_t>(inside.data()), size, kind, found);
        }
        if (size > inside.size()) {
            return damaged_page(page, "has a value that is too long");
        }
        const Bytes value = inside.first(size);
        if (flags == kSubTreeNode) {
            if (kind != TreeKind::main || size != kTreeBytes) {
                return damaged_page(page, "has a tree where none can be");
            }
            return walk_tree(Tree::at(value.data()), TreeKind::sub);
        }
        if (flags != 0) {
            return damaged_page(page, "has a node of a wrong kind");
        }
        return kind == TreeKind::free_list ? take_free_pages(page, value) : StorageResult<void>{};
    }

    StorageResult<void> walk_overflow(std::uint64_t number, std::uint64_t size, TreeKind kind, Tree& found) {
        Buffer first;
        PARTITA_TRY(take_page(number, first));
        const std::uint64_t pages = load<std::uint32_t>(first.data() + 12);
        if (load<std::uint16_t>(first.data() + 10) != kOverflowPage || pages == 0 || pages > last_page_ ||
            number + pages - 1 > last_page_ || pages * page_size_ - kPageHeaderBytes < size) {
            return damaged_page(number, "is not a run of pages of the right length");
        }
        for (std::uint64_t page = number + 1; page < number + pages; ++page) {
            if (used_[page]) {
                return damaged_page(page, "is used twice");
            }
            used_[page] = true;
        }
        found.overflow_pages += pages;
        if (kind != TreeKind::free_list) {
            return {};
        }
        Buffer value(size);
        PARTITA_TRY(read(number * page_size_ + kPageHeaderBytes, value.data(), value.size()));
        return take_free_pages(number, value);
    }

    /// A list of free pages: their count, then their numbers.
    StorageResult<void> take_free_pages(std::uint64_t page, Bytes value) {
        if (value.size() < 8) {
            return damaged_page(page, "has a free list that is too short");
        }
        const auto count = load<std::uint64_t>(value.data());
        if (count > value.size() / 8 - 1) {
            return damaged_page(page, "has a free list that is too short");
        }
        for (std::uint64_t index = 1; index <= count; ++index) {
            const auto free = load<std::uint64_t>(value.data() + 8 * index);
            if (free < kFirstTreePage || free > last_page_) {
                return damaged_page(page, "frees a page that does not exist");
            }
            free_pages_.push_back(free);
        }
        return {};
    }

    const std::string& path_;
    const int descriptor_;
    const std::uint64_t file_size_;
    std::uint32_t page_size_ = 0;
    std::uint64_t last_page_ = 0;
    std::vector<bool> used_;
    std::vector<std::uint64_t> free_pages_;
    LmdbFileSummary summary_;
};

}  // namespace

StorageResult<LmdbFileSummary> check_lmdb_file(const std::string& path, bool walk_pages) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) {
        return std::unexpected(io_error("open", path, errno));
    }
    struct stat status{};
    if (::fstat(file.get(), &status) != 0) {
        return std::unexpected(io_error("look at", path, errno));
    }
    return Checker(path, file.get(), static_cast<std::uint64_t>(status.st_size)).run(walk_pages);
}

}  // namespace partita
