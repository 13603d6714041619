// Tests when the upkeep worker runs its tasks.

#include "broker/runtime/upkeep/maintenance.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/unit/runtime/still_clock.h"

namespace partita::runtime {
namespace {

using test::StillClock;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// One worker, whose steps the test takes.
class OneWorker final : public Executor {
  public:
    std::unique_ptr<Worker> start(std::string_view, Step step) override {
        this->step = std::move(step);
        return std::make_unique<Handle>(*this);
    }

    Step step;
    int wakes = 0;

  private:
    class Handle final : public Worker {
      public:
        explicit Handle(OneWorker& worker) : worker_(worker) {}
        void wake() override { ++worker_.wakes; }

      private:
        OneWorker& worker_;
    };
};

class NotingTask final : public UpkeepTask {
  public:
    NotingTask(std::string name, std::vector<std::string>& heard) : name_(std::move(name)), heard_(heard) {}

    void begin(Instant) override { heard_.push_back(name_ + " begins"); }
    [[nodiscard]] Instant next_due() const override { return due; }
    void run_due(Now now) override {
        if (due <= now.monotonic) {
            heard_.push_back(name_ + " runs");
            due = kNever;
        }
    }
    void hear(const UpkeepBell::Heard& heard, Instant) override {
        if (heard.coordinator_lost) {
            heard_.push_back(name_ + " hears");
        }
    }
    void note_writes(Instant) override { heard_.push_back(name_ + " notes writes"); }
    [[nodiscard]] bool hears_writes() const override { return is_curious; }

    Instant due = kNever;
    bool is_curious = false;

  private:
    std::string name_;
    std::vector<std::string>& heard_;
};

class MaintenanceTest : public ::testing::Test {
  protected:
    void start(bool has_unsynced = false) {
        maintenance_.start(has_unsynced);
        if (!has_unsynced) {
            heard_.clear();
        }
    }
    /// Takes a step; returns when the next one is due.
    Instant step() {
        heard_.clear();
        return executor_.step();
    }

    StillClock clock_;
    OneWorker executor_;
    UpkeepBell bell_;
    std::vector<std::string> heard_;
    NotingTask first_{"first", heard_};
    NotingTask second_{"second", heard_};
    Maintenance maintenance_{{&first_, &second_}, bell_, Schedule{clock_, executor_}};
};

TEST_F(MaintenanceTest, RestsWhileNothingIsDue) {
    start();
    EXPECT_EQ(step(), kNever);
    EXPECT_THAT(heard_, IsEmpty());
}

TEST_F(MaintenanceTest, TasksThatAreDueRunInTheirOrderAndTheWorkerRestsUntilTheNext) {
    start();
    first_.due = Instant{clock_.ms};
    second_.due = Instant{clock_.ms};
    EXPECT_EQ(step(), kNever);
    EXPECT_THAT(heard_, ElementsAre("first runs", "second runs"));
    second_.due = Instant{clock_.ms + 70};
    EXPECT_EQ(step(), Instant{clock_.ms + 70});
    EXPECT_THAT(heard_, IsEmpty());
}

TEST_F(MaintenanceTest, AllTasksHearWhatWasRung) {
    start();
    bell_.coordinator_lost();
    (void)step();
    EXPECT_THAT(heard_, ElementsAre("first hears", "second hears"));
    (void)step();
    EXPECT_THAT(heard_, IsEmpty());
}

TEST_F(MaintenanceTest, WritesThatNobodyHasToHearOfWaitForTheNextStepThatIsDue) {
    start();
    bell_.data_written();
    EXPECT_EQ(step(), kNever);
    EXPECT_THAT(heard_, IsEmpty());
    const int wakes = executor_.wakes;
    bell_.data_written();
    EXPECT_EQ(executor_.wakes, wakes) << "what was not taken wakes nobody again";
    first_.due = Instant{clock_.ms};
    (void)step();
    EXPECT_THAT(heard_, ElementsAre("first notes writes", "second notes writes", "first runs"));
}

TEST_F(MaintenanceTest, OneTaskThatWantsToHearOfWritesIsEnough) {
    start();
    second_.is_curious = true;
    bell_.data_written();
    (void)step();
    EXPECT_THAT(heard_, ElementsAre("first notes writes", "second notes writes"));
    EXPECT_EQ(step(), kNever);
    EXPECT_THAT(heard_, IsEmpty()) << "there was no write since";
}

TEST_F(MaintenanceTest, AfterAnUncleanEndThereMayBeSomethingToSync) {
    start(true);
    EXPECT_THAT(heard_, ElementsAre("first begins", "first notes writes", "second begins", "second notes writes"));
}

}  // namespace
}  // namespace partita::runtime
