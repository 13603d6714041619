#include "broker/net/plain_transport.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace partita::net {
namespace {

bool is_passing(int error_number) { return error_number == EAGAIN || error_number == EWOULDBLOCK || error_number == EINTR; }

/// The result of a system call that returns the number of moved bytes, or -1 with errno.
Transport::Moved moved(ssize_t result) {
    if (result >= 0) {
        return {.bytes = static_cast<std::size_t>(result)};
    }
    return {.status = is_passing(errno) ? Transport::Status::would_block : Transport::Status::ended};
}

}  // namespace

Transport::Moved PlainTransport::receive(MutableBytes room) {
    const ssize_t count = ::recv(descriptor_, room.data(), room.size(), MSG_DONTWAIT);
    return count == 0 ? Moved{.status = Status::ended} : moved(count);
}

Transport::Moved PlainTransport::send(std::span<const Bytes> parts, bool more_follows) {
    const int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (more_follows ? MSG_MORE : 0);
    if (parts.size() == 1) {
        return moved(::send(descriptor_, parts.front().data(), parts.front().size(), flags));
    }
    std::array<iovec, kPartsMax> pieces;
    const std::size_t count = std::min(parts.size(), pieces.size());
    for (std::size_t index = 0; index < count; ++index) {
        // sendmsg only reads through this pointer, although it is not const.
        pieces[index] = {const_cast<std::byte*>(parts[index].data()), parts[index].size()};
    }
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = count;
    return moved(::sendmsg(descriptor_, &message, flags));
}

Transport::Moved PlainTransport::send_file(File& file, std::uint64_t position, std::size_t bytes) {
    auto from = static_cast<off_t>(position);
    const ssize_t sent = ::sendfile(descriptor_, file.descriptor(), &from, bytes);
    return sent == 0 ? Moved{.status = Status::file_ended} : moved(sent);
}

bool PlainTransport::is_over() {
    std::byte peeked;
    const ssize_t count = ::recv(descriptor_, &peeked, 1, MSG_PEEK | MSG_DONTWAIT);
    return count == 0 || (count < 0 && !is_passing(errno));
}

std::size_t PlainTransport::bytes_on_the_way() { return unsent_bytes(descriptor_); }

std::size_t unsent_bytes(int descriptor) {
    int unsent = 0;
    return ::ioctl(descriptor, SIOCOUTQ, &unsent) == 0 ? static_cast<std::size_t>(unsent) : 0;
}

}  // namespace partita::net
