#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "broker/catalog/commands.h"
#include "broker/groups/topic_readers.h"

/// An expansion as a list of steps, and the only function that carries the list out. The caller provides the object that takes
/// the steps: the broker, or a simulation that crashes between any two of them.
namespace partita::runtime {

/// A topic that was judged and may grow.
struct GrowingTopic {
    /// The topic as it was judged. A different pointer in the catalog shows that the topic has changed since.
    catalog::TopicPointer before;
    std::int32_t new_count = 0;
    catalog::JudgedExpansion judged;

    /// The number of the epoch that this growth begins.
    [[nodiscard]] std::int32_t epoch() const { return static_cast<std::int32_t>(before->expansions.size()) + 1; }
    /// The groups that get offset 0 in the new partitions.
    [[nodiscard]] std::span<const std::string> seeded_groups() const {
        return judged.circumstances ? std::span<const std::string>(judged.circumstances->seeded_groups)
                                    : std::span<const std::string>();
    }
};

struct ExpansionStep {
    enum class Kind : std::uint8_t {
        /// Commits offset 0 for the new partitions in every group that reads the topic (in every mode but faithful).
        /// Undoing takes these offsets back.
        seed,
        /// Syncs these offsets to the device, so that no power failure leaves an expansion without them. It follows the seeds of
        /// all topics, because a group that reads several topics is synced once.
        sync_seeds,
        /// Checks that no other group has begun to read the topic. Such a group would have no seed, so the facts are out of date.
        look_for_new_readers,
        /// Locks the catalog against other changes. The topics must still be as they were judged. Undoing unlocks it.
        lock_catalog,
        /// Gives the new partitions their logs, which are not visible yet. Undoing releases them.
        claim_partitions,
        /// Writes the record into the catalog's log. The topics have then grown, and no later step can fail.
        write_catalog,
        /// Mode fenced: opens the fence before clients see the new partitions.
        open_fence,
        /// Watches the readers of the topic from now on: before the first of them can be given a record of a new partition.
        watch_readers,
        /// Shows the new partitions to all clients.
        publish,
        unlock_catalog,
        /// Writes one line into the broker's log. It says what share of the keys moves, or that the topic has no keys.
        tell,
    };
    Kind kind = Kind::seed;
    /// The index of the topic; 0 for steps about all topics.
    std::size_t topic = 0;

    friend bool operator==(const ExpansionStep&, const ExpansionStep&) = default;
};

/// The steps for these topics, which either all grow or all stay as they are.
[[nodiscard]] std::vector<ExpansionStep> steps_of(std::span<const GrowingTopic> topics);

enum class StepOutcome : std::uint8_t {
    done,
    /// A topic or its readers changed since the judgement, or a topic was refused. The topics have not grown; the caller gathers
    /// the facts again.
    moved,
    /// A write failed. The topics have not grown.
    failed,
};

class ExpansionActions {
  public:
    virtual ~ExpansionActions() = default;
    [[nodiscard]] virtual StepOutcome take(const ExpansionStep& step) = 0;
    /// Undoes one of the steps up to `write_catalog`. The step that did not end with `done` may be complete, partial, or not
    /// begun.
    virtual void undo(const ExpansionStep& step) = 0;
};

/// Takes the steps one by one. At the first outcome other than `done` it stops and returns that outcome. Before that it undoes
/// that step and all earlier ones, in reverse order.
[[nodiscard]] StepOutcome carry_out(std::span<const ExpansionStep> steps, ExpansionActions& actions);

/// The seeds that a growth gives to a group. The caller sets `group_id` and `metadata` (see `groups::seed_metadata`).
[[nodiscard]] groups::SeedOffsets seeds_of(const GrowingTopic& topic);
/// The seeds that a crash between `seed` and `write_catalog` leaves in groups that read the topic: they belong to the next epoch
/// and to partitions that do not exist. The next start removes them.
[[nodiscard]] groups::SeedOffsets orphaned_seeds_of(const catalog::Topic& topic);
/// The epoch that marks such seeds.
[[nodiscard]] inline std::int32_t next_epoch(const catalog::Topic& topic) {
    return static_cast<std::int32_t>(topic.expansions.size()) + 1;
}

}  // namespace partita::runtime
