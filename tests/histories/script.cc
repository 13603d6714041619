#include "tests/histories/script.h"

#include <array>
#include <numeric>

namespace partita::test::histories {
namespace {

/// Counts that a topic takes one after the other. At three, five and six partitions the rules that bring one hash into range can
/// be told apart.
const std::vector<std::vector<int>> kGrowths = {{3, 4}, {3, 6}, {6, 8}, {6, 12}, {6, 8, 12}, {3, 6, 12}, {5, 10}, {3, 4, 6}};
/// In mode `fenced` the old count divides the new one, and the next growth waits for minutes.
const std::vector<std::vector<int>> kFencedGrowths = {{3, 6}, {6, 12}, {5, 10}, {3, 12}};
/// The default client id of librdkafka, kcat and confluent-kafka.
constexpr const char* kCommonName = "rdkafka";

class Writer {
  public:
    explicit Writer(std::uint64_t seed) : dice_(seed * 0x9e3779b97f4a7c15u + 1) { script_.seed = seed; }

    Script write() {
        const int kind = dice_.roll(10);
        script_.mode = kind < 5 ? Mode::faithful : kind < 7 ? Mode::safe_offsets : kind < 8 ? Mode::guarded : Mode::fenced;
        const auto& growths = script_.mode == Mode::fenced ? kFencedGrowths : kGrowths;
        const std::vector<int> counts = growths[static_cast<std::size_t>(dice_.roll(static_cast<int>(growths.size())))];
        script_.first_count = counts.front();
        script_.keys = 60 + dice_.roll(60);
        script_.is_compacted = dice_.happens(20);
        script_.restarts = dice_.happens(12);
        cast();
        begin();
        for (std::size_t next = 1; next < counts.size(); ++next) {
            add({.action = Action::grow, .amount = counts[next]});
            go_on(10 + dice_.roll(16));
            if (dice_.happens(30)) {
                add({.action = Action::check});
            }
        }
        if (script_.restarts) {
            add({.action = Action::restart, .variant = dice_.roll(2)});
            go_on(4 + dice_.roll(8));
        }
        if (script_.mode == Mode::fenced && !script_.outsiders.empty() && script_.seed % 2 == 1) {
            share_a_name();
        }
        add({.action = Action::check, .variant = 1});
        end();
        return script_;
    }

  private:
    void add(Step step) { script_.steps.push_back(step); }

    /// Gives a reader in no group the name of a member that the fence holds, so that nothing tells them apart.
    void share_a_name() {
        script_.outsiders.front().caller = script_.groups.front().members.front();
        add({.action = Action::refresh, .who = 0});
        add({.action = Action::produce, .who = 0, .amount = 60});
        add({.action = Action::rebalance, .who = 0, .amount = 0, .variant = 1});
        add({.action = Action::outsider_reads, .who = 0, .variant = 1});
    }

    Caller caller(const std::string& own_name) {
        const bool is_common = dice_.happens(25);
        return {.client_id = is_common ? kCommonName : own_name, .address = dice_.happens(75) ? "127.0.0.1" : "127.0.0.2"};
    }

    void cast() {
        const int producers = 1 + dice_.roll(3);
        const Placing common = static_cast<Placing>(dice_.roll(3));
        for (int index = 0; index < producers; ++index) {
            const Placing placing = dice_.happens(80) ? common : static_cast<Placing>(dice_.roll(4));
            script_.producers.push_back({caller("shop-" + std::to_string(index)), placing, dice_.happens(50)});
        }
        const int groups = 1 + dice_.roll(3);
        for (int index = 0; index < groups; ++index) {
            GroupCast group{
                .name = "group" + std::to_string(index),
                .reset = static_cast<Reset>(std::array{0, 0, 1, 1, 1, 2, 3, 3}[static_cast<std::size_t>(dice_.roll(8))]),
                .is_consumer_protocol = dice_.happens(35)};
            const int members = 1 + dice_.roll(3);
            const Caller first = caller("reader-" + std::to_string(index));
            for (int member = 0; member < members; ++member) {
                group.members.push_back(dice_.happens(50) ? first
                                                          : caller("reader-" + std::to_string(index) + std::to_string(member)));
            }
            script_.groups.push_back(std::move(group));
        }
        const int outsiders = dice_.roll(3);
        for (int index = 0; index < outsiders; ++index) {
            const bool is_mirror = dice_.happens(15);
            script_.outsiders.push_back(
                {caller(is_mirror ? "a->b|replication-consumer" : "export-" + std::to_string(index)), dice_.happens(60)});
        }
    }

    int some_producer() { return dice_.roll(static_cast<int>(script_.producers.size())); }
    int some_group() { return dice_.roll(static_cast<int>(script_.groups.size())); }
    int members_of(int group) { return static_cast<int>(script_.groups[static_cast<std::size_t>(group)].members.size()); }
    int some_member(int group) { return dice_.roll(members_of(group)); }
    int variant_of_records() { return dice_.happens(30) ? 1 : script_.is_compacted && dice_.happens(40) ? 2 : 0; }

    /// Steps before the topic grows.
    void begin() {
        for (int producer = 0; producer < static_cast<int>(script_.producers.size()); ++producer) {
            // Some producers come later.
            if (producer == 0 || dice_.happens(80)) {
                add({.action = Action::produce,
                     .who = producer,
                     .amount = script_.keys + dice_.roll(60),
                     .variant = dice_.roll(2)});
            }
        }
        for (int group = 0; group < static_cast<int>(script_.groups.size()); ++group) {
            if (dice_.happens(15)) {
                continue;
            }
            add({.action = Action::rebalance, .who = group, .amount = members_of(group), .variant = 1});
            for (int member = 0; member < members_of(group); ++member) {
                if (dice_.happens(80)) {
                    add({.action = Action::poll, .who = group, .member = member, .amount = some_bytes()});
                }
                if (dice_.happens(80)) {
                    add({.action = Action::commit,
                         .who = group,
                         .member = member,
                         .amount = dice_.roll(12),
                         .variant = dice_.roll(4) / 3});
                }
            }
        }
        for (int outsider = 0; outsider < static_cast<int>(script_.outsiders.size()); ++outsider) {
            if (dice_.happens(50)) {
                add({.action = Action::outsider_reads, .who = outsider});
            }
        }
        add({.action = Action::produce, .who = some_producer(), .amount = dice_.roll(80)});
    }

    int some_bytes() { return dice_.happens(40) ? 1 << 20 : 1 + dice_.roll(1500); }

    void go_on(int steps) {
        // Records that a consumer can lose.
        add({.action = Action::produce, .who = some_producer(), .amount = 20 + dice_.roll(60), .variant = variant_of_records()});
        for (int step = 0; step < steps; ++step) {
            one_more();
        }
    }

    void one_more() {
        const int group = some_group();
        const int member = some_member(group);
        const int kind = dice_.roll(100);
        if (kind < 22) {
            add({.action = Action::produce,
                 .who = some_producer(),
                 .amount = 5 + dice_.roll(60),
                 .variant = variant_of_records()});
        } else if (kind < 32) {
            add({.action = Action::refresh, .who = some_producer()});
        } else if (kind < 47) {
            add({.action = Action::rebalance,
                 .who = group,
                 .amount = dice_.roll(2),
                 .variant = dice_.happens(80) ? 3 : dice_.roll(4)});
        } else if (kind < 63) {
            add({.action = Action::poll, .who = group, .member = member, .amount = some_bytes()});
        } else if (kind < 77) {
            add({.action = Action::commit,
                 .who = group,
                 .member = member,
                 .amount = dice_.roll(12),
                 .variant = dice_.roll(4) / 3});
        } else if (kind < 79) {
            add({.action = Action::seek_back, .who = group, .member = member, .amount = dice_.roll(12)});
        } else if (kind < 82) {
            add({.action = Action::close_member, .who = group, .member = member, .variant = dice_.roll(2)});
        } else if (kind < 84) {
            // A consumer that finds no offset and may not choose one ends with an error, and its supervisor starts it again.
            const bool comes_again = script_.groups[static_cast<std::size_t>(group)].reset == Reset::none;
            for (int time = 0; time < (comes_again ? 3 : 1); ++time) {
                add({.action = Action::close_early, .who = group, .member = member});
            }
        } else if (kind < 92 && !script_.outsiders.empty()) {
            add({.action = Action::outsider_reads,
                 .who = dice_.roll(static_cast<int>(script_.outsiders.size())),
                 .variant = dice_.roll(2)});
        } else if (kind < 95) {
            add({.action = Action::monitor_asks, .who = group, .variant = dice_.roll(2)});
        } else if (kind < 97) {
            add({.action = Action::delete_records, .amount = dice_.roll(12), .variant = dice_.roll(100)});
        } else if (kind < 98) {
            add({.action = Action::delete_group, .who = group});
        } else if (kind < 99) {
            add({.action = Action::commit_late, .who = group, .member = member});
        } else {
            add({.action = Action::remove_member, .who = group, .member = member});
        }
    }

    void end() {
        const int kind = dice_.roll(10);
        if (kind < 3) {
            add({.action = Action::delete_topic});
        } else if (kind < 5) {
            add({.action = Action::delete_group, .who = some_group()});
        } else {
            return;
        }
        add({.action = Action::check});
    }

    Dice dice_;
    Script script_;
};

constexpr std::array kActionNames = {"produce",       "refresh",        "grow",         "rebalance",      "poll",
                                     "commit",        "commit_late",    "seek_back",    "close_member",   "close_early",
                                     "remove_member", "outsider_reads", "monitor_asks", "delete_records", "delete_group",
                                     "delete_topic",  "restart",        "check"};

}  // namespace

std::uint64_t Dice::next() {
    // SplitMix64 (Steele, Lea, Flood 2014).
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t word = state_;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
    word = (word ^ word >> 27) * 0x94d049bb133111ebu;
    return word ^ word >> 31;
}

std::string to_string(const Caller& caller) { return caller.client_id + "@" + caller.address; }

std::string_view to_string(Mode mode) {
    constexpr std::array kNames = {"faithful", "safe-offsets", "fenced", "guarded"};
    return kNames[static_cast<std::size_t>(mode)];
}

std::string_view to_string(Reset reset) {
    constexpr std::array kNames = {"earliest", "latest", "none", "by_duration"};
    return kNames[static_cast<std::size_t>(reset)];
}

std::string to_string(const Step& step) {
    return std::string(kActionNames[static_cast<std::size_t>(step.action)]) + " who=" + std::to_string(step.who) +
           " member=" + std::to_string(step.member) + " amount=" + std::to_string(step.amount) +
           " variant=" + std::to_string(step.variant);
}

std::string to_string(const Script& script) {
    std::string text = "seed " + std::to_string(script.seed) + ": " + std::to_string(script.first_count) + " partitions, " +
                       std::string(to_string(script.mode)) + (script.is_compacted ? ", compacted" : "") + "\n";
    for (std::size_t index = 0; index < script.producers.size(); ++index) {
        const ProducerCast& producer = script.producers[index];
        text += "  producer " + std::to_string(index) + ": " + to_string(producer.caller) + ", " +
                std::string(to_string(producer.placing)) + (producer.is_idempotent ? ", idempotent" : "") + "\n";
    }
    for (std::size_t index = 0; index < script.groups.size(); ++index) {
        const GroupCast& group = script.groups[index];
        text += "  group " + std::to_string(index) + ": " + std::string(to_string(group.reset)) +
                (group.is_consumer_protocol ? ", consumer protocol:" : ", classic protocol:");
        for (const Caller& member : group.members) {
            text += " " + to_string(member);
        }
        text += "\n";
    }
    for (std::size_t index = 0; index < script.outsiders.size(); ++index) {
        const OutsiderCast& outsider = script.outsiders[index];
        text += "  outsider " + std::to_string(index) + ": " + to_string(outsider.caller) +
                (outsider.from_beginning ? ", from the beginning\n" : ", from the end\n");
    }
    for (std::size_t index = 0; index < script.steps.size(); ++index) {
        text += "  " + std::to_string(index) + " " + to_string(script.steps[index]) + "\n";
    }
    return text;
}

Script write_script(std::uint64_t seed) { return Writer(seed).write(); }

}  // namespace partita::test::histories
