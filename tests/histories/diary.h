#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/histories/script.h"

/// The notes of a history's clients: the requests that were acknowledged, the records that they were given, and the offsets that
/// they committed. The log is part of them, because the broker tells each producer the offset of its record. Plain data: the
/// player writes it, the oracle reads it.
namespace partita::test::histories {

using Clock = std::chrono::steady_clock;

struct Written {
    int key = 0;
    bool is_tombstone = false;
    int producer = 0;
    /// How often the topic had grown before.
    int epoch = 0;
    /// The partition count that the producer placed it by.
    int count = 0;
    /// Among all acknowledged records of the history.
    std::int64_t order = 0;
};

struct PartitionDiary {
    /// By offset.
    std::vector<Written> records;
    std::int64_t start = 0;

    [[nodiscard]] std::int64_t end() const { return static_cast<std::int64_t>(records.size()); }
};

struct Growth {
    int from = 0;
    int to = 0;
    /// By old partition.
    std::vector<std::int64_t> cut;
    Clock::time_point time;
};

struct MemberDiary {
    bool is_open = false;
    /// The member's client, counted over the whole history.
    int client = -1;
    std::set<int> assigned;
};

/// A client of a group was told that there is no committed offset in a partition that a growth added.
struct NoOffset {
    Clock::time_point asked;
    /// The member of that name that asked last.
    std::size_t member = 0;
    /// The member left the group since then; and how often that happened.
    bool is_gone = false;
    int times_gone = 0;
};

/// The place where a group without a committed offset began to read a partition that a growth added.
struct Beginning {
    /// The lowest and the highest of all.
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
    Clock::time_point last;
    /// The group never read the records before it. False when the group began at the start of the log, or when a member went
    /// back.
    bool skips = false;
};

/// A key whose records the group committed out of order: beyond a newer record in one partition, but not beyond an older one in
/// another.
struct Inversion {
    /// By partition: the newest older record that was overtaken.
    std::map<int, std::int64_t> from;
    /// Partitions of the newer records.
    std::set<int> to;
    /// The older record was the key's last one before the newer one, and the newer one was the first where a growth led the key.
    bool is_provable = false;
};

/// The records that a reader was given since a growth, or since the broker's last start, if that came later.
struct GivenSince {
    /// A group's positions then.
    std::map<int, std::int64_t> committed;
    /// By partition: the first record that it was given.
    std::map<int, std::int64_t> first;
    /// Partitions in which the group, at work when the topic grew, began at a position from before: its member may have had more,
    /// and gone back.
    std::set<int> doubtful;
    std::set<std::pair<int, std::int64_t>> given;
    /// By key: the places of records that it was given.
    std::map<int, std::vector<std::pair<int, std::int64_t>>> places;
    /// By key: the places of older records that it was given for the first time after a newer one. One for each partition, the
    /// last.
    std::map<int, std::map<int, std::int64_t>> overtaken;
    /// Keys of `overtaken` whose records are the last before the growth and the first after it.
    std::set<int> cut;
    /// Keys with a record that it was given again.
    std::set<int> given_again;
    Clock::time_point last;
};

/// The members to which a group gave a partition, by member id, since the broker's last start.
struct Owners {
    std::string owner;
    std::string previous;
    /// How often the partition came back to the member that had it before its last owner.
    int returns = 0;

    void give_to(const std::string& member) {
        if (member == owner) {
            return;
        }
        returns += !previous.empty() && member == previous ? 1 : 0;
        previous = std::exchange(owner, member);
    }
};

struct GroupDiary {
    std::vector<MemberDiary> members;
    /// By partition.
    std::map<int, Owners> owners;
    std::map<int, std::int64_t> committed;
    /// By partition: the highest position that it ever committed.
    std::map<int, std::int64_t> highest_committed;
    /// By partition: the offsets that members of the group were given.
    std::map<int, std::set<std::int64_t>> given;
    /// By partition.
    std::map<int, Beginning> beginnings;
    /// By client and partition.
    std::map<std::pair<Caller, int>, NoOffset> without_offset;
    /// A client without an offset asked where to begin, or read all the same.
    bool has_policy = false;
    /// Growths, by how many there were before, at which it had members or commits. This is unknown for a group that came after a
    /// restart.
    std::set<int> grew_with;
    bool may_have_been_there = false;
    std::map<int, Inversion> inversions;
    /// By growth; shorter if the group was given nothing since the last ones.
    std::vector<GivenSince> given_since;
    /// By growth: it had members then.
    std::vector<bool> at_work;
    /// By growth: the partitions in which it committed since, or since the broker's last start.
    std::vector<std::set<int>> committed_since;
    /// Partitions for which the expansion gave the group an offset, without a commit since then.
    std::set<int> seeded;
    bool is_deleted = false;

    [[nodiscard]] bool holds(int partition) const {
        for (const MemberDiary& member : members) {
            if (member.is_open && member.assigned.contains(partition)) {
                return true;
            }
        }
        return false;
    }
    [[nodiscard]] int open_members() const {
        int count = 0;
        for (const MemberDiary& member : members) {
            count += member.is_open ? 1 : 0;
        }
        return count;
    }
};

/// A fetch that got nothing from a new partition, though records lay behind the place that it asked for.
struct KeptBack {
    Caller caller;
    /// Number of the client's connection within the history.
    int client = 0;
    int partition = 0;
    Clock::time_point time;
    /// The fetch asked for enough bytes to fit a batch.
    bool is_sure = false;
};

/// New partitions, added by a growth, that an open connection fetched.
struct NewReading {
    std::set<int> partitions;
    Clock::time_point since;
};

/// The reading of an outsider since the topic's first growth, while the broker did not restart.
struct OutsiderDiary {
    /// By how often the topic had grown, and partition: the earliest offset that it asked for.
    std::map<std::pair<int, int>, std::int64_t> began_at;
    /// By growth, for all outsiders of its name, at the first of them; shorter if they were given nothing since the last growths.
    std::vector<GivenSince> given_since;
    Clock::time_point last;

    /// -1 when it read nothing.
    [[nodiscard]] int highest() const {
        int highest = -1;
        for (const auto& [where, from] : began_at) {
            highest = std::max(highest, where.second);
        }
        return highest;
    }
};

struct Diary {
    std::vector<PartitionDiary> partitions;
    std::vector<Growth> growths;
    std::vector<GroupDiary> groups;
    std::vector<OutsiderDiary> outsiders;
    /// By client and partition that a growth added: the highest offset at which a client of that name began to read it.
    std::map<std::pair<Caller, int>, std::int64_t> first_fetches;
    /// The newest for each client and partition, of clients whose connection is open.
    std::vector<KeptBack> kept_back;
    /// By client.
    std::map<int, NewReading> new_readings;
    /// The broker remembers what it saw of producers from this order on.
    std::int64_t restarted_at_order = 0;
    std::int64_t records = 0;
    /// When a producer of that name wrote last: before it sent the batch, and after it was acknowledged.
    std::map<Caller, std::pair<Clock::time_point, Clock::time_point>> wrote;
    /// When the broker began to watch the topic's producers, likewise.
    std::pair<Clock::time_point, Clock::time_point> watched;
    bool is_deleted = false;
    Clock::time_point now;

    [[nodiscard]] int epoch() const { return static_cast<int>(growths.size()); }
    [[nodiscard]] int count() const { return static_cast<int>(partitions.size()); }
    /// The topic's count at that epoch.
    [[nodiscard]] int count_at(int epoch) const {
        return epoch == 0 ? first_count() : growths[static_cast<std::size_t>(epoch - 1)].to;
    }
    [[nodiscard]] int first_count() const { return growths.empty() ? count() : growths.front().from; }
    [[nodiscard]] bool is_new(int partition) const { return partition >= first_count(); }
    /// When the partition came into being; the beginning of time for the partitions that the topic began with.
    [[nodiscard]] Clock::time_point born(int partition) const {
        for (const Growth& growth : growths) {
            if (partition >= growth.from && partition < growth.to) {
                return growth.time;
            }
        }
        return {};
    }
};

}  // namespace partita::test::histories
