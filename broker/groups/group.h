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

/// A group: its name, its offsets, and what it is besides (`group_kind.h`). It is of one kind at a time and may become another
/// one, with its offsets staying; new ones are classic groups without members.
struct Group {
    Group(ReaderIndex& index, std::string_view group_id, TimestampMs since);
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    const std::string id;
    /// Hears of whatever changes which topics the group has to do with.
    ReaderListing listing;
    TopicOffsets offsets;

    [[nodiscard]] GroupKind& kind() { return *kind_; }
    [[nodiscard]] const GroupKind& kind() const { return *kind_; }
    /// Null when it is of another kind. For the files of that kind; everybody else asks `kind()`.
    template <StateOfGroup Kind>
    [[nodiscard]] Kind* as() {
        return kind_->type() == Kind::kType ? static_cast<Kind*>(kind_.get()) : nullptr;
    }
    template <StateOfGroup Kind>
    [[nodiscard]] const Kind* as() const {
        return kind_->type() == Kind::kType ? static_cast<const Kind*>(kind_.get()) : nullptr;
    }
    /// Everything that it was goes, but its offsets; who waited has been answered. It is of the new kind since then, without
    /// members.
    template <StateOfGroup Kind>
    Kind& become(TimestampMs since) {
        listing.note_change();
        auto next = std::make_unique<Kind>(*this, since);
        Kind& became = *next;
        kind_ = std::move(next);
        return became;
    }

    /// Null when nothing is committed there.
    [[nodiscard]] const CommittedOffset* offset(std::string_view topic, PartitionIndex partition) const;
    /// True when nobody is in it, whatever its kind.
    [[nodiscard]] bool has_no_members() const { return kind_->empty(); }
    /// True also when it may be subscribed, for all that is known.
    [[nodiscard]] bool is_subscribed_to(std::string_view topic) const { return kind_->is_subscribed_to(topic); }

  private:
    std::unique_ptr<GroupKind> kind_;
};

}  // namespace partita::groups
