#include "broker/insight/shell/reader_observer.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "broker/insight/shell/key_observer.h"

namespace partita::insight {
namespace {

/// A note with no news about growths that are known already.
ReaderNote growth_note(GrownTopic topic) {
    return {.topic = topic.id,
            .what = ReaderNote::Grown{.growths = std::move(topic.growths),
                                      .sequence = topic.sequence,
                                      .joins = std::move(topic.joins),
                                      .readers = std::move(topic.readers)},
            .name = std::move(topic.name)};
}

}  // namespace

ReaderObserver::ReaderObserver(const PlanSources& sources, FindingsHub& findings, Executor& executor)
    : sources_(sources),
      findings_(findings),
      executor_(executor),
      reports_(sources.cluster.clients(), sources.cluster.groups(), sources.keys.samples(), notes_),
      inquiry_(sources) {}

ReaderObserver::~ReaderObserver() { stop(); }

void ReaderObserver::start() {
    for (GrownTopic& topic : sources_.cluster.topics()->grown()) {
        notes_.leave(growth_note(std::move(topic)));
    }
    notes_.start(executor_, [this] { return step(); });
}

void ReaderObserver::stop() { notes_.stop(); }

void ReaderObserver::topic_grew(GrownTopic topic) {
    notes_.leave(growth_note(std::move(topic)));
    reports_.ask_all_again();
}

Instant ReaderObserver::step() {
    const Now now = sources_.clock.now();
    if (const std::optional<Instant> later = notes_.begin_step(now.monotonic)) {
        return *later;
    }
    const std::int64_t before_ns = sources_.clock.thread_processor_ns();
    settle_round(*sources_.cluster.topics(), now);
    const double share = is_reading_.load(std::memory_order_relaxed) ? kReadShare : kShare;
    const auto spent_ns = static_cast<double>(sources_.clock.thread_processor_ns() - before_ns);
    return notes_.end_step(sources_.clock.now().monotonic, static_cast<std::int64_t>(spent_ns / 1e6 / share));
}

std::vector<ReaderObserver::Subject> ReaderObserver::subjects(const ObservedTopics& topics, Instant now) {
    memories_.take(notes_.take(), now);
    std::vector<Subject> subjects;
    for (auto entry = memories_.topics().begin(); entry != memories_.topics().end(); ++entry) {
        if (!entry->second.is_in(topics.sequence())) {
            continue;
        }
        Subject subject{.entry = entry, .topic = topics.find(entry->first), .circumstances = {}};
        if (subject.topic != nullptr) {
            subject.circumstances = inquiry_.circumstances(*subject.topic, entry->second, topics);
        }
        subjects.push_back(std::move(subject));
    }
    return subjects;
}

void ReaderObserver::look(const Subject& subject, std::size_t read_bytes_max, Now now) {
    auto& [id, memory] = *subject.entry;
    looks_.fetch_add(1, std::memory_order_relaxed);
    const std::string source = findings_source("readers", id);
    if (subject.topic == nullptr) {
        findings_.settle(source, {}, now.wall);
        memories_.topics().erase(subject.entry);
        return;
    }
    const ReaderInquiry::Look look = inquiry_.look(*subject.topic, memory, read_bytes_max, now.wall);
    memory.note_look(subject.circumstances, look.found, now);
    findings_.settle(source, look.findings, now.wall);
}

void ReaderObserver::note_looks(bool has_more) {
    is_reading_.store(memories_.is_reading(), std::memory_order_relaxed);
    notes_.on_looks(!memories_.topics().empty(), has_more || memories_.is_undecided(), memories_.changes_at());
}

void ReaderObserver::settle(const ObservedTopics& topics, Now now) {
    const MutexLock lock(settle_mutex_);
    for (const Subject& subject : subjects(topics, now.monotonic)) {
        look(subject, std::numeric_limits<std::size_t>::max(), now);
    }
    note_looks(false);
}

ReaderObserver::WrongKeyPage ReaderObserver::wrong_keys(const ObservedTopic& topic, const OrderWatch::Reader& reader,
                                                        std::size_t from, std::size_t most) {
    std::vector<WrongKey> all;
    {
        const MutexLock lock(settle_mutex_);
        const auto memory = memories_.topics().find(topic.ref().id);
        if (memory != memories_.topics().end()) {
            all = memory->second.readers().wrong_keys(reader);
        }
    }
    WrongKeyPage page{.keys = {}, .total = all.size()};
    const std::unique_ptr<KeyedRecords> records = topic.records(std::numeric_limits<std::size_t>::max());
    for (std::size_t index = from; index < all.size() && page.keys.size() < most; ++index) {
        const KeyCut& cut = all[index].cut;
        page.keys.push_back({records ? records->key_at(cut.from, cut.earlier) : std::nullopt, all[index]});
    }
    return page;
}

bool ReaderObserver::settle_round(const ObservedTopics& topics, Now now, std::int64_t budget_ns) {
    const MutexLock lock(settle_mutex_);
    const std::int64_t began_ns = sources_.clock.thread_processor_ns();
    std::vector<Subject> due = subjects(topics, now.monotonic);
    std::erase_if(due, [&](const Subject& subject) {
        return subject.topic != nullptr && !subject.entry->second.is_due(subject.circumstances, now.monotonic);
    });
    std::ranges::stable_sort(due, {}, [](const Subject& subject) { return subject.entry->second.order(); });
    std::size_t done = 0;
    while (done < due.size() && (done == 0 || sources_.clock.thread_processor_ns() - began_ns < budget_ns)) {
        look(due[done++], kReadBytes, now);
    }
    note_looks(done < due.size());
    return done < due.size();
}

}  // namespace partita::insight
