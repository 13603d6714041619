// Tests how many processors a process may use.

#include "broker/runtime/loop/usable_processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace partita::test {
namespace {

using runtime::processors_of_quota;

TEST(UsableProcessors, AreTheWholeOnesThatAQuotaPaysFor) {
    EXPECT_EQ(processors_of_quota("200000 100000\n"), 2u);
    EXPECT_EQ(processors_of_quota("399999 100000\n"), 3u);
    EXPECT_EQ(processors_of_quota("50000 100000\n"), 1u) << "half of one is one that is stopped now and then";
    EXPECT_EQ(processors_of_quota("150000\n 100000\n"), 1u) << "the two files of the first version";
}

TEST(UsableProcessors, AreNotLimitedByWhatIsNoQuota) {
    for (const std::string_view content : {"max 100000\n", "-1\n 100000\n", "", " ", "200000", "200000 0\n", "x 100000"}) {
        EXPECT_EQ(processors_of_quota(content), std::nullopt) << content;
    }
}

TEST(UsableProcessors, AreThoseThatTheAffinityAllows) {
    EXPECT_GE(runtime::usable_processors(), 1u);
    // A separate thread changes its affinity, which ends with the thread.
    std::thread([] {
        const int here = ::sched_getcpu();
        ASSERT_GE(here, 0);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(here, &one);
        ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
        EXPECT_EQ(runtime::usable_processors(), 1u);
    }).join();
}

}  // namespace
}  // namespace partita::test
