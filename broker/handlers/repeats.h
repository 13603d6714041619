#pragma once

#include <cstddef>
#include <set>

namespace partita::handlers {

/// What one request names more than once. Kafka answers for each time; but what is described may be large (all members of a
/// group, all producers of a partition, all settings of a broker), and a request of some kilobytes could name it so often that
/// its reply fills the memory. So repeats beyond a number that nobody needs are left out of the reply.
template <class Name>
class Repeats {
  public:
    /// Of all names of a request together.
    static constexpr std::size_t kAnsweredMax = 100;

    /// Asked once for each time that the request names something: whether this time is answered. What `name` refers to has to
    /// live as long as this.
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
