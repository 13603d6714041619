#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "broker/groups/topic_readers.h"
#include "broker/topics/catalog_commands.h"

/// An expansion as a list of steps, and the one place that walks along it. Who takes the steps is handed in: the broker, or a
/// simulation that crashes between any two of them.
namespace partita::runtime {

/// A topic that was judged and may grow. Pointers of what was judged, so that who takes the steps sees whether it still is so.
struct GrowingTopic {
    /// As it was judged.
    topics::TopicPointer before;
    std::int32_t new_count = 0;
    topics::JudgedExpansion judged;

    /// The epoch that its growth will have.
    [[nodiscard]] std::int32_t epoch() const { return static_cast<std::int32_t>(before->expansions.size()) + 1; }
    /// Groups that get offset 0 in the new partitions.
    [[nodiscard]] std::span<const std::string> seeded_groups() const {
        return judged.circumstances ? std::span<const std::string>(judged.circumstances->seeded_groups) : std::span<const std::string>();
    }
};

struct ExpansionStep {
    enum class Kind : std::uint8_t {
        /// Offset 0 for the new partitions is committed in every group that reads the topic (modes safe-offsets and fenced).
        /// Undone: these offsets are taken back.
        seed,
        /// A group that began to read the topic meanwhile has no seed: then the facts are out of date.
        look_for_new_readers,
        /// From here on nobody else changes the catalog. It must still be as it was judged. Undone: unlocked.
        lock_catalog,
        /// The new partitions get their logs, which nobody sees. Undone: let go.
        claim_partitions,
        /// The catalog's record is in its log: this is the moment at which the topics have grown. Nothing behind it can fail.
        write_catalog,
        /// Mode fenced: before anybody sees the new partitions.
        open_fence,
        /// Everybody sees the new partitions.
        publish,
        unlock_catalog,
        /// Readers of the topic are watched from now on.
        watch_readers,
        /// One line in the broker's log says what share of the keys moves.
        tell,
    };
    Kind kind = Kind::seed;
    /// Index of the topic; 0 for steps that are about all of them.
    std::size_t topic = 0;

    friend bool operator==(const ExpansionStep&, const ExpansionStep&) = default;
};

/// The steps for these topics, which grow all or none.
[[nodiscard]] std::vector<ExpansionStep> steps_of(std::span<const GrowingTopic> topics);

enum class StepOutcome : std::uint8_t {
    done,
    /// What was judged is not so any more. Nothing happened; facts are to be gathered anew.
    moved,
    /// Something could not be written. Nothing happened.
    failed,
};

class ExpansionActions {
  public:
    virtual ~ExpansionActions() = default;
    [[nodiscard]] virtual StepOutcome take(const ExpansionStep& step) = 0;
    /// Of a step before `write_catalog`, which may have been taken in part.
    virtual void undo(const ExpansionStep& step) = 0;
};

/// Takes the steps one by one. The first that is not done ends it, and what was taken is undone, last things first.
[[nodiscard]] StepOutcome carry_out(std::span<const ExpansionStep> steps, ExpansionActions& actions);

/// What the seeds of a growth look like in a group; `group_id` and `metadata` are for the caller to set (see
/// `groups::seed_metadata`).
[[nodiscard]] groups::SeedOffsets seeds_of(const GrowingTopic& topic);
/// What a crash between the seeds and the catalog's record leaves in groups that read the topic: seeds of the next epoch, for
/// partitions that there are not. A start takes them back.
[[nodiscard]] groups::SeedOffsets orphaned_seeds_of(const topics::Topic& topic);
/// The epoch that such seeds are marked with.
[[nodiscard]] inline std::int32_t next_epoch(const topics::Topic& topic) { return static_cast<std::int32_t>(topic.expansions.size()) + 1; }

}  // namespace partita::runtime
