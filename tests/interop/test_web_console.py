"""The console in a real browser: every page loads without an error, every form does what it says, what happens shows by itself, and
what a client named is text. PARTITA_SCREENSHOTS=DIR writes the pictures of docs/console.md."""

import json
import math
import os
import pathlib
import subprocess
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree

import confluent_kafka
import pytest

import browser as browsers
import clients
import harness
import insight
import writing

#: On two busy cores.
AT_ONCE_S = 1
MARKUP = "<img src=x onerror=console.error(1)>"
PAGES = ("topics", "topics/orders", "topics/orders/records", "topics/orders/groups", "topics/orders/configs", "topics/orders/expansion",
         "groups", "groups/billing", "groups/billing/ownership", "groups/billing/rebalances", "findings", "broker", "broker/requests", "broker/errors", "broker/capacity", "broker/settings")
SCREENSHOTS = os.environ.get("PARTITA_SCREENSHOTS")


@pytest.fixture(scope="module")
def browser(broker):
    if harness.TARGET != "partita":
        pytest.skip("only a Partita has a console")
    started = browsers.Browser()
    started.size(1600, 1000)
    yield started
    started.close()


@pytest.fixture(scope="module")
def site(broker):
    return f"http://{insight.address(broker)}/"


def ask(site, path, body=None, method=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{site}v1/{path}", data=data, method=method,
                                     headers={"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.loads(refused.read() or b"{}")


@pytest.fixture(scope="module")
def world(site, broker, browser):
    """A topic with keys, a group that has read a part of it, and a record with markup in key, value and header."""
    assert ask(site, "topics", {"topic": "orders", "partitions": 6})[0] == 200
    agent = clients.Agent(clients.debian_librdkafka, broker.bootstrap)
    records = [{"key": f"customer-{index % 400}", "value": json.dumps(
        {"order": 10_000 + index, "customer": f"customer-{index % 400}", "amount": round(index * 1.37 % 480, 2),
         "items": [{"sku": f"SKU-{index % 37}", "quantity": index % 5 + 1}], "paid": index % 3 == 0}), "headers": [["trace", f"{index:08x}"]]}
        for index in range(3000)]
    agent.call("produce", topic="orders", records=records)
    for topic, partitions in (("payments", 12), ("shipments", 3), ("customers", 6)):
        assert ask(site, "topics", {"topic": topic, "partitions": partitions})[0] == 200
        agent.call("produce", topic=topic, records=records[:len(topic) * 90])
    agent.close()
    # The group has read a part: its offsets are what a reset of the test gives it.
    broker_has_groups(broker)
    assert ask(site, "groups/billing/offsets", {"topic": "orders", "to": "offset", "offset": 300})[0] == 200
    status, _ = ask(site, "topics/orders/records", {"partition": 0, "key": MARKUP, "value": MARKUP, "headers": {MARKUP: MARKUP}})
    assert status == 200
    browser.take_problems()


def broker_has_groups(broker):
    """The first consumer makes the topic of the groups."""
    agent = clients.Agent(clients.debian_librdkafka, broker.bootstrap)
    agent.call("member_start", name="m", group="reporting", topic="payments", reset="earliest", batch_ms=1)
    agent.events.wait(lambda events: any(event.get("event") == "record" for event in events), 60, "a record")
    agent.call("member_stop", name="m")
    agent.close()


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", (400, 700, 1600))
def test_a_page_is_whole(browser, site, world, page, width):
    browser.size(width, 1000)
    browser.go(f"{site}#/{page}")
    assert browser.run("document.querySelector('h1').textContent.length > 0")
    assert browser.run("document.documentElement.scrollWidth <= window.innerWidth"), "the page is wider than the window"
    # Nothing has to be pushed into sight in a narrow window, and the part that is shown is among those that can be seen.
    if width < 1600:
        assert browser.run("[...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth).map(one => one.ariaLabel)") == []
    browser.wait("""[...document.querySelectorAll('.tabs [aria-current]')].every(one => { const [tab, all] = [one, one.parentNode].map(each =>
      each.getBoundingClientRect()); return tab.left >= all.left - 1 && tab.right <= all.right + 1; })""", "the tab is in sight")
    # Whoever cannot see it hears what each thing is called.
    unnamed = browser.run("""[...document.querySelectorAll('button, a, input, select, textarea, [role=img]')].filter(one =>
      !(one.textContent.trim() || one.getAttribute('aria-label') || one.getAttribute('title') || (one.labels && one.labels.length)))
      .map(one => one.outerHTML)""")
    assert unnamed == []
    assert browser.take_problems() == []


def test_the_first_page_is_small_and_comes_from_the_broker_alone(browser, site, world):
    browser.call("Network.clearBrowserCache")
    browser.load("about:blank")
    browser.requests.clear()
    browser.go(f"{site}#/topics")
    assert sum(browser.requests) < 100_000, browser.requests
    asked = browser.run("performance.getEntriesByType('resource').map(one => new URL(one.name).host)")
    assert set(asked) == {urllib.parse.urlsplit(site).netloc}


def module(browser, site, name):
    """The address of one of the console's scripts, whose functions the page may call."""
    browser.go(f"{site}#/topics")
    return browser.run(f"document.querySelector('script[type=module]').src.replace('app.js', {json.dumps(name)})")


def test_the_picture_has_the_ways_that_the_docs_draw(browser, site, world):
    address = module(browser, site, "expansion.js")

    def ways(before, after):
        gcd = math.gcd(before, after)
        partitions = [{"partition": to, "parents": [one for one in range(before) if one % gcd == to % gcd]} for to in range(after)]
        drawn = browser.run(f"import({json.dumps(address)}).then(one => one.ways({before}, {json.dumps(partitions)}))")
        return {kind: [(way["from"], way["to"]) for way in drawn if way["kind"] == kind] for kind in ("stay", "new", "old")}

    assert ways(6, 12) == {"stay": [(one, one) for one in range(6)], "new": [(one, one + 6) for one in range(6)], "old": []}
    assert len(ways(6, 8)["stay"]) == 6 and len(ways(6, 8)["new"]) == 6 and len(ways(6, 8)["old"]) == 12
    assert (0, 2) in ways(6, 8)["old"] and (3, 7) in ways(6, 8)["new"]


@pytest.mark.parametrize("call, value", (
    ("records.js hexLines('48656c6c6f0a')", "000000  48 65 6c 6c 6f 0a                                Hello·"),
    ("records.js hexLines('')", ""),
    ("records.js prettyJson('{\"a\":[1,\"<b>\"]}').outerHTML", '<pre>{\n  <span class="json-key">"a"</span>: [\n    <span class="json-value">1</span>,\n'
     '    <span class="json-text">"&lt;b&gt;"</span>\n  ]\n}</pre>'),
    ("records.js prettyJson('12345')", None),
    ("records.js prettyJson('{\"id\": 9007199254740993}')", None),
    ("dom.js size(1536)", "1.5 KiB"), ("dom.js size(0)", "0 B"), ("dom.js size(1023)", "1023 B"),
    ("dom.js short(9999)", "9,999"), ("dom.js short(12345)", "12.3k"), ("dom.js short(2500000)", "2.5M"), ("dom.js short(null)", "–"),
    ("dom.js meaning('retention.ms', '604800000')", "7 days"), ("dom.js meaning('delete.retention.ms', '86400000')", "1 day"),
    ("dom.js meaning('file.delete.delay.ms', '60000')", "1 min"), ("dom.js meaning('a.ms', '3600000')", "1 hour"), ("dom.js meaning('segment.bytes', '1073741824')", "1.0 GiB"),
    ("dom.js meaning('flush.ms', '9223372036854775807')", "no limit"), ("dom.js meaning('retention.ms', '-1')", ""),
    ("dom.js meaning('compression.type', 'producer')", ""), ("dom.js meaning('num.partitions', '5000')", ""), ("dom.js meaning('broker.rack', null)", ""),
    ("dom.js percent(0.0123)", "1.2 %"), ("dom.js percent(0.5)", "50 %"), ("dom.js plural(1, 'record')", "1 record"),
    ("dom.js h('p', {}, '<b>', ['&', 3], null).outerHTML", "<p>&lt;b&gt;&amp;3</p>"),
))
def test_a_part_of_a_page_is(browser, site, world, call, value):
    file, expression = call.split(" ", 1)
    address = module(browser, site, file)
    assert browser.run(f"import({json.dumps(address)}).then(one => one.{expression})") == value


def test_fields_and_rows_stand_in_line(browser, site, broker, world):
    browser.size(1600, 1000)
    browser.go(f"{site}#/topics/orders/records")
    tops = "[...new Set([...document.querySelectorAll('.tools .field %s')].map(one => Math.round(one.getBoundingClientRect().top)))].length"
    assert browser.run(tops % "label") == 1 and browser.run(tops % "input, .tools .field select") == 1
    for topic in ("orders", "no/topic"):
        assert harness.run_partita("topics", "--bootstrap-server", broker.bootstrap, "--create", "--topic", topic).code == 1
    browser.go(f"{site}#/broker/errors")
    browser.wait("document.querySelectorAll('.record.error').length >= 2", "two errors")
    lefts = "[...new Set([...document.querySelectorAll('.record.error .key')].map(one => Math.round(one.getBoundingClientRect().left)))].length"
    assert browser.run(lefts) == 1
    browser.go(f"{site}#/topics/orders/configs")
    # Kafka's longest number is on one line.
    heights = """[...document.querySelectorAll('.setting code')].filter(one => one.textContent === '9223372036854775807')
      .map(one => one.getClientRects().length)"""
    assert set(browser.run(heights)) == {1}


def test_records_of_many_partitions_begin_where_there_are_some(browser, site, world):
    assert ask(site, "topics", {"topic": "wide", "partitions": 60})[0] == 200
    assert ask(site, "topics/wide/records", {"partition": 57, "value": "the only one"})[0] == 200
    browser.go(f"{site}#/topics/wide/records")
    browser.wait("document.querySelector('.record .value')?.textContent === 'the only one'", "the record")
    # There is nothing older, and nobody is led there.
    assert "holds offsets 0 to 0, the newest first." in browser.text()
    assert browser.run("[...document.querySelectorAll('.pager button')].map(one => [one.textContent, one.disabled])") == [["‹ Older", True]]


def test_a_link_leads_nowhere_else(browser, site, world):
    address = module(browser, site, "dom.js")
    for target in ("javascript:alert(1)", "https://evil.example/", "//evil.example"):
        assert browser.run(f"import({json.dumps(address)}).then(one => {{ try {{ one.h('a', {{href: {json.dumps(target)}}}, 'x'); return 'made'; }} "
                           "catch (error) { return error.message; } })") == "a link that leads out of the console"


def test_ten_megabytes_are_not_sent(browser, site, world):
    address = module(browser, site, "api.js")
    said = browser.run(f"import({json.dumps(address)}).then(one => one.post(one.path('topics', 'orders', 'records'), {{value: 'x'.repeat(1e7)}}))"
                       ".then(() => 'sent').catch(error => error.message)")
    assert said == "the request is larger than a megabyte: write to Kafka's port instead"
    assert browser.take_problems() == []


def test_markup_in_names_and_records_is_text(browser, site, world):
    browser.go(f"{site}#/topics/orders/records?partition=0")
    browser.wait("document.querySelector('.record')", "records")
    browser.run("document.querySelector('.record').open = true; 0")
    browser.wait("document.querySelectorAll('.record[open] pre').length >= 2", "the record is shown whole")
    assert MARKUP in browser.run("document.querySelector('.record[open] pre').textContent")
    browser.go(f"{site}#/topics/{urllib.parse.quote(MARKUP, safe='')}")
    browser.wait("document.querySelector('.problem')", "there is no such topic")
    assert MARKUP in browser.text()
    assert browser.run("document.querySelectorAll('main img').length") == 0
    # The browser tells of the 404 that was asked for.
    assert [problem for problem in browser.take_problems() if "404" not in problem] == []


def test_a_topic_is_made_changed_and_deleted_by_forms(browser, site, world):
    browser.go(f"{site}#/topics")
    browser.click("button", "New topic")
    browser.put("dialog [name=topic]", "made-here")
    browser.put("dialog [name=partitions]", "4")
    browser.put("dialog [name=cleanup]", "compact")
    browser.click("dialog button", "Create")
    browser.wait("location.hash === '#/topics/made-here' && document.querySelectorAll('tbody tr').length === 4", "its four partitions")
    assert ask(site, "topics/made-here")[1]["topic"] == "made-here"

    browser.click(".tabs a", "Configs")
    browser.wait("document.querySelector('tbody tr')", "settings")
    browser.put("[data-search]", "retention.ms")
    browser.wait("[...document.querySelectorAll('tbody td .name')].some(one => one.textContent === 'retention.ms')", "the setting")
    browser.run("[...document.querySelectorAll('tbody tr')].find(one => one.querySelector('.name').textContent === 'retention.ms').querySelector('button').click(); 0")
    browser.put("dialog [name=value]", "nonsense")
    browser.click("dialog button", "Set")
    browser.wait("document.querySelector('dialog .problem').textContent", "the broker's refusal is shown")
    browser.put("dialog [name=value]", "86400000")
    browser.click("dialog button", "Set")
    browser.wait("!document.querySelector('dialog') && document.body.innerText.includes('86400000')", "the new value")

    browser.click("button", "Delete")
    browser.put("dialog [name=name]", "another")
    browser.click("dialog button", "Delete for good")
    browser.wait("document.querySelector('dialog .problem').textContent", "the name was wrong")
    browser.put("dialog [name=name]", "made-here")
    browser.click("dialog button", "Delete for good")
    browser.wait("location.hash === '#/topics'", "the list")
    assert ask(site, "topics/made-here")[0] == 404
    assert [problem for problem in browser.take_problems() if "400" not in problem] == []


def test_a_record_is_written_and_shows(browser, site, world):
    browser.go(f"{site}#/topics/customers/records")
    browser.click("button", "Write a record")
    browser.put("dialog [name=key]", "anna")
    browser.put("dialog [name=value]", '{"name": "Anna", "city": "Leipzig"}')
    browser.put("dialog [name=headers]", "source: by hand")
    browser.click("dialog button", "Write")
    browser.wait("[...document.querySelectorAll('.record .key')].some(one => one.textContent === 'anna')", "the record")
    browser.run("[...document.querySelectorAll('.record')].find(one => one.querySelector('.key').textContent === 'anna').open = true; 0")
    browser.wait("document.querySelector('.record[open] .json-key')", "its value as JSON")
    browser.click(".record[open] .bytes:nth-child(2) button", "Hex")
    browser.wait("document.querySelector('.record[open] .bytes:nth-child(2) pre').textContent.startsWith('000000  7b 22 6e')", "its bytes")
    assert browser.take_problems() == []


def test_a_record_of_10_mb_shows_its_beginning_and_can_be_saved(browser, site, broker, world):
    insight.create(broker, "large", 1, **{"max.message.bytes": "20000000"})
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "message.max.bytes": 20_000_000})
    value = json.dumps([{"number": number, "text": "x" * 80} for number in range(100_000)])
    assert len(value) > 10_000_000
    producer.produce("large", value=value)
    assert producer.flush(60) == 0
    browser.go(f"{site}#/topics/large/records")
    browser.wait("document.querySelector('.record')", "the record")
    browser.run("document.querySelector('.record').open = true; 0")
    browser.wait("document.querySelector('.record[open] .bytes:nth-child(2) pre')", "its value")
    assert browser.run("document.querySelector('.record[open] pre').textContent") == value[:65536]
    assert browser.run("document.querySelectorAll('*').length") < 500
    browser.run("window.saved = []; const made = URL.createObjectURL; URL.createObjectURL = (blob) => { saved.push(blob.size); return made(blob); }; 0")
    browser.click(".record[open] .bytes:nth-child(2) button", "Save all of it")
    assert browser.run("window.saved") == [len(value)]
    browser.click(".record[open] .bytes:nth-child(2) button", "Hex")
    browser.wait("document.querySelector('.record[open] .bytes:nth-child(2) pre').textContent.split('\\n').length === 4096", "the first 64 KiB")
    assert browser.take_problems() == []


def test_new_records_show_by_themselves(browser, site, world):
    browser.go(f"{site}#/topics/shipments/records?partition=1")
    browser.click("button", "Follow")
    browser.wait("document.querySelector('[aria-pressed=true]')", "it follows")
    assert ask(site, "topics/shipments/records", {"partition": 1, "key": "late", "value": "news"})[0] == 200
    browser.wait("document.querySelector('.record .key').textContent === 'late'", "the newest record is above the others")
    assert browser.take_problems() == []


def test_records_are_found_by_key_and_by_time(browser, site, world):
    browser.go(f"{site}#/topics/orders/records")
    browser.wait("document.querySelectorAll('.record').length > 40", "the newest of all partitions")
    browser.put("input[type=search]", "customer-17")
    browser.wait("document.querySelector('.pager').textContent.includes('6 of 6 partitions')", "all partitions were searched")
    keys = browser.run("[...document.querySelectorAll('.record .key')].map(one => one.textContent)")
    assert len(keys) == 8 and set(keys) == {"customer-17"}, keys
    browser.put("input[type=search]", "<nobody>")
    browser.wait("document.body.innerText.includes('No record has this key')", "none")
    browser.put("input[type=search]", "")
    browser.put("input[type=datetime-local]", "2020-01-01T00:00:00")
    browser.wait("document.querySelector('.record .value') && document.querySelector('.pager').textContent.includes('the oldest first')", "from a time on")
    assert '"order":10' in browser.run("document.querySelector('.record .value').textContent").replace(" ", "")
    browser.put("input[type=datetime-local]", "2099-01-01T00:00:00")
    browser.wait("document.body.innerText.includes('No records from there on')", "nothing of the future")
    assert browser.take_problems() == []


def test_new_records_of_all_partitions_show_by_themselves(browser, site, world):
    browser.go(f"{site}#/topics/customers/records")
    browser.click("button", "Follow")
    browser.wait("document.querySelector('[aria-pressed=true]')", "it follows")
    for partition in (5, 2):
        assert ask(site, "topics/customers/records", {"partition": partition, "key": f"late-{partition}", "value": "news"})[0] == 200
        browser.wait(f"document.querySelector('.record .key').textContent === 'late-{partition}'", "the newest record is above the others")
    assert browser.run("document.querySelector('.record .offset').textContent").startswith("2 ·")
    assert browser.take_problems() == []


def test_groups_are_listed_with_how_far_they_are_behind(browser, site, world):
    assert ask(site, "groups/far-behind/offsets", {"topic": "orders", "to": "earliest"})[0] == 200
    written = ask(site, "topics/orders")[1]["offsets"]
    browser.go(f"{site}#/groups")
    browser.put("[data-search]", "far-behind")
    browser.wait(f"document.querySelector('tbody td[data-title=Behind]').textContent === '{written:,}'", "its lag")
    assert browser.run("document.querySelector('tbody td[data-title=Members]').textContent") == "0"
    browser.go(f"{site}#/groups/far-behind")
    browser.wait("document.querySelector('svg.line')", "its lag over time")
    assert f"{written:,} at most" in browser.run("document.querySelector('svg.line').getAttribute('aria-label')")
    assert browser.take_problems() == []
    assert ask(site, "groups/far-behind", method="DELETE")[0] == 200


def test_offsets_are_reset_after_a_preview(browser, site, world):
    browser.go(f"{site}#/groups/billing")
    browser.click("button", "Reset offsets")
    browser.put("dialog [name=to]", "earliest")
    browser.click("dialog button", "Preview")
    browser.wait("document.querySelectorAll('dialog tbody tr').length === 6", "what would be")
    assert "300 records again" in browser.run("document.querySelector('dialog').innerText")
    _, before = ask(site, "groups/billing")
    assert {one["committed"] for one in before["partitions"]} == {300}
    browser.click("dialog button", "Reset")
    browser.wait("!document.querySelector('dialog')", "it is done")
    _, after = ask(site, "groups/billing")
    assert {one["committed"] for one in after["partitions"]} == {0}
    assert ask(site, "groups/billing/offsets", {"topic": "orders", "to": "offset", "offset": 300})[0] == 200
    assert browser.take_problems() == []


def test_a_takeover_and_its_cause_show_by_themselves(browser, site, world, broker):
    first, second = (clients.Agent(clients.debian_librdkafka, broker.bootstrap) for _ in range(2))
    first.call("member_start", name="m", group="shared", topic="orders", reset="earliest", batch_ms=1)
    first.events.wait(lambda events: any(event.get("event") == "record" for event in events), 60, "a record")
    browser.go(f"{site}#/groups/shared/ownership")
    browser.wait("document.querySelectorAll('tbody tr').length === 6", "six partitions with an owner")
    assert "No partition changed its owner." in browser.text()
    second.call("member_start", name="m", group="shared", topic="orders", reset="earliest", batch_ms=1, session_timeout_ms=6000)
    browser.wait("document.querySelectorAll('.timeline > li').length === 3", "half of them have another owner", 60)
    browser.put("[data-search]", "no-such")
    browser.wait("!document.querySelector('tbody')", "no topic fits")
    browser.put("[data-search]", "ORD")
    browser.wait("document.querySelectorAll('tbody tr').length === 6", "one does")
    assert "rebalanced" in browser.run("document.querySelector('.timeline').innerText")
    second.kill()
    browser.wait("document.querySelector('.timeline > li').innerText.includes('lost')", "what was lost", 90)
    browser.click(".tabs a", "Rebalances")
    browser.wait("document.querySelectorAll('.rebalances > li').length >= 3", "three rebalances")
    told = browser.run("document.querySelector('.rebalances').innerText")
    assert "sent no heartbeat within its session timeout" in told and "All members stopped" in told and "joined" in told
    assert ask(site, "groups/shared/ownership")[1]["takeover_counts"]["lost"] == 3
    first.call("member_stop", name="m")
    first.close()
    assert browser.take_problems() == []


def test_a_growth_is_previewed_drawn_and_done_and_its_findings_come_by_themselves(browser, site, world, broker):
    agent = clients.Agent(clients.debian_librdkafka, broker.bootstrap)
    agent.call("member_start", name="m", group="slow", topic="payments", reset="earliest", metadata_age_ms=600_000, batch_ms=5)
    agent.events.wait(lambda events: any(event.get("event") == "record" for event in events), 60, "a record")
    browser.go(f"{site}#/topics/payments/expansion")
    browser.put("input[name=to]", "16")
    browser.click("form button", "Preview")
    browser.wait("document.querySelector('.verdict')", "the verdict", 60)
    assert browser.run("document.querySelectorAll('.picture .way.old').length") > 0
    browser.click("button", "Better: 24")
    browser.wait("document.querySelector('.verdict strong') && document.querySelector('.verdict strong').textContent.endsWith('12 → 24')", "the better plan", 60)
    assert browser.run("document.querySelectorAll('.picture .way.old').length") == 0
    assert browser.run("document.querySelectorAll('.picture .way').length") == 24
    browser.click("button", "Grow to 24")
    browser.click("dialog button", "Grow to 24")
    browser.wait("document.querySelector('.timeline strong') && document.querySelector('.timeline strong').textContent === '12 → 24'", "the epoch log")
    assert ask(site, "topics/payments/expansions")[1]["partitions"] == 24
    browser.go(f"{site}#/findings")
    browser.wait("document.querySelector('.finding')", "a finding, without loading again", 40)
    assert "payments" in browser.text()
    agent.call("member_stop", name="m")
    agent.close()
    assert browser.take_problems() == []


def test_the_svg_of_the_command_is_the_picture_of_the_console(browser, site, world, tmp_path):
    browser.size(1600, 1000)
    for to in (7, 8, 12, 48):
        browser.go(f"{site}#/topics/orders/expansion?to={to}")
        browser.wait(f"document.querySelector('.verdict') && document.querySelector('.verdict').textContent.includes('→ {to}') "
                     "&& document.querySelector('.picture')", "the picture", 60)
        drawn = browser.run("[...document.querySelectorAll('.picture .way')].map(one => "
                            "[one.getAttribute('d'), one.getAttribute('class'), one.textContent])")
        file = tmp_path / "picture.svg"
        binary = os.environ.get("PARTITA_BINARY") or harness.HERE.parents[1] / "build/release/partita"
        subprocess.run([binary, "plan", "orders", "--to", str(to), "--quiet", "--http", urllib.parse.urlsplit(site).netloc, "--svg", file],
                       capture_output=True, timeout=60)
        paths = xml.etree.ElementTree.parse(file).getroot().findall(".//{http://www.w3.org/2000/svg}path")
        assert [[path.get("d"), path.get("class"), "".join(path.itertext())] for path in paths] == drawn
        assert len(drawn) >= 12


def test_a_growth_is_on_a_line_of_time_with_what_it_caused(browser, site, world):
    browser.go(f"{site}#/topics/payments/expansion")
    browser.wait("document.querySelectorAll('.lane').length >= 2", "a finding on the line", 40)
    words = browser.run("[...document.querySelectorAll('.lane .track')].map(one => one.getAttribute('aria-label'))")
    assert words[0].startswith("growths: 12 to 24 at ") and all(": since " in one or ", for " in one for one in words[1:]), words
    assert browser.run("document.querySelectorAll('.lane .growth').length") >= 2
    assert browser.take_problems() == []


def test_lanes_of_a_growth(browser, site, world):
    address = module(browser, site, "timeline.js")
    finding = {"id": "H04", "title": "stale producer", "severity": "warn", "condition": "It is.", "subject": {"topic": "t", "client_id": "<b>"}}
    log = {"expansions": [{"from": 2, "to": 4, "time_ms": 1000, "producer_switches": [{"client_id": "old", "address": "::1", "stale_records": 3, "time_ms": 5000},
                                                                                       {"client_id": "new", "address": "::1", "stale_records": 0, "time_ms": 6000}]}]}
    events = [{"event": "opened", "time_ms": 2000, "opened_ms": 2000, "finding": finding}, {"event": "closed", "time_ms": 3000, "opened_ms": 2000, "finding": finding},
              {"event": "opened", "time_ms": 4000, "opened_ms": 4000, "finding": finding}]
    def drawn(open_now):
        found = browser.run(f"import({json.dumps(address)}).then(one => one.lanes({json.dumps(log)}, {{fence: null}}, {json.dumps(events)}, {json.dumps(open_now)}))")
        return [(lane["label"], lane["from"], lane["to"]) for lane in found]
    assert drawn([{**finding, "opened_ms": 4000}]) == [("stale producer", 1000, 5000), ("H04 stale producer", 2000, 3000), ("H04 stale producer", 4000, None)]
    # Open, and nobody says so any more: the broker stopped meanwhile.
    assert drawn([])[2] == ("H04 stale producer", 4000, 4000)


def test_harm_stays_until_it_is_marked_as_seen(browser, site, world):
    browser.go(f"{site}#/findings")
    address = module(browser, site, "api.js")
    browser.go(f"{site}#/findings")
    harm = {"id": "H06", "title": "records of a key were read out of order", "severity": "warn", "kind": "harm", "condition": "It was.", "subject": {"topic": "t", "group": "<b>"}}
    event = {"event": "opened", "sequence": 1, "time_ms": 1000, "opened_ms": 1000, "finding": {**harm, "restored": True}}
    browser.run(f"import({json.dumps(address)}).then(({{ live }}) => {{ live.take({json.dumps(event)}); "
                f"live.take({json.dumps({**event, 'opened_ms': 2000, 'finding': harm})}); return 1; }})")
    browser.wait("[...document.querySelectorAll('.finding button')].filter(one => one.textContent === 'Mark as seen').length >= 2", "both")
    assert "before the broker's last start" in browser.text() and "Nothing is at risk" not in browser.text()
    # This broker knows no such harm.
    browser.click(".finding button", "Mark as seen")
    browser.wait("document.getElementById('said').textContent.includes('H06 is over already')", "the answer")
    assert browser.take_problems() == []


def test_every_key_in_wrong_order_leads_to_both_of_its_records(browser, site, world, broker, unique):
    topic, reader = unique("topic"), unique("reader")
    insight.create(broker, topic, 2)
    writer = writing.Writer(broker, topic, 30)
    writer.write(300)
    insight.grow(broker, topic, 3)
    writer.write(300)
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": reader, "client.id": reader, "enable.auto.commit": False})
    received = []
    ends = writer.ends()
    for partitions in [2], [0, 1]:
        consumer.assign([confluent_kafka.TopicPartition(topic, partition, 0) for partition in partitions])
        count = len(received) + sum(ends[partition] for partition in partitions)
        while len(received) < count:
            received += [int(message.value()) for message in consumer.consume(100, 1) if not message.error()]
    consumer.close()
    keys = writer.wrong_keys(received)
    insight.wait_for_count(broker, topic, "H06", len(keys), client_id=reader)
    browser.go(f"{site}#/findings")
    address = module(browser, site, "api.js")
    browser.go(f"{site}#/topics/{topic}/expansion")
    browser.wait("[...document.querySelectorAll('.finding button')].some(one => one.textContent === 'Show the keys')", "the finding")
    browser.click(".finding button", "Show the keys")
    browser.wait("document.querySelectorAll('.finding tbody tr').length", "the keys")
    rows = browser.run("[...document.querySelectorAll('.finding tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")
    assert {row[0] for row in rows} == keys
    assert all(row[1][0] in "012" and row[3][0] in "01" and row[1][0] != row[3][0] and ":" in row[2] for row in rows), rows
    event = {"event": "opened", "sequence": 1, "time_ms": 1000, "opened_ms": 1000,
             "finding": {"id": "H11", "title": "another one", "severity": "info", "kind": "danger", "condition": "It is.", "subject": {"topic": topic}}}
    browser.run(f"import({json.dumps(address)}).then(({{ live }}) => {{ live.take({json.dumps(event)}); return 1; }})")
    browser.wait("[...document.querySelectorAll('.finding h3')].some(one => one.textContent === 'another one')", "another finding")
    assert browser.run("document.querySelectorAll('.finding tbody tr').length") == len(rows), "the table stays while findings come and go"
    older = browser.run("document.querySelectorAll('.finding tbody tr a')[1].getAttribute('href')")
    browser.go(f"{site}{older}")
    browser.wait("document.querySelectorAll('.record').length", "the older record")
    assert rows[0][0] in browser.text()
    assert browser.take_problems() == []


def test_an_error_shows_by_itself_with_its_request(browser, site, world, broker):
    browser.go(f"{site}#/broker/errors")
    agent = clients.Agent(clients.debian_librdkafka, broker.bootstrap)
    with pytest.raises(clients.ClientError):
        agent.call("create_topic", topic="orders", partitions=1)
    browser.wait("[...document.querySelectorAll('.record .chip')].some(one => one.textContent === 'TOPIC_ALREADY_EXISTS')", "the refusal")
    browser.run("[...document.querySelectorAll('.record')].find(one => one.textContent.includes('TOPIC_ALREADY_EXISTS')).open = true; 0")
    assert '"orders"' in browser.run("document.querySelector('.record[open] pre').textContent")
    browser.click(".tabs a", "Requests")
    browser.wait("[...document.querySelectorAll('tbody .name')].some(one => one.textContent === 'CreateTopics')", "requests by API")
    with pytest.raises(clients.ClientError):
        agent.call("create_topic", topic="orders", partitions=1)
    agent.close()
    browser.wait("[...document.querySelectorAll('tbody tr')].some(one => /µs|ms/.test(one.lastChild.textContent))", "how long some took", 40)
    assert browser.take_problems() == []


def take_the_limit_away(broker):
    harness.run_partita("configs", "--bootstrap-server", broker.bootstrap, "--alter", "--entity-type", "brokers", "--entity-name", "1",
                        "--add-config", "partita.capacity.units=0").succeeded()


def test_capacity_is_set_and_what_passes_shows_by_itself(browser, site, world, broker):
    browser.go(f"{site}#/broker/capacity")
    browser.wait("document.body.textContent.includes('No limit')", "that there is none")
    browser.click("button", "Set the units")
    browser.put("dialog input[name=units]", "3")
    browser.put("dialog input[name=units_max]", "2")
    browser.click("dialog button", "Change")
    browser.wait("document.querySelector('dialog .problem').textContent.includes('units_max')", "the refusal")
    assert ["400 (Bad Request)" in problem for problem in browser.take_problems()] == [True]
    browser.put("dialog input[name=units_max]", "5")
    browser.click("dialog button", "Change")
    browser.wait("!document.querySelector('dialog') && document.querySelector('.tiles').textContent.includes('3 units')", "the new capacity")
    assert ask(site, "capacity")[1]["units_max"] == 5
    assert "grows automatically up to 5" in browser.text()
    agent = clients.Agent(clients.debian_librdkafka, broker.bootstrap)
    agent.call("produce", topic="orders", records=[{"key": "k", "value": "v" * 1000}] * 400)
    agent.close()
    browser.wait("/[1-9][0-9]* of 3,000 records/.test(document.body.textContent)", "what passes", 20)
    # Of somebody else, and it shows by itself.
    assert ask(site, "capacity", {"units": 4}, "PUT")[0] == 200
    browser.wait("document.querySelectorAll('tbody tr').length === 2 && document.querySelector('tbody tr').textContent.includes('4 units')", "the change")
    take_the_limit_away(broker)
    browser.wait("document.body.textContent.includes('No limit')", "that there is none again")
    assert browser.take_problems() == []


def test_a_tab_that_hears_a_million_events_stays_small(browser, site, world):
    browser.go(f"{site}#/findings")
    address = module(browser, site, "api.js")
    browser.go(f"{site}#/findings")
    seconds = browser.run(f"""import({json.dumps(address)}).then(async ({{ live }}) => {{
      const begun = performance.now();
      for (let index = 1; index <= 1e6; index += 1) {{
        live.take({{ event: index % 2 ? "opened" : "closed", sequence: index, time_ms: index, opened_ms: index - (index + 1) % 2,
          finding: {{ id: "H04", title: "stale producer", severity: "warn", condition: String(index), subject: {{ topic: "orders" }} }} }});
        if (index % 20000 === 0) await new Promise(done => setTimeout(done));
      }}
      return (performance.now() - begun) / 1000; }})""")
    assert seconds < 60
    browser.wait("document.querySelectorAll('.timeline > li').length === 200", "the last 200 events")
    assert browser.run("document.querySelectorAll('*').length") < 3000
    assert browser.take_problems() == []


def test_keys_lead_to_pages_and_to_the_search(browser, site, world):
    browser.go(f"{site}#/topics")
    browser.run("document.body.focus(); 0")
    for letter in ("g", "b"):
        browser.press(letter)
    browser.wait("location.hash === '#/broker'", "g b leads to the broker")
    browser.go(f"{site}#/topics")
    browser.press("/")
    assert browser.run("document.activeElement.type") == "search"


@pytest.mark.skipif(not SCREENSHOTS, reason="PARTITA_SCREENSHOTS=DIR says where to")
def test_screenshots(browser, site, world, broker):
    directory = pathlib.Path(SCREENSHOTS)
    reader = clients.Agent(clients.debian_librdkafka, broker.bootstrap)
    reader.call("member_start", name="m", group="reporting", topic="orders", reset="earliest", batch_ms=1)
    reader.events.wait(lambda events: any(event.get("event") == "record" for event in events), 60, "a record")
    second = clients.Agent(clients.confluent, broker.bootstrap)
    second.call("member_start", name="m", group="reporting", topic="orders", reset="earliest", batch_ms=1)
    for topic in ("orders", "payments"):
        with pytest.raises(clients.ClientError):
            second.call("create_topic", topic=topic, partitions=1)
    # Somebody writes on by the number of partitions that was. Beside the growth of a test before this one, where that ran.
    writer = clients.Agent(clients.confluent, broker.bootstrap)
    writer.call("stream_start", name="p", topic="payments", interval_us=20_000)
    partitions = 2 * ask(site, "topics/payments/expansions")[1]["partitions"]
    harness.wait_until(lambda: ask(site, "topics/payments/producers")[1]["producers"], 20, "a producer")
    assert ask(site, "topics/payments/partitions", {"count": partitions})[0] == 200
    assert ask(site, "capacity", {"units": 2, "units_max": 5}, "PUT")[0] == 200
    writer.call("stream_start", name="s", topic="shipments", interval_us=2000)
    for name, width, page, dark in (("partitions", 1600, "topics/orders", False), ("records", 1600, "topics/orders/records", True),
                                    ("expansion", 1600, "topics/orders/expansion?to=8", False), ("broker", 1600, "broker", True),
                                    ("ownership", 1600, "groups/reporting/ownership", False), ("rebalances", 1600, "groups/reporting/rebalances", False), ("errors", 1600, "broker/errors", True),
                                    ("requests", 1600, "broker/requests", False), ("timeline", 1600, "topics/payments/expansion", False), ("capacity", 1600, "broker/capacity", False),
                                    ("expansion", 400, "topics/orders/expansion?to=8", False), ("group", 400, "groups/billing", False)):
        browser.size(width, 1000 if width > 400 else 860, dark)
        browser.go(f"{site}#/{page}")
        if name == "records":
            browser.wait("document.querySelector('.record')", "records")
            browser.run("[...document.querySelectorAll('.record')].find(one => one.textContent.includes('SKU-')).open = true; 0")
            browser.wait("document.querySelector('.json-key')", "JSON")
        if name == "expansion":
            browser.wait("document.querySelector('.picture')", "the picture", 60)
            browser.run("document.querySelector('.verdict').scrollIntoView(); 0")
        if name == "broker":
            browser.wait("document.querySelectorAll('.spark i').length >= 24", "six looks at each rate", 60)
        if name == "ownership":
            browser.wait("document.querySelectorAll('.timeline > li').length >= 3", "takeovers", 60)
        if name == "timeline":
            browser.wait("document.querySelector('.bar-in-time.warn, .bar-in-time.bad')", "who writes by the old number", 40)
        if name == "capacity":
            browser.wait("/[1-9][0-9]* of 2,000 records/.test(document.body.textContent)", "what passes", 20)
        if name == "errors":
            browser.run("[...document.querySelectorAll('.record')].find(one => one.textContent.includes('TOPIC_ALREADY_EXISTS')).open = true; 0")
        if name == "requests":
            browser.wait("[...document.querySelectorAll('tbody tr')].some(one => /µs|ms/.test(one.lastChild.textContent))", "how long some took", 40)
        browser.picture(directory / f"{name}-{width}.png")
    writer.call("stream_stop", name="s")
    writer.call("stream_stop", name="p")
    take_the_limit_away(broker)
    second.call("member_stop", name="m")
    second.close()
    reader.call("member_stop", name="m")
    writer.close()
    reader.close()


def test_ten_thousand_partitions_answer_in_pages(browser, site, world):
    for index in range(100):
        assert ask(site, "topics", {"topic": f"many-{index:03}", "partitions": 100})[0] == 200
    browser.go(f"{site}#/topics")
    browser.wait("document.querySelectorAll('tbody tr').length === 50", "a page of topics")
    browser.click("button", "Next ›")
    browser.wait("document.querySelector('.pager').textContent.includes('51–100 of 10')", "the next page")
    browser.put("[data-search]", "MANY-07")
    browser.wait("document.querySelectorAll('tbody tr').length === 10", "ten of them")
    # A group that has committed for all of them, and a thousand others.
    for index in range(100):
        assert ask(site, "groups/many/offsets", {"topic": f"many-{index:03}", "to": "earliest"})[0] == 200
    for index in range(1000):
        assert ask(site, f"groups/crowd-{index:04}/offsets", {"topic": "orders", "to": "earliest", "partitions": [0]})[0] == 200
    browser.go(f"{site}#/groups")
    browser.wait("document.querySelectorAll('tbody tr').length === 50", "a page of groups")
    browser.put("[data-search]", "crowd-099")
    browser.wait("document.querySelectorAll('tbody tr').length === 10", "ten of them")
    browser.go(f"{site}#/groups/many")
    browser.wait("document.querySelector('.pager') && document.querySelector('.pager').textContent.includes('of 10,000')", "the first of ten thousand partitions")
    for path in ("topics?limit=50", "groups?limit=50&search=crowd", "groups?limit=50&lag=1", "groups/many", "groups/many/ownership?limit=100", "groups/many/rebalances", "requests", "errors"):
        watch = harness.Stopwatch()
        assert ask(site, path)[0] == 200
        assert watch.undisturbed_s() < AT_ONCE_S, path
    for index in range(100):
        assert ask(site, f"topics/many-{index:03}", method="DELETE")[0] == 200
    assert browser.take_problems() == []


@pytest.mark.parametrize("headers, status", [({"Origin": "http://evil.example"}, 403), ({"Host": "evil.example"}, 403), ({"Content-Type": "text/plain"}, 415)])
def test_a_page_of_another_site_changes_nothing(site, world, headers, status):
    request = urllib.request.Request(f"{site}v1/topics", data=b'{"topic": "evil", "partitions": 1}', headers={"Content-Type": "application/json", **headers})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=60)
    assert refused.value.code == status
    assert ask(site, "topics/evil")[0] == 404
