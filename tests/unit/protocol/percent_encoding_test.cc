#include "protocol/percent_encoding.h"

#include <gtest/gtest.h>

namespace partita {
namespace {

TEST(PercentEncoding, PartsOfAPathKeepNoLetterThatMeansSomethingThere) {
    EXPECT_EQ(percent_encoded("a-z_0.9~"), "a-z_0.9~");
    EXPECT_EQ(percent_encoded("a/b?c=d&e%f +\xc3\xa4"), "a%2Fb%3Fc%3Dd%26e%25f%20%2B%C3%A4");
}

}  // namespace
}  // namespace partita
