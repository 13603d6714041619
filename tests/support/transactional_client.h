#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "protocol/error_code.h"
#include "protocol/types.h"
#include "tests/support/wire_client.h"

namespace partita::test {

/// In whose name offsets are committed; nobody's when the group has no members.
struct CommittingMember {
    std::int32_t generation = -1;
    std::string member_id = {};
};

/// A transactional producer of the second protocol (KIP-890), by hand, over a connection of its own: what it writes and commits
/// brings itself into its transaction. Each call waits for its answer; `network_exception` when there was none.
class TransactionalClient {
  public:
    /// `client_id`: of its requests.
    TransactionalClient(std::uint16_t port, std::string transactional_id, const std::string& client_id = "scenario");

    /// Has the coordinator made, if there is none, and becomes its producer. Before anything else, and again for the next epoch.
    [[nodiscard]] ErrorCode begin(std::int32_t timeout_ms = 60'000);
    [[nodiscard]] ErrorCode write(const std::string& topic, std::int32_t partition, const std::string& value,
                                  const std::string& key = "k");
    /// Partitions, with the offsets that the group goes on from, in the name of the member.
    [[nodiscard]] ErrorCode send_offsets(const std::string& group, const std::string& topic,
                                         const std::vector<std::pair<std::int32_t, std::int64_t>>& offsets,
                                         const CommittingMember& member = {});
    [[nodiscard]] ErrorCode end(bool commits);

  private:
    WireClient wire_;
    std::string id_;
    std::int64_t producer_id_ = -1;
    std::int16_t epoch_ = -1;
    /// Of the next batch, by topic and partition; an epoch begins with 0.
    std::vector<std::pair<std::pair<std::string, std::int32_t>, std::int32_t>> sequences_;
};

}  // namespace partita::test
