#include "tests/simulation/broker_world.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace partita::test {
namespace {

using Death = MortalBroker::Death;

const std::string kSynced = "synced";
const std::string kCached = "cached";
const std::string kTransactional = "transactional";

constexpr std::int64_t kMinuteMs = 60'000;

}  // namespace

BrokerWorld::BrokerWorld(std::uint64_t seed, std::filesystem::path scratch, bool is_told)
    : random_(seed),
      broker_(random_, clock_, std::move(scratch), seed),
      clients_world_{.ledger = ledger_, .random = random_, .clock = clock_} {
    clients_world_.is_told = is_told;
    clients_world_.endanger = [this] {
        if (is_playing_) {
            broker_.doom(random_death(), 1 + random_() % 8);
        }
    };
    broker_.on_step = [this](const std::string& worker) {
        clients_world_.tell("step of ", worker);
        if (worker == "expansions") {
            endanger_growth();
        }
    };
    broker_.files().volume_vouches = random_() % 2 == 0;
    ledger_.synced_topics = {kSynced};
    ledger_.gives_seeds = random_() % 3 != 0;
    broker_.overrides = {"offsets.topic.num.partitions=2", "log.retention.ms=-1",
                         "group.initial.rebalance.delay.ms=" + std::to_string(random_() % 2 * 500),
                         std::string("partita.default.expansion.mode=") + (ledger_.gives_seeds ? "safe-offsets" : "faithful")};
    const std::vector<std::string> groups{"g1", "g2"};
    auto admin = std::make_unique<SimulatedAdmin>(
        clients_world_, std::map<std::string, bool>{{kSynced, true}, {kCached, false}, {kTransactional, false}}, groups);
    admin_ = admin.get();
    // The administrator is first: a client that was answered before another one reads its reply first.
    clients_.push_back(std::move(admin));
    for (const char* name : {"p1", "p2", "p3"}) {
        clients_.push_back(std::make_unique<SimulatedProducer>(clients_world_, name, std::vector{kSynced, kCached}));
    }
    for (const char* name : {"r1", "r2"}) {
        clients_.push_back(
            std::make_unique<SimulatedReader>(clients_world_, name, std::vector{kSynced, kCached, kTransactional}));
    }
    for (int member = 0; member < 4; ++member) {
        const std::string& group = groups[static_cast<std::size_t>(member) % groups.size()];
        clients_.push_back(std::make_unique<SimulatedMember>(clients_world_, group + "m" + std::to_string(member), group,
                                                             std::vector{kSynced, kCached}));
    }
    transactions_ = std::make_unique<SimulatedTransactions>(clients_world_, kTransactional);
    choose_scenes();
}

void BrokerWorld::choose_scenes() {
    // One of these at a time: more would leave too little to each.
    switch (random_() % 8) {
        case 0:
            scenes_.push_back(passing_topic(clients_world_));
            break;
        case 1:
            scenes_.push_back(ordered_topic(clients_world_, true));
            break;
        case 2:
            scenes_.push_back(ordered_topic(clients_world_, false));
            break;
        case 3:
            scenes_.push_back(compacted_topic(clients_world_));
            break;
        case 4:
            scenes_.push_back(expiring_topic(clients_world_));
            break;
        case 5:
            scenes_.push_back(limits(clients_world_));
            break;
        case 6:
            scenes_.push_back(exactly_once(clients_world_));
            break;
        default:
            scenes_.push_back(consumer_group(clients_world_, {kSynced, kCached}));
    }
    for (const auto& scene : scenes_) {
        for (auto& client : scene->clients()) {
            clients_.push_back(std::move(client));
        }
        for (std::string& config : scene->overrides()) {
            broker_.overrides.push_back(std::move(config));
        }
    }
}

BrokerWorld::~BrokerWorld() = default;

void BrokerWorld::begin_life(const std::expected<void, std::string>& begun) {
    clients_world_.tell("start");
    if (!begun) {
        return ledger_.note_wrong(begun.error());
    }
    clients_world_.network = broker_.network();
}

MortalBroker::Death BrokerWorld::random_death() { return random_() % 2 == 0 ? Death::power_failure : Death::kill; }

void BrokerWorld::crash_soon() { broker_.doom(random_death(), random_() % 40); }

void BrokerWorld::endanger_growth() {
    // Chance would hardly ever strike between two steps of a growth.
    if (!is_playing_ || random_() % 3 == 0) {
        return;
    }
    ++clients_world_.happened["growths in danger"];
    if (random_() % 4 == 0) {
        counts_.full_disks += broker_.files().fault_happened() ? 1 : 0;
        return broker_.files().fail_call(1 + random_() % 4, ENOSPC, false, true);
    }
    broker_.doom(random_death(), random_() % 8);
}

void BrokerWorld::fill_disk() {
    counts_.full_disks += broker_.files().fault_happened() ? 1 : 0;
    clients_world_.tell("a full disk is near");
    // Refuses any write, or one of a coordinator: those are few among all.
    if (random_() % 2 == 0) {
        broker_.files().fail_call(1 + random_() % 20, ENOSPC, false, true);
    } else {
        broker_.files().fail_write("/__consumer_offsets-", ENOSPC);
    }
}

void BrokerWorld::restart() {
    clients_world_.tell(broker_.death() == Death::power_failure ? "power failure" : "kill");
    // Replies that had left the broker before its death reach their clients.
    read_replies();
    clients_world_.network = nullptr;
    for (const auto& client : clients_) {
        client->lose_connection();
    }
    const Instant died = clock_.now().monotonic;
    // Sometimes the restart comes late.
    const auto begun =
        broker_.restart(static_cast<std::int64_t>(random_() % 5 == 0 ? random_() % (30 * kMinuteMs) : random_() % 2'000));
    if (broker_.death() == Death::power_failure) {
        ++counts_.power_failures;
        ledger_.note_power_failure(died);
    } else {
        ++counts_.kills;
        ledger_.note_kill(died, clock_.now().monotonic);
    }
    transactions_->broker_died();
    for (const auto& scene : scenes_) {
        scene->broker_died(died, clock_.now().monotonic, broker_.death() == Death::power_failure);
    }
    begin_life(begun);
}

bool BrokerWorld::read_replies() {
    bool is_any = false;
    for (const auto& client : clients_) {
        is_any = client->read_replies() || is_any;
    }
    for (const auto& scene : scenes_) {
        scene->replies_were_read();
    }
    return is_any;
}

void BrokerWorld::act() {
    const std::size_t choice = random_() % (clients_.size() + 1);
    if (choice == clients_.size()) {
        transactions_->act(broker_.services());
    } else if (random_() % 100 == 0) {
        clients_[choice]->hang_up();
    } else {
        const bool was_growing = admin_->is_growing();
        clients_[choice]->act();
        // This makes the broker die more often while a topic grows than chance would.
        if (admin_->is_growing() && !was_growing && random_() % 4 == 0) {
            crash_soon();
        }
    }
    broker_.wake();
}

void BrokerWorld::play(int turns) {
    // A broker with short lives shows other things than one that lives long, and clients in a hurry show others than slow ones.
    const std::uint64_t turns_per_death = std::array{300, 1'000, 4'000}[random_() % 3];
    const std::uint64_t slowness = random_() % 3;
    begin_life(broker_.start());
    is_playing_ = true;
    for (int turn = 0; turn < turns && wrong().empty(); ++turn) {
        if (random_() % turns_per_death == 0) {
            crash_soon();
        }
        if (random_() % 500 == 0) {
            fill_disk();
        }
        // This is the one case that no change of a file brings about.
        if (broker_.is_about_to_die()) {
            broker_.die(random_death());
        }
        if (broker_.is_dead()) {
            restart();
            continue;
        }
        read_replies();
        switch (random_() % (4 + slowness)) {
            case 0:
                act();
                break;
            case 1:
            case 4:
            case 5:
                if (!broker_.step()) {
                    broker_.let_time_pass(1 + static_cast<std::int64_t>(random_() % 3'000));
                }
                break;
            default:
                if (!broker_.step()) {
                    act();
                }
        }
    }
    is_playing_ = false;
    if (!wrong().empty()) {
        return;
    }
    if (broker_.is_dead()) {
        restart();
    }
    broker_.spare();
    broker_.files().heal();
    come_to_rest();
    audit();
    if (!wrong().empty()) {
        return;
    }
    broker_.die(Death::kill);
    restart();
    audit();
}

void BrokerWorld::come_to_rest() {
    constexpr std::int64_t kPatienceMs = 2 * kMinuteMs;
    if (!are_all_answered_within(kPatienceMs)) {
        ledger_.note_wrong("a request is not answered");
    }
}

bool BrokerWorld::are_all_answered_within(std::int64_t patience_ms) {
    const Instant end = clock_.now().monotonic + patience_ms;
    const auto waits = [&] { return std::ranges::any_of(clients_, [](const auto& client) { return client->waits(); }); };
    while (waits() && clock_.now().monotonic < end && wrong().empty()) {
        if (!broker_.step() && !read_replies()) {
            broker_.let_time_pass(end - clock_.now().monotonic);
        }
    }
    return !waits();
}

void BrokerWorld::audit() {
    std::vector<Ledger::Place> places;
    for (const std::string& topic : {kSynced, kCached, kTransactional}) {
        for (std::int32_t partition = 0; partition < ledger_.count_of(topic); ++partition) {
            places.emplace_back(topic, partition);
        }
    }
    for (const auto& scene : scenes_) {
        std::ranges::move(scene->places(), std::back_inserter(places));
    }
    clients_.push_back(std::make_unique<SimulatedAuditor>(clients_world_, std::move(places)));
    auto& auditor = static_cast<SimulatedAuditor&>(*clients_.back());
    while (!auditor.is_done() && wrong().empty()) {
        auditor.act();
        broker_.wake();
        come_to_rest();
        read_replies();
    }
    auditor.hang_up();
    clients_.pop_back();
    look_back();
}

void BrokerWorld::look_back() {
    constexpr int kRoundsMax = 5'000;
    // A client that waits long does not keep others from acting meanwhile: it may wait for one of them, as members of a group do.
    constexpr std::int64_t kRoundMs = 1'000;
    bool is_more = true;
    for (int round = 0; is_more && round < kRoundsMax && wrong().empty(); ++round) {
        is_more = false;
        for (const auto& client : clients_) {
            is_more = client->waits() || client->look_back(round == 0) || is_more;
        }
        broker_.wake();
        (void)are_all_answered_within(kRoundMs);
        read_replies();
    }
    come_to_rest();
    if (is_more && wrong().empty()) {
        ledger_.note_wrong("who looks back does not come to an end");
    }
}

BrokerWorld::Counts BrokerWorld::counts() const {
    Counts counts = counts_;
    counts.happened = clients_world_.happened;
    counts.replies = clients_world_.answered;
    counts.steps = broker_.steps();
    counts.within_steps = broker_.deaths_within_steps();
    return counts;
}

}  // namespace partita::test
