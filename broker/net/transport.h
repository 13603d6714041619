#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/types.h"
#include "storage/file_system.h"

namespace partita::net {

/// Carries the bytes of one connection. The connection calls it on its reactor's thread, a few times per turn and never per
/// record. No call waits. A call that can do nothing now answers `would_block`; the connection calls again when the event loop
/// reports that the socket is ready.
///
/// A transport does not own its socket. The connection closes the socket, and may move it to another event loop without the
/// transport noticing.
class Transport {
  public:
    enum class Status : std::uint8_t {
        done,         ///< `bytes` were moved: at least one, unless the call asked for none.
        would_block,  ///< Nothing was moved; the caller must wait for the socket.
        ended,        ///< The peer is gone or the connection broke. No further bytes can be moved.
        file_ended,   ///< Only for files: there is nothing at that position, or it cannot be read.
    };
    struct Moved {
        std::size_t bytes = 0;
        Status status = Status::done;
    };

    virtual ~Transport() = default;

    /// Receives into the front of `room`, which is not empty.
    [[nodiscard]] virtual Moved receive(MutableBytes room) = 0;
    /// Sends `parts`, or their beginning, one after the other. With `more_follows` the next call comes at once, so that bytes
    /// which do not fill a packet may wait for it.
    [[nodiscard]] virtual Moved send(std::span<const Bytes> parts, bool more_follows) = 0;

    /// True if `send_file` can send this file. A transport that must see the bytes to encrypt them never can.
    [[nodiscard]] virtual bool can_send(const File& file) const = 0;
    /// Sends `bytes` bytes from `position`, or their beginning, without copying them. Only for a file for which `can_send` is
    /// true.
    [[nodiscard]] virtual Moved send_file(File& file, std::uint64_t position, std::size_t bytes) = 0;

    /// True if bytes may be available although the socket has nothing to read: the transport has already taken them.
    [[nodiscard]] virtual bool holds_bytes() const = 0;
    /// True if the peer went away. Leaves the peer's unread bytes unread.
    [[nodiscard]] virtual bool is_over() = 0;
    /// The number of sent bytes that the peer has not taken yet; 0 if unknown.
    [[nodiscard]] virtual std::size_t bytes_on_the_way() = 0;
    /// Tells the peer that the stream ends, if the transport's protocol has a message for that. The connection calls it once,
    /// before it closes the socket.
    virtual void shut_down() = 0;
};

/// Sends `bytes` bytes of `file` from `position`, or their beginning. It does not copy if the transport can do without; otherwise
/// it reads as much as fits into `scratch`. The next call reads bytes again that were read and not sent.
[[nodiscard]] Transport::Moved send_from_file(Transport& transport, File& file, std::uint64_t position, std::size_t bytes,
                                              MutableBytes scratch);

}  // namespace partita::net
