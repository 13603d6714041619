#include "tests/simulation/broker_world_mortal.h"

#include <algorithm>
#include <utility>

#include "broker/config/broker_config.h"
#include "broker/logs/turns.h"

namespace partita::test {

/// A life of the broker, from its start to its death.
struct MortalBroker::Life {
    SteppedExecutor executor;
    std::unique_ptr<assembly::Broker> broker;
    std::unique_ptr<SimulatedNetwork> network;
    Instant next_turn = kAtOnce;
    bool is_dead = false;

    ~Life() {
        network.reset();
        broker.reset();
    }
};

MortalBroker::MortalBroker(std::mt19937_64& random, VirtualClock& clock, std::filesystem::path scratch, std::uint64_t seed)
    : random_(random),
      clock_(clock),
      scratch_(std::move(scratch)),
      random_bytes_(std::make_unique<SeededRandomBytes>(seed)),
      files_(std::make_unique<MemoryFileSystem>()) {}

MortalBroker::~MortalBroker() {
    // A file system without a broker notices nothing any more.
    files_->before_change = nullptr;
}

std::expected<void, std::string> MortalBroker::make_data_directory() {
    // The administrator made this directory long ago: no power failure takes it.
    const std::string path = (scratch_ / "data").string();
    bool is_made = files_->make_directories(path).has_value();
    for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
        is_made = is_made && files_->sync_directory(path.substr(0, at)).has_value();
    }
    if (!is_made) {
        return std::unexpected("there is no data directory");
    }
    return {};
}

std::expected<void, std::string> MortalBroker::start() {
    if (!std::filesystem::exists(scratch_ / "data")) {
        if (auto made = make_data_directory(); !made) {
            return made;
        }
    }
    std::filesystem::create_directories(scratch_ / "data");
    life_ = std::make_unique<Life>();
    files_->before_change = [this] { may_die(); };
    config::ConfigInputs inputs;
    inputs.overrides = {"log.dirs=" + (scratch_ / "data").string(), "listeners=PLAINTEXT://127.0.0.1:9092",
                        // No other thread takes part in a start.
                        "num.recovery.threads.per.data.dir=1"};
    inputs.overrides.insert(inputs.overrides.end(), overrides.begin(), overrides.end());
    auto config = config::load_broker_config(inputs);
    if (!config) {
        return std::unexpected("the configuration is refused: " + config.error().message);
    }
    assembly::Storage::Options storage{.file_system = files_.get()};
    storage.metadata_store.commit_fault = [this] {
        may_die();
        return 0;
    };
    storage.metadata_store.map_size_bytes = 1 << 20;
    auto opened = assembly::Broker::open({.config = std::make_shared<const config::BrokerConfig>(std::move(config->config)),
                                          .reactor_count = 1,
                                          .storage = storage,
                                          .schedule = {clock_, life_->executor},
                                          .watches_directory = false});
    if (!opened) {
        return std::unexpected("the broker does not start: " + opened.error().message);
    }
    life_->broker = std::move(*opened);
    life_->network = std::make_unique<SimulatedNetwork>(life_->broker->services(), random_);
    if (life_->is_dead) {
        life_->network->cut();
    }
    life_->broker->start();
    life_->broker->set_ready(true);
    return {};
}

const runtime::Services& MortalBroker::services() { return life_->broker->services(); }

SimulatedNetwork* MortalBroker::network() { return life_ ? life_->network.get() : nullptr; }

bool MortalBroker::step() {
    const Instant now = clock_.now().monotonic;
    std::vector<std::shared_ptr<SteppedExecutor::Task>> ready = life_->executor.ready(now);
    const bool is_turn_due = life_->next_turn <= now;
    if (ready.empty() && !is_turn_due) {
        return false;
    }
    ++steps_;
    const std::size_t choice = random_() % (ready.size() + (is_turn_due ? 1 : 0));
    if (choice < ready.size()) {
        if (on_step) {
            on_step(ready[choice]->name);
        }
        SteppedExecutor::step(*ready[choice]);
        wake();  // It may have posted something.
    } else {
        life_->next_turn = services().turns.first_reactor().step();
    }
    return true;
}

void MortalBroker::wake() { life_->next_turn = kAtOnce; }

void MortalBroker::let_time_pass(std::int64_t most_ms) {
    const Instant now = clock_.now().monotonic;
    const Instant next = std::min(life_->next_turn, life_->executor.next_due());
    clock_.advance_to(std::min(next, now + most_ms));
}

void MortalBroker::doom(Death death, std::uint64_t changes) {
    if (doom_ || is_dead()) {
        return;
    }
    doom_ = Doom{death, changes};
}

void MortalBroker::may_die() {
    if (!doom_ || life_->is_dead) {
        return;
    }
    if (doom_->changes > 0) {
        --doom_->changes;
        return;
    }
    ++deaths_within_steps_;
    die(doom_->death);
}

void MortalBroker::die(Death death) {
    life_->is_dead = true;
    death_ = death;
    doom_.reset();
    if (life_->network) {
        life_->network->cut();
    }
    left_ = files_->left_by_crash(death == Death::power_failure ? std::optional(random_()) : std::nullopt);
    // LMDB syncs what it commits, so that a kill and a power failure leave the same.
    const auto store = scratch_ / "data" / "partita-metadata";
    std::filesystem::create_directories(scratch_ / "left");
    if (std::filesystem::exists(store / "data.mdb")) {
        std::filesystem::copy_file(store / "data.mdb", scratch_ / "left" / "data.mdb",
                                   std::filesystem::copy_options::overwrite_existing);
    }
}

bool MortalBroker::is_dead() const { return life_->is_dead; }

std::expected<void, std::string> MortalBroker::restart(std::int64_t rest_ms) {
    life_.reset();
    files_->before_change = nullptr;
    files_ = std::move(left_);
    const auto store = scratch_ / "data" / "partita-metadata";
    std::filesystem::remove_all(store);
    if (std::filesystem::exists(scratch_ / "left" / "data.mdb")) {
        std::filesystem::create_directories(store);
        std::filesystem::rename(scratch_ / "left" / "data.mdb", store / "data.mdb");
    }
    clock_.advance_by(rest_ms);
    return start();
}

}  // namespace partita::test
