#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/addons/faults/core/fault_rule.h"
#include "protocol/types.h"

namespace partita::faults {

/// A partition that a request names, or only a topic.
struct NamedPartition {
    std::string_view topic;
    std::optional<std::int32_t> partition;
};

/// The facts about a request that rules ask for. They borrow the request's bytes.
struct RequestFacts {
    ApiKey api{};
    std::int16_t version = 0;
    std::string_view client_id;
    std::string_view software;
    std::string_view principal;
    std::string_view listener;
    /// The broker that the client asked.
    std::int32_t broker = 0;
    /// The client's address with its port.
    std::string_view client_address;
    std::int32_t correlation_id = 0;
    std::span<const std::string_view> groups;
    std::span<const NamedPartition> partitions;
    /// The answer may be about more topics and partitions than the request names.
    bool names_incompletely = false;
};

enum class DiskOperation : std::uint8_t {
    /// Anything that needs space: a write, a new file or directory, an allocation.
    write,
    /// Anything that makes data durable.
    sync,
};

/// The facts about an operation on a file of the broker.
struct DiskFacts {
    DiskOperation operation{};
    /// Below the data directory: "orders-0/00000000000000000000.log".
    std::string_view file;
    /// The topic in whose partition directory the file lies; empty for other files.
    std::string_view topic;
    std::optional<std::int32_t> partition;
};

/// A request, or an operation on a file, that matched a rule.
struct MatchNote {
    TimestampMs time;
    /// The file; empty for a request, which has the members below.
    std::string file;
    ApiKey api{};
    std::int16_t version = 0;
    std::string client_id;
    std::string client_address;
    std::int32_t correlation_id = 0;
    /// The rule acted on it.
    bool has_acted = false;
};

/// The rules of a broker, and what they did. Pure; one caller at a time.
///
/// A request meets the rules in the order in which they were added. The first one that acts on it decides; the later ones do not
/// see it.
class FaultTable {
  public:
    static constexpr std::size_t kRulesMax = 1024;
    /// Notes that are kept for each rule: the newest ones.
    static constexpr std::size_t kNotesMax = 256;
    /// A longer client id is cut.
    static constexpr std::size_t kNotedBytesMax = 256;

    /// Adds all of these rules, or none. Returns their ids. The error is a sentence.
    [[nodiscard]] std::expected<std::vector<std::string>, std::string> add(std::vector<Rule> rules, Now now);
    /// False: the rule is unknown.
    bool remove(std::string_view id);
    void clear() { entries_.clear(); }
    [[nodiscard]] bool empty() const { return entries_.empty(); }
    /// True if some rule asks for groups, topics or partitions, for requests of this kind.
    [[nodiscard]] bool needs_names(ApiKey api, std::int16_t version) const;

    /// The rule that acts on the request; null if none does.
    [[nodiscard]] const Rule* decide(const RequestFacts& request, Now now);
    /// True if the operation fails because of a rule.
    [[nodiscard]] bool fails(const DiskFacts& operation, Now now);
    [[nodiscard]] bool has_disk_rules() const;

    /// Counts the rule's last action on this request as undone: the answer had nothing to change, or could not be changed. No
    /// effect if the rule is unknown.
    void take_back(std::string_view id, std::string_view client_address, std::int32_t correlation_id);

    struct Entry {
        Rule rule;
        TimestampMs added;
        Instant added_at;
        std::uint64_t random = 0;
        std::int64_t matched = 0;
        std::int64_t acted = 0;
        std::optional<Instant> first_acted_at;
        std::deque<MatchNote> notes;
    };
    [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
    /// Null for an unknown rule.
    [[nodiscard]] const Entry* find(std::string_view id) const;

  private:
    /// Counts a match, and notes it. True if the rule acts.
    [[nodiscard]] static bool meet(Entry& entry, MatchNote note, Now now);
    [[nodiscard]] bool is_due(const Entry& entry, Instant now) const;

    std::vector<Entry> entries_;
    std::uint64_t last_number_ = 0;
};

}  // namespace partita::faults
