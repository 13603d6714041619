#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/histories/client.h"
#include "tests/histories/diary.h"
#include "tests/histories/script.h"
#include "tests/histories/stage.h"

/// Plays a script with clients that speak as real ones do, and writes their diaries. Each check of the script compares the
/// broker's findings with those that the oracle derives.
namespace partita::test::histories {

struct Outcome {
    /// One sentence each; empty when every finding was true and none was missing.
    std::vector<std::string> problems;
    /// The events, a line for each step with its facts.
    std::vector<std::string> transcript;
    /// Claims that were due and told, by id, at all checks.
    std::map<std::string, int> confirmed;
    /// The broker looked at every record.
    bool is_everything_seen = true;
};

class Player {
  public:
    /// `unique` is part of the names of the topic and the groups. A script with restarts needs the stage for itself.
    Player(Stage& stage, const Script& script, const std::string& unique);
    Player(const Player&) = delete;
    Player& operator=(const Player&) = delete;
    ~Player();

    /// Ends at the first check that finds something.
    [[nodiscard]] Outcome play();

  private:
    struct Producer;
    struct Consumer;
    struct Group;
    struct Outsider;

    void play(const Step& step);
    void produce(const Step& step);
    void grow(int count);
    [[nodiscard]] bool grow_guarded(int count);
    [[nodiscard]] bool is_growth_right(const Caller& caller, int count, bool validates_only, bool is_confirmed, bool& has_grown);
    void drain();
    void rebalance(const Step& step);
    void meet(std::size_t group, const std::vector<int>& before);
    void begin(std::size_t group, std::size_t member, const Partitions& partitions);
    [[nodiscard]] Partitions ask_for_offsets(std::size_t group, std::size_t member);
    void note_looking(const Caller& caller, int partition);
    [[nodiscard]] std::int64_t list_offset(Client& client, int partition, std::int64_t timestamp);
    void note_fetch(std::size_t group, std::size_t member, int partition, std::int64_t position);
    void note_first_fetch(const Caller& caller, int partition, std::int64_t position);
    void go_back(std::size_t group, int partition, std::int64_t position);
    [[nodiscard]] std::int64_t look_for_beginning(std::size_t group, std::size_t member, int partition);
    void stop_for_it(std::size_t group, std::size_t member);
    void poll(std::size_t group, std::size_t member, int partition_max_bytes);
    void commit(std::size_t group, std::size_t member, const Offsets& offsets);
    void commit_late(std::size_t group, std::size_t member);
    void note_commit(std::size_t group, const Offsets& offsets);
    /// Begins to note what the group is given since the growths for which that has not begun.
    void begin_watch(std::size_t group);
    void note_given(std::size_t group, const std::map<int, std::vector<std::int64_t>>& answer);
    /// `watches`: by growth.
    void note_given(std::vector<GivenSince>& watches, const GroupDiary* group,
                    const std::map<int, std::vector<std::int64_t>>& answer) const;
    [[nodiscard]] bool is_doubtful(const GroupDiary& group, std::size_t growth, int partition, std::int64_t first) const;
    [[nodiscard]] bool is_cut(std::size_t growth, std::pair<int, std::int64_t> older, std::pair<int, std::int64_t> newer) const;
    void note_inversions(std::size_t group, const Offsets& before, const Offsets& commits);
    void note_inversion(std::size_t group, int partition, std::int64_t offset, bool is_by_first);
    [[nodiscard]] int provable_origin(int partition, std::int64_t offset) const;
    void seek_back(const Step& step);
    void close_member(std::size_t group, std::size_t member);
    void close_early(const Step& step);
    void remove_member(std::size_t group, std::size_t member);
    void note_gone(std::size_t group, std::size_t member);
    void read_outside(std::size_t outsider, bool reads_new);
    void note_kept_back(const Client& client, const Offsets& positions, const Client::Fetched& fetched, int partition_max_bytes);
    void forget_kept_back(const Client& client);
    void ask_as_monitor(const Step& step);
    void delete_records(const Step& step);
    void delete_group(std::size_t group);
    void restart(bool kill);
    void expect_harm(const std::set<std::string>& harm);
    void check(bool after_all);
    void wait_for_thought();
    [[nodiscard]] std::int64_t keyed_records_seen() const;
    [[nodiscard]] std::vector<std::string> look();
    void note_time();
    void note(std::string line) { transcript_.push_back(std::move(line)); }

    [[nodiscard]] Consumer* open_member(const Step& step);
    [[nodiscard]] PartitionDiary& log_of(int partition) { return diary_.partitions[static_cast<std::size_t>(partition)]; }
    [[nodiscard]] const PartitionDiary& log_of(int partition) const {
        return diary_.partitions[static_cast<std::size_t>(partition)];
    }

    Stage& stage_;
    const Script& script_;
    const std::string unique_;
    const std::string topic_;
    Dice dice_;
    const Clock::time_point begun_ = Clock::now();
    Diary diary_;
    TopicId topic_id_;
    std::vector<std::unique_ptr<Producer>> producers_;
    std::vector<std::unique_ptr<Group>> groups_;
    std::vector<std::unique_ptr<Outsider>> outsiders_;
    std::int64_t order_ = 0;
    std::int64_t keyed_since_restart_ = 0;
    /// Records with keys that the broker had looked at when the last wait for its thoughts began.
    std::int64_t seen_before_thought_ = 0;
    std::vector<std::string> transcript_;
    Outcome outcome_;
};

}  // namespace partita::test::histories
