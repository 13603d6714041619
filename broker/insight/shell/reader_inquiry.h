#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "broker/insight/facts/topics.h"
#include "broker/insight/findings/finding.h"
#include "broker/insight/shell/reader_memory.h"
#include "broker/insight/shell/topic_plan.h"

namespace partita::insight {

/// Asks groups, logs, connections and the observer of keys what holds about the readers of a topic that has grown. Takes short
/// locks of theirs, and reads the disk for what transactions left in logs. One thread at a time, no reactor.
class ReaderInquiry {
  public:
    explicit ReaderInquiry(const PlanSources& sources) : sources_(sources) {}

    /// The present circumstances of the topic, one of `topics`.
    [[nodiscard]] ReaderCircumstances circumstances(const ObservedTopic& topic, const ReaderMemory& memory,
                                                    const ObservedTopics& topics);

    struct Look {
        /// All that hold about the topic.
        std::vector<Finding> findings;
        ReaderMemory::Found found;
    };
    /// Works out what holds now from what is remembered and what it asks for. The memory takes from the facts what it has to
    /// keep, and forgets groups that were deleted.
    [[nodiscard]] Look look(const ObservedTopic& topic, ReaderMemory& memory, TimestampMs now);

  private:
    /// The counts of the topics that are joined with the watched one, and the internal topics of its Streams applications.
    [[nodiscard]] std::uint64_t others_of(const ReaderMemory& memory, const ObservedTopics& topics);
    void forget_deleted_groups(const std::vector<GroupFacts>& groups, ConsumerWatch& readers);
    /// What the watch of the readers says.
    [[nodiscard]] std::vector<Finding> watch_findings(const ObservedTopic& topic, const PlannedTopic& facts,
                                                      ConsumerWatch& readers, TimestampMs now);

    const PlanSources sources_;
    /// A hash of all internal topics of Streams applications, and the `ObservedTopics::sequence` that it was made from.
    std::uint64_t streams_internal_ = 0;
    std::optional<std::int64_t> streams_internal_at_;
};

}  // namespace partita::insight
