#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "broker/net/ring.h"
#include "broker/runtime/loop/reply.h"
#include "broker/runtime/loop/reply_treatment.h"
#include "protocol/types.h"

namespace partita::net {

/// Puts the replies of a connection into the order of its requests. Each request takes a slot, and its reply fills the slot
/// whenever it is ready. `next` tells piece by piece what to send. It does not know the socket.
class ReplyQueue {
  public:
    /// The largest number of replies in one send.
    static constexpr std::size_t kGatheredMax = 64;

    enum class Kind : std::uint8_t {
        nothing,  ///< The oldest reply is not ready, or there is none.
        bytes,    ///< Send `parts`.
        file,     ///< Send `file_bytes` of `slice` from `file_position` of its file.
        close,    ///< Everything before this was sent, and the connection ends here.
    };
    struct Next {
        Kind kind = Kind::nothing;
        /// Lies in the memory that the caller gave to `next`. The parts point into the replies.
        std::span<const Bytes> parts;
        std::size_t parts_bytes = 0;
        /// True if a file follows immediately.
        bool more_follows = false;
        /// Valid until the next call of `sent`.
        const FileSlice* slice = nullptr;
        std::uint64_t file_position = 0;
        std::size_t file_bytes = 0;
        /// The treatment of the reply that all of this belongs to; null for most replies. Valid as `slice` is.
        runtime::ReplyTreatment* treatment = nullptr;
    };

    /// Takes the slot of the next request. Slot numbers ascend by one and are never reused.
    [[nodiscard]] std::uint64_t take_slot();
    /// Gives back the slot that was taken last; it must not be filled. The next request takes it again.
    void give_back(std::uint64_t slot);
    /// Gives the reply of the slot that was taken last a treatment. The slot must not be filled.
    void treat(std::uint64_t slot, std::unique_ptr<runtime::ReplyTreatment> treatment);
    /// Puts the reply into its slot. Returns false, without effect, if the slot is gone or was never taken. A slot is filled
    /// once.
    bool fill(std::uint64_t slot, runtime::Reply&& reply);
    /// True if the slot has its reply, or if that reply was already sent.
    [[nodiscard]] bool is_filled(std::uint64_t slot) const;

    [[nodiscard]] bool empty() const { return slots_.empty(); }
    [[nodiscard]] std::size_t size() const { return slots_.size(); }
    /// The bytes of all replies that are ready and not yet completely sent.
    [[nodiscard]] std::size_t queued_bytes() const { return queued_bytes_; }
    [[nodiscard]] bool is_front_ready() const { return !slots_.empty() && slots_[0].ready; }

    /// The next piece to send; `parts` is memory for the answer. The answer stays the same until `sent` is called.
    [[nodiscard]] Next next(std::span<Bytes, kGatheredMax> parts);
    /// Tells that the first `bytes` of the last answer of `next` were sent.
    void sent(std::size_t bytes);

    /// The bytes that a reply sends over the connection, including those from files.
    [[nodiscard]] static std::size_t total_bytes(const runtime::Reply& reply);

  private:
    struct Slot {
        runtime::Reply reply;
        bool ready = false;
        std::unique_ptr<runtime::ReplyTreatment> treatment;
    };

    [[nodiscard]] Next gather(std::span<Bytes, kGatheredMax> parts);
    [[nodiscard]] Next next_of_front(std::span<Bytes, kGatheredMax> parts);
    [[nodiscard]] bool is_front_sent() const;
    void skip_sent_pieces();
    void pop_front();

    Ring<Slot> slots_;
    std::uint64_t first_slot_ = 0;
    std::size_t queued_bytes_ = 0;
    // The sent part of the first reply: its own bytes, the number of whole files, and bytes of the present file.
    std::size_t sent_bytes_ = 0;
    std::uint32_t sent_pieces_ = 0;
    std::uint32_t sent_of_piece_ = 0;
};

}  // namespace partita::net
