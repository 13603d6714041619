#include "broker/runtime/clients/numeric_address.h"

#include <gtest/gtest.h>

#include <boost/asio/ip/address.hpp>

namespace partita::runtime {
namespace {

std::string told(const char* address) { return numeric_address(boost::asio::ip::make_address(address)); }

TEST(NumericAddress, IPv4ClientOfASocketThatServesBothHasItsIPv4Address) {
    EXPECT_EQ(told("10.0.0.1"), "10.0.0.1");
    EXPECT_EQ(told("::ffff:10.0.0.1"), "10.0.0.1");
}

TEST(NumericAddress, ZonesAreLeftOut) {
    EXPECT_EQ(told("fe80::1%1"), "fe80::1");
    EXPECT_EQ(told("2001:db8::1"), "2001:db8::1");
}

TEST(NumericAddress, LoopbackIsToldInEveryForm) {
    for (const char* here : {"127.0.0.1", "127.3.4.5", "::1", "::ffff:127.0.0.1"}) {
        EXPECT_TRUE(is_loopback(boost::asio::ip::make_address(here))) << here;
    }
    for (const char* elsewhere : {"10.0.0.1", "::ffff:10.0.0.1", "::"}) {
        EXPECT_FALSE(is_loopback(boost::asio::ip::make_address(elsewhere))) << elsewhere;
    }
}

}  // namespace
}  // namespace partita::runtime
