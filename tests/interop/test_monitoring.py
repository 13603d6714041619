"""What operators are given beside the broker (scripts/packages): the dashboard, the alerts and the manifest for Kubernetes name what a running
broker has."""

import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request

import pytest

import harness
import insight

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
        return urllib.request.urlopen(f"http://{insight.address(broker)}{path}", timeout=10)
    except urllib.error.HTTPError as answer:
        return answer


def expressions():
    dashboard = [(f"{DASHBOARD.name}: {panel['title']}", target["expr"])
                 for panel in json.loads(DASHBOARD.read_text())["panels"] for target in panel["targets"]]
    alerts = [(f"{ALERTS.name}: {name}", expr) for name, expr in
              re.findall(r"- alert: (\w+)\n\s+expr: (.+)", ALERTS.read_text())]
    assert len(dashboard) > 15 and len(alerts) > 5
    return dashboard + alerts


def test_every_expression_names_metrics_of_the_broker_and_reads_them_as_what_they_are(broker):
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", get(broker, "/metrics").read().decode(), re.M))
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


def test_labels_that_are_asked_for_are_those_of_the_metrics():
    source = (harness.HERE.parents[1] / "broker/http/metrics.cc").read_text()
    labels = set(re.findall(r'(\w+)=\\"', source)) | PLAIN_LABELS
    for place, expression in expressions():
        asked = set(re.findall(r"[{,]\s*(\w+)\s*=", expression))
        for group in re.findall(r"by \(([^)]*)\)", expression):
            asked |= set(group.replace(" ", "").split(","))
        assert asked <= labels, f"{place}: {asked - labels}"


def test_the_alerts_fire_as_their_own_tests_say():
    if not shutil.which("promtool"):
        pytest.skip("no promtool here (Debian's package prometheus)")
    subprocess.run(["promtool", "check", "rules", ALERTS.name], cwd=ALERTS.parent, check=True)
    subprocess.run(["promtool", "test", "rules", "alerts_test.yaml"], cwd=ALERTS.parent, check=True)


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
