#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "broker/access/authorizer.h"
#include "broker/access/standard_rules.h"
#include "broker/logs/published_topics.h"

namespace partita::runtime {

/// Kafka's StandardAuthorizer: judges by the ACLs of the published catalog. A change therefore applies to every request that
/// arrives after the answer to the change. Thread-safe.
///
/// It caches no decisions. Each is looked up in an index, in logarithmic time of the number of rules. A thread keeps the index
/// that it used last until another catalog is published, so a question takes no lock.
class AclRules final : public access::Rules {
  public:
    /// `topics` outlives the rules. A catalog must be published before the first question.
    AclRules(access::StandardSettings settings, const logs::PublishedTopics& topics)
        : settings_(std::move(settings)), topics_(topics), id_(next_id()) {}

    [[nodiscard]] bool allows(const access::Requester& requester, access::Permission permission,
                              std::optional<std::string_view> name) const override {
        return judge(settings_, acls(), requester, permission, name).is_allowed;
    }
    [[nodiscard]] std::string reason(const access::Requester& requester, access::Permission permission,
                                     std::optional<std::string_view> name) const override {
        return to_text(judge(settings_, acls(), requester, permission, name));
    }

  private:
    struct Seen {
        std::uint64_t rules_id = 0;
        std::uint64_t version = 0;
        access::AclIndexPointer acls;
    };

    [[nodiscard]] static std::uint64_t next_id() {
        static std::atomic<std::uint64_t> last_id = 0;
        return last_id.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    [[nodiscard]] const access::AclIndex& acls() const {
        thread_local Seen seen;
        // The table is published before its version, so the table read here has this version or a newer one.
        const std::uint64_t version = topics_.version();
        if (seen.version != version || seen.rules_id != id_) [[unlikely]] {
            seen = {id_, version, topics_.table()->catalog->share_acls()};
        }
        return *seen.acls;
    }

    const access::StandardSettings settings_;
    const logs::PublishedTopics& topics_;
    /// Unique among all objects of the process, past ones included.
    const std::uint64_t id_;
};

}  // namespace partita::runtime
