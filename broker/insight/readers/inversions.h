#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/insight/findings/finding.h"
#include "broker/insight/keys/key_index.h"
#include "broker/partitioners/families.h"
#include "protocol/types.h"

/// Proves that a group had processed a newer record of a key before an older one (H06), from the group's commits and
/// from the order in which the key's records were written. Pure; one caller at a time.
namespace partita::insight {

struct ReaderFacts;
class GroupIndex;
class AutoResets;
enum class RecordFate : std::uint8_t;

/// A key, and its steps from partition to partition.
struct MovedKey {
    std::string key;
    std::vector<KeyStep> steps;
};
/// Selects the steps that an expansion caused. A step counts when the key was first seen in the old partition at an
/// earlier count and in the new one at a later count, or when one of the families places the key so (a producer with
/// the old count may have written it later). Left out are keys that producers scatter without regard to counts, and
/// steps back to an earlier partition: those come from two producers, or from batches of one producer that overtook
/// each other under way, and then the earlier partition still has the older record.
[[nodiscard]] std::vector<MovedKey> growth_steps(const KeyIndex& keys, partitioners::FamilySet families,
                                                 std::span<const std::int32_t> counts);

class Inversions {
  public:
    static constexpr std::size_t kGroupsMax = 4096;
    /// Positions that are remembered, for all groups together.
    static constexpr std::size_t kPositionsMax = 200'000;
    /// Commits that wait to be judged.
    static constexpr std::size_t kAdvancesMax = 65'536;
    /// Keys with a proof, of all groups together.
    static constexpr std::size_t kInvertedKeysMax = 4096;
    /// Proofs of one key that wait together for what becomes of their records; further ones are not kept.
    static constexpr std::size_t kUndecidedMax = 8;

    struct Commit {
        PartitionIndex partition;
        Offset offset;
    };
    using Positions = std::map<PartitionIndex, Offset>;
    /// A commit that was accepted, all of its partitions of this topic at once. `before`: everything that the group had committed
    /// in the topic until then, which needs to be told once; null when it is not. `keys_sent`: so many batches had been taken for
    /// a look at their keys when it came, among them those that it is about; it waits until `ReaderFacts::keys_seen` is as much.
    void on_commit(std::string_view group, std::span<const Commit> commits, const Positions* before, std::uint64_t keys_sent = 0);
    /// There are commits to judge.
    [[nodiscard]] bool has_news() const { return !requests_.empty(); }
    /// Judges the commits that were noted, in the order in which they came, and forgets them. Those that wait for keys stay.
    /// `resets` has been told everything that came before these commits, and has settled nothing of it yet.
    void prove(const ReaderFacts& facts, const GroupIndex& groups, const AutoResets& resets);
    /// H06 of every group. What was delivered in the wrong order stays so; a finding ends when retention has removed
    /// the older records. What is aborted, or may still be, is told of nobody, and neither is what the group began behind.
    void find(const std::string& topic, const ReaderFacts& facts, const AutoResets& resets, std::vector<Finding>& findings);
    void forget_group(const std::string& group);
    void add_groups_told(std::set<std::string>& groups) const;

  private:
    /// What a group had committed when its last judged request came.
    struct Known {
        Positions positions;
        /// `positions` has every partition in which the group had committed.
        bool is_complete = false;
    };
    /// A partition in which a commit moved forward.
    struct Advance {
        PartitionIndex partition;
        Offset before;
        Offset after;
        /// The group had committed nothing there before, so that it is open where it began.
        bool is_first = false;
    };
    struct Request {
        std::string group;
        std::vector<Commit> commits;
        std::optional<Positions> before;
        std::uint64_t keys_sent = 0;
    };
    struct Proof {
        PartitionIndex from;
        Offset earlier;
        PartitionIndex to;
        Offset later;
        /// By the first commit of the group in `to`.
        bool is_by_first = false;
        /// Whether the group was given both records, as far as it was known at the last look; not aborted.
        RecordFate fate{};
    };
    /// One step of a key, sorted by the place of its newer record, which commits are compared with.
    struct Crossing {
        PartitionIndex to;
        Offset later;
        PartitionIndex from;
        Offset earlier;
        /// Counts when `earlier` comes to nothing; kNoOffset without one.
        Offset before_earlier;
        std::string_view key;
    };

    [[nodiscard]] static std::vector<Crossing> crossings(const ReaderFacts& facts);
    [[nodiscard]] Known& known_of(const std::string& group);
    void judge(const std::string& group, const Known& known, const Advance& advance, std::span<const Crossing> crossings,
               const ReaderFacts& facts, const GroupIndex& groups, const AutoResets& resets);
    /// The group was through with the crossing's newer record and not with `earlier`.
    void keep_proof(const std::string& group, const Crossing& crossing, Offset earlier, bool is_by_first,
                    const ReaderFacts& facts, const AutoResets& resets);
    [[nodiscard]] static RecordFate fate_of(const std::string& group, const Proof& proof, const ReaderFacts& facts,
                                            const AutoResets& resets);

    /// In the order in which they came.
    std::vector<Request> requests_;
    std::size_t waiting_ = 0;
    std::map<std::string, Known, std::less<>> positions_;
    std::size_t position_count_ = 0;
    /// By group and key: one that stands, or at least one and at most `kUndecidedMax` of which that is not known.
    std::map<std::pair<std::string, std::string>, std::vector<Proof>> proofs_;
    /// Proofs that stand beyond `kInvertedKeysMax`, and commits that found no room.
    std::int64_t uncounted_ = 0;
};

}  // namespace partita::insight
