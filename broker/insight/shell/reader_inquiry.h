#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "broker/insight/facts/topics.h"
#include "broker/insight/findings/finding.h"
#include "broker/insight/shell/reader_memory.h"
#include "broker/insight/shell/topic_plan.h"

namespace partita::insight {

/// Asks groups, logs, connections and the observer of keys for the facts about the readers of a topic that has grown. Takes short
/// locks of theirs, and reads the disk for traces of transactions in logs. One thread at a time, not a reactor.
class ReaderInquiry {
  public:
    explicit ReaderInquiry(const PlanSources& sources) : sources_(sources) {}

    /// The present circumstances of the topic, which is one of `topics`.
    [[nodiscard]] ReaderCircumstances circumstances(const ObservedTopic& topic, const ReaderMemory& memory,
                                                    const ObservedTopics& topics);

    struct Look {
        /// All findings that hold about the topic.
        std::vector<Finding> findings;
        ReaderMemory::Found found;
    };
    /// Works out what holds now, from the memory and from the facts that it asks for. The memory takes the facts that it must
    /// keep, and forgets groups that were deleted. `read_bytes_max`: see ObservedTopic::records.
    [[nodiscard]] Look look(const ObservedTopic& topic, ReaderMemory& memory, std::size_t read_bytes_max, TimestampMs now);

  private:
    /// A hash of the counts of topics that are joined with the watched one, and of the internal topics of its Streams
    /// applications.
    [[nodiscard]] std::uint64_t others_of(const ReaderMemory& memory, const ObservedTopics& topics);
    void forget_deleted_groups(const std::vector<GroupFacts>& groups, ConsumerWatch& readers);
    /// The findings of the watch of the readers.
    [[nodiscard]] std::vector<Finding> watch_findings(const ObservedTopic& topic, const PlannedTopic& facts,
                                                      ConsumerWatch& readers, std::size_t read_bytes_max, TimestampMs now);

    const PlanSources sources_;
    /// A hash of all internal topics of Streams applications, and the `ObservedTopics::sequence` from which it was made.
    std::uint64_t streams_internal_ = 0;
    std::optional<std::int64_t> streams_internal_at_;
};

}  // namespace partita::insight
