#include "broker/runtime/loop/reply_memory.h"

#include <cstddef>
#include <utility>

namespace partita::runtime {
namespace {

constexpr std::size_t kPooledReplyBuffersMax = 64;
constexpr std::size_t kPooledReplyBytesMax = 64 * 1024;
constexpr std::size_t kPooledPiecesMax = 1024;

std::vector<ByteBuffer>& pooled_reply_buffers() {
    thread_local std::vector<ByteBuffer> buffers;
    return buffers;
}

std::vector<std::vector<ReplyPiece>>& pooled_reply_pieces() {
    thread_local std::vector<std::vector<ReplyPiece>> lists;
    return lists;
}

}  // namespace

std::vector<ReplyPiece> take_reply_pieces() {
    std::vector<std::vector<ReplyPiece>>& pooled = pooled_reply_pieces();
    if (pooled.empty()) {
        return {};
    }
    std::vector<ReplyPiece> pieces = std::move(pooled.back());
    pooled.pop_back();
    return pieces;
}

void recycle_reply_pieces(std::vector<ReplyPiece>&& pieces) {
    pieces.clear();
    std::vector<std::vector<ReplyPiece>>& pooled = pooled_reply_pieces();
    if (pieces.capacity() > 0 && pieces.capacity() <= kPooledPiecesMax && pooled.size() < kPooledReplyBuffersMax) {
        pooled.push_back(std::move(pieces));
    }
}

ByteBuffer take_reply_buffer() {
    std::vector<ByteBuffer>& pooled = pooled_reply_buffers();
    if (pooled.empty()) {
        return {};
    }
    ByteBuffer buffer = std::move(pooled.back());
    pooled.pop_back();
    return buffer;
}

void recycle_reply_buffer(ByteBuffer&& buffer) {
    std::vector<ByteBuffer>& pooled = pooled_reply_buffers();
    if (buffer.capacity() == 0 || buffer.capacity() > kPooledReplyBytesMax || pooled.size() >= kPooledReplyBuffersMax) {
        buffer.release();
        return;
    }
    buffer.clear();
    pooled.push_back(std::move(buffer));
}

}  // namespace partita::runtime
