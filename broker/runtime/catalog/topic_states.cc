#include "broker/runtime/catalog/topic_states.h"

#include <utility>
#include <vector>

#include "broker/config/log_setup.h"
#include "broker/runtime/fences/fence_step.h"
#include "broker/runtime/fences/fences.h"
#include "protocol/assert.h"
#include "protocol/shared_block.h"
#include "protocol/try.h"

namespace partita::runtime {

std::shared_ptr<const logs::TopicState> TopicStates::remake(const catalog::TopicPointer& topic, const logs::TopicState& before,
                                                            Now now) {
    auto state = make(topic, &before, now);
    PARTITA_ASSERT(state.has_value(), "a topic that does not grow needs no new log");
    return std::move(*state);
}

StorageResult<std::shared_ptr<const logs::TopicState>> TopicStates::make(const catalog::TopicPointer& topic,
                                                                         const logs::TopicState* before, Now now) {
    auto state = std::make_shared<logs::TopicState>();
    state->topic = topic;
    const TopicSettings settings = settings_.of(topic->name, topic->configs, config_.get());
    state->config = settings.topic;
    state->expansion = fences_.state_for(*topic, *state->config, before == nullptr ? nullptr : before->expansion,
                                         before == nullptr && is_serving_, now);

    if (before != nullptr) {
        state->partitions = before->partitions;
        for (const std::shared_ptr<logs::Partition>& partition : state->partitions) {
            partition->log->set_config(settings.logs);
        }
    }
    PARTITA_TRY(add_partitions(*state, settings.logs));
    add_steps(*state);
    return state;
}

void TopicStates::add_steps(logs::TopicState& state) const {
    auto steps = std::make_shared<logs::TopicSteps>();
    if (state.expansion) {
        const auto fence = std::make_shared<FenceStep>(state.expansion);
        steps->appends.push_back(fence);
        steps->reads.push_back(fence);
    }
    for (logs::TopicStepSource* source : step_sources_) {
        source->add_steps(state, *steps);
    }
    state.steps = steps->appends.empty() && steps->reads.empty() ? nullptr : std::move(steps);
}

std::shared_ptr<const logs::TopicState> TopicStates::watched(const logs::TopicState& before, Now now) {
    auto state = std::make_shared<logs::TopicState>(before);
    state->expansion = fences_.new_state(now.monotonic);
    add_steps(*state);
    return state;
}

void TopicStates::remove_logs(const logs::TopicState& topic) {
    for (const std::shared_ptr<logs::Partition>& partition : topic.partitions) {
        if (auto removed = logs_.remove(partition->log); !removed) {
            log::error("storage", "cannot remove a deleted partition",
                       {{"partition", partition->log->directory_name()}, {"reason", removed.error().message}});
        }
    }
}

StorageResult<void> TopicStates::add_partitions(logs::TopicState& state, const std::shared_ptr<const LogConfig>& log_config) {
    const PartitionIndex first{static_cast<std::int32_t>(state.partitions.size())};
    if (first.value >= state.topic->partition_count) {
        return {};
    }
    auto log_topic = std::make_shared<const LogTopic>(LogTopic{state.topic->name, state.topic->id});
    // At the start, every directory of a topic in the catalog was opened, so an unreadable one is an error. A topic that a client
    // creates later gets its own directory.
    const auto unreadable = is_serving_ ? LogDirectory::Unreadable::is_a_stray : LogDirectory::Unreadable::is_an_error;
    // This fails if a directory is in the way that cannot be moved; a user must then remove it.
    PARTITA_TRY_ASSIGN(auto logs, logs_.claim_range(log_topic, first, {state.topic->partition_count}, log_config, unreadable));
    state.partitions.reserve(static_cast<std::size_t>(state.topic->partition_count));
    SharedBlock<logs::Partition> block(logs.size());
    for (std::shared_ptr<PartitionLog>& log : logs) {
        const fetch::PartitionKey key{next_partition_key_++};
        state.partitions.push_back(block.make(std::move(log), key));
    }
    for (const LogDirectory::Stray& stray : logs_.take_new_strays()) {
        log::warning("storage",
                     stray.is_unreadable ? "set aside a directory that cannot be opened and that a new partition needed"
                                         : "set aside a directory whose partition.metadata names another topic id or none; to "
                                           "serve its data, stop the broker, remove that file and restore the directory's name",
                     {{"directory", stray.directory}, {"renamed_to", stray.renamed_to}});
    }
    return {};
}

bool TopicStates::claim(const catalog::Effects& effects, const logs::TopicTable& before, ClaimedTopics& claimed, Now now) {
    using Kind = catalog::CatalogChange::Kind;
    for (const catalog::CatalogChange& change : effects.changes) {
        if (change.kind != Kind::topic_created && change.kind != Kind::topic_expanded) {
            continue;
        }
        auto state = make(change.after, change.before ? before.find(change.after->id) : nullptr, now);
        if (!state) {
            log::error("catalog", "refused a change, because a directory with the name of a new partition cannot be moved",
                       {{"topic", change.after->name}, {"reason", state.error().message}});
            release(claimed, before);
            return false;
        }
        claimed.emplace(change.after->id, std::move(*state));
    }
    return true;
}

void TopicStates::release(ClaimedTopics& claimed, const logs::TopicTable& before) {
    for (const auto& [id, state] : claimed) {
        const logs::TopicState* known = before.find(id);
        std::vector<std::shared_ptr<PartitionLog>> logs;
        for (std::size_t index = known == nullptr ? 0 : known->partitions.size(); index < state->partitions.size(); ++index) {
            logs.push_back(state->partitions[index]->log);
        }
        logs_.release(logs);
    }
    claimed.clear();
}

}  // namespace partita::runtime
