#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/insight/history/group_history.h"
#include "broker/insight/plan/plan.h"
#include "protocol/types.h"

/// Groups and their members, as facts; see topics.h.
namespace partita::insight {

class ObservedTopic;

/// Asks which groups read a topic, and how these groups use other topics.
struct ReaderQuestion {
    enum class Others : std::uint8_t {
        /// Aligned topics: members hold the same partitions of both topics. At most `aligned_max` over all groups together, but
        /// at least one for each group that has any. In addition the topics in `besides`.
        aligned,
        all,
    };
    Others others = Others::all;
    /// Other topics are aligned only if they have this count.
    std::int32_t partition_count = 0;
    std::size_t aligned_max = 0;
    /// Pairs of a group and another topic of it, ascending. The answer reports them as far as members of the group subscribe to
    /// them.
    std::span<const std::pair<std::string_view, std::string_view>> besides;
};

/// A member of a group, with the partitions that it holds now.
struct MemberFacts {
    struct Topic {
        std::string name;
        std::vector<PartitionIndex> partitions;
    };
    std::string client_id;
    std::string client_host;
    std::vector<Topic> topics;
};

/// The groups of the watched cluster. Callable from any thread.
class ObservedGroups {
  public:
    virtual ~ObservedGroups() = default;

    /// Grows when members of any group come, go or get another assignment, and when offsets are removed. Commits do not change
    /// it.
    [[nodiscard]] virtual std::uint64_t membership_version() const = 0;
    /// False while this object knows nothing of some groups.
    [[nodiscard]] virtual bool is_complete() const = 0;
    /// The groups that read the topic, ascending by id; without `positions`, `unread` and `internal_topics`.
    [[nodiscard]] virtual std::vector<GroupFacts> readers_of(const ObservedTopic& topic,
                                                             const ReaderQuestion& question) const = 0;
    /// Null if the group does not exist, or nothing is known of it.
    [[nodiscard]] virtual std::optional<std::string> protocol_of(std::string_view group) const = 0;
    /// Null if the member does not exist, or nothing is known of its group.
    [[nodiscard]] virtual std::optional<MemberFacts> member(std::string_view group, std::string_view member_id) const = 0;
};

/// The histories of groups, and of other things that keep a history like a group. One thread at a time.
class ObservedHistories {
  public:
    using Visit = std::function<void(std::string_view group, const GroupHistory& history)>;
    virtual ~ObservedHistories() = default;

    /// Visits the groups whose members speak to a coordinator.
    virtual void visit_groups(const Visit& visit) = 0;
    /// Visits everything else that has a history.
    virtual void visit_others(const Visit& visit) = 0;
    /// Notes in the group's history that a member which lost the partition still reads it.
    virtual void note_late_reading(std::string_view group, std::string_view member_id, std::string_view owner_id,
                                   LateReading seen) = 0;
};

}  // namespace partita::insight
