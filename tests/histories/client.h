#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "protocol/error_code.h"
#include "protocol/types.h"
#include "tests/histories/script.h"
#include "tests/support/wire_client.h"

/// The requests of a real client; each call waits for its answer. One connection serves the group's coordinator and one serves
/// records; both open with ApiVersions.
namespace partita::test::histories {

/// The history cannot go on as it needs, for a reason that is not a finding. The history ends with this text.
struct Failure {
    std::string text;
};

using Offsets = std::map<int, std::int64_t>;
using Partitions = std::set<int>;

class Client {
  public:
    /// Throws `Failure` when the broker is not there, as every call does.
    Client(std::uint16_t port, const Caller& caller, std::string topic);

    [[nodiscard]] int partition_count();
    /// Sends the batch that the builder made; returns the offset of its first record.
    [[nodiscard]] std::int64_t produce(int partition, const std::vector<std::byte>& batch);
    [[nodiscard]] std::int64_t new_producer_id();
    /// -1 latest, -2 earliest, else the first record of that time or later; -1 when there is none.
    [[nodiscard]] std::int64_t list_offset(int partition, std::int64_t timestamp);

    struct Fetched {
        /// The records that the positions asked for, by ascending offset.
        std::map<int, std::vector<std::int64_t>> offsets;
        Partitions out_of_range;
    };
    [[nodiscard]] Fetched fetch(const Offsets& positions, int partition_max_bytes);

    /// -1 where there is none.
    [[nodiscard]] Offsets committed(const std::string& group, const Partitions& partitions);

    [[nodiscard]] const Caller& caller() const { return caller_; }
    /// A number that differs between all clients of the program.
    [[nodiscard]] int number() const { return number_; }
    [[nodiscard]] WireClient& coordinator() { return coordinator_; }

    template <class Response, class Request>
    [[nodiscard]] static const Response& call(WireClient& wire, std::int16_t version, const Request& request) {
        const auto* response = wire.call<Response>(version, request);
        if (response == nullptr) {
            throw Failure{"a request found no answer: " + wire.failure()};
        }
        return *response;
    }

  private:
    void introduce(WireClient& wire);

    Caller caller_;
    int number_;
    std::string topic_;
    WireClient data_;
    WireClient coordinator_;
};

/// Throws when `error` is not `none`.
void expect_none(ErrorCode error, const std::string& what);

/// A member of a group, as the group protocols know it.
struct Membership {
    std::string member_id;
    /// Generation or member epoch.
    std::int32_t generation = -1;
    Partitions assigned;
    /// Consumer protocol only: the member still has to acknowledge its assignment.
    bool owes_answer = false;
};

/// One member's part of its group's life.
struct Member {
    Client* client = nullptr;
    Membership* membership = nullptr;
};

/// The group of one topic, of either protocol, moved on by its members' requests.
class GroupDriver {
  public:
    GroupDriver(std::string group, std::string topic, TopicId topic_id, bool is_consumer_protocol)
        : group_(std::move(group)), topic_(std::move(topic)), topic_id_(topic_id), is_consumer_protocol_(is_consumer_protocol) {}

    /// All of the group's members meet and share `partition_count` partitions (with the consumer protocol: all partitions of the
    /// topic).
    void rebalance(const std::vector<Member>& members, int partition_count);
    void leave(const Member& member);
    /// Classic protocol: an administrator removes the member from its group.
    void remove(WireClient& administrator, const Member& member);
    void commit(const Member& member, const Offsets& offsets);
    /// Commits as the member would have by the generation or epoch before its own. Returns the accepted offsets: with the
    /// consumer protocol, those of partitions that the member had already then.
    [[nodiscard]] Offsets commit_late(const Member& member, const Offsets& offsets);

  private:
    void join_classic(const std::vector<Member>& members);
    void sync_classic(const std::vector<Member>& members, int partition_count);
    void beat(const Member& member, bool joins);
    [[nodiscard]] std::map<int, ErrorCode> commit_as_of(std::int32_t generation, const Member& member, const Offsets& offsets);
    void settle_consumer(const std::vector<Member>& members, int partition_count);

    std::string group_;
    std::string topic_;
    TopicId topic_id_;
    bool is_consumer_protocol_;
    int meetings_ = 0;
    std::string leader_;
};

}  // namespace partita::test::histories
