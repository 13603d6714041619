#include "broker/runtime/loop/reply_treatment.h"

#include <algorithm>

#include "storage/file_system.h"

namespace partita::runtime {
namespace {

void repeat(Reply& reply) {
    const std::size_t own_bytes = reply.bytes.size();
    reply.bytes.reserve(2 * own_bytes);
    reply.bytes.append(reply.bytes.bytes());
    const std::size_t pieces = reply.pieces.size();
    for (std::size_t index = 0; index < pieces; ++index) {
        ReplyPiece again = reply.pieces[index];
        again.position += own_bytes;
        reply.pieces.push_back(std::move(again));
    }
}

}  // namespace

bool gather(Reply& reply, std::size_t bytes_max) {
    std::size_t total = reply.bytes.size();
    for (const ReplyPiece& piece : reply.pieces) {
        total += piece.slice.size;
    }
    if (total > bytes_max) {
        return false;
    }
    ByteBuffer whole;
    whole.reserve(total);
    std::size_t taken = 0;
    for (const ReplyPiece& piece : reply.pieces) {
        whole.append(reply.bytes.bytes(taken, piece.position - taken));
        taken = piece.position;
        const std::size_t size = piece.slice.size;
        if (size > 0) {
            const auto read = piece.slice.file->read_at(piece.slice.position, {whole.extend(size), size});
            if (!read || *read != size) {
                return false;
            }
        }
    }
    whole.append(reply.bytes.bytes().subspan(taken));
    reply.bytes = std::move(whole);
    reply.pieces.clear();
    return true;
}

void cut(Reply& reply, std::size_t bytes) {
    std::size_t own_bytes = 0;
    std::size_t left = bytes;
    for (std::size_t index = 0; index < reply.pieces.size(); ++index) {
        ReplyPiece& piece = reply.pieces[index];
        const std::size_t before = piece.position - own_bytes;
        if (left <= before) {
            reply.pieces.resize(index);
            break;
        }
        own_bytes = piece.position;
        left -= before;
        if (left <= piece.slice.size) {
            piece.slice.size = static_cast<std::uint32_t>(left);
            left = 0;
            reply.pieces.resize(index + 1);
            break;
        }
        left -= piece.slice.size;
    }
    reply.bytes.truncate(own_bytes + std::min(left, reply.bytes.size() - own_bytes));
}

void treat(const ReplyTreatment& treatment, Reply& reply) {
    if (treatment.change) {
        treatment.change(reply);
    }
    if (treatment.is_sent_twice) {
        repeat(reply);
    }
    if (treatment.reset_after_bytes) {
        cut(reply, *treatment.reset_after_bytes);
        reply.close = true;
    }
}

}  // namespace partita::runtime
