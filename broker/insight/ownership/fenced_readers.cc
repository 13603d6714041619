#include "broker/insight/ownership/fenced_readers.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace partita::insight {
namespace {

using insight::ConnectionFacts;
using insight::GroupHistory;
using insight::LateReading;
using insight::SpeakingConnection;

/// False if they are certainly two processes.
bool may_be_one_process(const ConnectionFacts& one, const ConnectionFacts& other) {
    return !one.process || !other.process || *one.process == *other.process;
}

/// False if two clients with the same client id are certainly two programs.
bool may_be_one_client(const ConnectionFacts& one, const ConnectionFacts& other) {
    return insight::may_be_one_host(one.address, other.address) && may_be_one_process(one, other);
}

/// True if both are unknown, or the same.
bool are_equal_as_far_as_known(const ConnectionFacts& one, const ConnectionFacts& other) {
    return one.process.has_value() == other.process.has_value() && may_be_one_process(one, other);
}

bool speaks_for_others(const SpeakingConnection& connection, const Suspect& suspect, const Witnesses& witnesses) {
    return std::ranges::any_of(connection.speaks_for, [&](const insight::SpokenFor& one) {
        const bool is_suspect = one.group == suspect.group && one.member_id == suspect.member_id;
        return !is_suspect && witnesses.is_member(one);
    });
}

}  // namespace

std::uint64_t ReadNotes::mask_of(const ReadPlace& place) {
    // The last bytes of a random id are as good as a hash of it.
    const auto bit = (place.topic_id.bytes.back() + static_cast<std::uint32_t>(place.partition)) % 64U;
    return std::uint64_t{1} << bit;
}

void ReadNotes::watch(std::span<const ReadPlace> places) {
    watched_.clear();
    watched_.insert(places.begin(), places.end());
    mask_ = 0;
    for (const ReadPlace& place : watched_) {
        mask_ |= mask_of(place);
    }
    std::erase_if(reads_, [&](const SeenRead& read) { return !watched_.contains(read.place); });
}

void ReadNotes::note(const ReadPlace& place, insight::ConnectionId connection, Offset from, TimestampMs now) {
    if (!watched_.contains(place)) {
        return;
    }
    const auto known =
        std::ranges::find_if(reads_, [&](const SeenRead& read) { return read.connection == connection && read.place == place; });
    if (known != reads_.end()) {
        ++known->fetches;
        known->to = from;
        known->last = now;
    } else if (reads_.size() < kReadsMax) {
        reads_.push_back(
            {.place = place, .connection = connection, .fetches = 1, .from = from, .to = from, .first = now, .last = now});
    }
}

std::vector<SeenRead> ReadNotes::take() { return std::exchange(reads_, {}); }

bool is_surely_of(const SeenRead& read, const Suspect& suspect, const Witnesses& witnesses) {
    if (!suspect.speaker || !witnesses.owner || !witnesses.are_complete || witnesses.peers.size() > FencedReaders::kPeersMax ||
        read.first < suspect.since) {
        return false;
    }
    const ConnectionFacts& speaker = *suspect.speaker;
    const auto found =
        std::ranges::find(witnesses.peers, read.connection, [](const SpeakingConnection& one) { return one.facts.id; });
    if (found == witnesses.peers.end()) {
        return false;
    }
    const ConnectionFacts& reader = found->facts;
    const bool is_of_its_time = reader.born != kNoTimestamp && reader.born < suspect.gone;
    const bool is_of_its_client = reader.client_id == suspect.client_id && speaker.client_id == suspect.client_id &&
                                  insight::host_of(reader.address) == insight::host_of(suspect.client_host) &&
                                  insight::host_of(speaker.address) == insight::host_of(suspect.client_host);
    const ConnectionFacts& owner = *witnesses.owner;
    if (!is_of_its_time || !is_of_its_client || owner.id == reader.id || owner.id == speaker.id ||
        speaks_for_others(*found, suspect, witnesses)) {
        return false;
    }
    // This is its own connection: no other client can have sent that.
    if (reader.id == speaker.id) {
        return true;
    }
    if (!are_equal_as_far_as_known(reader, speaker) ||
        (owner.client_id == suspect.client_id && may_be_one_client(owner, reader))) {
        return false;
    }
    // A second reader of the same process, or another process with the same name: either may have sent it.
    return std::ranges::none_of(witnesses.peers, [&](const SpeakingConnection& peer) {
        if (peer.facts.id == reader.id) {
            return false;
        }
        if (peer.facts.id == speaker.id) {
            return speaks_for_others(peer, suspect, witnesses);
        }
        return may_be_one_client(peer.facts, reader);
    });
}

void FencedReaders::begin_round() {
    for (Suspect& suspect : suspects_) {
        suspect.is_confirmed = false;
    }
}

void FencedReaders::confirm(Suspect& suspect, const GroupHistory& history) {
    const auto topic = history.topics().find(suspect.topic);
    const GroupHistory::Ownership* ownership = history.find(suspect.topic, suspect.place.partition);
    const std::int32_t index = history.committer(suspect.member_id);
    if (ownership == nullptr || topic->second.topic_id != suspect.place.topic_id || index == GroupHistory::kNobody ||
        ownership->owner == GroupHistory::kNobody || ownership->owner == index || ownership->since == kNoTimestamp ||
        history.free_since(*ownership)) {
        return;
    }
    const GroupHistory::KnownMember& member = history.members()[static_cast<std::size_t>(index)];
    if (!GroupHistory::was_put_out(member) || member.gone->time != suspect.gone) {
        return;
    }
    const std::string& owner_id = history.members()[static_cast<std::size_t>(ownership->owner)].member_id;
    if (owner_id != suspect.owner_id || ownership->since != suspect.since) {
        suspect.owner_id = owner_id;
        suspect.since = ownership->since;
        suspect.fetches = 0;
    }
    suspect.is_confirmed = true;
}

void FencedReaders::look(std::string_view group, const GroupHistory& history, TimestampMs now) {
    for (Suspect& suspect : suspects_) {
        if (suspect.group == group) {
            confirm(suspect, history);
        }
    }
    for (const GroupHistory::Takeover& takeover : history.takeovers() | std::views::reverse) {
        // Takeovers are in order of time, unless clocks were set.
        if (now.value - takeover.time.value > kSpellMs || suspects_.size() == kSuspectsMax) {
            break;
        }
        if (takeover.cause != insight::TakeoverCause::lost && takeover.cause != insight::TakeoverCause::restarted) {
            continue;
        }
        const GroupHistory::KnownMember& member = history.members()[static_cast<std::size_t>(takeover.from)];
        const auto topic = history.topics().find(takeover.topic);
        const bool is_known = std::ranges::any_of(suspects_, [&](const Suspect& one) {
            return one.group == group && one.member_id == member.member_id && one.topic == takeover.topic &&
                   one.place.partition == takeover.partition;
        });
        if (is_known || !GroupHistory::was_put_out(member) || topic == history.topics().end()) {
            continue;
        }
        Suspect suspect{.group = std::string(group),
                        .member_id = member.member_id,
                        .client_id = member.client_id,
                        .client_host = member.client_host,
                        .topic = takeover.topic,
                        .place = {topic->second.topic_id, takeover.partition},
                        .gone = member.gone->time,
                        .owner_id = {},
                        .speaker = std::nullopt,
                        .last_sign = takeover.time};
        confirm(suspect, history);
        if (suspect.is_confirmed) {
            suspects_.push_back(std::move(suspect));
        }
    }
}

void FencedReaders::end_round(TimestampMs now) {
    std::erase_if(suspects_, [&](const Suspect& suspect) {
        return !suspect.is_confirmed || now.value - suspect.last_sign.value > kSpellMs;
    });
}

std::vector<ReadPlace> FencedReaders::places() const {
    std::vector<ReadPlace> places;
    for (const Suspect& suspect : suspects_) {
        if (suspect.speaker) {
            places.push_back(suspect.place);
        }
    }
    return places;
}

std::optional<LateReading> FencedReaders::count(Suspect& suspect, const SeenRead& read) {
    const std::uint64_t before = std::exchange(suspect.fetches, suspect.fetches + read.fetches);
    suspect.last_sign = std::max(suspect.last_sign, read.last);
    if (suspect.fetches < kFetchesMin) {
        return std::nullopt;
    }
    LateReading told;
    told.topic = suspect.topic;
    told.partition = suspect.place.partition;
    told.since = suspect.since;
    // Fetches that were too few to report before are reported now.
    told.fetches = before < kFetchesMin ? suspect.fetches : read.fetches;
    told.from = read.from;
    told.to = read.to;
    told.first = read.first;
    told.last = read.last;
    if (suspect.speaker && suspect.speaker->process) {
        told.process = insight::to_string(*suspect.speaker->process);
    }
    return told;
}

}  // namespace partita::insight
