#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "protocol/byte_buffer.h"
#include "storage/file_slice.h"

namespace partita::runtime {

struct ReplyNotes;
/// Null for most replies. It points to an incomplete type because few files need the definition.
struct DeleteReplyNotes {
    void operator()(ReplyNotes* notes) const;
};
using ReplyNotesPointer = std::unique_ptr<ReplyNotes, DeleteReplyNotes>;

/// Part of a log file, sent between two parts of a reply's bytes without a copy.
struct ReplyPiece {
    /// How many of the reply's bytes come before the piece.
    std::size_t position;
    FileSlice slice;
};

/// A reply frame ready for the socket. `bytes` are the size prefix, the header and the body. `pieces`, ascending by position, are
/// the record data within the body.
struct Reply {
    ByteBuffer bytes;
    std::vector<ReplyPiece> pieces;
    /// Close the connection: instead of an answer if `bytes` is empty, otherwise after it.
    bool close = false;
    /// How long the connection serves no request after this reply, because of a quota (KIP-219: first the answer, then the
    /// pause).
    std::int32_t rest_ms = 0;
    /// The notes that the sender passes to RequestWatch.
    ReplyNotesPointer notes = nullptr;
};

/// Buffers for replies. Each thread keeps some buffers of replies that it sent, so that replies allocate nothing in steady state.
[[nodiscard]] ByteBuffer take_reply_buffer();
void recycle_reply_buffer(ByteBuffer&& buffer);

/// No request has this slot.
inline constexpr std::uint64_t kNoSlot = std::numeric_limits<std::uint64_t>::max() - 1;

/// Where a reply belongs: reactor, connection, and the request's slot. A plain value that may outlive the connection; a reply
/// that comes too late is dropped.
struct ReplyTarget {
    std::uint32_t reactor = 0;
    std::uint64_t connection = 0;
    std::uint64_t slot = 0;
};

}  // namespace partita::runtime
