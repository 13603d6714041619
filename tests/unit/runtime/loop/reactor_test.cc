// What a loop turn does, with receivers that are no connections.

#include "broker/runtime/loop/reactor.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

namespace partita::test {
namespace {

class Receiver final : public runtime::ReplyReceiver {
  public:
    explicit Receiver(std::function<void()> on_read) : on_read_(std::move(on_read)) {}
    void fill_slot(std::uint64_t /*slot*/, runtime::Reply&& /*reply*/) override {}
    void send_ready() override {}
    void read_again() override {
        ++reads_;
        on_read_();
    }
    [[nodiscard]] int reads() const { return reads_; }

  private:
    std::function<void()> on_read_;
    int reads_ = 0;
};

TEST(Reactor, ReadsAgainWithoutAnEventWhereMoreIsExpected) {
    runtime::Reactor reactor(0);
    Receiver receiver([&] { reactor.stop(); });
    reactor.request_read(reactor.add_receiver(receiver));
    reactor.run();  // Nothing else would end it.
    EXPECT_EQ(receiver.reads(), 1);
}

TEST(Reactor, AReceiverThatAlwaysExpectsMoreKeepsNobodyFromHisTurn) {
    constexpr int kEvents = 1000;
    runtime::Reactor reactor(0);
    std::uint64_t id = 0;
    Receiver greedy([&] { reactor.request_read(id); });
    id = reactor.add_receiver(greedy);
    reactor.request_read(id);
    int events = 0;
    std::function<void()> follow = [&] { ++events < kEvents ? reactor.post(follow) : reactor.stop(); };
    reactor.post(follow);
    reactor.run();
    EXPECT_EQ(events, kEvents);
    EXPECT_GT(greedy.reads(), 0);
}

TEST(Reactor, ReadsNothingOfAReceiverThatHasLeft) {
    runtime::Reactor reactor(0);
    Receiver gone([] {});
    const std::uint64_t id = reactor.add_receiver(gone);
    reactor.request_read(id);
    reactor.remove_receiver(id);
    reactor.post([&] { reactor.stop(); });
    reactor.run();
    EXPECT_EQ(gone.reads(), 0);
}

}  // namespace
}  // namespace partita::test
