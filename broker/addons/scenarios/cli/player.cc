#include "broker/addons/scenarios/cli/player.h"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <list>
#include <optional>
#include <utility>
#include <vector>

#include "broker/addons/scenarios/cli/application.h"
#include "broker/addons/scenarios/cli/broker_process.h"
#include "broker/addons/scenarios/cli/worker.h"
#include "broker/addons/scenarios/core/report.h"
#include "protocol/try.h"
#include "schedule/executor.h"

extern char** environ;

namespace partita::scenarios {
namespace {

/// The time to stop that an application gets after SIGTERM, before SIGKILL. The same for the broker.
constexpr std::int64_t kStopMs = 5'000;

class Player {
  public:
    Player(const Scenario& scenario, const PlayWish& wish, BrokerProcess broker, std::unique_ptr<DeedWorker> worker,
           const std::string& directory)
        : scenario_(scenario),
          wish_(wish),
          broker_(std::move(broker)),
          directory_(directory),
          began_(clock().now()),
          run_(scenario, began_.wall.value),
          worker_(std::move(worker)) {}
    ~Player() { stop(); }
    Player(const Player&) = delete;
    Player& operator=(const Player&) = delete;

    const Run& play() {
        while (!run_.is_over()) {
            while (const auto deed = run_.next(now_ms())) {
                carry_out(*deed);
            }
            tell_steps();
            wait();
        }
        tell_steps();
        return run_;
    }

  private:
    static Clock& clock() { return real_schedule().clock; }
    [[nodiscard]] std::int64_t now_ms() const { return clock().now().monotonic - began_.monotonic; }
    void tell(Event event) { run_.handle(std::move(event), now_ms()); }

    void tell_steps() {
        for (; told_ < run_.steps().size(); ++told_) {
            wish_.tell(step_text(run_.steps()[told_]));
        }
    }

    void carry_out(const Deed& deed) {
        if (const auto* start = std::get_if<StartInstances>(&deed)) {
            for (std::int32_t count = 0; count < start->count; ++count) {
                auto instance = Instance::start(scenario_.application, command(), next_instance_, environment(next_instance_),
                                                wish_.shows_output);
                if (!instance) {
                    tell(Failed{instance.error()});
                    return;
                }
                ++next_instance_;
                instances_.push_back(std::move(*instance));
            }
            tell(Done{});
        } else if (const auto* end = std::get_if<EndInstances>(&deed)) {
            is_ending_ = true;
            kill_at_ms_ = end->kills ? now_ms() : now_ms() + kStopMs;
            for (Instance& instance : instances_) {
                instance.process().send(end->kills ? SIGKILL : SIGTERM);
            }
            look_at_end();
        } else {
            worker_->begin(deed, scenario_.application.topic);
        }
    }

    [[nodiscard]] const std::string& command() const {
        return wish_.command.empty() ? scenario_.application.command : wish_.command;
    }
    [[nodiscard]] std::vector<std::string> environment(std::int32_t instance) const {
        const Application& application = scenario_.application;
        Settings own{{"KAFKA_BOOTSTRAP_SERVERS", broker_.kafka},
                     {"PARTITA_BOOTSTRAP", broker_.kafka},
                     {"PARTITA_HTTP", broker_.http},
                     {"PARTITA_TOPIC", application.topic},
                     {"PARTITA_GROUP", application.group},
                     {"PARTITA_REPORT_TOPIC", application.report_topic},
                     {"PARTITA_INSTANCE", std::to_string(instance)},
                     // Python keeps lines back otherwise.
                     {"PYTHONUNBUFFERED", "1"}};
        own.insert(own.end(), application.environment.begin(), application.environment.end());
        std::vector<std::string> environment;
        for (char** variable = environ; *variable != nullptr; ++variable) {
            const std::string_view text = *variable;
            const std::string_view name = text.substr(0, text.find('='));
            if (std::ranges::find(own, name, &std::pair<std::string, std::string>::first) == own.end()) {
                environment.emplace_back(text);
            }
        }
        for (const auto& [name, value] : own) {
            environment.push_back(name + "=" + value);
        }
        return environment;
    }

    void wait() {
        std::vector<pollfd> waits{
            {wish_.interruption, POLLIN, 0}, {worker_->descriptor(), POLLIN, 0}, {broker_.process.descriptor(), POLLIN, 0}};
        for (Instance& instance : instances_) {
            for (const int descriptor : {instance.process().descriptor(), instance.output(), instance.errors()}) {
                waits.push_back({descriptor, POLLIN, 0});
            }
        }
        // A deed may take longer than the time of the scenario.
        const std::int64_t end_ms = scenario_.time_limit_ms + kStopMs;
        std::int64_t until_ms = std::min(run_.deadline_ms(), end_ms);
        until_ms = is_ending_ ? std::min(until_ms, kill_at_ms_) : until_ms;
        const std::int64_t wait_ms = std::clamp<std::int64_t>(until_ms - now_ms(), 0, std::numeric_limits<int>::max());
        ::poll(waits.data(), waits.size(), static_cast<int>(wait_ms));
        ++round_;
        if ((waits[0].revents & POLLIN) != 0) {
            tell(Stopped{"interrupted"});
            return;
        }
        if (const auto& ending = broker_.process.look()) {
            tell(Stopped{"the broker ended " + ending->how + ":\n" + end_of_log(directory_)});
            return;
        }
        hear();
        if (auto event = worker_->take()) {
            tell(std::move(*event));
        } else if (now_ms() >= end_ms) {
            tell(Stopped{"the time limit of the scenario, " + std::to_string(scenario_.time_limit_ms) +
                         " ms, is over, and the step does not end"});
        }
        if (is_ending_) {
            look_at_end();
        }
    }

    /// Reads what instances say, and notices those that ended.
    void hear() {
        for (auto instance = instances_.begin(); instance != instances_.end();) {
            const bool has_ended = instance->process().look().has_value();
            // The last lines before its end are still in the pipe.
            if (auto reports = instance->read(round_); !reports.empty()) {
                tell(Heard{std::move(reports)});
            }
            if (!has_ended) {
                ++instance;
                continue;
            }
            if (!is_ending_) {
                const Ending& ending = *instance->process().look();
                tell(InstanceEnded{.instance = instance->number(),
                                   .how = ending.how,
                                   .is_good = ending.is_good,
                                   .last_words = instance->last_words()});
            }
            instance = instances_.erase(instance);
        }
    }

    void look_at_end() {
        if (instances_.empty()) {
            is_ending_ = false;
            tell(Done{});
        } else if (now_ms() >= kill_at_ms_) {
            for (Instance& instance : instances_) {
                instance.process().send(SIGKILL);
            }
            kill_at_ms_ = now_ms() + kStopMs;
        }
    }

    /// First the application, so that it meets no broker that is gone, then the broker, then what waits for the broker.
    void stop() {
        for (Instance& instance : instances_) {
            instance.process().send(SIGTERM);
        }
        const std::int64_t until_ms = now_ms() + kStopMs;
        while (!instances_.empty() && now_ms() < until_ms) {
            std::vector<pollfd> waits;
            for (Instance& instance : instances_) {
                for (const int descriptor : {instance.process().descriptor(), instance.output(), instance.errors()}) {
                    waits.push_back({descriptor, POLLIN, 0});
                }
            }
            ::poll(waits.data(), waits.size(), static_cast<int>(until_ms - now_ms()));
            std::erase_if(instances_, [&](Instance& instance) {
                // The verdict is there; it only must not wait for room in the pipe.
                static_cast<void>(instance.read(round_));
                return instance.process().look().has_value();
            });
        }
        instances_.clear();
        broker_.process.send(SIGTERM);
        pollfd wait{broker_.process.descriptor(), POLLIN, 0};
        ::poll(&wait, 1, static_cast<int>(kStopMs));
        worker_.reset();
    }

    const Scenario& scenario_;
    const PlayWish& wish_;
    BrokerProcess broker_;
    const std::string directory_;
    const Now began_;
    Run run_;
    std::unique_ptr<DeedWorker> worker_;
    std::list<Instance> instances_;
    std::int32_t next_instance_ = 1;
    /// Instances were asked to end, and will be killed at this time.
    bool is_ending_ = false;
    std::int64_t kill_at_ms_ = 0;
    std::int64_t round_ = 0;
    std::size_t told_ = 0;
};

}  // namespace

std::expected<void, std::string> play(const Scenario& scenario, const PlayWish& wish,
                                      const std::function<void(const Run& run)>& finish) {
    PARTITA_TRY_ASSIGN(const auto directory, WorkDirectory::make());
    if (wish.keeps_directory) {
        directory->keep();
        wish.tell("The broker's log is in " + directory->path() + "\n");
    }
    PARTITA_TRY_ASSIGN(auto broker, start_broker(scenario.broker, directory->path(), wish.interruption));
    PARTITA_TRY_ASSIGN(auto worker, DeedWorker::make(broker.kafka, broker.http));
    Player player(scenario, wish, std::move(broker), std::move(worker), directory->path());
    finish(player.play());
    return {};
}

}  // namespace partita::scenarios
