#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace partita::tls {

/// ssl.principal.mapping.rules: maps the distinguished name in a client's certificate to the name of a principal, like Kafka's
/// SslPrincipalMapper. `DEFAULT` keeps the name. `RULE:pattern/replacement/` applies to a name that the pattern matches as a
/// whole, and replaces it by `replacement` ($1 is the first group); L or U at the end turns it to lower or upper case. The first
/// matching rule applies. Immutable.
///
/// Patterns use RE2, which takes time linear in the name; it refuses Java's extensions (lookaround, backreferences). Case changes
/// affect only ASCII letters.
class PrincipalRules {
  public:
    static constexpr std::size_t kRulesMax = 1000;

    /// The error is for people; it names the rule.
    [[nodiscard]] static std::expected<PrincipalRules, std::string> parse(std::string_view text);
    ~PrincipalRules();
    PrincipalRules(PrincipalRules&&) noexcept;
    PrincipalRules& operator=(PrincipalRules&&) noexcept;

    /// Null if no rule matches: the broker must reject such a client.
    [[nodiscard]] std::optional<std::string> name_of(std::string_view distinguished_name) const;

  private:
    struct Rule;
    explicit PrincipalRules(std::vector<Rule> rules);

    std::vector<Rule> rules_;
};

}  // namespace partita::tls
