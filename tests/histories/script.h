#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/histories/placing.h"
#include "tests/support/wire_client.h"

/// The script of a history: a cast of clients and a list of steps, all drawn from a seed. The same seed gives the same script. A
/// step that makes no sense when its turn comes does nothing, such as a commit of a member that has gone. Any step can therefore
/// be left out.
namespace partita::test::histories {

using Caller = WireClient::Caller;
/// "billing@127.0.0.2".
[[nodiscard]] std::string to_string(const Caller& caller);

enum class Mode : std::uint8_t { faithful, safe_offsets, fenced, guarded };
[[nodiscard]] std::string_view to_string(Mode mode);

/// The place where a consumer begins when its group has no committed offset.
enum class Reset : std::uint8_t { earliest, latest, none, by_duration };
[[nodiscard]] std::string_view to_string(Reset reset);

struct ProducerCast {
    Caller caller;
    Placing placing = Placing::murmur2;
    bool is_idempotent = false;
};
struct GroupCast {
    /// The name without the part that makes it unique on the broker.
    std::string name;
    Reset reset = Reset::earliest;
    /// KIP-848 instead of the classic protocol.
    bool is_consumer_protocol = false;
    std::vector<Caller> members;
};
struct OutsiderCast {
    Caller caller;
    bool from_beginning = false;
};

enum class Action : std::uint8_t {
    /// `who` produces `amount` records of chosen keys; `variant` 1: they are an hour old, 2: a third are tombstones.
    produce,
    /// The producer refreshes its metadata.
    refresh,
    /// The topic grows to `amount`.
    grow,
    /// The members of group `who` that are open meet with the newest metadata (`variant` & 1) or with what they had; they commit
    /// before (`variant` & 2). `amount` members join that have not been there before.
    rebalance,
    /// Member `member` of group `who` fetches: at most `amount` bytes of each partition.
    poll,
    /// It commits its positions: of all its partitions, or of one chosen by `amount` (`variant` 1).
    commit,
    /// It commits its positions as of the generation before its present one, which is over.
    commit_late,
    /// It goes back to the beginning of one of its partitions, chosen by `amount`, and reads.
    seek_back,
    /// It commits (`variant` 1) and leaves.
    close_member,
    /// It is assigned by a rebalance, asks for its offsets, and is closed before it does anything with them.
    close_early,
    /// An administrator removes it from its group (of the classic protocol), without telling the member.
    remove_member,
    /// Outsider `who` reads on; `variant` 1: new partitions, too.
    outsider_reads,
    /// Monitor asks for group `who`: its offsets, and (`variant` 1) the log ends.
    monitor_asks,
    /// Records of one partition, chosen by `amount`, up to some offset, are deleted.
    delete_records,
    /// Group `who` is closed and deleted.
    delete_group,
    delete_topic,
    /// The broker stops (`variant` 0) or is killed, and starts again.
    restart,
    /// Everything that holds is compared; `variant` 1: after what takes ten seconds to be told.
    check,
};

struct Step {
    Action action = Action::check;
    int who = 0;
    int member = 0;
    int amount = 0;
    int variant = 0;
};

struct Script {
    std::uint64_t seed = 0;
    Mode mode = Mode::faithful;
    int first_count = 0;
    int keys = 0;
    bool is_compacted = false;
    /// The script needs its own broker.
    bool restarts = false;
    std::vector<ProducerCast> producers;
    std::vector<GroupCast> groups;
    std::vector<OutsiderCast> outsiders;
    std::vector<Step> steps;
};

[[nodiscard]] Script write_script(std::uint64_t seed);
/// The cast, and one line for each step with its number.
[[nodiscard]] std::string to_string(const Script& script);
[[nodiscard]] std::string to_string(const Step& step);

/// Numbers that depend only on a seed, the same on every machine.
class Dice {
  public:
    explicit Dice(std::uint64_t seed) : state_(seed) {}
    [[nodiscard]] std::uint64_t next();
    /// 0 to sides - 1.
    [[nodiscard]] int roll(int sides) { return static_cast<int>(next() % static_cast<std::uint64_t>(sides)); }
    [[nodiscard]] bool happens(int percent) { return roll(100) < percent; }

  private:
    std::uint64_t state_;
};

}  // namespace partita::test::histories
