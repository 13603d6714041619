#include "broker/net/transport.h"

#include <algorithm>

namespace partita::net {

Transport::Moved send_from_file(Transport& transport, File& file, std::uint64_t position, std::size_t bytes,
                                MutableBytes scratch) {
    if (transport.can_send(file)) {
        return transport.send_file(file, position, bytes);
    }
    const StorageResult<std::size_t> read = file.read_at(position, scratch.first(std::min(bytes, scratch.size())));
    if (!read || *read == 0) {
        return {.status = Transport::Status::file_ended};
    }
    const Bytes part = scratch.first(*read);
    return transport.send({&part, 1}, *read < bytes);
}

}  // namespace partita::net
