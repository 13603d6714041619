#include "broker/insight/local/event_history.h"

#include <algorithm>
#include <utility>

#include "broker/config/log_setup.h"
#include "broker/insight/local/findings_topic.h"
#include "broker/logs/record_page.h"

namespace partita::insight {

TopicEventHistory::TopicEventHistory(std::shared_ptr<logs::Partition> partition)
    : partition_(std::move(partition)),
      end_(partition_->log->log_end_offset()),
      next_(std::max(partition_->log->log_start_offset(), Offset{end_.value - kEventsMax})) {}

std::vector<std::string> TopicEventHistory::next() {
    std::vector<std::string> events;
    // Retention may remove records meanwhile.
    next_ = std::max(next_, partition_->log->log_start_offset());
    if (!has_more()) {
        return events;
    }
    auto page = logs::read_page(*partition_, next_, {.records = kPageEvents});
    if (!page) {
        log::warning("expansion", "could not read earlier findings; those that are not read do not come back",
                     {{"topic", FindingsTopic::kName}, {"offset", next_.value}});
        next_ = end_;
        return events;
    }
    for (logs::FoundRecord& record : page->records) {
        if (record.value && record.offset < end_) {
            events.push_back(*std::move(record.value));
        }
    }
    // A page without progress would never end.
    next_ = page->next > next_ ? page->next : end_;
    return events;
}

}  // namespace partita::insight
