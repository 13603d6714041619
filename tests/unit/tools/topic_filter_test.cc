#include "broker/tools/topic_filter.h"

#include <gmock/gmock.h>

namespace partita::tools {
namespace {

TEST(TopicFilter, HidesEveryInternalTopicWhereTheseAreExcluded) {
    const auto filter = TopicFilter::parse(".*");
    ASSERT_TRUE(filter);
    for (const std::string_view name : {"__consumer_offsets", "__transaction_state", "__share_group_state", "__partita_claims"}) {
        EXPECT_FALSE(filter->allows(name, true)) << name;
        EXPECT_TRUE(filter->allows(name, false)) << name;
    }
    EXPECT_TRUE(filter->allows("orders", true));
}

}  // namespace
}  // namespace partita::tools
