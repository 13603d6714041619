#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/types.h"
#include "storage/file_system.h"

namespace partita::net {

/// Carries the bytes of one connection. The connection calls it on its reactor's thread, a few times per turn and never per
/// record. No call waits: a call that can do nothing now answers `would_block`, and the connection calls again when the event
/// loop says that the socket is ready.
///
/// A transport does not own the socket below it. The connection closes the socket, and may move it to another event loop without
/// the transport noticing.
class Transport {
  public:
    enum class Status : std::uint8_t {
        done,         ///< `bytes` went through: at least one, unless none was asked for.
        would_block,  ///< Nothing went through; the socket has to be waited for.
        ended,        ///< The peer is gone or the connection broke. Nothing will go through any more.
        file_ended,   ///< Only of files: there is nothing at that position, or it cannot be read.
    };
    struct Moved {
        std::size_t bytes = 0;
        Status status = Status::done;
    };

    virtual ~Transport() = default;

    /// Receives into the front of `room`, which is not empty.
    [[nodiscard]] virtual Moved receive(MutableBytes room) = 0;
    /// Sends (the beginning of) `parts`, one after the other. With `more_follows` the next call comes at once, so that bytes
    /// which do not fill a packet may wait for it.
    [[nodiscard]] virtual Moved send(std::span<const Bytes> parts, bool more_follows) = 0;

    /// True when `send_file` can send this file. A transport that has to see the bytes (encryption) never can.
    [[nodiscard]] virtual bool can_send(const File& file) const = 0;
    /// Sends (the beginning of) `bytes` bytes from `position` without copying them. Only for a file that it `can_send`.
    [[nodiscard]] virtual Moved send_file(File& file, std::uint64_t position, std::size_t bytes) = 0;

    /// True when something may be received although the socket has nothing to read: the transport has taken it already.
    [[nodiscard]] virtual bool holds_bytes() const = 0;
    /// True when the peer went away. Leaves what the peer sent unread.
    [[nodiscard]] virtual bool is_over() = 0;
    /// How many sent bytes the peer has not taken yet; 0 when that is not known.
    [[nodiscard]] virtual std::size_t bytes_on_the_way() = 0;
    /// Tells the peer that the stream ends, if the transport's protocol has a message for that. The connection calls it once,
    /// before it closes the socket.
    virtual void shut_down() = 0;
};

/// Sends (the beginning of) `bytes` bytes of `file` from `position`: without copying if the transport can, otherwise by reading
/// as much as fits into `scratch`. Bytes that were read and not sent are read again by the next call.
[[nodiscard]] Transport::Moved send_from_file(Transport& transport, File& file, std::uint64_t position, std::size_t bytes,
                                              MutableBytes scratch);

}  // namespace partita::net
