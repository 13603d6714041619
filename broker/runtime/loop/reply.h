#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "protocol/byte_buffer.h"
#include "storage/file_slice.h"

namespace partita::runtime {

struct ReplyNotes;
/// Null for most replies. A pointer to a type that only few need to know.
struct DeleteReplyNotes {
    void operator()(ReplyNotes* notes) const;
};
using ReplyNotesPointer = std::unique_ptr<ReplyNotes, DeleteReplyNotes>;

/// Part of a log file that is sent between two parts of a reply's bytes, without being copied.
struct ReplyPiece {
    /// How many of the reply's bytes are sent before it.
    std::size_t position;
    FileSlice slice;
};

/// A reply frame ready for the socket: `bytes` are the size prefix, the header and the body, and `pieces`, ascending by position,
/// the record data within the body.
struct Reply {
    ByteBuffer bytes;
    std::vector<ReplyPiece> pieces;
    /// Close the connection: instead of an answer, or after it when there are bytes.
    bool close = false;
    /// For how long the connection serves no request after this reply, because of a quota (KIP-219: first the answer, then the
    /// rest).
    std::int32_t rest_ms = 0;
    /// What whoever sends it tells RequestWatch.
    ReplyNotesPointer notes = nullptr;
};

/// Buffers for replies. Each thread keeps some of those whose replies were sent, so that in steady state a reply allocates
/// nothing.
[[nodiscard]] ByteBuffer take_reply_buffer();
void recycle_reply_buffer(ByteBuffer&& buffer);

/// Where a reply belongs: a request's slot of a connection of a reactor. It is a plain value that may outlive the connection; a
/// reply that comes too late is dropped.
struct ReplyTarget {
    std::uint32_t reactor = 0;
    std::uint64_t connection = 0;
    std::uint64_t slot = 0;
};

}  // namespace partita::runtime
