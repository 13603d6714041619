#include "broker/assembly/addons.h"

namespace partita::assembly {

Schedule schedule_of(const config::BrokerConfig& config, const Schedule& machine) {
    for (const Addition* addition : additions()) {
        if (addition->schedule != nullptr) {
            return addition->schedule(config, machine);
        }
    }
    return machine;
}

FileSystem* file_system_of(const config::BrokerConfig& config) {
    for (const Addition* addition : additions()) {
        if (addition->file_system != nullptr) {
            return addition->file_system(config);
        }
    }
    return nullptr;
}

Addons::Addons(const config::BrokerConfig& config) {
    for (const Addition* addition : additions()) {
        addons_.push_back(addition->make(config));
    }
}

const access::Rules* Addons::rules(const access::Rules* rules) {
    for (const auto& addon : addons_) {
        rules = addon->rules(rules);
    }
    return rules;
}

void Addons::attach(const AddonPlace& place, handlers::Extensions& extensions) {
    for (const auto& addon : addons_) {
        addon->attach(place, extensions);
    }
}

void Addons::add_steps(logs::AppendSteps& appends, logs::ReadSteps& reads) {
    for (const auto& addon : addons_) {
        addon->add_steps(appends, reads);
    }
}

void Addons::load(Now now) {
    for (const auto& addon : addons_) {
        addon->load(now);
    }
}

void Addons::announce() const {
    for (const auto& addon : addons_) {
        addon->announce();
    }
}

void Addons::start() {
    for (const auto& addon : addons_) {
        addon->start();
    }
}

void Addons::stop() {
    for (const auto& addon : addons_) {
        addon->stop();
    }
}

}  // namespace partita::assembly
