#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "broker/net/ring.h"
#include "broker/runtime/loop/reply.h"
#include "protocol/types.h"

namespace partita::net {

/// The replies of a connection, in the order of its requests, whenever they become ready: each request takes a slot, its reply
/// fills it, and what is to be sent next is told piece by piece. Knows no socket.
class ReplyQueue {
  public:
    /// The bytes of so many replies go out in one send.
    static constexpr std::size_t kGatheredMax = 64;

    enum class Kind : std::uint8_t {
        nothing,  ///< The oldest reply is not ready, or there is none.
        bytes,    ///< Send `parts`.
        file,     ///< Send `file_bytes` of `slice` from `file_position` of its file.
        close,    ///< Everything before was sent, and here the connection ends.
    };
    struct Next {
        Kind kind = Kind::nothing;
        /// In the memory that was given to `next`, pointing into the replies.
        std::span<const Bytes> parts;
        std::size_t parts_bytes = 0;
        /// A file follows at once.
        bool more_follows = false;
        /// Valid until the next call of `sent`.
        const FileSlice* slice = nullptr;
        std::uint64_t file_position = 0;
        std::size_t file_bytes = 0;
    };

    /// Takes the slot of the next request. Numbers ascend by one and are never used again.
    [[nodiscard]] std::uint64_t take_slot();
    /// False when the slot is no longer there or never was: then nothing happens. A slot is filled once.
    bool fill(std::uint64_t slot, runtime::Reply&& reply);
    /// Its reply is there, or was.
    [[nodiscard]] bool is_filled(std::uint64_t slot) const;

    [[nodiscard]] bool empty() const { return slots_.empty(); }
    [[nodiscard]] std::size_t size() const { return slots_.size(); }
    /// Of filled slots, and not sent whole.
    [[nodiscard]] std::size_t queued_bytes() const { return queued_bytes_; }
    [[nodiscard]] bool is_front_ready() const { return !slots_.empty() && slots_[0].ready; }

    /// What is to be sent now; `parts` is memory for the answer. The same again until `sent` is called.
    [[nodiscard]] Next next(std::span<Bytes, kGatheredMax> parts);
    /// `bytes` of what `next` answered last went out, as many as it named at most.
    void sent(std::size_t bytes);

    /// All that a reply brings to the connection, files included.
    [[nodiscard]] static std::size_t total_bytes(const runtime::Reply& reply);

  private:
    struct Slot {
        runtime::Reply reply;
        bool ready = false;
    };

    [[nodiscard]] Next gather(std::span<Bytes, kGatheredMax> parts);
    [[nodiscard]] Next next_of_front(std::span<Bytes, kGatheredMax> parts);
    [[nodiscard]] bool is_front_sent() const;
    void skip_sent_pieces();
    void pop_front();

    Ring<Slot> slots_;
    std::uint64_t first_slot_ = 0;
    std::size_t queued_bytes_ = 0;
    // Progress within the first reply: its bytes, its files, and the bytes of the present file.
    std::size_t sent_bytes_ = 0;
    std::uint32_t sent_pieces_ = 0;
    std::uint32_t sent_of_piece_ = 0;
};

}  // namespace partita::net
