#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/types.h"
#include "storage/file_system.h"

namespace partita::net {

/// What carries the bytes of one connection. The connection calls it on its reactor's thread, a few times in a turn and never per
/// record. No call waits: what cannot be done now is answered with `would_block`, and the connection calls again when the event
/// loop says that the socket is ready.
///
/// A transport does not own the socket below it: the connection closes that, and moves it to another event loop, of which the
/// transport notices nothing.
class Transport {
  public:
    enum class Status : std::uint8_t {
        done,          ///< `bytes` went through: at least one, unless none was asked for.
        would_block,   ///< Nothing went through; the socket has to be waited for.
        ended,         ///< The peer is gone or the connection broke. Nothing will go through any more.
        file_ended,    ///< Only of files: there is nothing at that position, or it cannot be read.
    };
    struct Moved {
        std::size_t bytes = 0;
        Status status = Status::done;
    };

    virtual ~Transport() = default;

    /// Receives into the front of `room`, which is not empty.
    [[nodiscard]] virtual Moved receive(MutableBytes room) = 0;
    /// Sends (the beginning of) `parts`, one behind the other. `more_follows`: the next call comes at once, so that what does
    /// not fill a packet may wait for it.
    [[nodiscard]] virtual Moved send(std::span<const Bytes> parts, bool more_follows) = 0;

    /// Whether `send_file` can send this file. A transport that has to see the bytes (encryption) never can.
    [[nodiscard]] virtual bool can_send(const File& file) const = 0;
    /// Sends (the beginning of) `bytes` bytes from `position` without copying them. Only of a file that it can send.
    [[nodiscard]] virtual Moved send_file(File& file, std::uint64_t position, std::size_t bytes) = 0;

    /// True when the peer went away. Takes no bytes from what it sent.
    [[nodiscard]] virtual bool is_over() = 0;
    /// Bytes that were sent and that the peer did not take yet; what cannot be told is 0.
    [[nodiscard]] virtual std::size_t bytes_on_the_way() = 0;
    /// Says goodbye where the transport has words for it, once, before the connection closes the socket.
    virtual void shut_down() = 0;
};

/// Sends (the beginning of) `bytes` bytes of `file` from `position`, by the transport's own means where it has any, and
/// otherwise as much as fits into `scratch` by reading it. What was read and not taken is read again by the next call.
[[nodiscard]] Transport::Moved send_from_file(Transport& transport, File& file, std::uint64_t position, std::size_t bytes,
                                              MutableBytes scratch);

}  // namespace partita::net
