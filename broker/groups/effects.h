#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "broker/groups/records.h"
#include "broker/groups/results.h"
#include "protocol/types.h"

namespace partita::groups {

/// Names the request that a reply answers. Opaque to the core: the shell makes it and takes it back.
struct ReplyToken : StrongInt<struct ReplyTokenTag, std::uint64_t> {
    friend constexpr auto operator<=>(ReplyToken, ReplyToken) = default;
};

/// The answer to one request.
struct Reply {
    ReplyToken token;
    Result result;
};

/// Memory that grows and is freed as a whole. Addresses stay valid until `clear` or destruction, also
/// when the arena itself is moved.
class Arena {
public:
    [[nodiscard]] std::string_view keep(std::string_view text) {
        if (text.empty()) {
            return {};
        }
        char* place = allocate(text.size());
        std::memcpy(place, text.data(), text.size());
        return {place, text.size()};
    }
    [[nodiscard]] Bytes keep(Bytes bytes) { return as_bytes(keep(as_text(bytes))); }

    /// Forgets everything but the newest block, which is reused.
    void clear() {
        if (blocks_.size() > 1) {
            blocks_.front() = std::move(blocks_.back());
            blocks_.resize(1);
        }
        used_ = 0;
    }

private:
    static constexpr std::size_t kBlockBytes = 4096;

    char* allocate(std::size_t size) {
        if (blocks_.empty() || capacity_ - used_ < size) {
            capacity_ = size > kBlockBytes ? size : kBlockBytes;
            blocks_.push_back(std::make_unique_for_overwrite<char[]>(capacity_));
            used_ = 0;
        }
        char* place = blocks_.back().get() + used_;
        used_ += size;
        return place;
    }

    std::vector<std::unique_ptr<char[]>> blocks_;
    std::size_t capacity_ = 0;
    std::size_t used_ = 0;
};

/// What a call of the coordinator wants to happen, in this order: first `records` become durable, in
/// their order and together (all or none), then `replies` leave. When the records cannot be persisted
/// no reply of these effects may leave, and the coordinator must be thrown away and rebuilt by replay.
///
/// The records own nothing: their texts and bytes live in `arena`, so they are valid as long as these
/// effects are. Calls append, so that one `Effects` may collect several calls and be persisted once.
struct Effects {
    std::vector<Record> records;
    std::vector<Reply> replies;
    Arena arena;

    /// Ready for the next call; keeps the memory.
    void clear() {
        records.clear();
        replies.clear();
        arena.clear();
    }
    [[nodiscard]] bool empty() const { return records.empty() && replies.empty(); }
};

}  // namespace partita::groups
