#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "broker/groups/records.h"
#include "broker/groups/results.h"
#include "protocol/arena.h"
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
        arena.reset();
    }
    [[nodiscard]] bool empty() const { return records.empty() && replies.empty(); }
};

}  // namespace partita::groups
