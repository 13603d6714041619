// A client that costs little: it sends batches that were encoded before, checks every acknowledgement, and lets the
// kernel throw fetched records away. So the broker is what is measured, not the client.
//
//   replay_client produce --port P --topic T [--partitions N] [--batches-per-request N] [--record-bytes N]
//                         [--batch-bytes N] [--in-flight N] [--megabytes N] [--keyed] [--pid PID] [--touch-megabytes N]
//   replay_client fetch   --port P --topic T [--record-bytes N --batch-bytes N as produced] [--fetch-bytes N]
//                         [--megabytes N] [--pid PID]
//
// With --touch-megabytes it touches and frees so much memory right before it sends: on a virtual machine whose host takes
// free pages back within seconds, page cache that is written for the first time costs five times more than anything
// that a broker does.
//
// Prints one line of JSON. `cpu_s_per_gb` is the processor time of process PID during the run per 10^9 bytes of batches.
// The topic must exist. Ends with 1 when an answer is not what it must be.

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "protocol/big_endian.h"
#include "protocol/record_batch_builder.h"

namespace {

using namespace partita;

[[noreturn]] void give_up(const std::string& message) {
    std::fprintf(stderr, "replay_client: %s\n", message.c_str());
    std::exit(1);
}

struct Settings {
    std::string mode;
    std::string topic = "replay";
    int port = 9092;
    int pid = 0;
    int partitions = 1;
    int batches_per_request = 1;
    int in_flight = 5;
    std::size_t record_bytes = 1024;
    std::size_t batch_bytes = 65536;
    std::size_t fetch_bytes = 1 << 20;
    std::uint64_t megabytes = 1000;
    std::uint64_t touch_megabytes = 0;
    bool keyed = false;
};

Settings parse(int count, char** values) {
    if (count < 2) give_up("a mode is missing: produce or fetch");
    Settings settings{.mode = values[1]};
    std::map<std::string, std::string> given;
    for (int i = 2; i < count; ++i) {
        const std::string name = values[i];
        if (name == "--keyed") {
            settings.keyed = true;
        } else if (i + 1 < count) {
            given[name] = values[++i];
        } else {
            give_up(name + " needs a value");
        }
    }
    for (const auto& [name, value] : given) {
        const std::int64_t number = std::atoll(value.c_str());
        if (name == "--topic") settings.topic = value;
        else if (name == "--port") settings.port = static_cast<int>(number);
        else if (name == "--pid") settings.pid = static_cast<int>(number);
        else if (name == "--partitions") settings.partitions = static_cast<int>(number);
        else if (name == "--batches-per-request") settings.batches_per_request = static_cast<int>(number);
        else if (name == "--in-flight") settings.in_flight = static_cast<int>(number);
        else if (name == "--record-bytes") settings.record_bytes = static_cast<std::size_t>(number);
        else if (name == "--batch-bytes") settings.batch_bytes = static_cast<std::size_t>(number);
        else if (name == "--fetch-bytes") settings.fetch_bytes = static_cast<std::size_t>(number);
        else if (name == "--touch-megabytes") settings.touch_megabytes = static_cast<std::uint64_t>(number);
        else if (name == "--megabytes") settings.megabytes = static_cast<std::uint64_t>(number);
        else give_up("unknown option " + name);
    }
    return settings;
}

/// Processor time and context switches of a process, over all its threads.
struct Usage {
    double cpu_s = 0;
    double user_s = 0;

    static Usage of(int pid) {
        Usage usage;
        if (pid == 0) return usage;
        std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
        std::string text((std::istreambuf_iterator<char>(file)), {});
        const std::size_t name_end = text.rfind(')');
        if (name_end == std::string::npos) give_up("there is no process " + std::to_string(pid));
        unsigned long user = 0;
        unsigned long system = 0;
        std::sscanf(text.c_str() + name_end + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
        const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
        usage.user_s = static_cast<double>(user) / ticks;
        usage.cpu_s = static_cast<double>(user + system) / ticks;
        return usage;
    }
};

class Connection {
  public:
    explicit Connection(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        const int on = 1;
        ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        ::setsockopt(socket_, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) give_up("cannot connect");
    }
    ~Connection() { ::close(socket_); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void send(Bytes bytes) {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) give_up("the broker closed the connection");
            bytes = bytes.subspan(static_cast<std::size_t>(sent));
        }
    }
    void receive(std::byte* to, std::size_t count) {
        while (count > 0) {
            if (begin_ == end_) fill();
            const std::size_t part = std::min(count, end_ - begin_);
            std::memcpy(to, buffer_ + begin_, part);
            begin_ += part;
            to += part;
            count -= part;
        }
    }
    /// What is not in the buffer yet never reaches this process.
    void discard(std::size_t count) {
        const std::size_t buffered = std::min(count, end_ - begin_);
        begin_ += buffered;
        count -= buffered;
        while (count > 0) {
            const ssize_t dropped = ::recv(socket_, nullptr, count, MSG_TRUNC);
            if (dropped <= 0) give_up("the broker closed the connection");
            count -= static_cast<std::size_t>(dropped);
        }
    }
    template <class Number>
    Number receive_number() {
        std::byte bytes[sizeof(Number)];
        receive(bytes, sizeof bytes);
        return load_big_endian<Number>(bytes);
    }
    /// Bytes that a fill may take: small, so that records are left for `discard`.
    void set_fill_bytes(std::size_t count) { fill_bytes_ = std::min(count, sizeof buffer_); }

  private:
    void fill() {
        const ssize_t count = ::recv(socket_, buffer_, fill_bytes_, 0);
        if (count <= 0) give_up("the broker closed the connection");
        begin_ = 0;
        end_ = static_cast<std::size_t>(count);
    }
    int socket_;
    std::byte buffer_[65536];
    std::size_t fill_bytes_ = sizeof buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

class Frame {
  public:
    Frame(std::int16_t key, std::int16_t version) {
        put(std::int32_t{0});
        put(key);
        put(version);
        put(std::int32_t{0});
        put_string("replay");
    }
    template <class Number>
    void put(Number value) {
        bytes_.resize(bytes_.size() + sizeof value);
        store_big_endian(bytes_.data() + bytes_.size() - sizeof value, value);
    }
    void put_string(std::string_view text) {
        put(static_cast<std::int16_t>(text.size()));
        put_raw(as_bytes(text));
    }
    void put_raw(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
    Bytes finish(std::int32_t correlation_id) {
        store_big_endian(bytes_.data(), static_cast<std::int32_t>(bytes_.size() - 4));
        store_big_endian(bytes_.data() + 8, correlation_id);
        return bytes_;
    }

  private:
    std::vector<std::byte> bytes_;
};

struct EncodedBatch {
    std::vector<std::byte> bytes;
    std::int32_t records = 0;
};

EncodedBatch make_batch(const Settings& settings, std::uint64_t seed) {
    BatchBuilder builder;
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
    std::string value(settings.record_bytes, ' ');
    EncodedBatch batch;
    while (builder.uncompressed_size_bytes() + settings.record_bytes + 20 <= settings.batch_bytes || batch.records == 0) {
        for (char& letter : value) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            letter = static_cast<char>('a' + (seed >> 33) % 26);
        }
        const std::string key = "key-" + std::to_string(1'000'000 + seed % 1'000'000);
        builder.append({now.count()}, settings.keyed ? std::optional(as_bytes(key)) : std::nullopt, as_bytes(value));
        ++batch.records;
    }
    builder.build(batch.bytes);
    return batch;
}

double seconds_since(std::chrono::steady_clock::time_point began) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

void report(const Settings& settings, std::uint64_t bytes, std::uint64_t records, std::uint64_t requests, double seconds,
            const Usage& before) {
    const Usage after = Usage::of(settings.pid);
    const double gigabytes = static_cast<double>(bytes) / 1e9;
    std::printf("{\"mode\": \"%s\", \"bytes\": %llu, \"records\": %llu, \"requests\": %llu, \"seconds\": %.3f, "
                "\"mb_per_s\": %.0f, \"records_per_s\": %.0f",
                settings.mode.c_str(), static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(records),
                static_cast<unsigned long long>(requests), seconds, static_cast<double>(bytes) / 1e6 / seconds,
                static_cast<double>(records) / seconds);
    if (settings.pid != 0) {
        std::printf(", \"cpu_s_per_gb\": %.3f, \"user_s_per_gb\": %.3f, \"cpu_us_per_request\": %.2f",
                    (after.cpu_s - before.cpu_s) / gigabytes, (after.user_s - before.user_s) / gigabytes,
                    (after.cpu_s - before.cpu_s) * 1e6 / static_cast<double>(requests));
    }
    std::printf("}\n");
}

void touch(std::uint64_t megabytes) {
    if (megabytes == 0) return;
    const std::size_t bytes = megabytes * 1'000'000;
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) give_up("no memory to touch");
    ::munmap(memory, bytes);
}

void read_produce_answer(Connection& connection, std::int32_t correlation_id, int batches) {
    const auto size = connection.receive_number<std::int32_t>();
    if (connection.receive_number<std::int32_t>() != correlation_id) give_up("an answer belongs to another request");
    std::vector<std::byte> body(static_cast<std::size_t>(size) - 4);
    connection.receive(body.data(), body.size());
    const std::byte* at = body.data();
    if (load_big_endian<std::int32_t>(at) != 1) give_up("Produce answered for another number of topics");
    at += 4;
    at += 2 + load_big_endian<std::int16_t>(at);
    if (load_big_endian<std::int32_t>(at) != batches) give_up("Produce answered for another number of partitions");
    at += 4;
    constexpr std::size_t kPartitionBytes = 4 + 2 + 8 + 8 + 8;
    for (int i = 0; i < batches; ++i, at += kPartitionBytes) {
        if (const auto error = load_big_endian<std::int16_t>(at + 4); error != 0) {
            give_up("Produce answered error " + std::to_string(error));
        }
    }
}

void produce(const Settings& settings) {
    // As many different requests as fit into 64 MB, so that no cache holds them all.
    std::vector<Frame> frames;
    std::uint64_t request_bytes = 0;
    std::uint64_t request_records = 0;
    int partition = 0;
    for (std::uint64_t held = 0; held < 64'000'000 || partition != 0; held += request_bytes) {
        Frame frame(0, 7);
        frame.put(std::int16_t{-1});
        frame.put(std::int16_t{-1});
        frame.put(std::int32_t{30000});
        frame.put(std::int32_t{1});
        frame.put_string(settings.topic);
        frame.put(static_cast<std::int32_t>(settings.batches_per_request));
        request_bytes = request_records = 0;
        for (int i = 0; i < settings.batches_per_request; ++i) {
            const EncodedBatch batch = make_batch(settings, frames.size() * 1000 + static_cast<std::uint64_t>(i));
            frame.put(static_cast<std::int32_t>(partition));
            partition = (partition + 1) % settings.partitions;
            frame.put(static_cast<std::int32_t>(batch.bytes.size()));
            frame.put_raw(batch.bytes);
            request_bytes += batch.bytes.size();
            request_records += static_cast<std::uint64_t>(batch.records);
        }
        frames.push_back(std::move(frame));
    }
    Connection connection(settings.port);
    const std::uint64_t requests = settings.megabytes * 1'000'000 / request_bytes + 1;
    touch(settings.touch_megabytes);
    const Usage before = Usage::of(settings.pid);
    const auto began = std::chrono::steady_clock::now();
    std::uint64_t acknowledged = 0;
    for (std::uint64_t sent = 0; acknowledged < requests;) {
        while (sent < requests && sent - acknowledged < static_cast<std::uint64_t>(settings.in_flight)) {
            connection.send(frames[sent % frames.size()].finish(static_cast<std::int32_t>(sent)));
            ++sent;
        }
        read_produce_answer(connection, static_cast<std::int32_t>(acknowledged), settings.batches_per_request);
        ++acknowledged;
    }
    report(settings, requests * request_bytes, requests * request_records, requests, seconds_since(began), before);
}

void fetch(const Settings& settings) {
    const EncodedBatch batch = make_batch(settings, 0);
    Connection connection(settings.port);
    // The head of an answer for one topic and partition; records are thrown away in the kernel.
    const std::size_t head_bytes = 4 + 4 + 4 + 4 + 2 + settings.topic.size() + 4 + 4 + 2 + 8 + 8 + 4 + 4;
    connection.set_fill_bytes(head_bytes);
    std::int64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t requests = 0;
    const Usage before = Usage::of(settings.pid);
    const auto began = std::chrono::steady_clock::now();
    while (bytes < settings.megabytes * 1'000'000) {
        Frame frame(1, 4);
        frame.put(std::int32_t{-1});
        frame.put(std::int32_t{500});
        frame.put(std::int32_t{1});
        frame.put(static_cast<std::int32_t>(std::max<std::size_t>(settings.fetch_bytes, 50 << 20)));
        frame.put(std::int8_t{0});
        frame.put(std::int32_t{1});
        frame.put_string(settings.topic);
        frame.put(std::int32_t{1});
        frame.put(std::int32_t{0});
        frame.put(offset);
        frame.put(static_cast<std::int32_t>(settings.fetch_bytes));
        connection.send(frame.finish(static_cast<std::int32_t>(requests)));
        const auto size = static_cast<std::size_t>(connection.receive_number<std::int32_t>());
        std::vector<std::byte> head(head_bytes - 4);
        connection.receive(head.data(), head.size());
        if (load_big_endian<std::int32_t>(head.data()) != static_cast<std::int32_t>(requests)) {
            give_up("an answer belongs to another request");
        }
        const std::byte* end = head.data() + head.size();
        const auto error = load_big_endian<std::int16_t>(end - 26);
        const auto record_bytes = load_big_endian<std::int32_t>(end - 4);
        if (error != 0) give_up("Fetch answered error " + std::to_string(error));
        if (load_big_endian<std::int32_t>(end - 8) > 0 || size != head.size() + static_cast<std::size_t>(record_bytes)) {
            give_up("an answer of a shape that was not asked for");
        }
        if (record_bytes == 0) break;  // The end of the log.
        connection.discard(static_cast<std::size_t>(record_bytes));
        offset += record_bytes / static_cast<std::int64_t>(batch.bytes.size()) * batch.records;
        bytes += static_cast<std::uint64_t>(record_bytes);
        ++requests;
    }
    report(settings, bytes, static_cast<std::uint64_t>(offset), requests, seconds_since(began), before);
}

}  // namespace

int main(int count, char** values) {
    const Settings settings = parse(count, values);
    if (settings.mode == "produce") produce(settings);
    else if (settings.mode == "fetch") fetch(settings);
    else give_up("unknown mode " + settings.mode);
}
