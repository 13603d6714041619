#pragma once

#include <atomic>
#include <cstdint>

namespace partita::logs {

/// Tells whether a step has anything to do now. Its owner turns it on and off from any thread. The step list that the step was
/// added to reads the switches of all its steps with one load. A switch that is in no list yet keeps its own state, so that its
/// owner also works without a list.
class StepSwitch {
  public:
    StepSwitch() = default;
    StepSwitch(const StepSwitch&) = delete;
    StepSwitch& operator=(const StepSwitch&) = delete;

    [[nodiscard]] bool is_on() const { return (word_->load(std::memory_order_relaxed) & bit_) != 0; }
    void set(bool on) {
        // Requests read this word all the time, so write it only if it changes.
        if (is_on() == on) {
            return;
        }
        if (on) {
            word_->fetch_or(bit_, std::memory_order_relaxed);
        } else {
            word_->fetch_and(~bit_, std::memory_order_relaxed);
        }
    }

    /// Moves the switch, with its present state, to bit `bit` of `word`. Call this once, before another thread knows the switch.
    void join(std::atomic<std::uint32_t>& word, std::uint32_t bit) {
        const bool was_on = is_on();
        word_ = &word;
        bit_ = bit;
        set(was_on);
    }

  private:
    std::atomic<std::uint32_t> own_ = 0;
    std::atomic<std::uint32_t>* word_ = &own_;
    std::uint32_t bit_ = 1;
};

}  // namespace partita::logs
