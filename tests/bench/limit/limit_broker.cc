// A broker of one thread without features, which shows what the machine allows. It receives, checks the checksum, gives offsets,
// writes to the page cache and answers; it sends by sendfile and lets readers at the end wait. It does nothing else: no groups,
// no indexes on disk, no recovery, no limits against bad clients. Measurements compare Partita with it.
//
//   limit_broker PORT DIRECTORY PARTITIONS [--sync]     --sync: a device sync before answers, shared by all that wait
//
// It speaks ApiVersions 0, Produce 7, Fetch 4 (one topic, one partition per Fetch) and Metadata 1, for any topic name. Metadata
// names the first partition only: a client that asks where to write writes there.

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "protocol/big_endian.h"
#include "protocol/crc32c.h"

namespace {

using namespace partita;

constexpr std::size_t kReceiveBytes = 1 << 20;
constexpr std::int64_t kPreallocatedBytes = 64 << 20;
constexpr std::size_t kBatchHeaderBytes = 61;
constexpr std::int16_t kProduceKey = 0;
constexpr std::int16_t kFetchKey = 1;
constexpr std::int16_t kMetadataKey = 3;
constexpr std::int16_t kApiVersionsKey = 18;
constexpr std::int16_t kUnsupportedVersion = 35;
constexpr int kEvents = 256;
constexpr std::chrono::microseconds kLook{50};

[[noreturn]] void give_up(const char* what) {
    std::perror(what);
    std::exit(1);
}

void check(bool holds, const char* what) {
    if (!holds) {
        give_up(what);
    }
}

struct Log {
    struct Start {
        std::int64_t offset;
        std::int64_t position;
    };
    int file = -1;
    std::int64_t next_offset = 0;
    std::int64_t size_bytes = 0;
    std::int64_t allocated_bytes = 0;
    bool is_dirty = false;
    std::vector<Start> batches;

    std::int64_t position_of(std::int64_t offset) const {
        const auto after = std::upper_bound(batches.begin(), batches.end(), offset,
                                            [](std::int64_t wanted, const Start& start) { return wanted < start.offset; });
        return offset >= next_offset || after == batches.begin() ? size_bytes : std::prev(after)->position;
    }
};

struct ParkedFetch {
    std::int32_t correlation_id = 0;
    std::int32_t partition = 0;
    std::int64_t offset = 0;
    std::int32_t max_bytes = 0;
    bool waits = false;
};

struct Connection {
    int socket = -1;
    std::vector<std::byte> received;
    std::size_t filled = 0;
    std::vector<std::byte> answers;
    ParkedFetch parked;
};

template <class Number>
void put(std::vector<std::byte>& out, Number value) {
    out.resize(out.size() + sizeof value);
    store_big_endian(out.data() + out.size() - sizeof value, value);
}

class Reader {
  public:
    explicit Reader(std::byte* at) : at_(at) {}
    template <class Number>
    Number take() {
        const Number value = load_big_endian<Number>(at_);
        at_ += sizeof value;
        return value;
    }
    std::byte* skip(std::size_t count) {
        std::byte* skipped = at_;
        at_ += count;
        return skipped;
    }
    std::string_view take_string() {
        const auto size = take<std::int16_t>();
        const std::size_t count = size < 0 ? 0 : static_cast<std::size_t>(size);
        return {reinterpret_cast<const char*>(skip(count)), count};
    }

  private:
    std::byte* at_;
};

class LimitBroker {
  public:
    LimitBroker(int port, const std::string& directory, int partitions, bool sync)
        : sync_(sync), port_(port), logs_(static_cast<std::size_t>(partitions)) {
        for (std::size_t i = 0; i < logs_.size(); ++i) {
            const std::string name = directory + "/" + std::to_string(i) + ".log";
            logs_[i].file = ::open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
            check(logs_[i].file >= 0, "open");
        }
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const int on = 1;
        ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        // A pacing congestion control costs more on loopback than everything else together.
        ::setsockopt(listener_, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        check(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "bind");
        check(::listen(listener_, 1024) == 0, "listen");
        epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
        watch(listener_, nullptr);
    }

    [[noreturn]] void run() {
        epoll_event events[kEvents];
        while (true) {
            const int count = wait(events);
            for (int i = 0; i < count; ++i) {
                if (events[i].data.ptr == nullptr) {
                    accept_one();
                } else {
                    receive(*static_cast<Connection*>(events[i].data.ptr));
                }
            }
            if (sync_) {
                sync_dirty();
            }
            for (auto& connection : connections_) {
                if (connection->parked.waits) {
                    answer_fetch(*connection);
                }
                send_answers(*connection);
            }
            std::erase_if(connections_, [](const auto& connection) { return connection->socket < 0; });
        }
    }

  private:
    /// Looks before it sleeps, as a broker does whose clients ask again at once: otherwise its own wake would take most of the
    /// time.
    [[nodiscard]] int wait(epoll_event (&events)[kEvents]) const {
        const auto until = std::chrono::steady_clock::now() + kLook;
        do {
            if (const int count = ::epoll_wait(epoll_, events, kEvents, 0); count != 0) {
                return count;
            }
        } while (std::chrono::steady_clock::now() < until);
        return ::epoll_wait(epoll_, events, kEvents, -1);
    }

    void watch(int descriptor, void* data) {
        epoll_event event{.events = EPOLLIN, .data = {.ptr = data}};
        check(::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0, "epoll_ctl");
    }

    void accept_one() {
        const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        check(socket >= 0, "accept");
        const int on = 1;
        ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        connections_.push_back(std::make_unique<Connection>());
        connections_.back()->socket = socket;
        watch(socket, connections_.back().get());
    }

    void receive(Connection& connection) {
        if (connection.received.size() - connection.filled < kReceiveBytes) {
            connection.received.resize(connection.filled + kReceiveBytes);
        }
        const ssize_t count = ::recv(connection.socket, connection.received.data() + connection.filled,
                                     connection.received.size() - connection.filled, MSG_DONTWAIT);
        if (count < 0 && errno == EAGAIN) {
            return;
        }
        if (count <= 0) {
            ::close(connection.socket);
            connection.socket = -1;
            connection.parked.waits = false;
            return;
        }
        connection.filled += static_cast<std::size_t>(count);
        std::size_t done = 0;
        while (connection.filled - done >= 4) {
            const auto size = static_cast<std::size_t>(load_big_endian<std::int32_t>(connection.received.data() + done));
            if (connection.filled - done - 4 < size) {
                break;
            }
            serve(connection, connection.received.data() + done + 4);
            done += 4 + size;
        }
        std::memmove(connection.received.data(), connection.received.data() + done, connection.filled - done);
        connection.filled -= done;
    }

    void serve(Connection& connection, std::byte* frame) {
        Reader request(frame);
        const auto key = request.take<std::int16_t>();
        const auto version = request.take<std::int16_t>();
        const auto correlation_id = request.take<std::int32_t>();
        request.take_string();
        switch (key) {
            case kProduceKey:
                return produce(connection, request, correlation_id);
            case kFetchKey:
                return fetch(connection, request, correlation_id);
            case kMetadataKey:
                return metadata(connection, request, correlation_id);
            case kApiVersionsKey:
                return api_versions(connection, version, correlation_id);
            default:
                errno = EPROTO;
                give_up("a request of another kind");
        }
    }

    void produce(Connection& connection, Reader& request, std::int32_t correlation_id) {
        request.take_string();
        request.take<std::int16_t>();
        request.take<std::int32_t>();
        request.take<std::int32_t>();
        const std::string_view topic = request.take_string();
        const auto partitions = request.take<std::int32_t>();
        std::vector<std::byte>& out = connection.answers;
        const std::size_t begin = out.size();
        put(out, std::int32_t{0});
        put(out, correlation_id);
        put(out, std::int32_t{1});
        put(out, static_cast<std::int16_t>(topic.size()));
        out.insert(out.end(), reinterpret_cast<const std::byte*>(topic.data()),
                   reinterpret_cast<const std::byte*>(topic.data()) + topic.size());
        put(out, partitions);
        for (std::int32_t i = 0; i < partitions; ++i) {
            const auto partition = request.take<std::int32_t>();
            const auto size = static_cast<std::size_t>(request.take<std::int32_t>());
            const std::int64_t offset = append(logs_.at(static_cast<std::size_t>(partition)), request.skip(size), size);
            put(out, partition);
            put(out, std::int16_t{0});
            put(out, offset);
            put(out, std::int64_t{-1});
            put(out, std::int64_t{0});
        }
        put(out, std::int32_t{0});
        store_big_endian(out.data() + begin, static_cast<std::int32_t>(out.size() - begin - 4));
    }

    static std::int64_t append(Log& log, std::byte* batch, std::size_t size) {
        const auto crc = load_big_endian<std::uint32_t>(batch + 17);
        if (size < kBatchHeaderBytes || crc != crc32c(Bytes(batch + 21, size - 21))) {
            errno = EBADMSG;
            give_up("a batch");
        }
        const std::int64_t offset = log.next_offset;
        store_big_endian(batch, offset);
        store_big_endian(batch + 12, std::int32_t{0});
        if (log.size_bytes + static_cast<std::int64_t>(size) > log.allocated_bytes) {
            log.allocated_bytes += kPreallocatedBytes;
            check(::fallocate(log.file, FALLOC_FL_KEEP_SIZE, 0, log.allocated_bytes) == 0, "fallocate");
        }
        check(::pwrite(log.file, batch, size, log.size_bytes) == static_cast<ssize_t>(size), "pwrite");
        log.batches.push_back({offset, log.size_bytes});
        log.size_bytes += static_cast<std::int64_t>(size);
        log.next_offset += load_big_endian<std::int32_t>(batch + 23) + 1;
        log.is_dirty = true;
        return offset;
    }

    void fetch(Connection& connection, Reader& request, std::int32_t correlation_id) {
        request.skip(4 + 4 + 4 + 4 + 1 + 4);
        topic_ = request.take_string();
        request.take<std::int32_t>();
        ParkedFetch& parked = connection.parked;
        parked.correlation_id = correlation_id;
        parked.partition = request.take<std::int32_t>();
        parked.offset = request.take<std::int64_t>();
        parked.max_bytes = request.take<std::int32_t>();
        answer_fetch(connection);
    }

    void answer_fetch(Connection& connection) {
        ParkedFetch& parked = connection.parked;
        const Log& log = logs_.at(static_cast<std::size_t>(parked.partition));
        // A reader at the end waits without a limit: measurements stop at a known size.
        if (parked.offset >= log.next_offset) {
            parked.waits = true;
            return;
        }
        parked.waits = false;
        send_answers(connection);
        const std::int64_t begin = log.position_of(parked.offset);
        const auto bytes = static_cast<std::int32_t>(std::min<std::int64_t>(log.size_bytes - begin, parked.max_bytes));
        std::vector<std::byte>& out = connection.answers;
        put(out, std::int32_t{0});
        put(out, parked.correlation_id);
        put(out, std::int32_t{0});
        put(out, std::int32_t{1});
        put(out, static_cast<std::int16_t>(topic_.size()));
        out.insert(out.end(), reinterpret_cast<const std::byte*>(topic_.data()),
                   reinterpret_cast<const std::byte*>(topic_.data()) + topic_.size());
        put(out, std::int32_t{1});
        put(out, parked.partition);
        put(out, std::int16_t{0});
        put(out, log.next_offset);
        put(out, log.next_offset);
        put(out, std::int32_t{-1});
        put(out, bytes);
        store_big_endian(out.data(), static_cast<std::int32_t>(out.size() - 4) + bytes);
        send_all(connection, MSG_MORE);
        off_t at = begin;
        for (std::int32_t sent = 0; sent < bytes;) {
            const ssize_t part = ::sendfile(connection.socket, log.file, &at, static_cast<std::size_t>(bytes - sent));
            check(part > 0, "sendfile");
            sent += static_cast<std::int32_t>(part);
        }
    }

    static void put_string(std::vector<std::byte>& out, std::string_view text) {
        put(out, static_cast<std::int16_t>(text.size()));
        out.insert(out.end(), reinterpret_cast<const std::byte*>(text.data()),
                   reinterpret_cast<const std::byte*>(text.data()) + text.size());
    }

    void metadata(Connection& connection, Reader& request, std::int32_t correlation_id) {
        const auto topics = std::max(request.take<std::int32_t>(), std::int32_t{0});  // Null: all topics, but none is known.
        std::vector<std::byte>& out = connection.answers;
        const std::size_t begin = out.size();
        put(out, std::int32_t{0});
        put(out, correlation_id);
        put(out, std::int32_t{1});
        put(out, std::int32_t{1});
        put_string(out, "127.0.0.1");
        put(out, static_cast<std::int32_t>(port_));
        put(out, std::int16_t{-1});
        put(out, std::int32_t{1});
        put(out, topics);
        for (std::int32_t i = 0; i < topics; ++i) {
            put(out, std::int16_t{0});
            put_string(out, request.take_string());
            put(out, std::int8_t{0});
            put(out, std::int32_t{1});
            // No error, partition 0, led by 1, with the replica 1 in sync.
            put(out, std::int16_t{0});
            for (const int number : {0, 1, 1, 1, 1, 1}) {
                put(out, static_cast<std::int32_t>(number));
            }
        }
        store_big_endian(out.data() + begin, static_cast<std::int32_t>(out.size() - begin - 4));
    }

    /// The broker answers a client that begins with a newer version in version 0, and the client asks again (KIP-511).
    void api_versions(Connection& connection, std::int16_t asked, std::int32_t correlation_id) {
        std::vector<std::byte>& out = connection.answers;
        const std::size_t begin = out.size();
        put(out, std::int32_t{0});
        put(out, correlation_id);
        put(out, asked == 0 ? std::int16_t{0} : kUnsupportedVersion);
        put(out, std::int32_t{4});
        // The broker serves only the newest version of each. librdkafka believes in record batches when Produce 3 is named, and
        // then sends the newest.
        struct Versions {
            std::int16_t key, oldest, newest;
        };
        for (const Versions& versions :
             {Versions{kProduceKey, 3, 7}, {kFetchKey, 4, 4}, {kMetadataKey, 1, 1}, {kApiVersionsKey, 0, 0}}) {
            put(out, versions.key);
            put(out, versions.oldest);
            put(out, versions.newest);
        }
        store_big_endian(out.data() + begin, static_cast<std::int32_t>(out.size() - begin - 4));
    }

    void sync_dirty() {
        for (Log& log : logs_) {
            if (!log.is_dirty) {
                continue;
            }
            check(::fdatasync(log.file) == 0, "fdatasync");
            log.is_dirty = false;
        }
    }

    void send_answers(Connection& connection) {
        if (!connection.answers.empty() && connection.socket >= 0) {
            send_all(connection, 0);
        }
    }

    static void send_all(Connection& connection, int flags) {
        std::size_t sent = 0;
        while (sent < connection.answers.size()) {
            const ssize_t part = ::send(connection.socket, connection.answers.data() + sent, connection.answers.size() - sent,
                                        MSG_NOSIGNAL | flags);
            check(part > 0, "send");
            sent += static_cast<std::size_t>(part);
        }
        connection.answers.clear();
    }

    bool sync_;
    int port_;
    int listener_ = -1;
    int epoll_ = -1;
    std::string topic_;
    std::vector<Log> logs_;
    std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace

int main(int count, char** values) {
    const bool sync = count == 5 && std::string_view(values[4]) == "--sync";
    if (count != 4 && !sync) {
        std::fprintf(stderr, "usage: limit_broker PORT DIRECTORY PARTITIONS [--sync]\n");
        return 2;
    }
    LimitBroker(std::atoi(values[1]), values[2], std::atoi(values[3]), sync).run();
}
