// Tests which clients the gate lets in over HTTP, with and without a token.

#include "broker/http/gate.h"

#include <gmock/gmock.h>

namespace partita::http {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kToken = "0123456789abcdef";

Gate with_token() { return Gate({.token = std::string(kToken), .bearer = std::make_shared<access::Principal>("User", "admin")}); }
std::string who(const Gate& gate, std::string_view target, std::string_view authorization, std::string_view protocols = "") {
    const auto admitted = gate.admit(parse_target(target).value(), authorization, protocols);
    return admitted ? (*admitted)->text() : std::string(admitted.error().reason);
}

TEST(Gate, WithoutATokenEverybodyIsServedAsNobody) {
    EXPECT_EQ(who(Gate(), "/v1/topics", ""), "User:ANONYMOUS");
    EXPECT_EQ(who(Gate(), "/v1/topics", "Bearer whatever"), "User:ANONYMOUS");
}

TEST(Gate, TheBearerOfTheTokenIsWhoTheBrokerSays) {
    for (const std::string_view header : {"Bearer 0123456789abcdef", "bearer 0123456789abcdef", "BEARER   0123456789abcdef"}) {
        EXPECT_EQ(who(with_token(), "/v1/topics", header), "User:admin") << header;
    }
}

TEST(Gate, WhoHasAnotherTokenOrNoneIsRefused) {
    for (const std::string_view header :
         {"Bearer 0123456789abcdeg", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0", "Bearer ", "Bearer  "}) {
        EXPECT_EQ(who(with_token(), "/v1/topics", header), "the token is not the broker's") << header;
    }
    for (const std::string_view header : {"", "Bearer", "Basic 0123456789abcdef", "0123456789abcdef"}) {
        EXPECT_THAT(who(with_token(), "/v1/topics", header), HasSubstr("needs the broker's token")) << header;
    }
    EXPECT_EQ(who(with_token(), "/v1/topics", "Bearer " + std::string(Gate::kTokenBytesMax + 1, 'a')),
              "the token is not the broker's");
    const auto missing = with_token().admit(parse_target("/v1/topics").value(), "", "");
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().challenge, "Bearer realm=\"partita\"");
}

TEST(Gate, HealthMetricsAndTheConsolesFilesAreForEverybodyAndAWrongTokenForNobody) {
    for (const std::string_view target : {"/", "/health/live", "/health/ready", "/metrics", "/console/1/app.js"}) {
        EXPECT_EQ(who(with_token(), target, ""), "User:ANONYMOUS") << target;
        EXPECT_EQ(who(with_token(), target, "Bearer 0123456789abcdef"), "User:admin") << target;
        EXPECT_EQ(who(with_token(), target, "Bearer wrong"), "the token is not the broker's") << target;
    }
    EXPECT_NE(who(with_token(), "/healthy", ""), "User:ANONYMOUS");
    EXPECT_NE(who(with_token(), "/v1", ""), "User:ANONYMOUS");
}

TEST(Gate, NamesOfClientsAreToldToTheBearerAndWhereEverythingIsServed) {
    const auto tells = [](const Gate& gate, std::string_view authorization) {
        return gate.tells_names_to(**gate.admit(parse_target("/metrics").value(), authorization, ""));
    };
    EXPECT_TRUE(tells(with_token(), "Bearer 0123456789abcdef"));
    EXPECT_FALSE(tells(with_token(), ""));
    EXPECT_TRUE(tells(Gate(), ""));
    EXPECT_FALSE(tells(Gate({.is_open = false}), ""));
}

TEST(Gate, AWebSocketMayCarryTheTokenInHexadecimal) {
    const std::string hex = "30313233343536373839616263646566";
    EXPECT_EQ(who(with_token(), "/v1/events", "", "partita, partita.token." + hex), "User:admin");
    EXPECT_EQ(who(with_token(), "/v1/events", "", "partita.token." + hex + ",partita"), "User:admin");
    for (const std::string& wrong : {hex + "0", hex.substr(2), std::string("xy"), std::string()}) {
        EXPECT_EQ(who(with_token(), "/v1/events", "", "partita, partita.token." + wrong), "the token is not the broker's")
            << wrong;
    }
    EXPECT_THAT(who(with_token(), "/v1/events", "", "partita"), HasSubstr("needs the broker's token"));
}

TEST(Gate, AClosedOneServesHealthAndMetricsAlone) {
    const Gate closed({.token = "", .is_open = false});
    EXPECT_EQ(who(closed, "/health/live", ""), "User:ANONYMOUS");
    EXPECT_EQ(who(closed, "/metrics", ""), "User:ANONYMOUS");
    EXPECT_THAT(who(closed, "/v1/topics", "Bearer 0123456789abcdef"), HasSubstr("partita.http.token.file"));
}

}  // namespace
}  // namespace partita::http
