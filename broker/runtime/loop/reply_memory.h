#pragma once

#include <vector>

#include "broker/runtime/loop/reply.h"

namespace partita::runtime {

/// Lists of pieces of replies that were sent before, kept by each thread as reply buffers are, so that in steady state a
/// reply with record data allocates nothing. A recycled list lets go of its files.
[[nodiscard]] std::vector<ReplyPiece> take_reply_pieces();
void recycle_reply_pieces(std::vector<ReplyPiece>&& pieces);

}  // namespace partita::runtime
