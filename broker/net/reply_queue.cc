#include "broker/net/reply_queue.h"

#include <algorithm>
#include <utility>

#include "broker/runtime/loop/reply_memory.h"
#include "protocol/assert.h"

namespace partita::net {

std::size_t ReplyQueue::total_bytes(const runtime::Reply& reply) {
    std::size_t total = reply.bytes.size();
    for (const runtime::ReplyPiece& piece : reply.pieces) {
        total += piece.slice.size;
    }
    return total;
}

std::uint64_t ReplyQueue::take_slot() {
    slots_.emplace_back();
    return first_slot_ + slots_.size() - 1;
}

void ReplyQueue::give_back(std::uint64_t slot) {
    PARTITA_ASSERT(slot == first_slot_ + slots_.size() - 1 && !slots_[slots_.size() - 1].ready,
                   "only the last slot is given back");
    slots_.pop_back();
}

void ReplyQueue::treat(std::uint64_t slot, std::unique_ptr<runtime::ReplyTreatment> treatment) {
    PARTITA_ASSERT(slot == first_slot_ + slots_.size() - 1 && !slots_[slots_.size() - 1].ready,
                   "the reply to the last request is treated");
    slots_[slots_.size() - 1].treatment = std::move(treatment);
}

bool ReplyQueue::fill(std::uint64_t slot, runtime::Reply&& reply) {
    if (slot < first_slot_ || slot >= first_slot_ + slots_.size()) {
        return false;
    }
    Slot& place = slots_[slot - first_slot_];
    PARTITA_ASSERT(!place.ready, "a request is answered once");
    if (place.treatment != nullptr) {
        runtime::treat(*place.treatment, reply);
    }
    queued_bytes_ += total_bytes(reply);
    place.reply = std::move(reply);
    place.ready = true;
    return true;
}

bool ReplyQueue::is_filled(std::uint64_t slot) const { return slot < first_slot_ || slots_[slot - first_slot_].ready; }

bool ReplyQueue::is_front_sent() const {
    const runtime::Reply& front = slots_[0].reply;
    return sent_pieces_ == front.pieces.size() && sent_bytes_ == front.bytes.size();
}

ReplyQueue::Next ReplyQueue::next(std::span<Bytes, kGatheredMax> parts) {
    while (is_front_ready()) {
        skip_sent_pieces();
        if (!is_front_sent()) {
            const Slot& front = slots_.front();
            Next next = front.reply.pieces.empty() ? gather(parts) : next_of_front(parts);
            next.treatment = front.treatment.get();
            return next;
        }
        if (slots_.front().reply.close) {
            return {.kind = Kind::close, .treatment = slots_.front().treatment.get()};
        }
        pop_front();
    }
    return {};
}

ReplyQueue::Next ReplyQueue::gather(std::span<Bytes, kGatheredMax> parts) {
    std::size_t count = 0;
    std::size_t total = 0;
    for (std::size_t index = 0; index < slots_.size() && count < parts.size(); ++index) {
        const Slot& slot = slots_[index];
        // A reply with a treatment leaves alone.
        if (!slot.ready || !slot.reply.pieces.empty() || (slot.treatment != nullptr && index > 0)) {
            break;
        }
        const Bytes bytes = slot.reply.bytes.bytes().subspan(index == 0 ? sent_bytes_ : 0);
        if (!bytes.empty()) {
            parts[count++] = bytes;
            total += bytes.size();
        }
        if (slot.reply.close || slot.treatment != nullptr) {
            break;
        }
    }
    return {.kind = Kind::bytes, .parts = parts.first(count), .parts_bytes = total};
}

ReplyQueue::Next ReplyQueue::next_of_front(std::span<Bytes, kGatheredMax> parts) {
    const runtime::Reply& front = slots_.front().reply;
    const bool has_piece = sent_pieces_ < front.pieces.size();
    const std::size_t head_end = has_piece ? front.pieces[sent_pieces_].position : front.bytes.size();
    if (sent_bytes_ < head_end) {
        parts[0] = front.bytes.bytes().subspan(sent_bytes_, head_end - sent_bytes_);
        return {.kind = Kind::bytes, .parts = parts.first(1), .parts_bytes = parts[0].size(), .more_follows = has_piece};
    }
    const FileSlice& slice = front.pieces[sent_pieces_].slice;
    return {.kind = Kind::file,
            .slice = &slice,
            .file_position = slice.position + sent_of_piece_,
            .file_bytes = slice.size - sent_of_piece_};
}

void ReplyQueue::sent(std::size_t bytes) {
    const std::vector<runtime::ReplyPiece>& pieces = slots_.front().reply.pieces;
    if (!pieces.empty()) {
        if (sent_pieces_ == pieces.size() || sent_bytes_ < pieces[sent_pieces_].position) {
            sent_bytes_ += bytes;
        } else {
            sent_of_piece_ += static_cast<std::uint32_t>(bytes);
        }
        return;
    }
    while (bytes > 0) {
        const std::size_t part = std::min(bytes, slots_.front().reply.bytes.size() - sent_bytes_);
        sent_bytes_ += part;
        bytes -= part;
        if (bytes > 0) {
            pop_front();
        }
    }
}

void ReplyQueue::skip_sent_pieces() {
    const std::vector<runtime::ReplyPiece>& pieces = slots_.front().reply.pieces;
    while (sent_pieces_ < pieces.size() && sent_bytes_ == pieces[sent_pieces_].position &&
           sent_of_piece_ == pieces[sent_pieces_].slice.size) {
        ++sent_pieces_;
        sent_of_piece_ = 0;
    }
}

void ReplyQueue::pop_front() {
    runtime::Reply& front = slots_.front().reply;
    queued_bytes_ -= total_bytes(front);
    runtime::recycle_reply_buffer(std::move(front.bytes));
    runtime::recycle_reply_pieces(std::move(front.pieces));
    slots_.pop_front();
    ++first_slot_;
    sent_bytes_ = 0;
    sent_pieces_ = 0;
    sent_of_piece_ = 0;
}

}  // namespace partita::net
