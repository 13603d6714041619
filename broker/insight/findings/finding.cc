#include "broker/insight/findings/finding.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "protocol/assert.h"

namespace partita::insight {
namespace {

using enum Severity;

// clang-format off
constexpr std::array kHazards = {
    Hazard{HazardId::keys_move, warn, Evidence::predicted, "keys move",
           "Look at the keys that move before you expand; consumers that keep state per partition must expect them."},
    Hazard{HazardId::keys_shuffle_among_old_partitions, warn, Evidence::predicted, "keys move between old partitions",
           "Choose a multiple of the current count, and go there in one step."},
    Hazard{HazardId::backlog_inversion, block, Evidence::predicted, "a backlog will be overtaken",
           "Let the groups read up to the end first, or expand in fenced mode."},
    Hazard{HazardId::stale_producer, warn, Evidence::live, "a producer still uses the old count",
           "Wait until it refreshes its metadata or restart it; lower metadata.max.age.ms before the next expansion."},
    Hazard{HazardId::producer_never_learns, warn, Evidence::live, "a producer does not learn the new count",
           "Restart the producer or repair it: it reads the partition count once, or has it written into its code."},
    Hazard{HazardId::inversion_delivered, warn, Evidence::live, "records of a key were read out of order",
           "Check what the group made of these keys: it saw a later record before an earlier one."},
    Hazard{HazardId::replay_inversion, warn, Evidence::both, "a replay will be out of order",
           "Do not replay from before the expansion until the older records have expired, or replay into a new topic."},
    Hazard{HazardId::mixed_partitioners, block, Evidence::predicted, "producers disagree about the hash",
           "Give all producers of the topic the same partitioner before you expand."},
    Hazard{HazardId::key_in_two_partitions, warn, Evidence::both, "the same key lies in several partitions",
           "Look for a second partitioner, explicit partitions, or keys whose schema id changed: order is already lost."},
    Hazard{HazardId::hot_key_not_helped, warn, Evidence::predicted, "a hot key stays hot",
           "More partitions cannot split one key; change the key if its partition is the bottleneck."},
    Hazard{HazardId::keys_ignored, info, Evidence::predicted, "the partition does not depend on the key",
           "There was no order by key to lose; expanding does no harm to it."},
    Hazard{HazardId::new_partitions_unused, warn, Evidence::both, "new partitions stay empty",
           "Look for producers that choose partitions explicitly."},
    Hazard{HazardId::latest_loses_first_records, block, Evidence::both, "auto.offset.reset=latest skips first records",
           "Expand in safe-offsets mode, or set auto.offset.reset=earliest before you expand."},
    Hazard{HazardId::none_crashes, warn, Evidence::live, "auto.offset.reset=none stops consumers",
           "Expand in safe-offsets mode, so that the new partitions have a committed offset."},
    Hazard{HazardId::group_blind, warn, Evidence::live, "a group does not read new partitions",
           "Restart the group's consumers, or make them refresh their metadata."},
    Hazard{HazardId::manual_readers, warn, Evidence::live, "readers with a fixed set of partitions",
           "Tell whoever runs these clients: they will never read the new partitions by themselves."},
    Hazard{HazardId::rebalance, info, Evidence::predicted, "groups rebalance",
           "With an eager assignor every member stops once; expand when a short pause is acceptable."},
    Hazard{HazardId::uneven_members, info, Evidence::predicted, "members get unequal shares",
           "Choose a multiple of the current count that the number of consumers divides."},
    Hazard{HazardId::streams_application_dies, block, Evidence::predicted, "a Kafka Streams application will not start again",
           "Stop the application and reset it, give it a new application.id, or copy into a new topic."},
    Hazard{HazardId::copartition_breaks, block, Evidence::predicted, "topics that are joined get different counts",
           "Expand both topics to the same count in one request."},
    Hazard{HazardId::partition_state_lost, warn, Evidence::predicted, "state kept per partition is left behind",
           "Expect moved keys to start from empty state on their new owner, or rebuild the state."},
    Hazard{HazardId::external_offsets, info, Evidence::both, "offsets are kept outside of Kafka",
           "Check how the application finds new partitions and where it starts in them."},
    Hazard{HazardId::seeded_offsets, info, Evidence::both, "offset 0 was committed for new partitions",
           "Every seeded offset is listed in the topic's expansions and can be changed like any commit."},
    Hazard{HazardId::share_groups, info, Evidence::predicted, "a share group reads the topic",
           "Share groups promise no order; check where they start in new partitions."},
    Hazard{HazardId::compacted_orphans, block, Evidence::predicted, "compaction will keep old values for ever",
           "Copy the topic into a new one, or write tombstones for the moved keys into their old partitions."},
    Hazard{HazardId::tombstone_miss, block, Evidence::live, "a tombstone misses its key",
           "The key is still in its old partition: write the tombstone there explicitly."},
    Hazard{HazardId::internal_topic, block, Evidence::predicted, "the topic is internal",
           "Do not expand it: coordinators are found by the partition count, and groups would lose their offsets."},
    Hazard{HazardId::single_partition_topic, block, Evidence::predicted, "the application needs exactly one partition",
           "Leave it at one partition: its application relies on the order of all of its records."},
    Hazard{HazardId::connect_state, warn, Evidence::predicted, "Kafka Connect keeps state in the topic",
           "Leave the count as it is: after a restart a stale source offset may win."},
    Hazard{HazardId::streams_internal_topic, block, Evidence::predicted, "the topic belongs to a Kafka Streams application",
           "Leave it to its application, which refuses to start when the count is not the one it computed."},
    Hazard{HazardId::open_transactions, warn, Evidence::predicted, "transactions are open",
           "Let them finish first: they hold back readers, and any test whether a group has read everything."},
    Hazard{HazardId::idempotent_producers, info, Evidence::predicted, "idempotent producers are safe",
           "Nothing to do: sequences are kept per partition, and retries stay on the old one."},
    Hazard{HazardId::mirrors, warn, Evidence::both, "the topic is mirrored",
           "Expect the copy to grow later, and explicit partitions to be refused there until then."},
    Hazard{HazardId::irreversible, info, Evidence::predicted, "a partition count cannot shrink",
           "Be sure of the number: only a copy into a new topic leads back."},
    Hazard{HazardId::no_history, info, Evidence::predicted, "earlier expansions are not known",
           "Earlier changes of the count were not recorded here; keys may lie where older counts put them."},
    Hazard{HazardId::metadata_gaps, warn, Evidence::live, "metadata lists partitions incompletely",
           "Report it: clients count the list, and a gap moves every key."},
    Hazard{HazardId::held_reader, warn, Evidence::live, "a reader is held that may be in no group",
           "Give each application a client.id of its own; on the broker's machine, let the broker see whose sockets they are."},
    Hazard{HazardId::findings_overflow, info, Evidence::live, "there are more findings than are shown",
           "Mend the worst ones first; the others appear as places get free."},
    Hazard{HazardId::two_owners, warn, Evidence::live, "a partition has two owners",
           "Find the process that goes on, and have it stop at a refused commit: what both handled was handled twice."},
    Hazard{HazardId::commits_refused, warn, Evidence::live, "commits come too late",
           "Commit before partitions are given up, and poll within max.poll.interval.ms: what was refused is read again."},
    Hazard{HazardId::never_settles, warn, Evidence::live, "a group does not settle",
           "See in its rebalances who comes and goes: give members static ids, more time, or a cooperative assignor."},
    Hazard{HazardId::partitions_flap, warn, Evidence::live, "partitions go to and fro",
           "Look at the members between which they go: one of them is dropped again and again and comes back."},
    Hazard{HazardId::capacity_changed, info, Evidence::live, "capacity changed",
           "Nothing to do: requests are held to the new capacity from now on."},
};
// clang-format on

/// Each family of ids begins with a number that is a multiple of this.
constexpr int kFamilySize = 100;
constexpr std::string_view kFamilies = "HGC";

constexpr bool is_ascending() {
    for (std::size_t index = 1; index < kHazards.size(); ++index) {
        if (kHazards[index - 1].id >= kHazards[index].id) {
            return false;
        }
    }
    return true;
}
static_assert(is_ascending());

const Hazard* find(HazardId id) {
    const auto position = std::ranges::lower_bound(kHazards, id, {}, &Hazard::id);
    return position != kHazards.end() && position->id == id ? &*position : nullptr;
}

}  // namespace

std::string_view to_string(Severity severity) {
    switch (severity) {
        case info:
            return "info";
        case warn:
            return "warn";
        case block:
            return "block";
    }
    return "?";
}

std::string to_string(HazardId id) {
    const int number = static_cast<int>(id) % kFamilySize;
    const std::string family(1, kFamilies.at(static_cast<std::size_t>(id) / kFamilySize));
    return family + (number < 10 ? "0" : "") + std::to_string(number);
}

std::span<const Hazard> hazards() { return kHazards; }

const Hazard& hazard(HazardId id) {
    const Hazard* found = find(id);
    PARTITA_ASSERT(found != nullptr, "every hazard is in the catalogue");
    return *found;
}

std::optional<HazardId> parse_hazard_id(std::string_view text) {
    constexpr std::size_t kIdLength = 3;
    const std::size_t family = text.empty() ? std::string_view::npos : kFamilies.find(text[0]);
    if (text.size() != kIdLength || family == std::string_view::npos) {
        return std::nullopt;
    }
    int number = 0;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) {
        return std::nullopt;
    }
    const auto id = static_cast<HazardId>(number + static_cast<int>(family) * kFamilySize);
    if (find(id) == nullptr) {
        return std::nullopt;
    }
    return id;
}

void Finding::add_example(std::string_view key, std::optional<PartitionIndex> from, std::optional<PartitionIndex> to) {
    if (examples.size() >= kExamplesMax) {
        return;
    }
    examples.push_back({std::string(key.substr(0, kExampleKeyBytesMax)), from, to});
}

Finding make_finding(HazardId id, Subject subject, std::string condition, std::int64_t count) {
    const Hazard& line = hazard(id);
    Finding finding;
    finding.id = id;
    finding.severity = line.severity;
    finding.subject = std::move(subject);
    finding.condition = std::move(condition);
    finding.count = count;
    finding.advice = line.advice;
    return finding;
}

std::string_view title_of(const Finding& finding) { return finding.title.empty() ? hazard(finding.id).title : finding.title; }

std::optional<Severity> worst_severity(std::span<const Finding> findings) {
    if (findings.empty()) {
        return std::nullopt;
    }
    return std::ranges::max(findings, {}, &Finding::severity).severity;
}

}  // namespace partita::insight
