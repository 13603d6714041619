#include "tests/simulation/groups_world.h"

#include <algorithm>
#include <array>

namespace partita::groups::simulation {

World::World(const Options& options) : CoordinatorWorld(options.seed), options_(options) {
    config_.initial_rebalance_delay_ms = std::array{0, 500, 3'000}[static_cast<std::size_t>(between(0, 2))];
    crash_percent_ = static_cast<int>(between(0, 3));
    loss_percent_ = static_cast<int>(between(0, 10));
    late_write_percent_ = static_cast<int>(between(0, 30));
    follower_misses_percent_ = options.sabotage == Sabotage::change_without_record ? 1 : 0;
    const auto count = between(1, 10);
    for (std::int64_t index = 0; index < count; ++index) {
        Client client;
        client.index = static_cast<std::size_t>(index);
        client.group = chance(80) ? "orders" : "audit";
        if (chance(40)) {
            client.instance = "box" + std::to_string(index);
        }
        client.join_version = std::array<std::int16_t, 3>{3, 8, 9}[static_cast<std::size_t>(between(client.instance ? 1 : 0, 2))];
        client.session_ms = static_cast<std::int32_t>(between(6'000, 20'000));
        // This is longer than any client's heartbeat interval. Otherwise a group could chase its own members for ever, as they
        // hear of a rebalance only after they were dropped from it.
        client.rebalance_ms = static_cast<std::int32_t>(between(8'000, 30'000));
        client.protocols = chance(50) ? std::vector<std::string>{"range", "sticky"} : std::vector<std::string>{"sticky", "range"};
        clients_.push_back(std::move(client));
    }
    start_coordinator();
}

void World::start_coordinator() {
    ++life_;
    rebuild();
}

void World::run_core_timers(std::int64_t until) {
    while (options_.sabotage != Sabotage::stop_the_clock_of_core) {
        const auto deadline = coordinator_->next_deadline();
        if (!deadline || deadline->value > until) {
            break;
        }
        now_.wall.value += std::max<std::int64_t>(deadline->value - now_.monotonic.value, 0);
        now_.monotonic.value = std::max(deadline->value, now_.monotonic.value);
        const std::uint64_t life = life_;
        deliver([&](Effects& effects) { coordinator_->tick(now_, effects); });
        if (life != life_) {
            continue;
        }
        const auto next = coordinator_->next_deadline();
        if (next && next->value <= now_.monotonic.value) {
            violate("a timer stays due after it ran");
            return;
        }
    }
    set_clock(until);
}

void World::run_until(std::int64_t end) {
    run_events(end, [this](std::int64_t instant) { run_core_timers(instant); });
}

template <class Call>
void World::deliver(Call&& call) {
    ++statistics_.calls;
    if (faulty_ && chance(crash_percent_)) {
        if (chance(50)) {
            flush();
        }
        switch (between(0, 2)) {
            case 0:  // before the call
                crash(pending_.empty() ? std::optional(coordinator_->dump()) : dump_before_pending_);
                return;
            case 1: {  // before anything was written
                const auto before = pending_.empty() ? std::optional(coordinator_->dump()) : dump_before_pending_;
                Effects lost;
                call_core(call, lost);
                if (options_.sabotage == Sabotage::reply_before_writing) {
                    for (const Reply& reply : lost.replies) {
                        release(reply);
                    }
                }
                crash(before);
                return;
            }
            default:  // between writing and answering
                call_core(call, pending_);
                for (const Record& record : pending_.records) {
                    write(record);
                }
                pending_.clear();
                dump_before_pending_.reset();
                crash(coordinator_->dump());
                return;
        }
    }
    const bool late = faulty_ && chance(late_write_percent_);
    if (late && pending_.empty()) {
        dump_before_pending_ = coordinator_->dump();
        at(between(1, 200), [this, life = life_] {
            if (life == life_) {
                flush();
            }
        });
    }
    call_core(call, pending_);
    if (!late) {
        flush();
    }
    const std::array<TopicQuestion, 3> questions{{{.topic = "topic"}, {.topic = "v0"}, {.topic = "v0+"}}};
    check_readers(questions);
}

void World::write(const Record& record) {
    if (options_.sabotage == Sabotage::lose_commit_records && std::holds_alternative<OffsetCommitRecord>(record) && chance(5)) {
        return;
    }
    if (options_.sabotage == Sabotage::lose_group_records && std::holds_alternative<GroupMetadataRecord>(record) && chance(20)) {
        return;
    }
    check_record(record);
    append_record(record);
}

void World::check_record(const Record& record) {
    if (const auto* group = std::get_if<GroupMetadataRecord>(&record)) {
        auto& generation = written_generation_.try_emplace(std::string(group->group_id), 0).first->second;
        if (group->generation.value < generation) {
            violate("a written generation decreases");
        }
        generation = group->generation.value;
    } else if (const auto* gone = std::get_if<GroupTombstone>(&record)) {
        const std::string id(gone->group_id);
        written_generation_.erase(id);
        std::erase_if(announced_generation_, [&](const auto& entry) { return entry.first.second == id; });
        std::erase_if(leaders_, [&](const auto& entry) { return std::get<1>(entry.first) == id; });
        std::erase_if(slot_owner_, [&](const auto& entry) { return std::get<0>(entry.first) == id; });
    }
}

void World::flush() {
    for (const Record& record : pending_.records) {
        write(record);
    }
    std::vector<Reply> replies = std::move(pending_.replies);
    pending_.clear();
    dump_before_pending_.reset();
    for (const Reply& reply : replies) {
        release(reply);
    }
}

/// A reply leaves the broker: its content is now a promise.
void World::release(const Reply& reply) {
    const auto found = requests_.find(reply.token.value);
    if (found == requests_.end()) {
        violate("a request is answered twice, or was never made");
        return;
    }
    const Request request = found->second;
    requests_.erase(found);
    if (const auto* joined = std::get_if<JoinResult>(&reply.result); joined && joined->error == ErrorCode::none) {
        auto& generation = announced_generation_.try_emplace({life_, request.group}, -1).first->second;
        if (joined->generation.value < generation) {
            violate("an announced generation decreases");
        }
        statistics_.generations += joined->generation.value > generation ? 1 : 0;
        statistics_.static_rejoins += joined->skip_assignment ? 1 : 0;
        generation = joined->generation.value;
        if (joined->leader == joined->member_id && !joined->skip_assignment) {
            auto& leaders = leaders_[{life_, request.group, generation}];
            leaders.insert(joined->member_id);
            if (leaders.size() > 1) {
                violate("two leaders in generation " + std::to_string(generation));
            }
        }
    }
    if (const auto* synced = std::get_if<SyncResult>(&reply.result); synced && synced->error == ErrorCode::none) {
        for (const std::byte slot : synced->assignment) {
            const auto number = std::to_integer<std::int32_t>(slot);
            const auto [owner, is_new] = slot_owner_.try_emplace({request.group, request.generation, number}, request.identity);
            if (!is_new && owner->second != request.identity) {
                violate("slot " + std::to_string(number) + " of generation " + std::to_string(request.generation) +
                        " is held by " + owner->second + " and " + request.identity);
            }
        }
    }
    if (const auto* commit = std::get_if<OffsetCommitResult>(&reply.result);
        commit && commit->error == ErrorCode::none && commit->partition_errors.empty()) {
        // The answer to a commit may come after an administrator removed the commit.
        const auto removed = removed_up_to_.find({request.group, request.partition});
        if (removed == removed_up_to_.end() || request.number > removed->second) {
            auto& number = acknowledged_[{request.group, request.partition}];
            number = std::max(number, request.number);
        }
        ++statistics_.acknowledged_commits;
    }
    if (faulty_ && chance(loss_percent_)) {
        return;
    }
    at(between(0, faulty_ ? 50 : 1), [this, request, result = reply.result] { on_reply(request, result); });
}

void World::crash(const std::optional<std::string>& dump_before) {
    ++statistics_.crashes;
    pending_.clear();
    dump_before_pending_.reset();
    requests_.clear();
    start_coordinator();
    if (violation_) {
        return;
    }
    if (dump_before) {
        check_rebuilt(*dump_before);
    }
    check_offsets();
    Effects effects;
    call_core([this](Effects& out) { coordinator_->loaded(now_, out); }, effects);
    for (const Record& record : effects.records) {
        write(record);
    }
    // Connections are gone: every client that waited for an answer notices sooner or later.
    for (Client& client : clients_) {
        if (client.phase == Phase::joining || client.phase == Phase::syncing) {
            rejoin(client, between(1, 1'000));
        }
    }
}

void World::check_offsets() {
    for (const auto& [key, number] : acknowledged_) {
        const PartitionIndex partition{key.second};
        const OffsetFetch::Topic topic{"topic", {}, {&partition, 1}};
        const OffsetFetch::Group group{.group_id = key.first, .topics = std::span<const OffsetFetch::Topic>(&topic, 1)};
        Effects effects;
        coordinator_->decide(OffsetFetch{.groups = {&group, 1}}, now_, effects);
        const auto& result = std::get<OffsetFetchResult>(effects.replies.at(0).result);
        const std::int64_t found = result.groups.at(0).topics.at(0).partitions.at(0).offset.value;
        if (found < number || found > commit_numbers_) {
            violate("acknowledged offset " + std::to_string(number) + " of " + key.first + "-" + std::to_string(key.second) +
                    " is " + std::to_string(found));
        }
    }
}

// ---- clients ----------------------------------------------------------------------------------------

ReplyToken World::remember(Request request) {
    requests_.emplace(++tokens_, std::move(request));
    return {tokens_};
}

void World::expect_answer(Client& client, std::int64_t timeout_ms) {
    at(timeout_ms, [this, &client, attempt = client.attempt] {
        if (client.attempt == attempt) {
            rejoin(client, 1);
        }
    });
}

void World::start_client(Client& client) {
    client.id.clear();
    client.generation = -1;
    rejoin(client, between(1, 300));
}

void World::stop_client(Client& client) {
    ++client.attempt;
    client.phase = Phase::off;
}

void World::rejoin(Client& client, std::int64_t delay_ms) {
    ++client.attempt;
    client.phase = Phase::joining;
    at(delay_ms, [this, &client, attempt = client.attempt] {
        if (client.attempt == attempt) {
            send_join(client);
        }
    });
}

void World::forget_id_and_rejoin(Client& client) {
    client.id.clear();
    client.generation = -1;
    rejoin(client, 1);
}

/// ConsumerProtocolSubscription, version 0, to the topic "topic" (every other client) and to a topic that changes with the
/// client.
std::string World::subscription_of(const Client& client) {
    const bool reads_topic = client.index % 2 == 0;
    std::string out("\0\0\0\0\0", 5);
    out += reads_topic ? std::string("\2\0\5topic", 8) : std::string("\1");
    out += '\0';
    out += static_cast<char>(client.metadata.size());
    return out + client.metadata + "\xff\xff\xff\xff";
}

void World::send_join(Client& client) {
    ++client.attempt;
    expect_answer(client, client.rebalance_ms + 30'000);
    if (faulty_ && chance(loss_percent_)) {
        return;
    }
    const ReplyToken token = remember({Kind::join, client.index, client.attempt, client.group});
    deliver([&, this](Effects& effects) {
        std::vector<JoinGroup::Protocol> protocols;
        const std::string subscription = subscription_of(client);
        for (const std::string& name : client.protocols) {
            protocols.push_back({name, as_bytes(subscription)});
        }
        const std::string suffix = std::to_string(++suffixes_);
        JoinGroup command{.group_id = client.group,
                          .member_id = client.id,
                          .protocol_type = "consumer",
                          .protocols = protocols,
                          .session_timeout_ms = client.session_ms,
                          .rebalance_timeout_ms = client.rebalance_ms,
                          .client_id = "c",
                          .client_host = "/::1",
                          .api_version = client.join_version,
                          .fresh_member_suffix = suffix,
                          .reply_to = token};
        if (client.instance) {
            command.group_instance_id = *client.instance;
        }
        coordinator_->decide(command, now_, effects);
    });
}

void World::send_sync(Client& client, const JoinResult& joined) {
    ++client.attempt;
    client.phase = Phase::syncing;
    expect_answer(client, client.rebalance_ms + 30'000);
    if (faulty_ && chance(loss_percent_)) {
        return;
    }
    std::vector<std::pair<std::string, std::string>> slots;
    if (!joined.members.empty() && !joined.skip_assignment) {
        for (const JoinResult::Member& member : joined.members) {
            slots.emplace_back(member.member_id, "");
        }
        for (std::int32_t slot = 0; slot < kSlots; ++slot) {
            slots[static_cast<std::size_t>(slot) % slots.size()].second += static_cast<char>(slot);
        }
    }
    const ReplyToken token = remember(
        {Kind::sync, client.index, client.attempt, client.group, client.instance.value_or(client.id), client.generation});
    deliver([&, this](Effects& effects) {
        std::vector<SyncGroup::Assignment> assignments;
        for (const auto& [id, bytes] : slots) {
            assignments.push_back({id, as_bytes(bytes)});
        }
        SyncGroup command{.group_id = client.group,
                          .generation = {client.generation},
                          .member_id = client.id,
                          .assignments = assignments,
                          .reply_to = token};
        if (client.instance) {
            command.group_instance_id = *client.instance;
        }
        coordinator_->decide(command, now_, effects);
    });
}

void World::send_heartbeat(Client& client) {
    at(client.session_ms / 3, [this, &client, attempt = client.attempt] {
        if (client.attempt == attempt && client.phase == Phase::stable) {
            send_heartbeat(client);
        }
    });
    if (faulty_ && chance(loss_percent_)) {
        return;
    }
    const ReplyToken token = remember({Kind::heartbeat, client.index, client.attempt, client.group});
    deliver([&, this](Effects& effects) {
        Heartbeat command{.group_id = client.group, .generation = {client.generation}, .member_id = client.id, .reply_to = token};
        if (client.instance) {
            command.group_instance_id = *client.instance;
        }
        coordinator_->decide(command, now_, effects);
    });
}

void World::send_commit(Client& client) {
    const auto partition = static_cast<std::int32_t>(between(0, kPartitions - 1));
    const std::int64_t number = ++commit_numbers_;
    const ReplyToken token =
        remember({Kind::commit, client.index, client.attempt, client.group, "", client.generation, partition, number});
    deliver([&, this](Effects& effects) {
        const OffsetCommit::Partition one{{partition}, {number}};
        const OffsetCommit::Topic topic{"topic", {}, {&one, 1}};
        OffsetCommit command{.group_id = client.group,
                             .generation = {client.generation},
                             .member_id = client.id,
                             .topics = {&topic, 1},
                             .api_version = 9,
                             .reply_to = token};
        if (client.instance) {
            command.group_instance_id = *client.instance;
        }
        coordinator_->decide(command, now_, effects);
    });
}

void World::send_admin_commit() {
    const auto partition = static_cast<std::int32_t>(between(0, kPartitions - 1));
    const std::int64_t number = ++commit_numbers_;
    const std::string group = chance(70) ? "simple" : "orders";
    const ReplyToken token = remember({Kind::commit, 0, 0, group, "", -1, partition, number});
    deliver([&, this](Effects& effects) {
        const OffsetCommit::Partition one{{partition}, {number}};
        const OffsetCommit::Topic topic{"topic", {}, {&one, 1}};
        coordinator_->decide(OffsetCommit{.group_id = group, .topics = {&topic, 1}, .api_version = 9, .reply_to = token}, now_,
                             effects);
    });
}

void World::send_leave(Client& client) {
    const ReplyToken token = remember({Kind::leave, client.index, client.attempt, client.group});
    deliver([&, this](Effects& effects) {
        LeaveGroup::Member member{client.id, std::nullopt};
        if (client.instance) {
            member.group_instance_id = *client.instance;
        }
        coordinator_->decide(LeaveGroup{.group_id = client.group, .members = {&member, 1}, .reply_to = token}, now_, effects);
    });
}

void World::on_reply(const Request& request, const Result& result) {
    Client& client = clients_[request.client];
    if (request.attempt != client.attempt || client.phase == Phase::off) {
        return;
    }
    switch (request.kind) {
        case Kind::join:
            on_joined(client, std::get<JoinResult>(result));
            break;
        case Kind::sync:
            on_synced(client, std::get<SyncResult>(result));
            break;
        case Kind::heartbeat:
            on_heartbeat(client, std::get<HeartbeatResult>(result).error);
            break;
        case Kind::commit:
        case Kind::leave:
        case Kind::other:
            break;
    }
}

void World::on_joined(Client& client, const JoinResult& result) {
    switch (result.error) {
        case ErrorCode::none:
            client.id = result.member_id;
            client.generation = result.generation.value;
            send_sync(client, result);
            break;
        case ErrorCode::member_id_required:
            client.id = result.member_id;
            rejoin(client, 1);
            break;
        case ErrorCode::unknown_member_id:
            forget_id_and_rejoin(client);
            break;
        case ErrorCode::rebalance_in_progress:
            rejoin(client, 1);
            break;
        case ErrorCode::fenced_instance_id:
            ++statistics_.fenced;
            stop_client(client);
            break;
        default:
            violate("unexpected answer to a join: " + std::string(error_name(result.error)));
    }
}

void World::on_synced(Client& client, const SyncResult& result) {
    switch (result.error) {
        case ErrorCode::none:
            ++client.attempt;
            client.phase = Phase::stable;
            send_heartbeat(client);
            break;
        case ErrorCode::rebalance_in_progress:
        case ErrorCode::illegal_generation:
            rejoin(client, 1);
            break;
        case ErrorCode::unknown_member_id:
            forget_id_and_rejoin(client);
            break;
        case ErrorCode::fenced_instance_id:
            ++statistics_.fenced;
            stop_client(client);
            break;
        default:
            violate("unexpected answer to a sync: " + std::string(error_name(result.error)));
    }
}

void World::on_heartbeat(Client& client, ErrorCode error) {
    switch (error) {
        case ErrorCode::none:
            break;
        case ErrorCode::rebalance_in_progress:
            if (chance(50)) {
                send_commit(client);
            }
            rejoin(client, 1);
            break;
        case ErrorCode::illegal_generation:
            rejoin(client, 1);
            break;
        case ErrorCode::unknown_member_id:
            forget_id_and_rejoin(client);
            break;
        case ErrorCode::fenced_instance_id:
            ++statistics_.fenced;
            stop_client(client);
            break;
        default:
            violate("unexpected answer to a heartbeat: " + std::string(error_name(error)));
    }
}

void World::random_event() {
    Client& client = clients_[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(clients_.size()) - 1))];
    const bool alive = client.phase != Phase::off;
    switch (between(0, 11)) {
        case 0:
            stop_client(client);
            break;  // dies without a word
        case 1:
            if (alive) {
                send_leave(client);
                stop_client(client);
            }
            break;
        case 2:
        case 3:
        case 4:
            if (!alive || client.instance) {
                start_client(client);  // a static one restarts
            }
            break;
        case 5:
            if (alive) {
                client.metadata += '+';
                rejoin(client, 1);
            }
            break;
        case 6:
            if (client.phase == Phase::stable) {
                rejoin(client, 1);  // the leader wants to assign anew
            }
            break;
        case 7:
            send_admin_commit();
            break;
        case 8: {  // an administrator removes offsets or whole groups
            const std::string group = chance(50) ? "simple" : client.group;
            const PartitionIndex partition{static_cast<std::int32_t>(between(0, kPartitions - 1))};
            acknowledged_.erase({group, partition.value});
            removed_up_to_[{group, partition.value}] = commit_numbers_;
            const OffsetDelete::Topic topic{"topic", {&partition, 1}};
            const ReplyToken token = remember({});
            deliver([&](Effects& effects) {
                coordinator_->decide(OffsetDelete{.group_id = group, .topics = {&topic, 1}, .reply_to = token}, now_, effects);
            });
            break;
        }
        case 9: {
            if (!chance(20)) {
                break;
            }
            const std::string group = chance(50) ? "simple" : client.group;
            for (std::int32_t partition = 0; partition < kPartitions; ++partition) {
                acknowledged_.erase({group, partition});
                removed_up_to_[{group, partition}] = commit_numbers_;
            }
            const std::string_view id = group;
            const ReplyToken token = remember({});
            deliver([&](Effects& effects) { coordinator_->decide(DeleteGroups{{&id, 1}, token}, now_, effects); });
            break;
        }
        default:
            if (client.phase == Phase::stable) {
                send_commit(client);
            }
    }
}

DescribeGroupsResult::Group World::describe(const std::string& group) {
    const std::string_view id = group;
    Effects effects;
    coordinator_->decide(DescribeGroups{{&id, 1}, 5, {}}, now_, effects);
    return std::get<DescribeGroupsResult>(effects.replies.at(0).result).groups.at(0);
}

std::optional<std::string> World::unsettled() {
    for (const std::string group_id : {"orders", "audit"}) {
        const auto group = describe(group_id);
        std::set<std::string> members;
        for (const auto& member : group.members) {
            members.insert(member.member_id);
        }
        std::set<std::string> alive;
        std::set<std::int32_t> generations;
        for (const Client& client : clients_) {
            if (client.group != group_id || client.phase == Phase::off) {
                continue;
            }
            if (client.phase != Phase::stable) {
                return "client " + std::to_string(client.index) + " is not done";
            }
            alive.insert(client.id);
            generations.insert(client.generation);
        }
        if (members != alive) {
            return group_id + " has " + std::to_string(members.size()) + " members, not " + std::to_string(alive.size());
        }
        if (generations.size() > 1) {
            return "several generations in " + group_id;
        }
        const bool right_state = alive.empty() ? group.state == GroupState::empty || group.state == GroupState::dead
                                               : group.state == GroupState::stable;
        if (!right_state) {
            return group_id + " is " + std::string(state_name(group.state));
        }
    }
    return std::nullopt;
}

std::optional<std::string> World::run() {
    Effects effects;
    call_core([this](Effects& out) { coordinator_->loaded(now_, out); }, effects);
    for (Client& client : clients_) {
        at(between(0, 5'000), [this, &client] { start_client(client); });
    }
    for (std::int64_t time = 0; time < options_.faulty_ms; time += between(50, 2'000)) {
        at(time, [this] { random_event(); });
    }
    run_until(options_.faulty_ms);
    if (!violation_) {
        flush();
    }

    // From here on no fault happens, and everything must come to rest.
    faulty_ = false;
    const std::int64_t began = now_.monotonic.value;
    std::int64_t calm_ms = 0;
    while (!violation_ && calm_ms < 60'000) {
        run_until(now_.monotonic.value + 5'000);
        if (violation_) {
            break;
        }
        if (const auto why = unsettled()) {
            calm_ms = 0;
            if (now_.monotonic.value - began > kSettleLimitMs) {
                violate("does not settle: " + *why);
            }
        } else {
            if (calm_ms == 0) {
                statistics_.settled_after_ms = now_.monotonic.value - began;
            }
            calm_ms += 5'000;
        }
    }
    if (!violation_) {
        check_offsets();
    }
    return violation_;
}

}  // namespace partita::groups::simulation
