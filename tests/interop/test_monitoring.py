"""What operators are given beside the broker (scripts/packages): the dashboard, the alerts and the manifest for Kubernetes name what a running
broker has."""

import json
import os
import re
import shutil
import subprocess
import urllib.error
import urllib.request

import pytest

import harness
import insight
import secured

BROKER_PROPERTIES = {}
PACKAGES = harness.HERE.parents[1] / "scripts/packages"
DASHBOARD = PACKAGES / "monitoring/dashboard.json"
ALERTS = PACKAGES / "monitoring/alerts.yaml"
#: Metrics that Prometheus makes itself.
OF_PROMETHEUS = {"up"}
PLAIN_LABELS = {"instance", "job"}

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="these are Partita's own")


def get(broker, path):
    try:
        return urllib.request.urlopen(f"http://{insight.address(broker)}{path}", timeout=60)
    except urllib.error.HTTPError as answer:
        return answer


def panels():
    """Those of rows that are opened first, too."""
    shown = json.loads(DASHBOARD.read_text())["panels"]
    return [panel for each in shown for panel in (each["panels"] if each["type"] == "row" else [each])]


def expressions():
    dashboard = [(f"{DASHBOARD.name}: {panel['title']}", target["expr"]) for panel in panels() for target in panel["targets"]]
    alerts = [(f"{ALERTS.name}: {name}", expr) for name, expr in
              re.findall(r"- alert: (\w+)\n\s+expr: (.+)", ALERTS.read_text())]
    assert len(dashboard) > 15 and len(alerts) > 5
    return dashboard + alerts


def all_types(tmp_path):
    """Metrics with their types, of a broker that has something to say in all of them: logins, units of capacity, a directory of capture."""
    broker = secured.SecurePartita()
    broker.properties.update({"partita.capacity.units": 1, "partita.capture.directory": tmp_path})
    with broker:
        harness.run_partita("topics", "--list", "--bootstrap-server", broker.bootstrap,
                            "--command-config", broker.security.path / "app.properties").succeeded()
        token = (broker.security.path / "http-token").read_text().strip()
        request = urllib.request.Request(f"http://{broker.http_address}/metrics", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return dict(re.findall(r"^# TYPE (\S+) (\S+)$", answer.read().decode(), re.M))


def test_every_expression_names_metrics_of_a_broker_and_reads_them_as_what_they_are(tmp_path):
    types = all_types(tmp_path)
    for place, expression in expressions():
        metrics = re.findall(r"\b(?:kafka|partita|process)_[a-z0-9_]+", expression)
        assert metrics or set(re.findall(r"\b[a-z_]+\b", expression)) & OF_PROMETHEUS, f"{place}: {expression}"
        for metric in metrics:
            assert metric in types, f"{place}: no metric {metric}"
            is_rate = re.search(rf"(?:rate|increase|resets)\({metric}\b", expression) is not None
            assert is_rate == (types[metric] == "counter"), f"{place}: {metric} is a {types[metric]}"
    shown = {metric for place, expression in expressions() if place.startswith(DASHBOARD.name)
             for metric in re.findall(r"\b(?:kafka|partita|process)_[a-z0-9_]+", expression)}
    assert shown == set(types), "the dashboard shows every metric"


def test_panels_are_told_apart_and_none_lies_on_another():
    shown = json.loads(DASHBOARD.read_text())["panels"]
    numbers = [panel["id"] for panel in [*panels(), *(each for each in shown if each["type"] == "row")]]
    assert len(set(numbers)) == len(numbers)
    # What a row holds takes no place until it is opened.
    for together in [shown, *(each["panels"] for each in shown if each["type"] == "row")]:
        places = [(place["x"] + column, place["y"] + line) for place in (each["gridPos"] for each in together)
                  for column in range(place["w"]) for line in range(place["h"])]
        assert len(set(places)) == len(places) and max(column for column, _ in places) < 24


def test_what_a_plain_broker_tells_is_in_panels_that_are_open(broker):
    told = set(re.findall(r"^# TYPE (\S+) ", get(broker, "/metrics").read().decode(), re.M))
    opened = {metric for panel in json.loads(DASHBOARD.read_text())["panels"] if panel["type"] != "row" for target in panel["targets"]
              for metric in re.findall(r"\b(?:kafka|partita|process)_[a-z0-9_]+", target["expr"])}
    assert told == opened


def test_labels_that_are_asked_for_are_those_of_the_metrics():
    broker = harness.HERE.parents[1] / "broker"
    source = "".join(path.read_text() for path in [broker / "http/metrics.cc", *sorted(broker.glob("addons/*/http/*.cc"))])
    labels = set(re.findall(r'(\w+)=\\"', source)) | PLAIN_LABELS
    for place, expression in expressions():
        asked = set(re.findall(r"[{,]\s*(\w+)\s*=", expression))
        for group in re.findall(r"by \(([^)]*)\)", expression):
            asked |= set(group.replace(" ", "").split(","))
        assert asked <= labels, f"{place}: {asked - labels}"


def test_the_alerts_fire_as_their_own_tests_say():
    promtool = shutil.which("promtool", path=f"{harness.TOOLS}:{os.environ['PATH']}")
    if promtool is None:
        pytest.skip("no promtool here: scripts/test --full clients fetches it")
    subprocess.run([promtool, "check", "rules", ALERTS.name], cwd=ALERTS.parent, check=True)
    subprocess.run([promtool, "test", "rules", "alerts_test.yaml"], cwd=ALERTS.parent, check=True)


def test_the_probes_of_the_manifest_are_answered(broker):
    manifest = (PACKAGES / "kubernetes/partita.yaml").read_text()
    probes = re.findall(r"(\w+)Probe:\n\s+httpGet: \{path: (\S+), port: http\}", manifest)
    assert {name for name, _ in probes} == {"startup", "readiness", "liveness"}
    for _, path in probes:
        assert get(broker, path).status == 200
    image = (PACKAGES / "image/etc/partita/image.properties").read_text()
    for name, key in (("kafka", "listeners"), ("http", "partita.http.listener")):
        port = re.search(rf"^{re.escape(key)}=.*:(\d+)$", image, re.M).group(1)
        assert f"{{name: {name}, containerPort: {port}}}" in manifest
        assert f"{{name: {name}, port: {port}, targetPort: {name}}}" in manifest
