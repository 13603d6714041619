#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "protocol/error_code.h"
#include "protocol/types.h"
#include "tests/support/wire_client.h"

namespace partita::test {

struct Produced {
    ErrorCode error = ErrorCode::network_exception;
    std::int64_t base_offset = -1;
};

struct ReadRecord {
    std::int64_t offset;
    std::string value;
};

struct TopicSeen {
    TopicId id;
    std::size_t partitions = 0;
};

/// One connection and the requests of a plain client. Each call waits for its answer. When the broker is gone, the answer is
/// `network_exception` or nothing.
class PlainClient {
  public:
    explicit PlainClient(std::uint16_t port) : wire_(port) {}

    struct Created {
        ErrorCode error = ErrorCode::network_exception;
        TopicId id;
    };
    Created create_topic(const std::string& name, int partitions, const std::map<std::string, std::string>& configs = {});
    ErrorCode delete_topic(const std::string& name);
    ErrorCode expand_topic(const std::string& name, int partitions);
    ErrorCode set_topic_config(const std::string& name, const std::string& key, const std::string& value);
    std::optional<std::map<std::string, TopicSeen>> metadata();
    std::int64_t new_producer_id();
    Produced produce(const std::string& topic, int partition, const std::vector<std::byte>& batch, int acks = -1);
    Produced produce_value(const std::string& topic, int partition, const std::string& value, std::int64_t producer_id = -1,
                           std::int32_t sequence = -1, std::int64_t timestamp_ms = 0);
    ErrorCode commit(const std::string& group, const std::string& topic, int partition, std::int64_t offset);
    /// -1: no offset is committed; nothing: an error.
    std::optional<std::int64_t> committed(const std::string& group, const std::string& topic, int partition);
    ErrorCode delete_records(const std::string& topic, int partition, std::int64_t before);
    /// -2 earliest, -1 latest.
    std::optional<std::int64_t> list_offset(const std::string& topic, int partition, std::int64_t timestamp);
    /// All records from `from` on; nothing when a fetch failed or a batch is damaged.
    std::optional<std::vector<ReadRecord>> read_all(const std::string& topic, int partition, std::int64_t from = 0);

    [[nodiscard]] WireClient& wire() { return wire_; }

  private:
    WireClient wire_;
};

[[nodiscard]] bool poll_until(bool (*condition)(void*), void* argument, double seconds);

/// Polls `condition`, for events in the background that the test cannot be told of. The limit only ends a wait that hangs, as
/// `WireClient::kPatience` does.
template <class Condition>
[[nodiscard]] bool eventually(Condition&& condition, double seconds = 60) {
    return poll_until([](void* argument) -> bool { return (*static_cast<std::remove_reference_t<Condition>*>(argument))(); },
                      &condition, seconds);
}

/// Bytes that the files below the directory take on the disk.
[[nodiscard]] std::uint64_t disk_usage(const std::filesystem::path& directory);
/// PARTITA_LONG_TESTS is set.
[[nodiscard]] bool long_tests();
[[nodiscard]] std::int64_t wall_ms();

}  // namespace partita::test
