#pragma once

#include <vector>

#include "broker/runtime/loop/reply.h"

namespace partita::runtime {

/// Lists for the pieces of replies. As with reply buffers, each thread keeps some lists of replies that it sent. So a reply with
/// record data allocates nothing in steady state. A recycled list releases its files.
[[nodiscard]] std::vector<ReplyPiece> take_reply_pieces();
void recycle_reply_pieces(std::vector<ReplyPiece>&& pieces);

}  // namespace partita::runtime
