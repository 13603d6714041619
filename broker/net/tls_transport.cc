#include "broker/net/tls_transport.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "broker/net/plain_transport.h"

namespace partita::net {
namespace {

/// The reason why a call moved nothing.
Transport::Status status_of(const SSL* connection, int result) {
    const int error = SSL_get_error(connection, result);
    ERR_clear_error();
    const bool is_passing = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
    return is_passing ? Transport::Status::would_block : Transport::Status::ended;
}

/// Cuts parts into records, one after the other.
class Records {
  public:
    explicit Records(std::span<const Bytes> parts) : parts_(parts) {}

    /// The bytes of the next record: a whole record within one part without a copy, otherwise several parts copied to `room`.
    /// Empty at the end. With more parts, the record at the same position can only grow.
    Bytes next(std::span<std::byte, TlsTransport::kRecordBytes> room) {
        skip_empty();
        if (parts_.empty()) {
            return {};
        }
        if (parts_.front().size() - offset_ >= room.size()) {
            return take(room.size());
        }
        std::size_t filled = 0;
        while (filled < room.size() && !parts_.empty()) {
            const Bytes piece = take(std::min(room.size() - filled, parts_.front().size() - offset_));
            std::memcpy(room.data() + filled, piece.data(), piece.size());
            filled += piece.size();
            skip_empty();
        }
        return room.first(filled);
    }

  private:
    Bytes take(std::size_t count) {
        const Bytes taken = parts_.front().subspan(offset_, count);
        offset_ += count;
        return taken;
    }
    void skip_empty() {
        while (!parts_.empty() && offset_ == parts_.front().size()) {
            parts_ = parts_.subspan(1);
            offset_ = 0;
        }
    }

    std::span<const Bytes> parts_;
    std::size_t offset_ = 0;
};

}  // namespace

TlsTransport::TlsTransport(tls::ConnectionPointer connection) : connection_(std::move(connection)) {
    // From now on, read whole records with one call where possible. Records that the kernel decrypts arrive whole anyway.
    if (!BIO_get_ktls_recv(SSL_get_rbio(connection_.get()))) {
        SSL_set_read_ahead(connection_.get(), 1);
    }
}

Transport::Moved TlsTransport::receive(MutableBytes room) {
    std::size_t total = 0;
    // The socket does not signal bytes that OpenSSL has already received, so take all of them now. The limit stops a flood of
    // small records.
    for (std::size_t records = 0; total < room.size() && records < kRecordsMax; ++records) {
        std::size_t received = 0;
        const int result = SSL_read_ex(connection_.get(), room.data() + total, room.size() - total, &received);
        if (result != 1) {
            const Status status = status_of(connection_.get(), result);
            if (total == 0) {
                return {.status = status};
            }
            break;
        }
        total += received;
    }
    return {.bytes = total};
}

Transport::Moved TlsTransport::send(std::span<const Bytes> parts, bool /*more_follows*/) {
    std::array<std::byte, kRecordBytes> room;
    Records records(parts);
    std::size_t total = 0;
    for (Bytes record = records.next(room); !record.empty(); record = records.next(room)) {
        std::size_t sent = 0;
        const int result = SSL_write_ex(connection_.get(), record.data(), record.size(), &sent);
        if (result != 1) {
            const Status status = status_of(connection_.get(), result);
            return total == 0 ? Moved{.status = status} : Moved{.bytes = total};
        }
        total += sent;
        // OpenSSL has sent the rest of an earlier call, which was shorter than this record.
        if (sent < record.size()) {
            break;
        }
    }
    return {.bytes = total};
}

bool TlsTransport::can_send(const File& file) const {
    return file.descriptor() >= 0 && BIO_get_ktls_send(SSL_get_wbio(connection_.get()));
}

Transport::Moved TlsTransport::send_file(File& file, std::uint64_t position, std::size_t bytes) {
    const auto sent = SSL_sendfile(connection_.get(), file.descriptor(), static_cast<off_t>(position), bytes, 0);
    if (sent > 0) {
        return {.bytes = static_cast<std::size_t>(sent)};
    }
    return {.status = sent == 0 ? Status::file_ended : status_of(connection_.get(), static_cast<int>(sent))};
}

bool TlsTransport::holds_bytes() const {
    // The pending bytes may be the beginning of an incomplete record. OpenSSL then wants to read the rest.
    return !SSL_want_read(connection_.get()) && SSL_has_pending(connection_.get()) == 1;
}

bool TlsTransport::is_over() {
    pollfd socket{.fd = SSL_get_fd(connection_.get()), .events = POLLRDHUP, .revents = 0};
    return ::poll(&socket, 1, 0) > 0 && socket.revents != 0;
}

std::size_t TlsTransport::bytes_on_the_way() { return unsent_bytes(SSL_get_fd(connection_.get())); }

void TlsTransport::shut_down() {
    // The peer may not receive this; the socket is closed next anyway.
    SSL_shutdown(connection_.get());
    ERR_clear_error();
}

}  // namespace partita::net
