#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "broker/insight/findings/finding.h"
#include "broker/insight/findings/record_count.h"
#include "broker/insight/keys/key_census.h"
#include "broker/insight/keys/placement_evidence.h"
#include "broker/insight/keys/producer_evidence.h"
#include "broker/insight/plan/lineage.h"
#include "broker/insight/plan/open_transaction.h"
#include "protocol/types.h"

/// Plans the growth of a topic from N to M partitions: facts come in, a judged plan comes out. Pure.
namespace partita::insight {

// Facts ----------------------------------------------------------------------------------------------

/// A group that reads the topic, as far as the planner can know it.
struct GroupFacts {
    struct Member {
        std::string client_id;
        std::string client_host;
        /// Partitions of the topic that the member holds.
        std::vector<PartitionIndex> assigned;
        /// Empty if it does not matter.
        std::string member_id;
    };
    struct OtherTopic {
        std::string name;
        std::int32_t partition_count = 0;
        /// With the topic's old count, each member holds the same partitions of both topics (or held them when the topic grew).
        bool is_aligned = false;
    };

    std::string group_id;
    /// Kafka's name of the group's state; empty when unknown.
    std::string state;
    /// "consumer", "connect"; empty for a group that only stores offsets.
    std::string protocol_type;
    /// The group's assignor: "range", "cooperative-sticky", "stream"; empty if the group has none.
    std::string protocol;
    std::vector<Member> members;
    /// Committed offsets by partition; kNoOffset for no commit. May be shorter than the topic.
    std::vector<Offset> committed;
    /// By partition, the offset of the next record that the group can be given, if the caller looked it up. Behind a commit there
    /// may be only transaction markers and aborted records. Empty, or as long as `committed`; see `position_of`.
    std::vector<Offset> positions;
    /// Records between its positions and the log ends, if the caller counted them.
    std::optional<RecordCount> unread;
    /// Topics besides this one to which its members subscribe: those that matter, or all.
    std::vector<OtherTopic> other_topics;
    /// Its members subscribe to topics that are missing here, or more of these topics are aligned.
    bool reads_others = false;
    bool has_more_aligned = false;
    /// For a Streams application: its existing `<group>-...-changelog` and `-repartition` topics.
    std::vector<std::string> internal_topics;
    /// Partitions whose committed offset an expansion gave to the group, with no commit since.
    std::int64_t seeded_partitions = 0;
};

/// The group has processed everything below this offset of the partition; null if it has committed nothing. The offset can lie
/// behind the commit: see `GroupFacts::positions`.
[[nodiscard]] inline std::optional<Offset> position_of(const GroupFacts& group, PartitionIndex partition) {
    const auto index = static_cast<std::size_t>(partition.value);
    const std::vector<Offset>& known = group.positions.empty() ? group.committed : group.positions;
    const bool is_known = index < known.size() && known[index] != kNoOffset;
    return is_known ? std::optional(known[index]) : std::nullopt;
}

/// A producer that wrote to the topic lately.
struct ProducerFacts {
    /// The name that people know it by: "billing (/10.0.0.7, librdkafka 2.3.0)".
    std::string name;
    KeyHabit habit = KeyHabit::no_keys;
    bool is_idempotent = false;
};

/// The groups of a topic at the moment when it grew.
struct GroupsAtGrowth {
    /// They had members, and records to read or to commit.
    std::set<std::string> at_work;
    /// They had committed everything.
    std::set<std::string> done;
    /// A group in neither set was away with something left to read, or came later.
    bool are_all_known = false;
};

/// An earlier expansion, ascending by epoch.
struct EarlierExpansion {
    std::int32_t old_count = 0;
    std::int32_t new_count = 0;
    TimestampMs time = kNoTimestamp;
    /// By old partition; missing entries are 0.
    std::vector<Offset> log_end_offsets;
    /// Null if they are not known, or do not matter.
    std::shared_ptr<const GroupsAtGrowth> groups = {};
};

struct PartitionFacts {
    Offset log_start{0};
    Offset log_end{0};
};

struct PlannedTopic {
    std::string name;
    std::int32_t old_count = 1;
    std::int32_t new_count = 2;
    /// The topic is one of Kafka's three internal topics.
    bool is_internal = false;
    bool is_compacted = false;
    /// cleanup.policy also contains "delete".
    bool is_deleted_by_age = true;
    /// retention.ms; -1 keeps records forever.
    std::int64_t retention_ms = -1;
    /// An expansion gives groups offset 0 in new partitions (every mode but faithful).
    bool seeds_offsets = false;
    std::vector<PartitionFacts> partitions;
    std::vector<OpenTransaction> open_transactions;
    std::vector<EarlierExpansion> earlier;
    /// The name of the application whose changelog or repartition topic this is.
    std::optional<std::string> owning_application;
    /// `earlier` has every change of the count since the topic was created.
    bool is_history_known = false;
    std::vector<GroupFacts> groups;
    /// Empty if nothing watches producers.
    std::vector<ProducerFacts> producers;
    /// Topics in which MirrorMaker 2 keeps its state in this cluster.
    std::vector<std::string> mirror_topics;
    /// Facts about groups, configs or transactions that could not be obtained, each as a clause: "groups: not
    /// authorized".
    std::vector<std::string> unknown_facts;
    /// The time at which the caller asked for the plan.
    TimestampMs now{0};
};

/// How much of the log was read.
struct ScanFacts {
    std::int64_t records = 0;
    std::int64_t bytes = 0;
    /// The scan read everything between log start and log end as they were when it began.
    bool is_complete = false;
    /// Batches that could not be read; place and reason of the first one.
    std::int64_t damaged_batches = 0;
    std::string first_damage;
    /// Why the scan is not complete, if the caller limited it: "--records".
    std::string limited_by;
};

// The plan -------------------------------------------------------------------------------------------

enum class Verdict : std::uint8_t {
    /// All findings are `info` at most.
    safe,
    /// Something is at risk.
    findings,
    /// Something breaks.
    blocked,
    /// The topic has keys and their fate is not known, or the log could not be read.
    unknown,
};
/// "safe", "findings", "blocked", "unknown".
[[nodiscard]] std::string_view to_string(Verdict verdict);

struct MovedKeys {
    std::int64_t keys = 0;
    std::int64_t records = 0;
    std::int64_t bytes = 0;
    double key_share = 0;
    double record_share = 0;
    double byte_share = 0;
    /// Number of keys that move between two old partitions.
    std::int64_t keys_among_old = 0;
};

struct PlannedPartition {
    static constexpr std::size_t kParentsMax = 64;

    PartitionIndex partition;
    /// The first `kParentsMax` parents, ascending; `parent_count` counts all.
    std::vector<PartitionIndex> parents;
    std::int32_t parent_count = 0;
    PartitionCensus counts;
};

struct PlannedGroup {
    std::string group_id;
    std::string state;
    std::string protocol;
    std::int64_t members = 0;
    /// Offsets between the group's commits and the log ends; a partition without a commit counts from its log start.
    std::int64_t lag = 0;
    /// The number of records at these offsets. Without a count it is an upper bound: the number of offsets, or of the records
    /// found there.
    RecordCount unread;
    /// Records of the backlog whose keys move, aborted ones included; null if not known.
    std::optional<std::int64_t> moved_backlog;
};

struct Plan {
    /// Grows when a member of the JSON changes its meaning. A new member does not raise it.
    static constexpr int kSchemaVersion = 1;
    static constexpr std::size_t kGroupsMax = 1000;

    std::string topic;
    std::int32_t from = 0;
    std::int32_t to = 0;
    Verdict verdict = Verdict::unknown;
    /// One or two sentences.
    std::string summary;
    /// Null if the log was not read.
    std::optional<ScanFacts> scanned;
    std::int64_t distinct_keys = 0;
    /// The standard deviation of `distinct_keys` and of the shares of keys; 0 if they are exact.
    double key_error = 0;
    std::int64_t keyed_records = 0;
    PlacementEvidence evidence;
    std::string partitioner;
    std::string partitioner_explained;
    /// Null if not known.
    std::optional<MovedKeys> moved;
    /// The share that arithmetic gives for evenly hashed keys.
    Share expected_key_share;
    std::vector<PlannedPartition> partitions;
    std::vector<PlannedGroup> groups;
    std::vector<Finding> findings;
    std::vector<std::int32_t> better_targets;
    std::vector<std::string> unknown_facts;
};

/// Judges with the content of the log: the caller has passed the whole scan to `census`.
[[nodiscard]] Plan make_plan(const PlannedTopic& topic, const KeyCensus& census, const PlacementEvidence& evidence,
                             const ScanFacts& scan);
/// Judges without the log, by arithmetic, groups and configuration. Questions that need keys stay open, so the verdict for a
/// topic with records is never better than `unknown`.
[[nodiscard]] Plan make_plan_without_scan(const PlannedTopic& topic);

/// A sentence that says why N to M cannot be planned; null if it is an expansion with M <= `kPlanCountMax`.
[[nodiscard]] std::optional<std::string> target_problem(std::string_view topic, std::int32_t old_count, std::int64_t new_count);
/// The largest count that a plan is made for.
inline constexpr std::int32_t kPlanCountMax = 100'000;

}  // namespace partita::insight
