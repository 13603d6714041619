#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "protocol/api_keys.h"
#include "protocol/error_code.h"

/// Faults on purpose: rules that make a broker fail at certain requests. Only a broker with the test bench has them.
namespace partita::faults {

/// Selects the requests that match all that is set. An empty text matches everything.
struct Match {
    std::optional<ApiKey> api;
    std::optional<std::int16_t> version;
    std::string client_id;
    /// The name that the client software gives in ApiVersions: "librdkafka".
    std::string software;
    /// "User:alice".
    std::string principal;
    /// The request names this group or transactional id.
    std::string group;
    /// The request names this topic.
    std::string topic;
    /// The request names this partition, of `topic` if that is set.
    std::optional<std::int32_t> partition;
    /// The name of the listener.
    std::string listener;
    /// The request came to this one of several brokers.
    std::optional<std::int32_t> broker;
};

/// Selects the ones of these requests at which a rule acts.
struct When {
    /// It acts first at this one, counted from 1.
    std::int64_t nth = 1;
    /// Then at each so-manyth one.
    std::int64_t every = 1;
    /// At most so often; 0 for no limit.
    std::int64_t times = 0;
    /// With this probability, by numbers that follow from `seed`.
    double probability = 1;
    std::uint64_t seed = 0;
    /// Not before this time has passed since the rule was added, or since the rule `after_fault` acted first.
    std::int64_t after_ms = 0;
    /// And then only for this time; 0 for no limit.
    std::int64_t for_ms = 0;
    /// Not before this rule has acted; empty for none.
    std::string after_fault;
};

/// The older content of an answer about topics. At least one member is set; `missing` is alone.
struct StaleMetadata {
    static constexpr std::int32_t kNoLeader = -1;

    /// The topic has so few partitions.
    std::optional<std::int32_t> partitions;
    /// The topic is unknown.
    bool missing = false;
    /// The partitions come in the opposite order.
    bool shuffled = false;
    /// This broker leads the partitions; kNoLeader for none.
    std::optional<std::int32_t> leader;

    friend bool operator==(const StaleMetadata&, const StaleMetadata&) = default;
};

/// The fate of the request. First it waits (`delay_ms`, then `hold`), and takes no effect meanwhile; requests that the
/// client sends after it over the same connection wait with it. Then at most one of the members from `error` to `log_start`
/// applies to it; without one it is served as usual.
struct Action {
    std::int64_t delay_ms = 0;
    /// It waits until a person releases the rule.
    bool hold = false;
    /// The answer is this error, wherever the response has room for one. The request takes no effect.
    std::optional<ErrorCode> error;
    /// Beside `error`: the request takes effect all the same, as when a broker gives up waiting for its followers.
    bool takes_effect = false;
    /// It takes no effect, and no answer comes; nor do answers to later requests over the connection.
    bool drop_request = false;
    /// It takes effect, and no answer comes; nor do answers to later requests over the connection.
    bool drop_response = false;
    /// The connection ends. The request takes no effect.
    bool disconnect = false;
    /// It is served, and the answer tells the client to wait so long, as a quota would.
    std::int32_t throttle_ms = 0;
    /// The answer to a Fetch has a wrong byte in the first batch of each partition that the rule is about.
    bool corrupt_records = false;
    /// The answer to a Fetch ends in the middle of the last batch of each partition that the rule is about. The first batch
    /// stays.
    bool truncate_records = false;
    /// The answer to a Metadata or DescribeTopicPartitions is an older one.
    std::optional<StaleMetadata> stale_metadata;
    /// Fetch and ListOffsets answer as if retention had removed the records before this offset.
    std::optional<std::int64_t> log_start;

    // The way of the answer, if there is one.
    /// It leaves at this rate, and other connections are as quick as ever; 0 for no limit.
    std::int64_t slow_bytes_per_s = 0;
    /// So many bytes of it leave, and then the connection is reset. The request takes effect.
    std::optional<std::int32_t> reset_after_bytes;
    /// The client receives it twice, one right behind the other.
    bool duplicate_response = false;

    // The disk. Such a rule is about the broker's files, and no request.
    /// Writes fail as on a full disk.
    bool disk_full = false;
    /// Syncs fail, as those of a disk that lost what it had taken.
    bool sync_fails = false;
};

struct Rule {
    static constexpr std::size_t kTextBytesMax = 1024;
    static constexpr std::int64_t kWaitMsMax = 3'600'000;
    static constexpr std::int64_t kBytesPerSMax = 1'000'000'000;

    /// Letters, digits, '.', '_' and '-'. A table gives one if it is empty.
    std::string id;
    Match match;
    When when;
    Action action;
};

/// True if the action changes the content of answers. It then acts only on answers that have such content.
[[nodiscard]] bool changes_answer(const Action& action);
/// True if the rule selects operations on files, by `topic` and `partition`, and no requests.
[[nodiscard]] bool is_about_disk(const Action& action);
/// False: a request of this kind has no answer that the action could change.
[[nodiscard]] bool concerns(const Action& action, ApiKey api);

/// The error is a sentence that says what is wrong with the rule.
[[nodiscard]] std::expected<void, std::string> check(const Rule& rule);

}  // namespace partita::faults
