#include "broker/insight/local/watched_topics.h"

#include <algorithm>

#include "broker/catalog/commands.h"
#include "broker/insight/shell/reader_observer.h"

namespace partita::insight {

void WatchedTopicsChange::on_topics_changed(const logs::TopicsChange& change) {
    using Kind = catalog::CatalogChange::Kind;
    // Internal topics have no joins, and a later note about an expansion does not change joins.
    const bool is_news = std::ranges::any_of(change.changes, [](const catalog::CatalogChange& each) {
        const catalog::TopicPointer& topic = each.after ? each.after : each.before;
        return topic && !topic->internal && each.kind != Kind::expansion_annotated;
    });
    if (is_news) {
        readers_.topics_changed();
    }
}

}  // namespace partita::insight
