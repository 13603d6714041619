#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "broker/groups/group_coordinator.h"
#include "broker/groups/group_queries.h"
#include "broker/groups/record_codec.h"
#include "tests/support/declared_settings.h"
#include "tests/support/record_follower.h"

namespace partita::groups::simulation {

/// The base of every world around a coordinator. It has chance that follows from a seed, a clock that steps from event to event,
/// and the log of written records. From this log it makes the coordinator again after a crash.
class CoordinatorWorld {
  protected:
    explicit CoordinatorWorld(std::uint64_t seed) : random_(seed * 0x9E3779B97F4A7C15ULL + 1) {}

    /// Answers that `check_readers` compared.
    [[nodiscard]] std::uint64_t readers_seen() const { return readers_seen_; }

    // Chance
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
    }
    bool chance(int percent) { return between(1, 100) <= percent; }

    // Time
    void at(std::int64_t delay_ms, std::function<void()> what) {
        events_.emplace(now_.monotonic.value + delay_ms, std::move(what));
    }
    /// Runs the events up to `end`; before each, and at the end, `move_clock(instant)` runs the coordinator's timers and sets
    /// the clock.
    template <class MoveClock>
    void run_events(std::int64_t end, MoveClock&& move_clock) {
        while (!violation_ && !events_.empty() && events_.begin()->first <= end) {
            const auto next = events_.begin();
            move_clock(std::max(next->first, now_.monotonic.value));
            const std::function<void()> what = std::move(next->second);
            events_.erase(next);
            what();
        }
        if (!violation_) {
            move_clock(std::max(end, now_.monotonic.value));
        }
    }
    void set_clock(std::int64_t instant) {
        now_.wall.value += instant - now_.monotonic.value;
        now_.monotonic.value = instant;
    }

    // The log
    void append_record(const Record& record) {
        ByteBuffer buffer;
        const auto encoded = encode_record(record, buffer);
        if (!encoded) {
            violate("a record cannot be written");
            return;
        }
        log_.emplace_back(as_text(encoded->key),
                          encoded->value ? std::optional(std::string(as_text(*encoded->value))) : std::nullopt);
    }
    /// Makes the coordinator again from the written records.
    void rebuild() {
        coordinator_.emplace(config_);
        follower_.start(config_);
        Arena arena;
        for (const auto& [key, value] : log_) {
            const auto record = decode_record(as_bytes(key), value ? std::optional(as_bytes(*value)) : std::nullopt, arena);
            if (!record || !*record) {
                violate("a record that was written cannot be read");
                return;
            }
            coordinator_->replay(**record);
            follower_.hear(**record);
        }
    }

    /// Calls the coordinator and passes the records that this makes to the follower, whether or not they are ever written. The
    /// durable states of both must then be equal. Only a record changes the durable state, and a record has the same effect when
    /// it is made and when it is replayed.
    template <class Call>
    void call_core(Call&& call, Effects& effects) {
        const std::size_t known = effects.records.size();
        call(effects);
        for (std::size_t index = known; index < effects.records.size(); ++index) {
            if (follower_misses_percent_ > 0 && chance(follower_misses_percent_)) {
                continue;
            }
            follower_.hear(effects.records[index]);
        }
        if (++calls_ % follower_checked_each_ != 0) {
            return;
        }
        if (const auto difference = follower_.difference(*coordinator_)) {
            violate("the records that were made say another state than the coordinator has: " + *difference);
        }
    }

    /// `before`: the durable state when the coordinator was lost.
    void check_rebuilt(std::string_view before) {
        if (const auto difference = test::durable_difference(before, coordinator_->dump())) {
            violate("a crash changes what is durable: " + *difference);
        }
    }

    /// Checks that answers about the topics' readers do not depend on the index. Runs only now and then, so that changes gather
    /// between two looks.
    void check_readers(std::span<const TopicQuestion> topics) {
        if (++readers_checks_ % 3 != 0) {
            return;
        }
        std::vector<TopicQuestion> questions(topics.begin(), topics.end());
        for (TopicQuestion& question : questions) {
            question.others = TopicQuestion::Others::all;
        }
        const auto by_index = coordinator_->queries().readers_of(questions);
        const auto by_asking_all = coordinator_->queries().readers_by_asking_all(questions);
        for (std::size_t index = 0; index < questions.size(); ++index) {
            readers_seen_ += by_index[index].size();
            if (by_index[index] == by_asking_all[index]) {
                continue;
            }
            violate("of " + std::string(questions[index].topic) + " the index knows " + std::to_string(by_index[index].size()) +
                    " readers or what they do otherwise than the " + std::to_string(by_asking_all[index].size()) +
                    " groups say themselves");
        }
    }

    /// Only the first violation counts: later ones may follow from it.
    void violate(const std::string& what) {
        if (!violation_) {
            violation_ = "at " + std::to_string(now_.monotonic.value) + " ms: " + what;
        }
    }

    GroupConfig config_ = declared_group_config();
    Now now_{{0}, {1'700'000'000'000}};
    std::optional<GroupCoordinator> coordinator_;
    std::optional<std::string> violation_;
    bool faulty_ = true;
    int crash_percent_ = 0;
    int loss_percent_ = 0;
    /// Percentage of records that the world hides from the follower, to show that the check notices.
    int follower_misses_percent_ = 0;
    /// The follower is compared after every nth call only: a comparison takes longer with more groups.
    std::uint64_t follower_checked_each_ = 1;

  private:
    test::RecordFollower follower_;
    std::uint64_t calls_ = 0;
    std::uint64_t readers_checks_ = 0;
    std::uint64_t readers_seen_ = 0;
    std::mt19937_64 random_;
    std::multimap<std::int64_t, std::function<void()>> events_;
    std::vector<std::pair<std::string, std::optional<std::string>>> log_;
};

}  // namespace partita::groups::simulation
