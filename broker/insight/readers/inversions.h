#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

/// Proves that a group had processed a newer record of a key before an older one (H06). The proof rests on the group's commits
/// and on the order in which the key's records were written. Pure; one caller at a time.
namespace partita::insight {

struct ReaderFacts;
class GroupIndex;
class AutoResets;
enum class RecordFate : std::uint8_t;

/// A key and its steps from partition to partition.
struct MovedKey {
    std::string key;
    std::vector<KeyStep> steps;
};
/// Selects the steps that an expansion caused. A step counts if the key was first seen in the old partition at an earlier count,
/// and in the new one at a later count. It also counts if one of the families places the key so: a producer with the old count
/// may have written it later.
///
/// The function leaves out keys that producers scatter without regard to counts. It also leaves out steps back to an earlier
/// partition: these come from two producers, or from batches of one producer that overtook each other under way. The earlier
/// partition then still has the older record.
[[nodiscard]] std::vector<MovedKey> growth_steps(const KeyIndex& keys, partitioners::FamilySet families,
                                                 std::span<const std::int32_t> counts);

class Inversions {
  public:
    static constexpr std::size_t kGroupsMax = 4096;
    /// Most positions that are remembered, for all groups together.
    static constexpr std::size_t kPositionsMax = 200'000;
    /// Most commits that wait to be judged.
    static constexpr std::size_t kAdvancesMax = 65'536;
    /// Most keys with a proof, of all groups together.
    static constexpr std::size_t kInvertedKeysMax = 4096;
    /// Most proofs of one key that wait for the fate of their records; further ones are not kept.
    static constexpr std::size_t kUndecidedMax = 8;

    struct Commit {
        PartitionIndex partition;
        Offset offset;
    };
    using Positions = std::map<PartitionIndex, Offset>;
    /// An accepted commit, with all of its partitions of this topic at once. `before`: everything that the group had committed in
    /// the topic until then; the caller must pass it once, else null. `keys_sent`: number of batches that had been taken for a
    /// look at their keys at that moment, including those that it covers. The commit waits until
    /// `ReaderFacts::keys_seen` reaches that number.
    void on_commit(std::string_view group, std::span<const Commit> commits, const Positions* before, std::uint64_t keys_sent = 0);
    /// True if there are commits to judge.
    [[nodiscard]] bool has_news() const { return !requests_.empty(); }
    /// Judges the noted commits in the order in which they came, and forgets them. Commits that wait for keys stay. `resets` has
    /// been told everything that came before these commits, and has not settled it yet. `of_several`: groups that had several
    /// members when the commits came.
    void prove(const ReaderFacts& facts, const GroupIndex& groups, const AutoResets& resets,
               const std::set<std::string, std::less<>>& of_several);
    /// A key with a standing proof: the group had committed beyond `later` in `to`, but not beyond `earlier` in `from`.
    struct Proven {
        std::string key;
        PartitionIndex from;
        Offset earlier;
        PartitionIndex to;
        Offset later;
        /// The group had several members. Each commits by itself, so one may have finished `earlier` before another one finished
        /// `later`, and committed that afterwards.
        bool is_of_several = false;
    };
    /// By group, all keys with a standing proof. A wrong order of delivery cannot be undone; a proof ends when retention has
    /// removed the older record. Records that are aborted, or may still be, do not count. Records before a group's beginning do
    /// not count either.
    [[nodiscard]] std::map<std::string, std::vector<Proven>> proven(const ReaderFacts& facts, const AutoResets& resets);
    /// Some keys were not counted for lack of room.
    [[nodiscard]] bool has_left_out() const { return uncounted_ > 0; }
    void forget_group(const std::string& group);
    void add_groups_told(std::set<std::string>& groups) const;

  private:
    struct Passed {
        Offset last;
        /// A group that goes back has passed the records there once.
        Offset highest;
    };
    /// The positions that a group had committed when its last judged request came.
    struct Known {
        std::map<PartitionIndex, Passed> positions;
        /// `positions` has every partition in which the group had committed.
        bool is_complete = false;
    };
    /// A partition in which a commit moved forward.
    struct Advance {
        PartitionIndex partition;
        Offset before;
        Offset after;
        /// The group had committed nothing there before, so its beginning there is still open.
        bool is_first = false;
        bool is_of_several = false;
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
        /// The proof rests on the first commit of the group in `to`.
        bool is_by_first = false;
        /// See Proven.
        bool is_of_several = false;
        /// Whether the group was given both records, as known at the last look; never `aborted`.
        RecordFate fate{};
    };
    /// One step of a key. Sorted by the place of its newer record, with which commits are compared.
    struct Crossing {
        PartitionIndex to;
        Offset later;
        PartitionIndex from;
        Offset earlier;
        /// Counts if `earlier` turns out aborted; kNoOffset if there is none.
        Offset before_earlier;
        std::string_view key;
    };

    [[nodiscard]] static std::vector<Crossing> crossings(const ReaderFacts& facts);
    [[nodiscard]] Known& known_of(const std::string& group);
    void judge(const std::string& group, const Known& known, const Advance& advance, std::span<const Crossing> crossings,
               const ReaderFacts& facts, const GroupIndex& groups, const AutoResets& resets);
    /// The group had passed the newer record, but not the older one.
    void keep_proof(const std::string& group, std::string_view key, Proof proof, const ReaderFacts& facts,
                    const AutoResets& resets);
    [[nodiscard]] static RecordFate fate_of(const std::string& group, const Proof& proof, const ReaderFacts& facts,
                                            const AutoResets& resets);

    /// In the order in which they came.
    std::vector<Request> requests_;
    std::size_t waiting_ = 0;
    std::map<std::string, Known, std::less<>> positions_;
    std::size_t position_count_ = 0;
    /// By group and key: one proof that stands, or one to `kUndecidedMax` proofs that are undecided.
    std::map<std::pair<std::string, std::string>, std::vector<Proof>> proofs_;
    /// Number of standing proofs beyond `kInvertedKeysMax`, and of commits without room.
    std::int64_t uncounted_ = 0;
};

}  // namespace partita::insight
