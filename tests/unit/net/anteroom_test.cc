#include "broker/net/anteroom.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

namespace partita::net {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Instant kBegin{1'000'000};

class AnteroomTest : public ::testing::Test {
  protected:
    /// A client that leaves when it is turned away, as a connection does.
    struct Client final : Anteroom::Guest {
        Client(AnteroomTest& test, std::string name) : test(test), name(std::move(name)) {}
        void turn_away(std::string_view reason) override {
            test.turned_away.push_back(name);
            test.reasons.emplace_back(reason);
            test.anteroom.leave(place);
        }

        AnteroomTest& test;
        std::string name;
        Anteroom::Place place;
    };

    Client& enter(const std::string& name, Instant came) {
        clients.push_back(std::make_unique<Client>(*this, name));
        clients.back()->place = anteroom.enter(*clients.back(), came);
        return *clients.back();
    }

    Anteroom anteroom{{.waiting_max = 3, .time_ms_max = 500}};
    std::vector<std::unique_ptr<Client>> clients;
    std::vector<std::string> turned_away;
    std::vector<std::string> reasons;
};

TEST_F(AnteroomTest, WhoIsNotKnownInTimeIsTurnedAwayAndNotBefore) {
    enter("a", kBegin);
    enter("b", kBegin + 100);
    EXPECT_EQ(anteroom.next_deadline(), kBegin + 500);
    anteroom.turn_away_overdue(kBegin + 499);
    EXPECT_TRUE(turned_away.empty());
    anteroom.turn_away_overdue(kBegin + 500);
    EXPECT_THAT(turned_away, ElementsAre("a"));
    EXPECT_THAT(reasons, ElementsAre(HasSubstr("longer than 500 ms (partita.authentication.time.max.ms)")));
    EXPECT_EQ(anteroom.next_deadline(), kBegin + 600);
    anteroom.turn_away_overdue(kBegin + 10'000);
    EXPECT_THAT(turned_away, ElementsAre("a", "b"));
    EXPECT_EQ(anteroom.next_deadline(), std::nullopt);
}

TEST_F(AnteroomTest, WhoHasLeftIsLeftAlone) {
    const Client& known = enter("known", kBegin);
    anteroom.leave(known.place);
    anteroom.leave(known.place);
    EXPECT_EQ(anteroom.next_deadline(), std::nullopt);
    anteroom.turn_away_overdue(kBegin + 10'000);
    EXPECT_TRUE(turned_away.empty());
}

TEST_F(AnteroomTest, TheOneThatCameFirstMakesRoom) {
    enter("a", kBegin);
    enter("b", kBegin);
    enter("c", kBegin + 1);
    EXPECT_TRUE(turned_away.empty());
    enter("d", kBegin + 1);
    EXPECT_EQ(anteroom.count(), 3u);
    EXPECT_THAT(turned_away, ElementsAre("a"));
    EXPECT_THAT(reasons, ElementsAre(HasSubstr("partita.authentication.waiting.max")));
    enter("e", kBegin + 2);
    EXPECT_THAT(turned_away, ElementsAre("a", "b")) << "of one moment it is the one that entered first";
}

TEST_F(AnteroomTest, TheTimeOfAHandshakeIsNotGivenAgainToTheLogin) {
    const Client& handshake = enter("handshake", kBegin);
    enter("other", kBegin + 50);
    anteroom.leave(handshake.place);
    enter("login", handshake.place.came);
    EXPECT_EQ(anteroom.next_deadline(), kBegin + 500);
    anteroom.turn_away_overdue(kBegin + 500);
    EXPECT_THAT(turned_away, ElementsAre("login"));
}

}  // namespace
}  // namespace partita::net
