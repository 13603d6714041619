#include "broker/net/pending_logins.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

namespace partita::net {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Instant kBegin{1'000'000};

class PendingLoginsTest : public ::testing::Test {
  protected:
    /// A client that leaves when it is turned away, as a connection does.
    struct Client final : PendingLogins::Waiter {
        Client(PendingLoginsTest& test, std::string name) : test(test), name(std::move(name)) {}
        void turn_away(std::string_view reason) override {
            test.turned_away.push_back(name);
            test.reasons.emplace_back(reason);
            test.logins.leave(place);
        }

        PendingLoginsTest& test;
        std::string name;
        PendingLogins::Place place;
    };

    Client& enter(const std::string& name, Instant came) {
        clients.push_back(std::make_unique<Client>(*this, name));
        clients.back()->place = logins.enter(*clients.back(), came);
        return *clients.back();
    }

    PendingLogins logins{{.waiting_max = 3, .time_ms_max = 500}};
    std::vector<std::unique_ptr<Client>> clients;
    std::vector<std::string> turned_away;
    std::vector<std::string> reasons;
};

TEST_F(PendingLoginsTest, WhoIsNotKnownInTimeIsTurnedAwayAndNotBefore) {
    enter("a", kBegin);
    enter("b", kBegin + 100);
    EXPECT_EQ(logins.next_deadline(), kBegin + 500);
    logins.turn_away_overdue(kBegin + 499);
    EXPECT_TRUE(turned_away.empty());
    logins.turn_away_overdue(kBegin + 500);
    EXPECT_THAT(turned_away, ElementsAre("a"));
    EXPECT_THAT(reasons, ElementsAre(HasSubstr("longer than 500 ms (partita.authentication.time.max.ms)")));
    EXPECT_EQ(logins.next_deadline(), kBegin + 600);
    logins.turn_away_overdue(kBegin + 10'000);
    EXPECT_THAT(turned_away, ElementsAre("a", "b"));
    EXPECT_EQ(logins.next_deadline(), std::nullopt);
}

TEST_F(PendingLoginsTest, WhoHasLeftIsLeftAlone) {
    const Client& known = enter("known", kBegin);
    logins.leave(known.place);
    logins.leave(known.place);
    EXPECT_EQ(logins.next_deadline(), std::nullopt);
    logins.turn_away_overdue(kBegin + 10'000);
    EXPECT_TRUE(turned_away.empty());
}

TEST_F(PendingLoginsTest, TheOneThatCameFirstMakesRoom) {
    enter("a", kBegin);
    enter("b", kBegin);
    enter("c", kBegin + 1);
    EXPECT_TRUE(turned_away.empty());
    enter("d", kBegin + 1);
    EXPECT_EQ(logins.count(), 3u);
    EXPECT_THAT(turned_away, ElementsAre("a"));
    EXPECT_THAT(reasons, ElementsAre(HasSubstr("partita.authentication.waiting.max")));
    enter("e", kBegin + 2);
    EXPECT_THAT(turned_away, ElementsAre("a", "b")) << "of one moment it is the one that entered first";
}

TEST_F(PendingLoginsTest, TheTimeOfAHandshakeIsNotGivenAgainToTheLogin) {
    const Client& handshake = enter("handshake", kBegin);
    enter("other", kBegin + 50);
    logins.leave(handshake.place);
    enter("login", handshake.place.came);
    EXPECT_EQ(logins.next_deadline(), kBegin + 500);
    logins.turn_away_overdue(kBegin + 500);
    EXPECT_THAT(turned_away, ElementsAre("login"));
}

}  // namespace
}  // namespace partita::net
