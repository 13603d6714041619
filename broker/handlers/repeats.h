#pragma once

#include <cstddef>
#include <set>

namespace partita::handlers {

/// Limits the answers for resources that one request names repeatedly. Kafka answers each time. But a description may be large:
/// all members of a group, all producers of a partition, all settings of a broker. A request of a few kilobytes could name it
/// often enough for the reply to fill the memory. So the reply omits repeats beyond a number that no client needs.
template <class Name>
class Repeats {
  public:
    /// The limit for all repeats in a request together.
    static constexpr std::size_t kAnsweredMax = 100;

    /// Tells whether to answer this occurrence of the name. Call it once for each occurrence. The memory behind `name` must live
    /// as long as this object.
    [[nodiscard]] bool is_answered(const Name& name) {
        if (named_.insert(name).second) {
            return true;
        }
        if (answered_ == kAnsweredMax) {
            return false;
        }
        ++answered_;
        return true;
    }

  private:
    std::set<Name> named_;
    std::size_t answered_ = 0;
};

}  // namespace partita::handlers
