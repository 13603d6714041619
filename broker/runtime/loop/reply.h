#pragma once

#include <cstdint>
#include <vector>

#include "protocol/api_keys.h"
#include "protocol/byte_buffer.h"
#include "storage/partition_log.h"

namespace partita::runtime {

/// Part of a log file that goes out between two parts of a reply's bytes, without being copied.
struct ReplyPiece {
    /// How many of the reply's bytes go out before it.
    std::size_t position;
    FileSlice slice;
};

/// A reply frame ready for the socket: the size prefix, the header, the body, and the record data
/// that belongs between them. `pieces` ascend by position.
struct Reply {
    ByteBuffer bytes;
    std::vector<ReplyPiece> pieces;
    /// The connection is closed instead of (or, with bytes, after) an answer.
    bool close = false;
    /// How long the connection serves nothing after this, because of a quota (KIP-219: first the answer, then the rest).
    std::int32_t rest_ms = 0;
};

/// Buffers for replies that were sent before, kept by each thread, so that in steady state a reply
/// allocates nothing.
[[nodiscard]] ByteBuffer take_reply_buffer();
void recycle_reply_buffer(ByteBuffer&& buffer);

/// Where a reply belongs: a request slot of a connection of a reactor. A plain value; it may outlive
/// the connection, and a reply that comes too late is dropped.
struct ReplyTarget {
    std::uint32_t reactor = 0;
    std::uint64_t connection = 0;
    std::uint64_t slot = 0;
};

/// A request that is not answered yet: all that is needed to encode its reply later.
struct PendingReply {
    ReplyTarget target;
    const ApiInfo* api = nullptr;
    std::int16_t api_version = 0;
    std::int32_t correlation_id = 0;
    /// How long a quota makes the client wait: the reply says so (ThrottleTimeMs) and its connection rests.
    std::int32_t throttle_ms = 0;
};

}  // namespace partita::runtime
