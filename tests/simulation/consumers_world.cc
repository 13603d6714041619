#include "tests/simulation/consumers_world.h"

#include <algorithm>

namespace partita::groups::simulation {
namespace {

constexpr std::string_view kGroup = "g";

}  // namespace

ConsumersWorld::ConsumersWorld(const ConsumersOptions& options) : CoordinatorWorld(options.seed), options_(options) {
    crash_percent_ = static_cast<int>(between(0, 2));
    loss_percent_ = static_cast<int>(between(0, 8));
    config_.consumer_assignment_interval_ms = options_.members <= 100 && chance(30) ? 0 : 1'000;
    config_.consumer_assignors = chance(70) ? std::vector<std::string>{"uniform", "range"} : std::vector<std::string>{"range"};
    for (std::int32_t i = 0; i < options_.topics; ++i) {
        cluster_ = cluster_->with("topic" + std::to_string(++created_topics_),
                                  static_cast<std::int32_t>(between(1, options_.most_partitions)));
    }
    // Most groups are many copies of one program; some are not.
    const bool is_homogeneous = chance(60);
    const bool by_regex = chance(25);
    const bool has_classic = options_.members <= 100 && chance(35);
    const auto count = options_.members > 100 ? options_.members : between(1, options_.members);
    for (std::int64_t index = 0; index < count; ++index) {
        Member member;
        member.index = static_cast<std::size_t>(index);
        member.speaks_classic = has_classic && chance(40);
        if (!member.speaks_classic && chance(30)) {
            member.instance = "box" + std::to_string(index);
        }
        if (by_regex && !member.speaks_classic && (is_homogeneous || chance(50))) {
            member.regex = "topic.*";
        } else {
            for (std::int32_t i = 1; i <= options_.topics + 1; ++i) {
                if (is_homogeneous || chance(60)) {
                    member.topics.push_back("topic" + std::to_string(i));
                }
            }
        }
        member.revocation_ms = chance(15) ? between(1'000, 90'000) : between(0, 500);
        members_.push_back(std::move(member));
    }
    // One dump of many members takes longer than their requests.
    follower_checked_each_ = options_.members > 100 ? 200 : 1;
    start_coordinator();
}

void ConsumersWorld::start_coordinator() {
    rebuild();
    coordinator_->cluster_changed(cluster_, true);
    Effects effects;
    call_core([this](Effects& out) { coordinator_->loaded(now_, out); }, effects);
    for (const Record& record : effects.records) {
        write(record);
    }
}

void ConsumersWorld::write(const Record& record) {
    if (options_.lose_writes && chance(3)) {
        return;
    }
    append_record(record);
}

void ConsumersWorld::crash() {
    ++statistics_.crashes;
    start_coordinator();
}

bool ConsumersWorld::deliver(const std::function<void(Effects&)>& call, Effects& effects) {
    if (!faulty_ || !chance(crash_percent_)) {
        call_core(call, effects);
        for (const Record& record : effects.records) {
            write(record);
        }
        return true;
    }
    const std::string before = coordinator_->dump();
    call_core(call, effects);
    const bool was_written = chance(50);
    const std::string expected = was_written ? coordinator_->dump() : before;
    if (was_written) {
        for (const Record& record : effects.records) {
            write(record);
        }
    }
    crash();
    check_rebuilt(expected);
    return false;
}

void ConsumersWorld::move_clock(std::int64_t to) {
    while (true) {
        const auto deadline = coordinator_->next_deadline();
        if (!deadline || deadline->value > to) {
            break;
        }
        const std::int64_t step = std::max<std::int64_t>(deadline->value - now_.monotonic.value, 0);
        now_.wall.value += step;
        now_.monotonic.value += step;
        Effects effects;
        if (deliver([&](Effects& out) { coordinator_->tick(now_, out); }, effects)) {
            dispatch(effects);
        }
    }
    set_clock(to);
}

void ConsumersWorld::run_until(std::int64_t end) {
    run_events(end, [this](std::int64_t instant) { move_clock(instant); });
}

void ConsumersWorld::start(Member& member) {
    if (member.is_on) {
        return;
    }
    member.is_on = true;
    member.waits_for_place = false;
    ++member.life;
    member.id = "member" + std::to_string(++ids_);
    rejoin(member);
}

void ConsumersWorld::rejoin(Member& member) {
    if (member.speaks_classic) {
        member.id.clear();
        member.owned.clear();
        at(between(0, 200), [this, &member, life = member.life] {
            if (member.is_on && member.life == life) {
                classic_join(member);
            }
        });
        return;
    }
    member.epoch = 0;
    member.owned.clear();
    member.told.clear();
    member.is_revoking = false;
    member.says_all = true;
    next_beat(member, between(0, 200));
}

/// The member leaves with a farewell (-1, or -2 for a while); with 0 it dies.
void ConsumersWorld::stop(Member& member, std::int32_t farewell) {
    if (!member.is_on) {
        return;
    }
    member.owned.clear();
    member.told.clear();
    if (member.speaks_classic && farewell != 0 && !member.id.empty()) {
        const LeaveGroup::Member leaving{member.id, std::nullopt};
        Effects effects;
        const LeaveGroup command{.group_id = kGroup, .members = {&leaving, 1}, .reply_to = {++tokens_}};
        if (deliver([&](Effects& out) { coordinator_->decide(command, now_, out); }, effects)) {
            dispatch(effects);
        }
    } else if (!member.speaks_classic && farewell != 0 && member.epoch > 0) {
        beat(member, farewell);
    }
    member.is_on = false;
    ++member.life;
}

void ConsumersWorld::next_beat(Member& member, std::int64_t delay_ms) {
    at(delay_ms, [this, &member, life = member.life] {
        if (member.is_on && member.life == life) {
            beat(member, member.epoch);
        }
    });
}

void ConsumersWorld::beat(Member& member, std::int32_t epoch) {
    ++statistics_.heartbeats;
    const bool says_all = member.says_all || epoch == 0;
    member.says_all = false;
    assignors::Assignment owned;
    for (const auto& [topic_id, partition] : options_.greedy ? member.told : member.owned) {
        owned.push_back({topic_id, {partition}});
    }
    owned = assignors::normalized(std::move(owned));
    const std::vector<std::string_view> names(member.topics.begin(), member.topics.end());
    ConsumerGroupHeartbeat command{.group_id = kGroup,
                                   .member_id = member.id,
                                   .member_epoch = epoch,
                                   .client_id = "client",
                                   .client_host = "/127.0.0.1",
                                   .api_version = 1,
                                   .reply_to = {++tokens_}};
    if (member.instance) {
        command.instance_id = *member.instance;
    }
    if (says_all) {
        command.rebalance_timeout_ms = 60'000;
        command.topic_names = std::span<const std::string_view>(names);
        if (!member.regex.empty()) {
            command.topic_regex = member.regex;
        }
    }
    command.owned = std::span<const assignors::TopicPartitions>(owned);
    const bool is_farewell = epoch < 0;
    if (!is_farewell) {
        next_beat(member, faulty_ ? between(2'000, 6'000) : 5'000);
    }
    if (faulty_ && chance(loss_percent_)) {
        member.says_all = true;
        return;
    }
    Effects effects;
    const bool survived = deliver([&](Effects& out) { coordinator_->decide(command, now_, out); }, effects);
    if (!survived || (faulty_ && chance(loss_percent_))) {
        member.says_all = true;
        check_owners();
        return;
    }
    dispatch(effects);
    for (const Reply& reply : effects.replies) {
        if (reply.token == command.reply_to && !is_farewell) {
            on_answer(member, std::get<ConsumerHeartbeatResult>(reply.result));
        }
    }
    check_owners();
}

void ConsumersWorld::on_answer(Member& member, const ConsumerHeartbeatResult& result) {
    if (result.error != ErrorCode::none) {
        switch (result.error) {
            case ErrorCode::fenced_member_epoch:
            case ErrorCode::unknown_member_id:
            case ErrorCode::group_id_not_found:
                ++statistics_.fenced;
                ++member.life;
                rejoin(member);
                return;
            case ErrorCode::group_max_size_reached:
                violate("nobody set a limit");
                return;
            case ErrorCode::unreleased_instance_id:
            case ErrorCode::fenced_instance_id:
                // Its former life has not ended yet.
                member.is_on = false;
                ++member.life;
                member.waits_for_place = true;
                at(10'000, [this, &member, life = member.life] {
                    if (member.life == life) {
                        start(member);
                    }
                });
                member.owned.clear();
                return;
            default:
                violate("unexpected answer " + std::string(error_name(result.error)));
                return;
        }
    }
    member.epoch = result.member_epoch;
    if (!result.assignment) {
        return;
    }
    member.told.clear();
    for (const assignors::TopicPartitions& topic : *result.assignment) {
        for (const std::int32_t partition : topic.partitions) {
            member.told.emplace(topic.topic_id, partition);
        }
    }
    std::set<Partition> kept;
    std::ranges::set_intersection(member.owned, member.told, std::inserter(kept, kept.end()));
    statistics_.moves += member.owned.size() - kept.size();
    if (kept.size() == member.owned.size()) {
        member.owned = member.told;
        return;
    }
    if (!member.is_revoking) {
        revoke(member);
    }
}

/// The member gives up the partitions that it was told to give up, when its work on them is done, and says so at once.
void ConsumersWorld::revoke(Member& member) {
    member.is_revoking = true;
    at(member.revocation_ms, [this, &member, life = member.life] {
        if (!member.is_on || member.life != life) {
            return;
        }
        member.is_revoking = false;
        member.owned = member.told;
        ++member.life;
        next_beat(member, 0);
    });
}

void ConsumersWorld::set_cluster(std::shared_ptr<test::TestCluster> cluster, bool has_new_topics) {
    cluster_ = std::move(cluster);
    coordinator_->cluster_changed(cluster_, has_new_topics);
}

void ConsumersWorld::change_topics() {
    std::vector<std::string> names;
    for (const auto& [name, topic] : cluster_->topics()) {
        names.push_back(name);
    }
    const auto what = between(1, 10);
    if (what <= 2 && names.size() > 1) {
        const std::string& name = names[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(names.size()) - 1))];
        for (Member& member : members_) {
            // The client notices that the topic is gone, too.
            std::erase_if(member.owned, [&](const Partition& one) { return one.first == cluster_->topics().at(name).topic_id; });
        }
        set_cluster(cluster_->without(name), false);
    } else if (what <= 5) {
        const std::string name = "topic" + std::to_string(between(1, options_.topics + 1));
        if (!cluster_->topics().contains(name)) {
            set_cluster(cluster_->with(name, static_cast<std::int32_t>(between(1, options_.most_partitions))), true);
        }
    } else if (!names.empty()) {
        const std::string& name = names[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(names.size()) - 1))];
        const std::int32_t count = cluster_->topics().at(name).partition_count;
        set_cluster(cluster_->with(name, count + static_cast<std::int32_t>(between(1, 6))), false);
    }
}

void ConsumersWorld::random_event() {
    Member& member = members_[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(members_.size()) - 1))];
    switch (between(1, 10)) {
        case 1:
        case 2:
            stop(member, 0);
            break;
        case 3:
            stop(member, member.instance ? -2 : -1);
            break;
        case 4:
            stop(member, -1);
            break;
        case 5:
        case 6:
            change_topics();
            break;
        default:
            start(member);
            break;
    }
    check_owners();
    at(between(500, 15'000), [this] {
        if (faulty_) {
            random_event();
        }
    });
}

ConsumerGroupDescribeResult::Group ConsumersWorld::describe() {
    const std::string_view id = kGroup;
    Effects effects;
    coordinator_->decide(ConsumerGroupDescribe{.group_ids = {&id, 1}, .reply_to = {++tokens_}}, now_, effects);
    return std::get<ConsumerGroupDescribeResult>(effects.replies.front().result).groups.front();
}

/// Checks that no two members work on a partition. A member that the coordinator does not know (any more) under its id does not
/// count: the coordinator refuses its commits.
void ConsumersWorld::check_owners() {
    if (members_.size() > 100 && !chance(1)) {
        return;
    }
    std::vector<TopicQuestion> questions;
    for (const auto& [name, topic] : cluster_->topics()) {
        questions.push_back({.topic = name, .topic_id = topic.topic_id, .partition_count = topic.partition_count});
    }
    check_readers(questions);
    const auto group = describe();
    std::map<Partition, std::string> owners;
    for (const Member& member : members_) {
        if (!member.is_on || member.owned.empty()) {
            continue;
        }
        const bool is_known =
            std::ranges::find(group.members, member.id, &ConsumerGroupDescribeResult::Member::member_id) != group.members.end();
        if (!is_known) {
            continue;
        }
        for (const Partition& partition : member.owned) {
            const auto [known, is_first] = owners.emplace(partition, member.id);
            if (!is_first) {
                violate("partition " + std::to_string(partition.second) + " is owned by " + known->second + " and " + member.id +
                        "\n" + coordinator_->dump());
            }
        }
    }
}

std::optional<std::string> ConsumersWorld::unsettled() {
    const auto group = describe();
    std::size_t on = 0;
    for (const Member& member : members_) {
        on += member.is_on ? 1 : 0;
        if (member.waits_for_place) {
            return "a member waits for the place of its former life";
        }
    }
    if (on == 0) {
        return std::nullopt;
    }
    if (group.error == ErrorCode::none && group.state != "Stable") {
        return "the group is " + group.state;
    }
    if (group.error == ErrorCode::none && group.members.size() != on) {
        return "the group has " + std::to_string(group.members.size()) + " members";
    }
    if (group.error != ErrorCode::none) {
        return std::ranges::any_of(members_, [](const Member& member) { return member.is_on && !member.speaks_classic; })
                   ? std::optional<std::string>("the group is classic, and not all of its members are")
                   : std::nullopt;
    }
    std::map<Partition, int> owners;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    std::size_t most = 0;
    bool is_homogeneous = true;
    const Member* first = nullptr;
    std::set<std::string> wanted;
    for (const Member& member : members_) {
        if (!member.is_on) {
            continue;
        }
        if (member.speaks_classic ? member.is_waiting : member.owned != member.told) {
            return "a member is not done";
        }
        for (const Partition& partition : member.owned) {
            ++owners[partition];
        }
        least = std::min(least, member.owned.size());
        most = std::max(most, member.owned.size());
        if (first == nullptr) {
            first = &member;
        }
        is_homogeneous &= member.topics == first->topics && member.regex == first->regex;
        wanted.insert(member.topics.begin(), member.topics.end());
        if (!member.regex.empty()) {
            for (const auto& [name, topic] : cluster_->topics()) {
                wanted.insert(name);
            }
        }
    }
    std::size_t total = 0;
    for (const std::string& name : wanted) {
        const auto topic = cluster_->topics().find(name);
        if (topic == cluster_->topics().end()) {
            continue;
        }
        total += static_cast<std::size_t>(topic->second.partition_count);
        for (std::int32_t partition = 0; partition < topic->second.partition_count; ++partition) {
            if (owners[{topic->second.topic_id, partition}] != 1) {
                return "a partition of " + name + " has no owner";
            }
        }
    }
    if (owners.size() != total) {
        return "somebody owns what is not there";
    }
    if (is_homogeneous && config_.consumer_assignors.value.front() == "uniform" && most > least + 1) {
        return "the group is not balanced";
    }
    return std::nullopt;
}

std::optional<std::string> ConsumersWorld::settle() {
    const std::int64_t begin = now_.monotonic.value;
    std::optional<std::string> missing = "it did not try";
    while (!violation_ && missing && now_.monotonic.value - begin < kSettleLimitMs) {
        run_until(now_.monotonic.value + 5'000);
        missing = unsettled();
    }
    return missing;
}

bool ConsumersWorld::is_uniform() const {
    const auto first = std::ranges::find_if(members_, &Member::is_on);
    return first != members_.end() && config_.consumer_assignors.value.front() == "uniform" &&
           std::ranges::all_of(members_, [&](const Member& member) {
               return !member.is_on || (!member.speaks_classic && member.topics == first->topics && member.regex == first->regex);
           });
}

/// Checks that one new member takes its share from the others, and that nothing moves between these. (Where members differ, or
/// ranges are given out, more may move, as with Kafka: the assignors are compared with Kafka's own in their unit tests.)
void ConsumersWorld::check_stickiness() {
    const auto newcomer = std::ranges::find_if(
        members_, [](const Member& member) { return !member.is_on && !member.speaks_classic && !member.instance; });
    if (newcomer == members_.end() || !is_uniform()) {
        return;
    }
    const auto model = std::ranges::find_if(members_, &Member::is_on);
    newcomer->topics = model->topics;
    newcomer->regex = model->regex;
    std::map<Partition, std::size_t> owners;
    for (const Member& member : members_) {
        for (const Partition& partition : member.owned) {
            if (member.is_on) {
                owners[partition] = member.index;
            }
        }
    }
    start(*newcomer);
    if (const auto missing = settle()) {
        return violate("the group does not settle with one more: " + *missing);
    }
    ++statistics_.newcomers;
    for (const Member& member : members_) {
        if (!member.is_on || member.index == newcomer->index) {
            continue;
        }
        for (const Partition& partition : member.owned) {
            if (owners.at(partition) != member.index) {
                violate("for a newcomer a partition moved between two others\n" + coordinator_->dump());
            }
        }
    }
}

std::optional<std::string> ConsumersWorld::run() {
    for (Member& member : members_) {
        at(between(0, 10'000), [this, &member] { start(member); });
    }
    at(1'000, [this] { random_event(); });
    run_until(options_.faulty_ms);
    faulty_ = false;
    const std::int64_t begin = now_.monotonic.value;
    const std::optional<std::string> missing = settle();
    if (!violation_ && missing) {
        violate("the group does not settle: " + *missing + "\n" + coordinator_->dump());
    }
    statistics_.settled_after_ms = now_.monotonic.value - begin;
    // From now on nothing moves.
    const std::uint64_t moves = statistics_.moves;
    const std::string settled = coordinator_->dump();
    run_until(now_.monotonic.value + 30'000);
    if (!violation_ && statistics_.moves != moves) {
        violate("a settled group moved partitions from\n" + settled + "to\n" + coordinator_->dump());
    }
    if (!violation_) {
        check_stickiness();
    }
    const std::string before = coordinator_->dump();
    crash();
    check_rebuilt(before);
    statistics_.last_epoch = describe().epoch;
    return violation_;
}

}  // namespace partita::groups::simulation
