#include "tests/histories/player.h"

#include <algorithm>
#include <array>
#include <set>

#include "protocol/messages/42_delete_groups.h"
#include "protocol/record_batch_builder.h"
#include "tests/histories/guard_judge.h"
#include "tests/histories/player_cast.h"
#include "tests/support/coordinator.h"
#include "tests/support/plain_client.h"

namespace partita::test::histories {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kHourMs = 3'600'000;
/// Longer than what the rules that wait for ten seconds may take.
constexpr auto kAfterAll = 14s;
constexpr std::size_t kBatchRecords = 5;
/// How long a broker may read its harm back after a start.
constexpr double kRestoreSeconds = 30;

}  // namespace

Player::Player(Stage& stage, const Script& script, const std::string& unique)
    : stage_(stage), script_(script), unique_(unique), topic_("history" + unique), dice_(script.seed) {}

Player::~Player() = default;

Outcome Player::play() {
    try {
        PlainClient admin(stage_.port());
        std::map<std::string, std::string> configs{{"partita.expansion.mode", std::string(to_string(script_.mode))}};
        if (script_.mode == Mode::guarded) {
            configs["partita.expansion.guard.quiet.ms"] = std::to_string(kGuardQuiet.count());
        }
        if (script_.is_compacted) {
            configs["cleanup.policy"] = "compact,delete";
        }
        diary_.watched.first = Clock::now();
        const auto created = admin.create_topic(topic_, script_.first_count, configs);
        diary_.watched.second = Clock::now();
        expect_none(created.error, "CreateTopics");
        topic_id_ = created.id;
        expect_none(find_coordinator(admin.wire(), "any"), "FindCoordinator");
        diary_.partitions.resize(static_cast<std::size_t>(script_.first_count));
        for (const ProducerCast& cast : script_.producers) {
            producers_.push_back(std::make_unique<Producer>());
            producers_.back()->client = std::make_unique<Client>(stage_.port(), cast.caller, topic_);
            producers_.back()->count = script_.first_count;
        }
        for (const GroupCast& cast : script_.groups) {
            groups_.push_back(std::make_unique<Group>(cast.name + unique_, topic_, topic_id_, cast.is_consumer_protocol));
            groups_.back()->members.resize(cast.members.size());
            groups_.back()->known_count = script_.first_count;
            diary_.groups.emplace_back().members.resize(cast.members.size());
        }
        for (std::size_t index = 0; index < script_.outsiders.size(); ++index) {
            outsiders_.push_back(std::make_unique<Outsider>());
            diary_.outsiders.emplace_back();
        }
        for (std::size_t index = 0; index < script_.steps.size() && outcome_.problems.empty(); ++index) {
            note_time();
            note(std::to_string(index) + " " + to_string(script_.steps[index]));
            play(script_.steps[index]);
        }
        if (!diary_.is_deleted) {
            expect_none(PlainClient(stage_.port()).delete_topic(topic_), "DeleteTopics");
        }
    } catch (const Failure& failure) {
        outcome_.problems.push_back("the history could not be played: " + failure.text);
    }
    outcome_.transcript = transcript_;
    return outcome_;
}

// Notes that time has passed: some conditions come about by time.
void Player::note_time() {
    const auto so_far = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun_);
    note("  after " + std::to_string(so_far.count()) + " ms");
}

void Player::play(const Step& step) {
    if (diary_.is_deleted && step.action != Action::check) {
        return;
    }
    const auto group = static_cast<std::size_t>(step.who);
    const auto member = static_cast<std::size_t>(step.member);
    switch (step.action) {
        case Action::produce:
            return produce(step);
        case Action::refresh:
            producers_[group]->count = producers_[group]->client->partition_count();
            return;
        case Action::grow:
            return grow(step.amount);
        case Action::rebalance:
            return rebalance(step);
        case Action::poll:
            if (open_member(step) != nullptr) {
                poll(group, member, step.amount);
            }
            return;
        case Action::commit:
            if (Consumer* consumer = open_member(step)) {
                Offsets offsets = consumer->positions;
                if (step.variant == 1 && !offsets.empty()) {
                    const auto chosen = *std::next(offsets.begin(), step.amount % std::ssize(offsets));
                    offsets = {chosen};
                }
                commit(group, member, offsets);
            }
            return;
        case Action::commit_late:
            if (open_member(step) != nullptr) {
                commit_late(group, member);
            }
            return;
        case Action::remove_member:
            if (open_member(step) != nullptr) {
                remove_member(group, member);
            }
            return;
        case Action::seek_back:
            return seek_back(step);
        case Action::close_member:
            if (Consumer* consumer = open_member(step)) {
                if (step.variant == 1) {
                    commit(group, member, consumer->positions);
                }
                close_member(group, member);
                meet(group, {});
            }
            return;
        case Action::close_early:
            return close_early(step);
        case Action::outsider_reads:
            return read_outside(group, step.variant == 1);
        case Action::monitor_asks:
            return ask_as_monitor(step);
        case Action::delete_records:
            return delete_records(step);
        case Action::delete_group:
            return delete_group(group);
        case Action::delete_topic:
            expect_none(PlainClient(stage_.port()).delete_topic(topic_), "DeleteTopics");
            diary_.is_deleted = true;
            return;
        case Action::restart:
            return restart(step.variant == 1);
        case Action::check:
            return check(step.variant == 1);
    }
}

Player::Consumer* Player::open_member(const Step& step) {
    Group& group = *groups_[static_cast<std::size_t>(step.who)];
    const auto member = static_cast<std::size_t>(step.member);
    const bool is_open = diary_.groups[static_cast<std::size_t>(step.who)].members[member].is_open;
    return is_open ? &group.members[member] : nullptr;
}

// Producers ------------------------------------------------------------------------------------------

void Player::produce(const Step& step) {
    const auto index = static_cast<std::size_t>(step.who);
    Producer& producer = *producers_[index];
    const ProducerCast& cast = script_.producers[index];
    if (cast.is_idempotent && producer.producer_id < 0) {
        producer.producer_id = producer.client->new_producer_id();
    }
    // A producer that has not sent anything knows the topic as it is when it begins.
    if (!producer.has_sent) {
        producer.count = producer.client->partition_count();
    }
    producer.has_sent = true;
    struct Record {
        int key;
        bool is_tombstone;
    };
    std::map<int, std::vector<Record>> by_partition;
    const int first_key = dice_.roll(script_.keys);
    for (int number = 0; number < step.amount; ++number) {
        const int key = step.amount >= script_.keys ? (first_key + number) % script_.keys : dice_.roll(script_.keys);
        const int partition =
            cast.placing == Placing::at_random ? dice_.roll(producer.count) : place(cast.placing, key_text(key), producer.count);
        by_partition[partition].push_back({key, step.variant == 2 && dice_.happens(33)});
    }
    const std::int64_t time = wall_ms() - (step.variant == 1 ? kHourMs : 0);
    Offsets ends;
    for (const auto& [partition, records] : by_partition) {
        for (std::size_t begin = 0; begin < records.size(); begin += kBatchRecords) {
            const std::size_t size = std::min(kBatchRecords, records.size() - begin);
            BatchOptions options;
            if (producer.producer_id >= 0) {
                options.producer_id = ProducerId{producer.producer_id};
                options.producer_epoch = ProducerEpoch{0};
                options.base_sequence = Sequence{producer.sequences[partition]};
                producer.sequences[partition] += static_cast<std::int32_t>(size);
            }
            BatchBuilder builder(options);
            for (std::size_t number = begin; number < begin + size; ++number) {
                const std::string key = key_text(records[number].key);
                builder.append(TimestampMs{time}, as_bytes(key),
                               records[number].is_tombstone ? std::nullopt : std::optional(as_bytes("value")));
            }
            std::vector<std::byte> batch;
            builder.build(batch);
            PartitionDiary& log = log_of(partition);
            const auto begun = Clock::now();
            if (producer.client->produce(partition, batch) != log.end()) {
                throw Failure{"a batch was given another offset than the next one"};
            }
            diary_.wrote[cast.caller] = {begun, Clock::now()};
            for (std::size_t number = begin; number < begin + size; ++number) {
                log.records.push_back({.key = records[number].key,
                                       .is_tombstone = records[number].is_tombstone,
                                       .producer = step.who,
                                       .epoch = diary_.epoch(),
                                       .count = producer.count,
                                       .order = order_++});
            }
            keyed_since_restart_ += static_cast<std::int64_t>(size);
        }
        ends[partition] = log_of(partition).end();
    }
    diary_.records += step.amount;
    note("    by " + std::to_string(producer.count) + " partitions; log ends now " + text_of(ends));
}

void Player::grow(int count) {
    if (script_.mode != Mode::guarded) {
        expect_none(PlainClient(stage_.port()).expand_topic(topic_, count), "CreatePartitions");
    } else if (!grow_guarded(count)) {
        return;
    }
    Growth growth{.from = diary_.count(), .to = count, .cut = {}, .time = {}};
    for (const PartitionDiary& log : diary_.partitions) {
        growth.cut.push_back(log.end());
    }
    growth.time = Clock::now();
    diary_.partitions.resize(static_cast<std::size_t>(count));
    diary_.growths.push_back(growth);
    for (std::size_t index = 0; index < groups_.size(); ++index) {
        begin_watch(index);
    }
    for (GroupDiary& group : diary_.groups) {
        group.at_work.resize(diary_.growths.size());
        group.at_work.back() = group.open_members() > 0;
        group.committed_since.resize(diary_.growths.size());
        if (group.is_deleted || (group.committed.empty() && group.open_members() == 0)) {
            continue;
        }
        group.grew_with.insert(diary_.epoch() - 1);
        if (script_.mode == Mode::faithful) {
            continue;
        }
        for (int partition = growth.from; partition < growth.to; ++partition) {
            group.seeded.insert(partition);
            group.committed[partition] = 0;
        }
    }
}

// Others ---------------------------------------------------------------------------------------------

void Player::read_outside(std::size_t index, bool reads_new) {
    Outsider& outsider = *outsiders_[index];
    const OutsiderCast& cast = script_.outsiders[index];
    if (!outsider.client) {
        outsider.client = std::make_unique<Client>(stage_.port(), cast.caller, topic_);
    }
    const bool is_first = outsider.positions.empty();
    const int known = reads_new  ? outsider.client->partition_count()
                      : is_first ? script_.first_count
                                 : static_cast<int>(outsider.positions.size());
    for (int partition = 0; partition < known; ++partition) {
        if (!outsider.positions.contains(partition)) {
            outsider.positions[partition] =
                list_offset(*outsider.client, partition, cast.from_beginning ? kEarliestOffset : kLatestOffset);
        }
    }
    note("    outsider reads at " + text_of(outsider.positions));
    OutsiderDiary& diary = diary_.outsiders[index];
    if (!diary_.growths.empty()) {
        diary.last = Clock::now();
        for (const auto& [partition, position] : outsider.positions) {
            const auto began = diary.began_at.try_emplace({diary_.epoch(), partition}, position).first;
            began->second = std::min(began->second, position);
            if (!diary_.is_new(partition)) {
                continue;
            }
            note_looking(cast.caller, partition);
            note_first_fetch(cast.caller, partition, position);
        }
    }
    const Client::Fetched fetched = outsider.client->fetch(outsider.positions, kSmallFetchBytes);
    note_kept_back(*outsider.client, outsider.positions, fetched, kSmallFetchBytes);
    const auto first = std::ranges::find(script_.outsiders, cast.caller, &OutsiderCast::caller) - script_.outsiders.begin();
    std::vector<GivenSince>& watches = diary_.outsiders[static_cast<std::size_t>(first)].given_since;
    watches.resize(diary_.growths.size());
    note_given(watches, nullptr, fetched.offsets);
    for (const auto& [partition, offsets] : fetched.offsets) {
        outsider.positions[partition] = offsets.back() + 1;
    }
    for (const int partition : fetched.out_of_range) {
        outsider.positions[partition] = list_offset(*outsider.client, partition, kEarliestOffset);
    }
}

// A batch of the history is smaller than what a small fetch asks for.
void Player::note_kept_back(const Client& client, const Offsets& positions, const Client::Fetched& fetched,
                            int partition_max_bytes) {
    for (const auto& [partition, position] : positions) {
        if (diary_.is_new(partition)) {
            diary_.new_readings.try_emplace(client.number(), NewReading{.partitions = {}, .since = Clock::now()})
                .first->second.partitions.insert(partition);
        }
        // The client may have got some of it.
        const auto given = fetched.offsets.find(partition);
        const bool is_empty = given == fetched.offsets.end();
        const std::int64_t next = is_empty ? position : given->second.back() + 1;
        const bool is_kept_back =
            diary_.is_new(partition) && next < log_of(partition).end() && !fetched.out_of_range.contains(partition);
        std::erase_if(diary_.kept_back, [&](const KeptBack& before) {
            return is_kept_back && before.client == client.number() && before.partition == partition;
        });
        if (!is_kept_back) {
            continue;
        }
        diary_.kept_back.push_back({.caller = client.caller(),
                                    .client = client.number(),
                                    .partition = partition,
                                    .time = Clock::now(),
                                    .is_sure = is_empty && partition_max_bytes >= kSmallFetchBytes});
        if (is_empty) {
            note("    " + to_string(client.caller()) + " was given nothing of " + std::to_string(partition));
        }
    }
}

void Player::forget_kept_back(const Client& client) {
    std::erase_if(diary_.kept_back, [&](const KeptBack& before) { return before.client == client.number(); });
    diary_.new_readings.erase(client.number());
}

// Asks for a group's offsets and the log ends and reads nothing, as tools that watch lag do.
void Player::ask_as_monitor(const Step& step) {
    Client monitor(stage_.port(), {.client_id = "lag-monitor", .address = "127.0.0.1"}, topic_);
    Partitions all;
    for (int partition = 0; partition < diary_.count(); ++partition) {
        all.insert(partition);
    }
    (void)monitor.committed(groups_[static_cast<std::size_t>(step.who)]->name, all);
    for (const int partition : step.variant == 1 ? all : Partitions()) {
        (void)monitor.list_offset(partition, kLatestOffset);
    }
}

void Player::delete_records(const Step& step) {
    const int partition = step.amount % diary_.count();
    PartitionDiary& log = log_of(partition);
    const std::int64_t before = log.start + (log.end() - log.start) * step.variant / 100;
    if (before == log.start) {
        return;
    }
    expect_none(PlainClient(stage_.port()).delete_records(topic_, partition, before), "DeleteRecords");
    log.start = before;
    note("    of " + std::to_string(partition) + " before " + std::to_string(before));
}

void Player::delete_group(std::size_t group) {
    for (std::size_t member = 0; member < groups_[group]->members.size(); ++member) {
        if (diary_.groups[group].members[member].is_open) {
            close_member(group, member);
        }
    }
    PlainClient admin(stage_.port());
    std::array<std::string_view, 1> names{groups_[group]->name};
    const auto& response = Client::call<DeleteGroupsResponse>(admin.wire(), 2, DeleteGroupsRequest{.groups_names = names});
    const ErrorCode error = response.results[0].error_code;
    // A group that never came into being counts as deleted.
    if (error != ErrorCode::group_id_not_found) {
        expect_none(error, "DeleteGroups");
    }
    const std::size_t members = diary_.groups[group].members.size();
    diary_.groups[group] = {};
    diary_.groups[group].members.resize(members);
    diary_.groups[group].is_deleted = true;
}

void Player::restart(bool kill) {
    wait_for_thought();
    const auto harm = stage_.harm(topic_, 0ms);
    // The broker writes events once a second.
    const bool is_written = harm && eventually([&] {
                                const auto written = stage_.harm(topic_, 2s);
                                return written && std::ranges::includes(*written, *harm);
                            });
    diary_.watched.first = Clock::now();
    if (!is_written || !stage_.restart(kill)) {
        throw Failure{"the broker does not come back"};
    }
    expect_harm(*harm);
    diary_.watched.second = Clock::now();
    // As in Kafka, deleted records come back when the broker is killed before it noted the deletion.
    Client reader(stage_.port(), {.client_id = "administrator", .address = "127.0.0.1"}, topic_);
    for (int partition = 0; kill && partition < diary_.count(); ++partition) {
        const std::int64_t start = reader.list_offset(partition, kEarliestOffset);
        if (start > log_of(partition).start) {
            throw Failure{"a log lost records that nobody deleted"};
        }
        log_of(partition).start = start;
    }
    diary_.wrote.clear();
    diary_.restarted_at_order = order_;
    diary_.kept_back.clear();
    diary_.new_readings.clear();
    keyed_since_restart_ = 0;
    for (std::size_t index = 0; index < producers_.size(); ++index) {
        producers_[index]->client = std::make_unique<Client>(stage_.port(), script_.producers[index].caller, topic_);
    }
    for (std::size_t index = 0; index < groups_.size(); ++index) {
        for (std::size_t member = 0; member < groups_[index]->members.size(); ++member) {
            std::unique_ptr<Client>& client = groups_[index]->members[member].client;
            if (client) {
                client = std::make_unique<Client>(stage_.port(), script_.groups[index].members[member], topic_);
                diary_.groups[index].members[member].client = client->number();
            }
            groups_[index]->members[member].fetched.clear();
        }
        GroupDiary& diary = diary_.groups[index];
        diary.beginnings.clear();
        diary.without_offset.clear();
        diary.has_policy = false;
        diary.inversions.clear();
        diary.highest_committed.clear();
        diary.given_since.clear();
        std::ranges::fill(diary.committed_since, std::set<int>());
        begin_watch(index);
        for (auto& [partition, owners] : diary.owners) {
            owners = {.owner = owners.owner};
        }
        // A broker that starts takes the groups that exist for groups that were there before.
        diary.may_have_been_there = true;
        const bool is_there = !diary.is_deleted && (!diary.committed.empty() || diary.open_members() > 0);
        for (int growth = 0; is_there && growth < diary_.epoch(); ++growth) {
            diary.grew_with.insert(growth);
        }
    }
    for (std::size_t index = 0; index < outsiders_.size(); ++index) {
        outsiders_[index]->client.reset();
        diary_.outsiders[index] = {};
    }
    diary_.first_fetches.clear();
}

// Checks ---------------------------------------------------------------------------------------------

// Harm lasts across a restart.
void Player::expect_harm(const std::set<std::string>& harm) {
    std::optional<std::set<std::string>> open;
    const bool is_there = eventually(
        [&] {
            open = stage_.harm(topic_, 0ms);
            return open && std::ranges::includes(*open, harm);
        },
        kRestoreSeconds * patience());
    if (!is_there) {
        std::string missing;
        for (const std::string& one : harm) {
            missing += !open || !open->contains(one) ? "\n    " + one : "";
        }
        throw Failure{"the broker forgot harm at its restart:" + missing};
    }
}

void Player::check(bool after_all) {
    do {
        // Outsiders that read go on reading.
        for (std::size_t index = 0; index < outsiders_.size() && !diary_.is_deleted; ++index) {
            const OutsiderDiary& outsider = diary_.outsiders[index];
            if (!outsider.began_at.empty()) {
                read_outside(index, false);
            }
        }
        wait_for_thought();
        diary_.now = Clock::now();
        Clock::time_point newest = diary_.growths.empty() ? Clock::time_point() : diary_.growths.back().time;
        for (const GroupDiary& group : diary_.groups) {
            for (const auto& [who, asked] : group.without_offset) {
                newest = std::max(newest, asked.asked);
            }
        }
        after_all = after_all && diary_.now - newest < kAfterAll;
    } while (after_all);
    std::vector<std::string> problems = look();
    if (!problems.empty()) {
        // Findings that depend on time may have changed since the look; the broker thinks again first.
        wait_for_thought();
        diary_.now = Clock::now();
        problems = look();
    }
    outcome_.problems = std::move(problems);
}

// Findings that were settled during the wait may lack records that the broker saw meanwhile. A statement about everything seen
// therefore covers what had been seen when the last wait began.
void Player::wait_for_thought() {
    std::int64_t before = keyed_records_seen();
    do {
        seen_before_thought_ = before;
        if (!stage_.clock().wait()) {
            throw Failure{stage_.clock().problem()};
        }
        before = keyed_records_seen();
    } while (before == keyed_since_restart_ && seen_before_thought_ != before);
}

std::int64_t Player::keyed_records_seen() const {
    const std::int64_t seen = diary_.is_deleted ? keyed_since_restart_ : stage_.keyed_records_seen(topic_);
    if (seen < 0) {
        throw Failure{"the broker does not tell what it saw of producers"};
    }
    return seen;
}

std::vector<std::string> Player::look() {
    const std::int64_t seen = seen_before_thought_;
    const auto told = stage_.findings(topic_);
    if (!told) {
        throw Failure{"the broker does not tell its findings"};
    }
    outcome_.is_everything_seen &= seen == keyed_since_restart_;
    note("    the broker looked at " + std::to_string(seen) + " of " + std::to_string(keyed_since_restart_) + " records");
    const std::vector<Claim> claims = claims_of(script_, diary_, unique_, seen == keyed_since_restart_);
    const std::vector<std::string> problems = compare(claims, *told);
    if (problems.empty()) {
        for (const Claim& claim : claims) {
            outcome_.confirmed[claim.id] += claim.is_due ? 1 : 0;
        }
    }
    return problems;
}

}  // namespace partita::test::histories
