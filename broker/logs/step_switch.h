#pragma once

#include <atomic>
#include <cstdint>

namespace partita::logs {

/// Whether a step has anything to do now. Its owner turns it on and off from any thread; the list of steps that it was added to
/// reads the switches of all its steps with one load. Before that it stands for itself, so that its owner works without a list.
class StepSwitch {
  public:
    StepSwitch() = default;
    StepSwitch(const StepSwitch&) = delete;
    StepSwitch& operator=(const StepSwitch&) = delete;

    [[nodiscard]] bool is_on() const { return (word_->load(std::memory_order_relaxed) & bit_) != 0; }
    void set(bool on) {
        // Requests read the word all the time: it is written only when it changes.
        if (is_on() == on) {
            return;
        }
        if (on) {
            word_->fetch_or(bit_, std::memory_order_relaxed);
        } else {
            word_->fetch_and(~bit_, std::memory_order_relaxed);
        }
    }

    /// Shares `word` from now on, as its bit `bit`, with the state that the switch has. Once, before another thread knows the
    /// switch.
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
