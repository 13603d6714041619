#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "protocol/error_code.h"
#include "protocol/types.h"
#include "tests/support/wire_client.h"

namespace partita::test {

/// The member in whose name offsets are committed. The defaults stand for a group without members.
struct CommittingMember {
    std::int32_t generation = -1;
    std::string member_id = {};
};

/// A transactional producer of the second protocol (KIP-890), by hand, over its own connection. A partition joins the transaction
/// when the producer writes or commits to it. Each call waits for its answer and returns `network_exception` when none came.
class TransactionalClient {
  public:
    /// `client_id` is the client id of its requests.
    TransactionalClient(std::uint16_t port, std::string transactional_id, const std::string& client_id = "scenario");

    /// Finds the coordinator, which makes the broker create it if it is missing, and gets a producer id and an epoch. Call it
    /// before anything else, and again for the next epoch.
    [[nodiscard]] ErrorCode begin(std::int32_t timeout_ms = 60'000);
    [[nodiscard]] ErrorCode write(const std::string& topic, std::int32_t partition, const std::string& value,
                                  const std::string& key = "k");
    /// Commits the offsets from which the group goes on, by partition, in the name of the member.
    [[nodiscard]] ErrorCode send_offsets(const std::string& group, const std::string& topic,
                                         const std::vector<std::pair<std::int32_t, std::int64_t>>& offsets,
                                         const CommittingMember& member = {});
    [[nodiscard]] ErrorCode end(bool commits);

  private:
    WireClient wire_;
    std::string id_;
    std::int64_t producer_id_ = -1;
    std::int16_t epoch_ = -1;
    /// Sequence of the next batch, by topic and partition; an epoch begins with 0.
    std::vector<std::pair<std::pair<std::string, std::int32_t>, std::int32_t>> sequences_;
};

}  // namespace partita::test
