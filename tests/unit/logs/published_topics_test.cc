#include "broker/logs/published_topics.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/unit/runtime/topic_tables.h"

namespace partita::runtime {
namespace {

using ::testing::ElementsAre;

class NotingListener final : public logs::TopicsListener {
  public:
    NotingListener(std::string name, const logs::PublishedTopics& topics, std::vector<std::string>& heard)
        : name_(std::move(name)), topics_(topics), heard_(heard) {}
    void on_topics_changed(const logs::TopicsChange& change) override {
        // A listener that is told of a change can look it up.
        const bool is_published = topics_.table().get() == &change.now;
        heard_.push_back(name_ + (is_published ? "" : " too early"));
    }

  private:
    std::string name_;
    const logs::PublishedTopics& topics_;
    std::vector<std::string>& heard_;
};

TEST(PublishedTopicsTest, ListenersHearInTheirOrderOfWhatIsPublished) {
    catalog::TestCatalog catalog;
    logs::PublishedTopics topics;
    std::vector<std::string> heard;
    NotingListener first("first", topics, heard);
    NotingListener second("second", topics, heard);
    topics.add_listener(first);
    topics.add_listener(second);
    const auto before = table_without_logs(catalog);
    topics.publish(before);
    EXPECT_THAT(heard, ElementsAre());
    ASSERT_FALSE(catalog.create("t", 1).failed());
    const auto now = table_without_logs(catalog);
    const std::uint64_t version = topics.version();
    topics.publish(now);
    EXPECT_GT(topics.version(), version);
    topics.tell({.before = *before, .now = *now, .changes = catalog.last_effects.changes});
    EXPECT_THAT(heard, ElementsAre("first", "second"));
}

}  // namespace
}  // namespace partita::runtime
