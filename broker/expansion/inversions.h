#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/expansion/finding.h"
#include "broker/expansion/key_index.h"
#include "broker/partitioners/families.h"
#include "protocol/types.h"

/// Proof that a group was through with a newer record of a key before an older one (H06), from its commits and from the order in
/// which records of the key came. Pure; one caller at a time.
namespace partita::expansion {

struct ReaderFacts;
class GroupIndex;

/// A key, and how it went between partitions.
struct MovedKey {
    std::string key;
    std::vector<KeyStep> steps;
};
/// The steps that an expansion caused: the key was first seen in the partition that it left at an earlier count, or one of the families
/// puts it there at an earlier count (a key that a producer with the old count brought). Neither keys that producers scatter without
/// regard to counts are among them, nor steps back: those are of two producers, or of batches of one that overtook each other under way,
/// and then the older place has the older record all the same.
[[nodiscard]] std::vector<MovedKey> growth_steps(const KeyIndex& keys, partitioners::FamilySet families,
                                                 std::span<const std::int32_t> counts);

class Inversions {
  public:
    static constexpr std::size_t kGroupsMax = 4096;
    /// Positions that are remembered, of all groups.
    static constexpr std::size_t kPositionsMax = 200'000;
    /// Commits that wait to be judged.
    static constexpr std::size_t kAdvancesMax = 65'536;
    /// Keys of all groups.
    static constexpr std::size_t kInvertedKeysMax = 4096;

    struct Commit {
        PartitionIndex partition;
        Offset offset;
    };
    using Positions = std::map<PartitionIndex, Offset>;
    /// A commit that was accepted, all of its partitions of this topic at once. `before`: everything that the group had committed in
    /// the topic until then, which needs to be told once; null when it is not. `keys_sent`: so many batches had been taken for a look at
    /// their keys when it came, among them those that it is about; it waits until `ReaderFacts::keys_seen` is as much.
    void on_commit(std::string_view group, std::span<const Commit> commits, const Positions* before, std::uint64_t keys_sent = 0);
    /// There are commits to judge.
    [[nodiscard]] bool has_news() const { return !requests_.empty(); }
    /// Judges the commits that were noted, in the order in which they came, and forgets them. Those that wait for keys stay.
    void prove(const ReaderFacts& facts, const GroupIndex& groups);
    /// H06 of every group. What was delivered in the wrong order stays so: it ends when retention has removed the older records.
    void find(const std::string& topic, const ReaderFacts& facts, std::vector<Finding>& findings);
    void forget_group(const std::string& group);
    void add_groups_told(std::set<std::string>& groups) const;

  private:
    /// What a group had committed when the last request that was judged came.
    struct Known {
        Positions positions;
        /// Where it says nothing, the group had nothing.
        bool is_complete = false;
    };
    /// A partition in which the commit went forward.
    struct Advance {
        PartitionIndex partition;
        Offset before;
        Offset after;
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
    };
    /// One step of a key, where commits of its newer record look for it.
    struct Crossing {
        PartitionIndex to;
        Offset later;
        PartitionIndex from;
        Offset earlier;
        std::string_view key;
    };

    [[nodiscard]] static std::vector<Crossing> crossings(const ReaderFacts& facts);
    [[nodiscard]] Known& known_of(const std::string& group);
    void judge(const std::string& group, const Known& known, const Advance& advance, std::span<const Crossing> crossings,
               const ReaderFacts& facts, const GroupIndex& groups);

    /// In the order in which they came.
    std::vector<Request> requests_;
    std::size_t waiting_ = 0;
    std::map<std::string, Known, std::less<>> positions_;
    std::size_t position_count_ = 0;
    /// By group and key.
    std::map<std::pair<std::string, std::string>, Proof> proofs_;
    /// Proofs beyond `kInvertedKeysMax`, and commits that found no room.
    std::int64_t uncounted_ = 0;
};

}  // namespace partita::expansion
