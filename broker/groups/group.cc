#include "broker/groups/group.h"

#include "broker/groups/classic_group.h"

namespace partita::groups {

const std::string& GroupKind::id() const { return group_.id; }

Group::Group(ReaderIndex& index, std::string_view group_id, TimestampMs since)
    : id(group_id), listing(index, *this), offsets(listing), kind_(std::make_unique<ClassicGroup>(*this, since)) {}

const CommittedOffset* Group::offset(std::string_view topic, PartitionIndex partition) const {
    const auto known = offsets.find(topic);
    if (known == offsets.end()) {
        return nullptr;
    }
    const auto committed = known->second.find(partition);
    return committed == known->second.end() ? nullptr : &committed->second;
}

}  // namespace partita::groups
