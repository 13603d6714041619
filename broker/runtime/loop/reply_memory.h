#pragma once

#include <vector>

#include "broker/runtime/loop/reply.h"

namespace partita::runtime {

/// Lists for the pieces of replies. Each thread keeps some of those whose replies were sent, as it does with reply buffers, so
/// that in steady state a reply with record data allocates nothing. A recycled list releases its files.
[[nodiscard]] std::vector<ReplyPiece> take_reply_pieces();
void recycle_reply_pieces(std::vector<ReplyPiece>&& pieces);

}  // namespace partita::runtime
