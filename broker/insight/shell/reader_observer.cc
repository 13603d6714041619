#include "broker/insight/shell/reader_observer.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "broker/catalog/catalog_commands.h"
#include "broker/insight/shell/key_observer.h"

namespace partita::runtime {
namespace {

using Joins = std::vector<std::pair<std::string, std::string>>;

/// The note of a topic's growths, from its own record. It says nothing new about growths that are known already.
ReaderNote growth_note(const catalog::Topic& topic, Joins joins) {
    ReaderNote::Grown grown;
    grown.catalog_sequence = topic.expansions.back()->catalog_sequence;
    grown.joins = std::move(joins);
    for (const auto& expansion : topic.expansions) {
        grown.growths.push_back(
            {expansion->old_partition_count, expansion->new_partition_count, expansion->time, expansion->log_end_offsets});
    }
    return {.topic = topic.id, .what = std::move(grown), .name = topic.name};
}

}  // namespace

ReaderObserver::ReaderObserver(const PlanSources& sources, Connections& connections, FindingsHub& findings, Executor& executor)
    : sources_(sources),
      findings_(findings),
      executor_(executor),
      reports_(sources.topics, connections, sources.groups, sources.keys.samples(), notes_),
      inquiry_(sources, connections) {}

ReaderObserver::~ReaderObserver() { stop(); }

void ReaderObserver::start() {
    sources_.topics.table()->for_each([&](const TopicState& topic) {
        if (!topic.topic->expansions.empty()) {
            notes_.leave(growth_note(*topic.topic, {}));
        }
    });
    notes_.start(executor_, [this] { return step(); });
}

void ReaderObserver::stop() { notes_.stop(); }

void ReaderObserver::topic_grew(const TopicState& topic, std::span<const std::pair<std::string, std::string>> joins) {
    ReaderNote note = growth_note(*topic.topic, {joins.begin(), joins.end()});
    // Circumstances are of the moment at which it grew, also when the observer comes to it later; of a start they are history.
    const auto& circumstances = topic.topic->expansions.back()->circumstances;
    if (circumstances && static_cast<std::size_t>(circumstances->group_count) == circumstances->groups.size()) {
        std::set<std::string>& readers = std::get<ReaderNote::Grown>(note.what).readers.emplace();
        for (const catalog::GroupAtCut& group : circumstances->groups) {
            readers.insert(group.group_id);
        }
    }
    notes_.leave(std::move(note));
    reports_.ask_all_again();
}

void ReaderObserver::on_topics_changed(const TopicsChange& change) {
    using Kind = catalog::CatalogChange::Kind;
    // Internal topics are joined with nothing, and what is told of an expansion later does not change it.
    const bool is_news = std::ranges::any_of(change.changes, [](const catalog::CatalogChange& each) {
        const catalog::TopicPointer& topic = each.after ? each.after : each.before;
        return topic && !topic->internal && each.kind != Kind::expansion_annotated;
    });
    if (is_news) {
        notes_.on_change();
    }
}

Instant ReaderObserver::step() {
    const Now now = sources_.clock.now();
    if (const std::optional<Instant> later = notes_.begin_step(now.monotonic)) {
        return *later;
    }
    const std::int64_t before_ns = sources_.clock.thread_processor_ns();
    const std::shared_ptr<const TopicTable> table = sources_.topics.table();
    settle_round(*table, now);
    const auto spent_ns = static_cast<double>(sources_.clock.thread_processor_ns() - before_ns);
    return notes_.end_step(sources_.clock.now().monotonic, static_cast<std::int64_t>(spent_ns / 1e6 / kShare));
}

std::vector<ReaderObserver::Subject> ReaderObserver::subjects(const TopicTable& table, Instant now) {
    memories_.take(notes_.take(), now);
    std::vector<Subject> subjects;
    for (auto entry = memories_.topics().begin(); entry != memories_.topics().end(); ++entry) {
        if (!entry->second.is_in(table.catalog->sequence())) {
            continue;
        }
        Subject subject{.entry = entry, .topic = table.find(entry->first), .circumstances = {}};
        if (subject.topic != nullptr) {
            subject.circumstances = inquiry_.circumstances(*subject.topic, entry->second, table);
        }
        subjects.push_back(subject);
    }
    return subjects;
}

void ReaderObserver::look(const Subject& subject, Now now) {
    auto& [id, memory] = *subject.entry;
    looks_.fetch_add(1, std::memory_order_relaxed);
    const std::string source = findings_source("readers", id);
    if (subject.topic == nullptr) {
        findings_.settle(source, {}, now.wall);
        memories_.topics().erase(subject.entry);
        return;
    }
    const ReaderInquiry::Look look = inquiry_.look(*subject.topic, memory, now.wall);
    memory.note_look(subject.circumstances, look.found, now);
    findings_.settle(source, look.findings, now.wall);
}

void ReaderObserver::note_looks(bool has_more) {
    notes_.on_looks(!memories_.topics().empty(), has_more || memories_.is_undecided(), memories_.changes_at());
}

void ReaderObserver::settle(const TopicTable& table, Now now) {
    const MutexLock lock(settle_mutex_);
    for (const Subject& subject : subjects(table, now.monotonic)) {
        look(subject, now);
    }
    note_looks(false);
}

bool ReaderObserver::settle_round(const TopicTable& table, Now now, std::int64_t budget_ns) {
    const MutexLock lock(settle_mutex_);
    const std::int64_t began_ns = sources_.clock.thread_processor_ns();
    std::vector<Subject> due = subjects(table, now.monotonic);
    std::erase_if(due, [&](const Subject& subject) {
        return subject.topic != nullptr && !subject.entry->second.is_due(subject.circumstances, now.monotonic);
    });
    std::ranges::stable_sort(due, {}, [](const Subject& subject) { return subject.entry->second.order(); });
    std::size_t done = 0;
    while (done < due.size() && (done == 0 || sources_.clock.thread_processor_ns() - began_ns < budget_ns)) {
        look(due[done++], now);
    }
    note_looks(done < due.size());
    return done < due.size();
}

}  // namespace partita::runtime
