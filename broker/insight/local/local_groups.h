#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/groups/topic_readers.h"
#include "broker/insight/facts/groups.h"

/// The broker's own groups as facts.

namespace partita::runtime {
class GroupShards;
class OwnershipSource;
}  // namespace partita::runtime

namespace partita::insight {

/// The coordinator's facts about a group that reads a topic with this partition count.
[[nodiscard]] GroupFacts group_facts(std::size_t partition_count, groups::TopicReader reader);
/// The same for several groups, ascending by id.
[[nodiscard]] std::vector<GroupFacts> group_facts(std::size_t partition_count, std::vector<groups::TopicReader> readers);

/// The groups that the broker coordinates. Takes the locks of shards one by one.
class LocalGroups final : public ObservedGroups {
  public:
    explicit LocalGroups(runtime::GroupShards& shards) : shards_(shards) {}

    [[nodiscard]] std::uint64_t membership_version() const override;
    [[nodiscard]] bool is_complete() const override;
    [[nodiscard]] std::vector<GroupFacts> readers_of(const ObservedTopic& topic, const ReaderQuestion& question) const override;
    [[nodiscard]] std::optional<std::string> protocol_of(std::string_view group) const override;
    [[nodiscard]] std::optional<MemberFacts> member(std::string_view group, std::string_view member_id) const override;

  private:
    runtime::GroupShards& shards_;
};

/// Histories of the broker's groups, and of owners that other sources know (an addon's).
class LocalHistories final : public ObservedHistories {
  public:
    /// `others` must outlive this object.
    LocalHistories(runtime::GroupShards& shards, const std::vector<runtime::OwnershipSource*>& others)
        : shards_(shards), others_(others) {}

    void visit_groups(const Visit& visit) override;
    void visit_others(const Visit& visit) override;
    void note_late_reading(std::string_view group, std::string_view member_id, std::string_view owner_id,
                           LateReading seen) override;

  private:
    runtime::GroupShards& shards_;
    const std::vector<runtime::OwnershipSource*>& others_;
};

}  // namespace partita::insight
