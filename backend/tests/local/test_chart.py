"""The Helm chart: its values' schema, and what the real helm made of the cases in packaging/helm/cases (`make chart`)."""

import importlib.util
import json
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

import jsonschema
import pytest
import yaml

from normstat import __version__
from normstat.cli.gen_command import VALUES_SCHEMA, list_settings, render_values_schema
from normstat.settings import Settings
from tests.e2e.product import CHECKOUT

HELM: Final = CHECKOUT / "packaging/helm"
CHART: Final = HELM / "normstat"
CASES: Final = [path.stem for path in sorted((HELM / "cases").glob("*.yaml"))]


@pytest.fixture(scope="module")
def build_chart() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_chart", CHECKOUT / "backend/setup/build_chart.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_case(case: str) -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load((HELM / f"cases/{case}.yaml").read_text())
    return values


def read_objects(case: str) -> dict[str, dict[str, Any]]:
    """The objects of the server by kind; there is one of each. Those of agents: see read_agent."""
    found = [one for one in read_all(case) if not is_of_agent(one)]
    assert len({one["kind"] for one in found}) == len(found)
    return {one["kind"]: one for one in found}


def read_all(case: str) -> list[dict[str, Any]]:
    return [one for one in yaml.safe_load_all((HELM / f"rendered/{case}.yaml").read_text()) if one is not None]


def is_of_agent(one: dict[str, Any]) -> bool:
    name: str = one["metadata"]["name"]
    return name.endswith("-agent")


def containers_of(case: str) -> Iterator[dict[str, Any]]:
    pod = read_objects(case)["Deployment"]["spec"]["template"]["spec"]
    yield from (*pod["initContainers"], *pod["containers"])


def test_what_was_rendered_is_of_this_chart(build_chart: ModuleType) -> None:
    assert [path.stem for path in sorted((HELM / "rendered").glob("*.yaml"))] == CASES
    assert build_chart.DIGEST.read_text().strip() == build_chart.digest_chart(), "the chart was changed: run make chart"


def test_the_chart_has_the_version_of_the_program() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (__version__, __version__)


def test_the_schema_knows_the_settings() -> None:
    assert VALUES_SCHEMA.read_text() == render_values_schema(), "run make gen"
    assert {"NORMSTAT_DATABASE_URL", "NORMSTAT_PUBLIC_URL", "NORMSTAT_SECRET_KEY"} <= list_settings().keys()


def test_the_defaults_and_the_cases_fit_the_schema() -> None:
    schema = json.loads(VALUES_SCHEMA.read_text())
    defaults = yaml.safe_load((CHART / "values.yaml").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    for values in (defaults, *map(read_case, CASES)):
        validator.validate(values)
    assert schema["properties"].keys() - {"global"} == defaults.keys(), "each value has a default with a comment"
    for wrong in ({"replicas": "3"}, {"replicaCount": 3}, {"settings": {"NORMSTAT_PUBLIK_URL": "x"}}, {"strategy": "recreate"}):
        assert not validator.is_valid(wrong), wrong


def test_secrets_are_refused_among_the_settings() -> None:
    secret = {f"NORMSTAT_{name.upper()}" for name, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation)}
    assert "NORMSTAT_SECRET_KEY" in secret
    listed = re.search(r"has \$name \(list (.*?)\)", (CHART / "templates/configmap.yaml").read_text())
    assert listed is not None
    # URLs of databases have passwords in them.
    urls = {"NORMSTAT_DATABASE_URL", "NORMSTAT_DATABASE_READ_URL", "NORMSTAT_ADMIN_URL"}
    assert set(re.findall(r'"(\w+)"', listed[1])) == secret | urls


@pytest.mark.parametrize("case", CASES)
def test_pods_are_restricted(case: str) -> None:
    """As the Pod Security Standard `restricted` wants it."""
    pod = read_objects(case)["Deployment"]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    user = re.search(r"^USER (\d+):(\d+)$", (CHECKOUT / "Dockerfile").read_text(), re.MULTILINE)
    assert user is not None
    assert (pod["securityContext"]["runAsUser"], pod["securityContext"]["runAsGroup"]) == (int(user[1]), int(user[2]))
    assert pod["automountServiceAccountToken"] is False
    # A Service named normstat would set NORMSTAT_PORT and the like.
    assert pod["enableServiceLinks"] is False
    assert {next(iter(volume.keys() - {"name"})) for volume in pod["volumes"]} <= {"emptyDir", "secret"}
    for container in containers_of(case):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["limits"]["memory"]
        assert "/tmp" in {mount["mountPath"] for mount in container["volumeMounts"]}
        mounts = {mount["name"] for mount in container["volumeMounts"]}
        assert mounts <= {volume["name"] for volume in pod["volumes"]}


@pytest.mark.parametrize("case", CASES)
def test_pods_migrate_then_serve_and_are_asked_for_real_routes(case: str) -> None:
    migrate, server = containers_of(case)
    assert migrate["command"] == ["normstat", "migrate"]
    assert server["command"][:2] == ["normstat", "serve"]
    assert server["command"][-1] == str(server["ports"][0]["containerPort"])
    assert migrate["envFrom"] == server["envFrom"]
    routes = json.loads((CHECKOUT / "frontend/openapi.json").read_text())["paths"].keys() | {"/"}
    scheme = "HTTPS" if read_case(case).get("tls") else "HTTP"
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        asked = server[probe]["httpGet"]
        assert asked["path"] in routes
        assert (asked["port"], asked["scheme"]) == (server["ports"][0]["name"], scheme)
    # A database that is away must not restart the servers.
    assert server["livenessProbe"]["httpGet"]["path"] == "/"
    assert server["readinessProbe"]["httpGet"]["path"] == "/api/v1/health"


@pytest.mark.parametrize("case", CASES)
def test_objects_name_each_other(case: str) -> None:
    objects = read_objects(case)
    values = read_case(case)
    deployment = objects["Deployment"]["spec"]
    labels = deployment["template"]["metadata"]["labels"]
    selectors = [deployment["selector"]["matchLabels"], objects["Service"]["spec"]["selector"]]
    selectors += [
        objects[kind]["spec"]["selector"]["matchLabels"] for kind in ("PodDisruptionBudget", "ServiceMonitor") if kind in objects
    ]
    for selector in selectors:
        assert selector.items() <= labels.items()
    assert ("PodDisruptionBudget" in objects) == (values.get("replicas", 1) > 1)
    names = [next(iter(source.values()))["name"] for source in next(containers_of(case))["envFrom"]]
    existing = values["secret"].get("existing")
    assert names == [objects["ConfigMap"]["metadata"]["name"], existing or objects["Secret"]["metadata"]["name"]]
    assert ("Secret" in objects) == (existing is None)
    if existing is None:
        assert objects["Secret"]["stringData"] == values["secret"]["values"]
    given = dict(values.get("settings", {}))
    hosts = given.pop("NORMSTAT_ALLOWED_HOSTS", "").split(",")
    assert given.items() <= objects["ConfigMap"]["data"].items()
    # Agents call the server by the name of its Service, too.
    assert set(filter(None, hosts)) <= set(objects["ConfigMap"]["data"].get("NORMSTAT_ALLOWED_HOSTS", "").split(","))
    assert objects["ConfigMap"]["data"].keys() <= list_settings().keys()
    port = objects["Service"]["spec"]["ports"][0]
    assert port["targetPort"] == deployment["template"]["spec"]["containers"][0]["ports"][0]["name"]
    if "Ingress" in objects:
        (rule,) = objects["Ingress"]["spec"]["rules"]
        backend = rule["http"]["paths"][0]["backend"]["service"]
        assert backend == {"name": objects["Service"]["metadata"]["name"], "port": {"name": port["name"]}}
        assert values["settings"]["NORMSTAT_PUBLIC_URL"] == f"https://{rule['host']}"
    if "ServiceMonitor" in objects:
        (endpoint,) = objects["ServiceMonitor"]["spec"]["endpoints"]
        assert (endpoint["path"], endpoint["port"]) == ("/metrics", port["name"])
        assert endpoint["authorization"]["credentials"] == {"name": names[1], "key": "NORMSTAT_METRICS_TOKEN"}


WITH_AGENTS: Final = [case for case in CASES if read_case(case).get("agent", {}).get("enabled")]


@pytest.mark.parametrize("case", WITH_AGENTS)
def test_an_agent_on_each_node_may_only_read_the_node(case: str) -> None:
    found = {one["kind"]: one for one in read_all(case) if is_of_agent(one)}
    pod = found["DaemonSet"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["hostPID"] is True
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"], "add": ["SYS_PTRACE", "DAC_READ_SEARCH"]},
    }
    of_node = {volume["name"] for volume in pod["volumes"] if "hostPath" in volume}
    writable = {mount["name"] for mount in container["volumeMounts"] if mount["name"] in of_node and not mount.get("readOnly")}
    assert (of_node, writable) == ({"state", "cgroup", "containers"}, {"state"})
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
    assert pod["tolerations"] == [{"operator": "Exists"}]


@pytest.mark.parametrize("case", WITH_AGENTS)
def test_agents_are_started_with_options_that_they_have_and_the_server_knows_their_name_for_it(case: str) -> None:
    found = {one["kind"]: one for one in read_all(case) if is_of_agent(one)}
    daemon, server = found["DaemonSet"]["spec"], read_objects(case)
    (container,) = daemon["template"]["spec"]["containers"]
    given = {one["name"]: one for one in container["env"]}
    assert given["NORMSTAT_HOST"]["valueFrom"] == {"fieldRef": {"fieldPath": "spec.nodeName"}}
    help_text = (CHECKOUT / "agents/normstat-agent").read_text()
    for name in given:
        option = name.removeprefix("NORMSTAT_").lower().replace("_", "-")
        assert re.search(rf"^#   --{option} ", help_text, re.MULTILINE), name
    service, url = server["Service"], given["NORMSTAT_SERVER"]["value"]
    scheme = "https" if read_case(case).get("tls") else "http"
    host = f"{service['metadata']['name']}.monitoring.svc"
    assert url == f"{scheme}://{host}:{service['spec']['ports'][0]['port']}"
    # Or the server would refuse them.
    assert host in server["ConfigMap"]["data"]["NORMSTAT_ALLOWED_HOSTS"].split(",")
    labels = daemon["template"]["metadata"]["labels"]
    assert daemon["selector"]["matchLabels"].items() <= labels.items()
    assert not service["spec"]["selector"].items() <= labels.items(), "an agent is no server"
    stats = read_case(case)["agent"].get("stats")
    assert ("ConfigMap" in found) == ("NORMSTAT_STATS" in given) == (stats is not None)
    if stats is not None:
        assert found["ConfigMap"]["data"] == {"stats.conf": stats}
