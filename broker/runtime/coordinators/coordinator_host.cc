#include "broker/runtime/coordinators/coordinator_host.h"

#include <algorithm>
#include <string>

#include "broker/catalog/commands.h"
#include "broker/config/log_setup.h"
#include "broker/logs/topic_table.h"
#include "protocol/assert.h"

namespace partita::runtime {

CoordinatorHost& CoordinatorHosts::of(catalog::CoordinatorKind kind) const {
    const auto found = std::ranges::find(hosts_, kind, [](const auto& host) { return host.first; });
    PARTITA_ASSERT(found != hosts_.end(), "every kind of coordinator was added");
    return *found->second;
}

CoordinatorHost* CoordinatorHosts::find(std::string_view topic) const {
    const auto found = std::ranges::find(hosts_, topic, [](const auto& host) { return catalog::topic_of(host.first).name; });
    return found == hosts_.end() ? nullptr : found->second;
}

std::expected<void, StartError> CoordinatorHosts::load(const logs::TopicTable& table, std::span<const TopicId> removals,
                                                       Now now) {
    for (const auto& [kind, host] : hosts_) {
        const std::string_view name = catalog::topic_of(kind).name;
        const logs::TopicState* topic = table.find(name);
        if (topic == nullptr) {
            continue;
        }
        if (!host->attach(topic->partitions)) {
            PARTITA_ASSERT(false, "coordinators are set up once at the start");
        }
        if (auto loaded = host->load(now); !loaded) {
            return std::unexpected(StartError{"cannot load " + std::string(name) + ": " + loaded.error().message});
        }
    }
    for (const TopicId& id : removals) {
        if (table.find(id) != nullptr) {
            continue;  // The catalog kept this topic.
        }
        for (const auto& [kind, host] : hosts_) {
            host->topic_deleted(nullptr, {.name = {}, .topic_id = id}, now);
        }
    }
    is_loaded_ = true;
    return {};
}

void CoordinatorHosts::on_topics_changed(const logs::TopicsChange& change) {
    using Kind = catalog::CatalogChange::Kind;
    // Topics of coordinators come first. Otherwise a coordinator that forgets other topics would write to a log that is gone.
    for (const catalog::CatalogChange& one : change.changes) {
        if (one.kind == Kind::topic_deleted) {
            forget(*one.before, change.time);
        }
    }
    for (const catalog::CatalogChange& one : change.changes) {
        if (one.kind == Kind::topic_created && is_loaded_) {
            serve(*change.now.find(one.after->id), change.time);
        } else if (one.kind == Kind::topic_deleted) {
            topic_deleted(*one.before, change.turn, change.time);
        }
    }
}

void CoordinatorHosts::forget(const catalog::Topic& topic, Now now) {
    for (const auto& [kind, host] : hosts_) {
        if (catalog::topic_of(kind).name == topic.name) {
            host->forget_all(now);
        }
    }
}

void CoordinatorHosts::serve(const logs::TopicState& topic, Now now) {
    for (const auto& [kind, host] : hosts_) {
        if (catalog::topic_of(kind).name != topic.topic->name) {
            continue;
        }
        if (host->attach(topic.partitions)) {
            host->serve(now);
        } else {
            log::error("coordinators", "the partition count of the coordinator topic changed; restart the broker",
                       {{"topic", topic.topic->name}});
        }
    }
}

void CoordinatorHosts::topic_deleted(const catalog::Topic& topic, logs::Turn* turn, Now now) {
    for (const auto& [kind, host] : hosts_) {
        if (catalog::topic_of(kind).name != topic.name) {
            host->topic_deleted(turn, {.name = topic.name, .topic_id = topic.id}, now);
        }
    }
}

}  // namespace partita::runtime
