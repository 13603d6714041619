"""How long somebody waits for the console's first page, in a real browser that has nothing of it yet.

    scripts/bench console [--loads N] [--bar-ms N]

From the navigation until the page is drawn and its links work. Beside it the same browser's time for a page of the same broker that is one
line of text: what a browser needs for any page. Once with four topics, once with 10,000 partitions in a hundred. Exit code 1 when the
median with four topics is beyond the bar.
"""

import argparse
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/interop"))

import confluent_kafka.admin  # noqa: E402

import browser as browsers  # noqa: E402
import harness  # noqa: E402
import insight  # noqa: E402

BAR_MS = 50
#: Before any script of the page: notes when the page says that it is drawn.
WATCH = """new MutationObserver(() => {
  const page = document.querySelector('.page');
  if (page && page.dataset.ready && !window.drawn) window.drawn = performance.now();
}).observe(document, { subtree: true, childList: true, attributes: true });"""


def load(browser, address, finished):
    browser.call("Network.clearBrowserCache")
    browser.load("about:blank")
    browser.load(address)
    return browser.run(finished)


def page(browser, site):
    return load(browser, f"{site}#/topics", """new Promise((done) => {
        const look = () => window.drawn ? done(window.drawn) : setTimeout(look, 1); look(); })""")


def text(browser, site):
    return load(browser, f"{site}health/live", "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")


def measure(browser, site, loads):
    """Milliseconds: of the page and of a line of text, in turn."""
    pairs = [(page(browser, site), text(browser, site)) for _ in range(loads + 1)]
    # The first of all is the browser's own start.
    return [statistics.median(column) for column in zip(*pairs[1:])], min(first for first, _ in pairs[1:])


def create(broker, topics, partitions):
    client = insight.admin(broker)
    for number in range(topics):
        name = f"topic-{number}"
        client.create_topics([confluent_kafka.admin.NewTopic(name, partitions, 1)])[name].result(60)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loads", type=int, default=20)
    parser.add_argument("--bar-ms", type=float, default=BAR_MS)
    options = parser.parse_args()
    harness.HAS_ALL_CLIENTS = True  # A browser is all that it takes.
    too_slow = False
    browser = browsers.Browser()
    browser.size(1600, 1000)
    browser.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
    print(f"{'topics':>8} {'partitions':>11} {'first page':>12} {'fastest':>9} {'a line of text':>15}")
    for topics, partitions, has_bar in ((4, 6, True), (100, 100, False)):
        with harness.start_broker({}) as broker:
            create(broker, topics, partitions)
            (drawn, line), fastest = measure(browser, f"http://{insight.address(broker)}/", options.loads)
        too_slow |= has_bar and drawn > options.bar_ms
        print(f"{topics:>8} {topics * partitions:>11,} {drawn:>9.1f} ms {fastest:>6.1f} ms {line:>12.1f} ms", flush=True)
    browser.close()
    return 1 if too_slow else 0


if __name__ == "__main__":
    sys.exit(main())
