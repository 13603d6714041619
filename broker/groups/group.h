#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "broker/groups/committed_offset.h"
#include "broker/groups/group_kind.h"
#include "broker/groups/reader_index.h"
#include "protocol/types.h"

namespace partita::groups {

/// A group: its name, its offsets, and the state of its kind (`group_kind.h`). It has one kind at a time and may change it,
/// keeping its offsets. New groups are classic groups without members.
struct Group {
    Group(ReaderIndex& index, std::string_view group_id, TimestampMs since);
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    const std::string id;
    /// Must be notified of every change of the topics that the group names.
    ReaderListing listing;
    TopicOffsets offsets;

    [[nodiscard]] GroupKind& kind() { return *kind_; }
    [[nodiscard]] const GroupKind& kind() const { return *kind_; }
    /// Null if the group is of another kind. Only for the files of that kind; all other code uses `kind()`.
    template <StateOfGroup Kind>
    [[nodiscard]] Kind* as() {
        return kind_->type() == Kind::kType ? static_cast<Kind*>(kind_.get()) : nullptr;
    }
    template <StateOfGroup Kind>
    [[nodiscard]] const Kind* as() const {
        return kind_->type() == Kind::kType ? static_cast<const Kind*>(kind_.get()) : nullptr;
    }
    /// Replaces the state of the old kind by an empty one of the new kind; offsets stay. The caller must have answered all
    /// waiting requests.
    template <StateOfGroup Kind>
    Kind& become(TimestampMs since) {
        listing.note_change();
        auto next = std::make_unique<Kind>(*this, since);
        Kind& became = *next;
        kind_ = std::move(next);
        return became;
    }

    /// Null if the group has no offset there.
    [[nodiscard]] const CommittedOffset* offset(std::string_view topic, PartitionIndex partition) const;
    /// True if the group has no members, whatever its kind.
    [[nodiscard]] bool has_no_members() const { return kind_->empty(); }
    /// Also true if the group cannot exclude a subscription.
    [[nodiscard]] bool is_subscribed_to(std::string_view topic) const { return kind_->is_subscribed_to(topic); }

  private:
    std::unique_ptr<GroupKind> kind_;
};

}  // namespace partita::groups
