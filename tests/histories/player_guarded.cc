// Grows a topic of mode `guarded` in a history. The broker refuses the request as long as it has objections. The client then
// confirms the request, or repeats it when the groups have done everything and the producers are silent.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/messages/37_create_partitions.h"
#include "tests/histories/guard_judge.h"
#include "tests/histories/player.h"

namespace partita::test::histories {
namespace {

constexpr std::int32_t kTimeoutMs = 30'000;
const Caller kAdmin{.client_id = "operator", .address = "127.0.0.1"};
const Caller kStranger{.client_id = "automaton", .address = "127.0.0.1"};

GrowthAnswer ask(std::uint16_t port, const Caller& caller, const std::string& topic, int count, bool validates_only) {
    WireClient wire(port, caller);
    CreatePartitionsRequest::CreatePartitionsTopic wish{.name = topic, .count = count};
    wish.assignments = nullptr;
    CreatePartitionsRequest request{.timeout_ms = kTimeoutMs, .validate_only = validates_only};
    request.topics = {&wish, 1};
    GrowthAnswer answer{.refusal = {}, .asked = Clock::now(), .answered = {}};
    const auto& response = Client::call<CreatePartitionsResponse>(wire, 3, request);
    answer.answered = Clock::now();
    const auto& result = response.results[0];
    if (result.error_code == ErrorCode::policy_violation) {
        answer.refusal = std::string(result.error_message.value_or(""));
    } else {
        expect_none(result.error_code, "CreatePartitions");
    }
    return answer;
}

}  // namespace

// False when the broker answers otherwise than it should; the problem is noted.
bool Player::is_growth_right(const Caller& caller, int count, bool validates_only, bool is_confirmed, bool& has_grown) {
    const GrowthAnswer answer = ask(stage_.port(), caller, topic_, count, validates_only);
    note("    " + caller.client_id + (validates_only ? " asks whether it may grow: " : " asks: ") +
         answer.refusal.value_or("it may"));
    has_grown = !validates_only && !answer.refusal;
    std::vector<std::string> problems = judge_answer(guard_view(script_, diary_, unique_, answer), answer, is_confirmed);
    ++outcome_.confirmed[answer.refusal ? "refused" : is_confirmed ? "confirmed" : "drained"];
    outcome_.problems.insert(outcome_.problems.end(), problems.begin(), problems.end());
    return problems.empty();
}

// Every group reads and commits everything, and producers have been silent for long enough.
void Player::drain() {
    for (int group = 0; group < static_cast<int>(script_.groups.size()); ++group) {
        const GroupDiary& diary = diary_.groups[static_cast<std::size_t>(group)];
        if (diary.is_deleted || (diary.committed.empty() && diary.open_members() == 0)) {
            continue;
        }
        const auto members = static_cast<int>(diary.members.size());
        play({.action = Action::rebalance, .who = group, .amount = members, .variant = 3});
        for (int member = 0; member < members; ++member) {
            play({.action = Action::poll, .who = group, .member = member, .amount = 1 << 20});
            play({.action = Action::commit, .who = group, .member = member});
        }
    }
    Clock::time_point last = diary_.watched.second;
    for (const auto& [caller, wrote] : diary_.wrote) {
        last = std::max(last, wrote.second);
    }
    while (Clock::now() - last <= kGuardQuiet) {
        if (!stage_.clock().wait()) {
            throw Failure{stage_.clock().problem()};
        }
    }
}

bool Player::grow_guarded(int count) {
    bool has_grown = false;
    // A request that only validates does not count as the first request.
    if (!is_growth_right(kAdmin, count, true, false, has_grown)) {
        return false;
    }
    if (!is_growth_right(kAdmin, count, false, false, has_grown)) {
        return false;
    }
    if (!has_grown && dice_.happens(50)) {
        // Only a client that was refused can mean to go on in spite of it.
        if (!is_growth_right(kStranger, count, false, false, has_grown)) {
            return false;
        }
        if (!has_grown && !is_growth_right(kAdmin, count, false, true, has_grown)) {
            return false;
        }
    } else if (!has_grown) {
        drain();
        if (!is_growth_right(kStranger, count, false, false, has_grown)) {
            return false;
        }
        if (!has_grown && !is_growth_right(kStranger, count, false, true, has_grown)) {
            return false;
        }
    }
    return has_grown;
}

}  // namespace partita::test::histories
