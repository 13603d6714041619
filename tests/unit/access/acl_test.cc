#include "broker/access/acl.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <set>

#include "broker/access/acl_index.h"
#include "broker/access/host.h"
#include "broker/access/standard_rules.h"
#include "tests/support/processor_time.h"

namespace partita::access {
namespace {

Acl acl_of(AclEffect effect, std::string principal, Operation operation, std::string name,
           PatternType pattern = PatternType::literal, ResourceType resource = ResourceType::topic, std::string host = "*") {
    return {.resource = resource,
            .pattern = pattern,
            .name = std::move(name),
            .principal = std::move(principal),
            .host = std::move(host),
            .operation = operation,
            .effect = effect};
}

AclIndex index_of(const std::vector<Acl>& acls) {
    std::vector<AclPointer> pointers;
    for (const Acl& acl : acls) {
        pointers.push_back(std::make_shared<const Acl>(acl));
    }
    return AclIndex(std::move(pointers));
}

bool holds_for(const Acl& acl, std::string_view name) {
    return acl.pattern == PatternType::prefixed ? name.starts_with(acl.name) : acl.name == name || acl.name == kWildcard;
}

bool is_for(const Acl& acl, const Requester& requester) {
    return (acl.principal == requester.principal.text() || acl.principal == "User:*") &&
           (acl.host == "*" || acl.host == requester.address);
}

/// Applies Kafka's rules one by one, over all ACLs.
AclVerdict::Kind told_by_looking_at_all(const std::vector<Acl>& acls, const Requester& requester, Permission permission,
                                        std::string_view name) {
    static const std::map<Operation, std::set<Operation>> kImplied = {
        {Operation::describe, {Operation::read, Operation::write, Operation::erase, Operation::alter}},
        {Operation::describe_configs, {Operation::alter_configs}},
    };
    bool found = false;
    bool allowed = false;
    for (const Acl& acl : acls) {
        if (acl.resource != permission.resource || !holds_for(acl, name)) {
            continue;
        }
        found = true;
        if (!is_for(acl, requester)) {
            continue;
        }
        const bool is_same = acl.operation == permission.operation || acl.operation == Operation::all;
        const auto implied = kImplied.find(permission.operation);
        if (acl.effect == AclEffect::deny && is_same) {
            return AclVerdict::Kind::denied;
        }
        if (acl.effect == AclEffect::allow &&
            (is_same || (implied != kImplied.end() && implied->second.contains(acl.operation)))) {
            allowed = true;
        }
    }
    if (allowed) {
        return AclVerdict::Kind::allowed;
    }
    return found ? AclVerdict::Kind::not_allowed : AclVerdict::Kind::no_rules;
}

/// Whether the client may do this with any name: tries all names that rules could tell apart.
bool some_name_is_allowed(const std::vector<Acl>& acls, const Requester& requester, Permission permission) {
    const auto asks_exactly = [&](const Acl& acl) {
        return acl.resource == permission.resource && is_for(acl, requester) &&
               (acl.operation == permission.operation || acl.operation == Operation::all);
    };
    for (const Acl& pattern : acls) {
        if (!asks_exactly(pattern) || pattern.effect != AclEffect::allow) {
            continue;
        }
        // A name that begins with the pattern and has no literal rule: only a rule that denies the whole prefix denies it.
        const std::string name = pattern.pattern == PatternType::prefixed ? pattern.name + "\x7f"
                                 : pattern.name == kWildcard              ? "\x7f"
                                                                          : pattern.name;
        const bool is_denied = std::ranges::any_of(
            acls, [&](const Acl& acl) { return asks_exactly(acl) && acl.effect == AclEffect::deny && holds_for(acl, name); });
        if (!is_denied) {
            return true;
        }
    }
    return false;
}

class Rulebook {
  public:
    explicit Rulebook(std::uint32_t seed) : random_(seed) {}

    Acl rule() {
        return {.resource = pick(kResources),
                .pattern = chance(3) ? PatternType::literal : PatternType::prefixed,
                .name = chance(12) ? "*" : name(),
                .principal = chance(4) ? "User:*" : pick(kPrincipals),
                .host = chance(3) ? pick(kHosts) : "*",
                .operation = chance(6) ? Operation::all : pick(kOperations),
                .effect = chance(4) ? AclEffect::deny : AclEffect::allow};
    }
    std::string name() {
        std::string text;
        const std::uint32_t length = 1 + random_() % 5;
        while (text.size() < length) {
            text += chance(8) ? '*' : static_cast<char>('a' + random_() % 2);
        }
        return text;
    }
    Permission permission() { return {pick(kOperations), pick(kResources)}; }
    std::string principal() { return chance(6) ? "*" : pick(kPrincipals).substr(5); }
    std::string host() { return pick(kHosts); }
    std::size_t count(std::uint32_t most) { return random_() % most; }

  private:
    inline static const std::vector<ResourceType> kResources = {ResourceType::topic, ResourceType::group};
    inline static const std::vector<std::string> kPrincipals = {"User:a", "User:b", "User:a:b"};
    inline static const std::vector<std::string> kHosts = {"10.0.0.1", "10.0.0.2"};
    inline static const std::vector<Operation> kOperations = {Operation::read,          Operation::write,
                                                              Operation::erase,         Operation::describe,
                                                              Operation::alter_configs, Operation::describe_configs};

    bool chance(std::uint32_t of) { return random_() % of == 0; }
    template <class Value>
    Value pick(const std::vector<Value>& values) {
        return values[random_() % values.size()];
    }

    std::mt19937 random_;
};

TEST(AclIndex, SaysWhatLookingAtEveryRuleSays) {
    std::set<AclVerdict::Kind> seen;
    for (std::uint32_t seed = 0; seed < 400; ++seed) {
        Rulebook book(seed);
        std::vector<Acl> acls(book.count(30));
        std::ranges::generate(acls, [&] { return book.rule(); });
        const AclIndex index = index_of(acls);
        for (int question = 0; question < 100; ++question) {
            const Principal principal("User", book.principal());
            const std::string host = book.host();
            const Requester requester{principal, host};
            const Permission permission = book.permission();
            const std::string name = book.name();
            const AclVerdict verdict = index.judge(requester, permission, name);
            ASSERT_EQ(verdict.kind, told_by_looking_at_all(acls, requester, permission, name))
                << seed << ": " << principal.text() << " " << to_text(permission) << " " << name;
            ASSERT_EQ(verdict.rule != nullptr,
                      verdict.kind == AclVerdict::Kind::allowed || verdict.kind == AclVerdict::Kind::denied);
            ASSERT_TRUE(verdict.rule == nullptr || (holds_for(*verdict.rule, name) && is_for(*verdict.rule, requester)));
            seen.insert(verdict.kind);
        }
    }
    EXPECT_EQ(seen.size(), 4u) << "every answer was given";
}

TEST(AclIndex, SomethingIsAllowedExactlyWhenSomeNameIs) {
    std::set<bool> seen;
    for (std::uint32_t seed = 0; seed < 1000; ++seed) {
        Rulebook book(seed);
        std::vector<Acl> acls(book.count(12));
        std::ranges::generate(acls, [&] { return book.rule(); });
        const AclIndex index = index_of(acls);
        for (int question = 0; question < 20; ++question) {
            const Principal principal("User", book.principal());
            const std::string host = book.host();
            const Permission permission = book.permission();
            const bool told = index.allows_any({principal, host}, permission);
            ASSERT_EQ(told, some_name_is_allowed(acls, {principal, host}, permission)) << seed << " " << to_text(permission);
            seen.insert(told);
        }
    }
    EXPECT_EQ(seen.size(), 2u);
}

TEST(AclIndex, KeepsARuleOnceAndFindsIt) {
    const Acl one = acl_of(AclEffect::allow, "User:a", Operation::read, "t");
    const Acl other = acl_of(AclEffect::deny, "User:a", Operation::read, "t");
    const AclIndex index = index_of({one, other, one});
    EXPECT_EQ(index.size(), 2u);
    EXPECT_TRUE(index.contains(one));
    EXPECT_TRUE(index.contains(other));
    EXPECT_FALSE(index.contains(acl_of(AclEffect::allow, "User:a", Operation::write, "t")));
    EXPECT_FALSE(AclIndex().contains(one));
}

// 10,000 other rules do not slow this down: a linear search would take milliseconds for each of these questions.
TEST(AclIndex, AnIpv6ClientIsMeantByJavasTextAndDeniedByAny) {
    const Principal alice("User", "alice");
    const Requester requester{alice, "2001:db8::a"};
    const auto verdict = [&](AclEffect effect, std::string host) {
        return index_of({acl_of(effect, "User:alice", Operation::read, "t", PatternType::literal, ResourceType::topic,
                                std::move(host))})
            .judge(requester, kReadTopic, "t")
            .kind;
    };
    EXPECT_EQ(verdict(AclEffect::allow, "2001:db8:0:0:0:0:0:a"), AclVerdict::Kind::allowed);
    EXPECT_EQ(verdict(AclEffect::deny, "2001:db8:0:0:0:0:0:a"), AclVerdict::Kind::denied);
    // Kafka knows no other spelling.
    for (const char* other : {"2001:db8::a", "2001:DB8:0:0:0:0:0:A", "2001:0db8:0:0:0:0:0:a"}) {
        EXPECT_EQ(verdict(AclEffect::allow, other), AclVerdict::Kind::not_allowed) << other;
        EXPECT_EQ(verdict(AclEffect::deny, other), AclVerdict::Kind::denied) << other;
    }
    for (const char* another : {"2001:db8:0:0:0:0:0:b", "0:0:0:0:0:0:0:0", "10.0.0.1", "x:y", ""}) {
        EXPECT_EQ(verdict(AclEffect::allow, another), AclVerdict::Kind::not_allowed) << another;
        EXPECT_EQ(verdict(AclEffect::deny, another), AclVerdict::Kind::not_allowed) << another;
    }
}

TEST(AddressInAcls, IsJavasText) {
    EXPECT_EQ(address_in_acls("::1"), "0:0:0:0:0:0:0:1");
    EXPECT_EQ(address_in_acls("2001:db8::"), "2001:db8:0:0:0:0:0:0");
    EXPECT_EQ(address_in_acls("::"), "0:0:0:0:0:0:0:0");
    EXPECT_EQ(address_in_acls("1:2:3:4:5:6:7:8"), "1:2:3:4:5:6:7:8");
    EXPECT_EQ(address_in_acls("fe80::10:a0b:c0d0"), "fe80:0:0:0:0:10:a0b:c0d0");
    for (const char* as_it_is : {"127.0.0.1", "", "host", "a:b", "1:2:3:4:5:6:7:8:9", "1::2::3", "1:2:3:4:5:6:7::8",
                                 "12345::", ":1", "1:", "1:2:3:4:5:6:7:", "g::", ":::", "::ffff:10.0.0.1", "::1%lo"}) {
        EXPECT_EQ(address_in_acls(as_it_is), as_it_is);
    }
    const std::string_view with_zero("::1\0x", 5);
    EXPECT_EQ(address_in_acls(with_zero), with_zero);
}

TEST(AclIndex, AnswersAHundredThousandQuestionsAboutTenThousandRulesInAMoment) {
    for (const bool are_of_one_pattern : {false, true}) {
        std::vector<Acl> acls;
        for (int number = 0; number < 10'000; ++number) {
            const std::string text = std::to_string(number);
            acls.push_back(acl_of(AclEffect::allow, "User:u" + text, Operation::read, are_of_one_pattern ? "*" : "topic-" + text,
                                  number % 2 == 0 || are_of_one_pattern ? PatternType::literal : PatternType::prefixed));
        }
        const AclIndex index = index_of(acls);
        const Principal principal("User", "u7777");
        const auto begin = test::processor_time_of_thread();
        for (int question = 0; question < 100'000; ++question) {
            ASSERT_EQ(index.judge({principal, "10.0.0.1"}, kReadTopic, "topic-7777-1").kind, AclVerdict::Kind::allowed);
        }
        EXPECT_LT(test::processor_time_of_thread() - begin, std::chrono::seconds(10)) << are_of_one_pattern;
    }
}

TEST(StandardRules, SuperUsersMayWhatIsDenied) {
    const AclIndex index = index_of({acl_of(AclEffect::deny, "User:*", Operation::all, "*")});
    const StandardSettings settings{.super_users = {"User:root"}};
    const Principal root("User", "root");
    const Principal group("Group", "root");
    EXPECT_TRUE(judge(settings, index, {root, ""}, kReadTopic, "t").is_allowed);
    EXPECT_TRUE(judge(settings, index, {root, ""}, kReadTopic, std::nullopt).is_allowed);
    EXPECT_EQ(to_text(judge(settings, index, {root, ""}, kReadTopic, "t")), "SuperUser");
    EXPECT_FALSE(judge(settings, index, {group, ""}, kReadTopic, "t").is_allowed);
}

TEST(StandardRules, ResourcesWithoutRulesAreForNobodyOrForAll) {
    const AclIndex index = index_of({acl_of(AclEffect::allow, "User:b", Operation::read, "t")});
    const Principal alice("User", "a");
    const StandardSettings strict;
    const StandardSettings lax{.allow_without_rules = true};
    EXPECT_FALSE(judge(strict, index, {alice, ""}, kReadTopic, "u").is_allowed);
    EXPECT_EQ(to_text(judge(strict, index, {alice, ""}, kReadTopic, "u")), "DefaultDeny");
    EXPECT_TRUE(judge(lax, index, {alice, ""}, kReadTopic, "u").is_allowed);
    EXPECT_EQ(to_text(judge(lax, index, {alice, ""}, kReadTopic, "u")), "DefaultAllow");
    EXPECT_FALSE(judge(lax, index, {alice, ""}, kReadTopic, "t").is_allowed) << "that one has a rule, of somebody else";
    EXPECT_TRUE(judge(lax, index, {alice, ""}, kReadTopic, std::nullopt).is_allowed);
    EXPECT_FALSE(judge(strict, index, {alice, ""}, kReadTopic, std::nullopt).is_allowed);
}

TEST(StandardRules, TheRuleBehindADenialIsTold) {
    const AclIndex index = index_of({acl_of(AclEffect::allow, "User:*", Operation::all, "*"),
                                     acl_of(AclEffect::deny, "User:a", Operation::write, "secret-", PatternType::prefixed)});
    const Principal alice("User", "a");
    const Judgement judged = judge({}, index, {alice, "10.0.0.1"}, kWriteTopic, "secret-1");
    EXPECT_FALSE(judged.is_allowed);
    EXPECT_EQ(
        to_text(judged),
        "MatchingAcl(acl=StandardAcl[resourceType=TOPIC, resourceName=secret-, patternType=PREFIXED, principal=User:a, host=*, "
        "operation=WRITE, permissionType=DENY])");
}

TEST(AclFilter, MeansPatternsByTheirNameOrByWhatTheyHoldFor) {
    const Acl literal = acl_of(AclEffect::allow, "User:a", Operation::read, "foo-bar");
    const Acl prefixed = acl_of(AclEffect::allow, "User:a", Operation::read, "foo", PatternType::prefixed);
    const Acl all = acl_of(AclEffect::allow, "User:a", Operation::read, "*");
    const auto matched = [&](const AclFilter& filter) {
        return std::tuple(filter.matches(literal), filter.matches(prefixed), filter.matches(all));
    };
    EXPECT_EQ(matched({}), std::tuple(true, true, true));
    EXPECT_EQ(matched({.name = "foo-bar"}), std::tuple(true, false, false));
    EXPECT_EQ(matched({.pattern = kMatchCode, .name = "foo-bar"}), std::tuple(true, true, true));
    EXPECT_EQ(matched({.pattern = kMatchCode, .name = "other"}), std::tuple(false, false, true));
    EXPECT_EQ(matched({.pattern = kMatchCode}), std::tuple(true, true, true));
    EXPECT_EQ(matched({.pattern = 3, .name = "*"}), std::tuple(false, false, true));
    EXPECT_EQ(matched({.pattern = 4}), std::tuple(false, true, false));
    EXPECT_EQ(matched({.pattern = 4, .name = "foo-bar"}), std::tuple(false, false, false));
}

TEST(AclFilter, TakesEveryOtherFieldAsItIs) {
    const Acl acl = acl_of(AclEffect::deny, "User:a", Operation::all, "t");
    EXPECT_TRUE((AclFilter{.resource = 2, .principal = "User:a", .host = "*", .operation = 2, .effect = 2}).matches(acl));
    EXPECT_FALSE((AclFilter{.resource = 3}).matches(acl));
    EXPECT_FALSE((AclFilter{.principal = "User:*"}).matches(acl));
    EXPECT_FALSE((AclFilter{.host = "10.0.0.1"}).matches(acl));
    EXPECT_FALSE((AclFilter{.operation = 3}).matches(acl));
    EXPECT_FALSE((AclFilter{.effect = 3}).matches(acl));
}

TEST(AclCodes, AreKnownUpToKafkasLast) {
    const auto known = [](bool (*is_known)(std::int8_t)) {
        int count = 0;
        for (int code = -128; code < 128; ++code) {
            count += is_known(static_cast<std::int8_t>(code)) ? 1 : 0;
        }
        return count;
    };
    EXPECT_FALSE(is_resource_code(0) || is_pattern_code(0) || is_operation_code(0) || is_effect_code(0));
    EXPECT_EQ(known(is_resource_code), 7);
    EXPECT_EQ(known(is_pattern_code), 4);
    EXPECT_EQ(known(is_operation_code), 15);
    EXPECT_EQ(known(is_effect_code), 3);
}

}  // namespace
}  // namespace partita::access
