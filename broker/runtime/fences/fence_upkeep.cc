#include "broker/runtime/fences/fence_upkeep.h"

#include <memory>
#include <string>

#include "broker/config/log_setup.h"
#include "broker/insight/hub/findings_hub.h"
#include "broker/logs/published_topics.h"

namespace partita::runtime {
namespace {

std::string window_name(insight::Fence::WindowState state) {
    return state == insight::Fence::WindowState::closed_by_proof ? "every producer is proven to know the new count"
                                                                 : "its time is over";
}

}  // namespace

void FenceUpkeep::run_due(Now now) {
    if (now.monotonic < next_due()) {
        return;
    }
    next_ = now.monotonic + kEveryMs;
    // Read the count first: the thread that opens a fence meanwhile counts it.
    const int counted_before = fences_.count();
    int fences = 0;
    topics_.table()->for_each([&](const logs::TopicState& topic) {
        if (topic.expansion) {
            keep_up(topic, now);
            fences += topic.expansion->status().has_fence ? 1 : 0;
        }
    });
    forget_deleted(now);
    fences_.note_upkeep(fences - counted_before, 0);
}

void FenceUpkeep::keep_up(const logs::TopicState& topic, Now now) {
    const TopicId& id = topic.topic->id;
    const TopicExpansion::Upkeep found = topic.expansion->upkeep(topic, now);
    fences_.note_upkeep(0, found.new_timeouts);
    if (!found.findings.empty() || told_.contains(id)) {
        findings_.settle(insight::findings_source("fence", id), found.findings, now.wall);
        told_.insert(id);
    }
    if (found.findings.empty()) {
        told_.erase(id);
    }
    if (found.closed != insight::Fence::WindowState::none) {
        log::info("expansion", "closed the window of an expansion: " + window_name(found.closed), {{"topic", topic.topic->name}});
    }
    // Keep the file if the topic grew again since: it then holds the new fence.
    if (found.is_over && !topic.expansion->status().has_fence) {
        fences_.remove_stored(id);
    }
    if (found.store && !fences_.store(*topic.topic, *found.store, true)) {
        topic.expansion->not_stored();
    }
}

void FenceUpkeep::forget_deleted(Now now) {
    const std::shared_ptr<const logs::TopicTable> table = topics_.table();
    std::erase_if(told_, [&](const TopicId& id) {
        const bool is_gone = table->find(id) == nullptr;
        if (is_gone) {
            findings_.settle(insight::findings_source("fence", id), {}, now.wall);
        }
        return is_gone;
    });
}

void FenceUpkeep::store_all() {
    topics_.table()->for_each([&](const logs::TopicState& topic) {
        if (const auto fence = topic.expansion ? topic.expansion->encoded_fence() : std::nullopt) {
            // If the fence cannot be stored, `store` logs that, and the next start uses the older one.
            (void)fences_.store(*topic.topic, *fence, true);
        }
    });
}

}  // namespace partita::runtime
