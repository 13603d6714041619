#include "tests/simulation/broker_world.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "broker/config/broker_config.h"
#include "broker/runtime/partitions/turns.h"

namespace partita::test {
namespace {

const std::string kSynced = "synced";
const std::string kCached = "cached";
const std::string kTransactional = "transactional";

constexpr std::int64_t kMinuteMs = 60'000;

}  // namespace

/// From a start of the broker to its death.
struct BrokerWorld::Life {
    SteppedExecutor executor;
    std::unique_ptr<runtime::Broker> broker;
    std::unique_ptr<SimulatedNetwork> network;
    Instant next_turn = kAtOnce;
    bool is_dead = false;

    ~Life() {
        network.reset();
        broker.reset();
    }
};

BrokerWorld::BrokerWorld(std::uint64_t seed, std::filesystem::path scratch, bool is_told)
    : random_(seed),
      scratch_(std::move(scratch)),
      random_bytes_(std::make_unique<SeededRandomBytes>(seed)),
      files_(std::make_unique<MemoryFileSystem>()),
      clients_world_{.ledger = ledger_, .random = random_, .clock = clock_} {
    clients_world_.is_told = is_told;
    files_->volume_vouches = random_() % 2 == 0;
    make_data_directory();
    ledger_.synced_topics = {kSynced};
    ledger_.gives_seeds = random_() % 3 != 0;
    overrides_ = {"log.dirs=" + (scratch_ / "data").string(), "listeners=PLAINTEXT://127.0.0.1:9092",
                  "offsets.topic.num.partitions=2", "log.retention.ms=-1",
                  // No other thread takes part in a start.
                  "num.recovery.threads.per.data.dir=1",
                  "group.initial.rebalance.delay.ms=" + std::to_string(random_() % 2 * 500),
                  std::string("partita.default.expansion.mode=") + (ledger_.gives_seeds ? "safe-offsets" : "faithful")};
    const std::vector<std::string> groups{"g1", "g2"};
    auto admin = std::make_unique<SimulatedAdmin>(
        clients_world_, std::map<std::string, bool>{{kSynced, true}, {kCached, false}, {kTransactional, false}}, groups);
    admin_ = admin.get();
    // The first: a client that was answered before another one reads that before the other reads its own.
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
}

BrokerWorld::~BrokerWorld() {
    // A file system without a broker notices nothing any more.
    files_->before_change = nullptr;
    clients_.clear();
}

void BrokerWorld::make_data_directory() {
    // The administrator's, and there for long: no power failure takes it.
    const std::string path = (scratch_ / "data").string();
    bool is_made = files_->make_directories(path).has_value();
    for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
        is_made = is_made && files_->sync_directory(path.substr(0, at)).has_value();
    }
    if (!is_made) ledger_.note_wrong("there is no data directory");
}

void BrokerWorld::start() {
    std::filesystem::create_directories(scratch_ / "data");
    life_ = std::make_unique<Life>();
    files_->before_change = [this] { may_die(); };
    config::ConfigInputs inputs;
    inputs.overrides = overrides_;
    auto config = config::load_broker_config(inputs);
    if (!config) return ledger_.note_wrong("the configuration is refused: " + config.error().message);
    runtime::Storage::Options storage{.file_system = files_.get()};
    storage.metadata_store.commit_fault = [this] {
        may_die();
        return 0;
    };
    storage.metadata_store.map_size_bytes = 1 << 20;
    auto opened = runtime::Broker::open({.config = std::make_shared<const config::BrokerConfig>(std::move(config->config)),
                                         .reactor_count = 1,
                                         .storage = storage,
                                         .schedule = {clock_, life_->executor},
                                         .watches_directory = false});
    clients_world_.tell("start");
    if (!opened) return ledger_.note_wrong("the broker does not start: " + opened.error().message);
    life_->broker = std::move(*opened);
    life_->network = std::make_unique<SimulatedNetwork>(life_->broker->services(), random_);
    if (life_->is_dead) life_->network->cut();
    life_->broker->start();
    life_->broker->set_ready(true);
    clients_world_.network = life_->network.get();
}

void BrokerWorld::crash_soon() {
    if (dies_in_) return;
    is_power_failure_ = random_() % 2 == 0;
    dies_in_ = random_() % 40;
}

void BrokerWorld::fill_disk() {
    counts_.full_disks += files_->fault_happened() ? 1 : 0;
    clients_world_.tell("a full disk is near");
    files_->fail_call(1 + random_() % 20, ENOSPC, false, true);
}

void BrokerWorld::may_die() {
    if (!dies_in_ || life_->is_dead) return;
    if (*dies_in_ > 0) {
        --*dies_in_;
        return;
    }
    ++counts_.within_steps;
    die();
}

void BrokerWorld::die() {
    life_->is_dead = true;
    clients_world_.tell(is_power_failure_ ? "power failure" : "kill");
    if (life_->network) life_->network->cut();
    dies_in_.reset();
    left_ = files_->left_by_crash(is_power_failure_ ? std::optional(random_()) : std::nullopt);
    // LMDB syncs what it commits, so that a kill and a power failure leave the same.
    const auto store = scratch_ / "data" / "partita-metadata";
    std::filesystem::create_directories(scratch_ / "left");
    if (std::filesystem::exists(store / "data.mdb")) {
        std::filesystem::copy_file(store / "data.mdb", scratch_ / "left" / "data.mdb",
                                   std::filesystem::copy_options::overwrite_existing);
    }
}

void BrokerWorld::restart() {
    clients_world_.network = nullptr;
    for (const auto& client : clients_) client->lose_connection();
    life_.reset();
    files_->before_change = nullptr;
    files_ = std::move(left_);
    const auto store = scratch_ / "data" / "partita-metadata";
    std::filesystem::remove_all(store);
    if (std::filesystem::exists(scratch_ / "left" / "data.mdb")) {
        std::filesystem::create_directories(store);
        std::filesystem::rename(scratch_ / "left" / "data.mdb", store / "data.mdb");
    }
    const Instant died = clock_.now().monotonic;
    // Sometimes it is noticed late.
    clock_.advance_by(static_cast<std::int64_t>(random_() % 5 == 0 ? random_() % (30 * kMinuteMs) : random_() % 2'000));
    if (is_power_failure_) {
        ++counts_.power_failures;
        ledger_.note_power_failure(died);
        transactions_->power_failed();
    } else {
        ++counts_.kills;
        ledger_.note_kill(died, clock_.now().monotonic);
    }
    start();
}

bool BrokerWorld::step() {
    const Instant now = clock_.now().monotonic;
    std::vector<std::shared_ptr<SteppedExecutor::Task>> ready = life_->executor.ready(now);
    const bool is_turn_due = life_->next_turn <= now;
    if (ready.empty() && !is_turn_due) return false;
    ++counts_.steps;
    const std::size_t choice = random_() % (ready.size() + (is_turn_due ? 1 : 0));
    if (choice < ready.size()) {
        clients_world_.tell("step of ", ready[choice]->name);
        SteppedExecutor::step(*ready[choice]);
        life_->next_turn = kAtOnce;  // It may have posted something.
    } else {
        life_->next_turn = life_->broker->services().turns.first_reactor().step();
    }
    return true;
}

bool BrokerWorld::read_replies() {
    bool is_any = false;
    for (const auto& client : clients_) is_any = client->read_replies() || is_any;
    return is_any;
}

void BrokerWorld::act() {
    const std::size_t choice = random_() % (clients_.size() + 1);
    if (choice == clients_.size()) {
        transactions_->act(life_->broker->services());
    } else if (random_() % 100 == 0) {
        clients_[choice]->hang_up();
    } else {
        clients_[choice]->act();
    }
    life_->next_turn = kAtOnce;
}

void BrokerWorld::let_time_pass(std::int64_t most_ms) {
    const Instant now = clock_.now().monotonic;
    const Instant next = std::min(life_->next_turn, life_->executor.next_due());
    clock_.advance_to(std::min(next, now + most_ms));
}

void BrokerWorld::play(int turns) {
    start();
    for (int turn = 0; turn < turns && wrong().empty(); ++turn) {
        if (random_() % 400 == 0) crash_soon();
        if (random_() % 500 == 0) fill_disk();
        // The one case that no change of a file brings about.
        if (dies_in_ && *dies_in_ == 0 && !life_->is_dead) die();
        if (life_->is_dead) {
            restart();
            continue;
        }
        read_replies();
        switch (random_() % 4) {
            case 0:
                act();
                break;
            case 1:
                if (!step()) let_time_pass(1 + static_cast<std::int64_t>(random_() % 3'000));
                break;
            default:
                if (!step()) act();
        }
    }
    if (!wrong().empty()) return;
    if (life_->is_dead) restart();
    dies_in_.reset();
    files_->heal();
    come_to_rest();
    audit();
    if (!wrong().empty()) return;
    is_power_failure_ = false;
    die();
    restart();
    audit();
}

void BrokerWorld::come_to_rest() {
    constexpr std::int64_t kPatienceMs = 2 * kMinuteMs;
    const Instant begin = clock_.now().monotonic;
    const auto waits = [&] { return std::ranges::any_of(clients_, [](const auto& client) { return client->waits(); }); };
    while (waits() && clock_.now().monotonic - begin < kPatienceMs && wrong().empty()) {
        if (!step() && !read_replies()) let_time_pass(kMinuteMs);
    }
    if (waits()) ledger_.note_wrong("a request is not answered");
}

void BrokerWorld::audit() {
    std::vector<Ledger::Place> places;
    for (const std::string& topic : {kSynced, kCached, kTransactional}) {
        for (std::int32_t partition = 0; partition < ledger_.count_of(topic); ++partition) places.emplace_back(topic, partition);
    }
    clients_.push_back(std::make_unique<SimulatedAuditor>(clients_world_, std::move(places)));
    auto& auditor = static_cast<SimulatedAuditor&>(*clients_.back());
    while (!auditor.is_done() && wrong().empty()) {
        auditor.act();
        life_->next_turn = kAtOnce;
        come_to_rest();
        read_replies();
    }
    auditor.hang_up();
    clients_.pop_back();
    admin_->look_at_everything();
    life_->next_turn = kAtOnce;
    come_to_rest();
    read_replies();
}

BrokerWorld::Counts BrokerWorld::counts() const {
    Counts counts = counts_;
    counts.replies = clients_world_.answered;
    return counts;
}

}  // namespace partita::test
