#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/histories/player.h"

/// The clients of a history that is being played. Only the player's files include it.
namespace partita::test::histories {

/// The timestamps with which ListOffsets asks for the ends of a log.
inline constexpr std::int64_t kLatestOffset = -1;
inline constexpr std::int64_t kEarliestOffset = -2;
inline constexpr int kSmallFetchBytes = 300;

/// "0:12 3:7".
[[nodiscard]] inline std::string text_of(const Offsets& offsets) {
    std::string text;
    for (const auto& [partition, offset] : offsets) {
        text += (text.empty() ? "" : " ") + std::to_string(partition) + ":" + std::to_string(offset);
    }
    return text;
}

struct Player::Producer {
    std::unique_ptr<Client> client;
    int count = 0;
    std::int64_t producer_id = -1;
    std::map<int, std::int32_t> sequences;
    bool has_sent = false;
};

struct Player::Consumer {
    std::unique_ptr<Client> client;
    Membership membership;
    Offsets positions;
    /// Partitions in which the consumer chose where to begin, because there was no committed offset.
    Partitions fresh;
    /// Over this connection.
    Partitions fetched;
};

struct Player::Group {
    Group(std::string group_name, const std::string& topic, TopicId id, bool is_consumer_protocol)
        : name(std::move(group_name)), driver(name, topic, id, is_consumer_protocol) {}

    std::string name;
    GroupDriver driver;
    std::vector<Consumer> members;
    int known_count = 0;
};

struct Player::Outsider {
    std::unique_ptr<Client> client;
    Offsets positions;
};

}  // namespace partita::test::histories
