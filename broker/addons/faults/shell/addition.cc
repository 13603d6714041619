#include <memory>
#include <optional>

#include "broker/addons/faults/config/fault_config.h"
#include "broker/addons/faults/shell/brokers.h"
#include "broker/addons/faults/shell/faults.h"
#include "broker/addons/faults/shell/first_topics.h"
#include "broker/addons/faults/shell/snapshots.h"
#include "broker/assembly/addon.h"
#include "broker/config/log_setup.h"
#include "broker/logs/append_steps.h"
#include "schedule/movable_time.h"
#include "storage/file_system.h"

namespace partita::faults {
namespace {

/// Outlives every broker of the process, as do the files that a broker leaves open for the next one.
FailingDisk& failing_disk() {
    static PosixFileSystem real;
    static FailingDisk disk(real);
    return disk;
}

class FaultsAddon final : public assembly::Addon {
  public:
    FaultsAddon(bool has_test_bench, std::int32_t broker_count) : has_test_bench_(has_test_bench), broker_count_(broker_count) {}

    void attach(const assembly::AddonPlace& place, handlers::Extensions& extensions) override {
        if (has_test_bench_) {
            faults_ = std::make_shared<Faults>(place.topics, place.turns, place.schedule.clock);
            failing_disk().set_gate(faults_);
            extensions.gate = faults_.get();
            extensions.parts.add(*faults_);
            first_topics_.make = place.make_first_topics;
            extensions.parts.add(first_topics_);
            snapshots_.emplace(Snapshots{DataSnapshots(place.data_directory), place.change_data});
            extensions.parts.add(*snapshots_);
        }
        if (broker_count_ > 1) {
            brokers_.emplace(place, *faults_);
            extensions.gate = &*brokers_;
            extensions.parts.add(*brokers_);
            place.placement.set_plan(*brokers_);
        }
    }
    void add_steps(logs::AppendSteps& appends, logs::ReadSteps&) override {
        if (brokers_) {
            appends.add(*brokers_, {logs::AppendPoint::admit_batch}, logs::StepFor::every_request);
        }
    }
    void load(Now) override {
        if (brokers_) {
            brokers_->load();
        }
    }
    void start() override {
        if (brokers_) {
            brokers_->start();
        }
    }
    void stop() override {
        if (has_test_bench_) {
            // The stop itself writes and syncs without faults.
            failing_disk().set_gate(nullptr);
        }
        if (brokers_) {
            brokers_->stop();
        }
    }
    void announce() const override {
        if (has_test_bench_) {
            log::warning("broker",
                         "the test bench is on: a client that may alter the cluster can make this broker fail and move its "
                         "clock, over HTTP",
                         {{"config", kTestBenchConfig}});
        }
        if (broker_count_ > 1) {
            log::warning("broker",
                         "the process shows itself to clients as several brokers over one log: a simulation, in which replicas "
                         "protect no record",
                         {{"brokers", broker_count_}});
        }
    }

  private:
    const bool has_test_bench_;
    const std::int32_t broker_count_;
    std::shared_ptr<Faults> faults_;
    FirstTopics first_topics_;
    std::optional<Snapshots> snapshots_;
    std::optional<Brokers> brokers_;
};

}  // namespace

extern const assembly::Addition kBrokerAddition;
constinit const assembly::Addition kBrokerAddition{
    .make = [](const config::BrokerConfig& config) -> std::unique_ptr<assembly::Addon> {
        return std::make_unique<FaultsAddon>(has_test_bench(config), brokers_of(config));
    },
    .schedule = [](const config::BrokerConfig& config, const Schedule& machine) -> Schedule {
        if (!has_test_bench(config)) {
            return machine;
        }
        static MovableTime time(machine);
        return {time, time};
    },
    .file_system = [](const config::BrokerConfig& config) -> FileSystem* {
        return has_test_bench(config) ? &failing_disk() : nullptr;
    }};

}  // namespace partita::faults
