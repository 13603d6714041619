#pragma once

#include <span>
#include <string_view>

/// The console: pages for people who look at a broker in a browser. They are the files of `web/`, which the build puts into the
/// binary. They have no data of their own: everything that they show or change goes through the JSON API (docs/http.md), asked by
/// the browser. So a broker at which nobody looks does nothing for them, and what a page shows can be had by a script too.
///
/// An addon that has a tab of the broker's page brings it as `broker/addons/NAME/web/TAB.js`, which exports a function TAB.
///
/// The room includes nothing of ours. `web/dom.js` is the only place that makes elements, and it makes text of every text: a name
/// with markup in it is shown and never parsed.
namespace partita::console {

struct File {
    /// "app.js".
    std::string_view name;
    /// As the header Content-Type says it.
    std::string_view content_type;
    std::string_view content;
};

/// The page that a browser loads first. It names the other files below /console/VERSION/.
[[nodiscard]] const File& first_page();
/// The other files, ascending by name.
[[nodiscard]] std::span<const File> files();
/// Changes when any file does: a browser may keep what is below it for good.
[[nodiscard]] std::string_view version();

}  // namespace partita::console
