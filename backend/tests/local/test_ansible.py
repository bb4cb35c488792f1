"""The roles of packaging/ansible: linted, and run twice against a clean Debian; the second run changes nothing."""

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest
import yaml

from normstat.settings import Settings
from tests.debian_root import ANSIBLE_ROOT, COPY_OF_ROOT, DatabaseUnavailable
from tests.e2e.product import CHECKOUT
from tests.local.test_server_package import build_package
from tests.unavailable import skip_without

ROLES: Final = CHECKOUT / "packaging/ansible"

LOCAL: Final = "postgresql://normstat@/normstat?host=/var/run/postgresql"

# Runs in namespaces of its own: whatever it mounts or starts ends with it, and the cached Debian below is not changed. Ansible runs
# in the root that it changes; so does PostgreSQL, but not systemd.
RUNS: Final = (
    COPY_OF_ROOT
    + r"""
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ip link set lo up
mkdir "$root/ansible"
cp -r "$ROLES/." "$INPUT/." "$root/ansible"
run() {
    chroot "$root" env LC_ALL=C.UTF-8 HOME=/root ANSIBLE_STDOUT_CALLBACK=default ANSIBLE_NOCOLOR=1 sh -c "cd /ansible && exec $*"
}
echo "== lint"
run ansible-lint --offline --profile production --strict site.yml
chroot "$root" pg_ctlcluster 17 main start
echo "== check"
run ansible-playbook -i hosts.yml --check site.yml
echo "== first"
run ansible-playbook -i hosts.yml site.yml
echo "== second"
run ansible-playbook -i hosts.yml site.yml
echo "== then-check"
run ansible-playbook -i hosts.yml --check --diff site.yml
echo "== state"
chroot "$root" runuser -u postgres -- psql -XAtc "SELECT datname, datdba::regrole FROM pg_database WHERE datname = 'normstat'"
chroot "$root" sh -c '
    stat -c "%a %U:%G %n" /etc/normstat/normstat.toml /etc/normstat/secrets/* /var/lib/normstat-agent/*token
    cat /etc/normstat/normstat.toml /opt/normstat/agent.conf /opt/normstat/stats.conf
    grep ^NORMSTAT /etc/normstat/normstat.env
    systemctl is-enabled normstat normstat-agent'
echo "== refused"
run ansible-playbook -i hosts.yml -e '"{normstat_server_local_database: false}"' site.yml || :
echo "== moved"
run ansible-playbook -i hosts.yml -e @moved.yml site.yml
run ansible-playbook -i hosts.yml -e @moved.yml site.yml
grep ^NORMSTAT_DATABASE "$root/etc/normstat/normstat.env"
cat "$root/etc/normstat/secrets/database_url" | tr a-z A-Z
"""
)


def run_roles(tmp_path: Path, base: Path, server: dict[str, object], agent: dict[str, object]) -> dict[str, str]:
    """The output of each step."""
    given = tmp_path / "input"
    given.mkdir()
    packages = [build_package("deb", "0.0.1", tmp_path / "server")]
    subprocess.run(["sh", str(CHECKOUT / "agents/package/build.sh"), "deb", str(tmp_path)], check=True, capture_output=True)
    packages += tmp_path.glob("normstat-agent_*.deb")
    for package in packages:
        (given / package.name).write_bytes(package.read_bytes())
    local = {"localhost": {"ansible_connection": "local", "ansible_python_interpreter": "/usr/bin/python3"}}
    hosts = {
        "normstat_servers": {"hosts": local, "vars": server | {"normstat_server_package": f"/ansible/{packages[0].name}"}},
        "normstat_hosts": {"hosts": local, "vars": agent | {"normstat_agent_package": f"/ansible/{packages[1].name}"}},
    }
    (given / "hosts.yml").write_text(yaml.safe_dump(hosts))
    secrets = {"normstat_server_secrets": {"database_url": "postgresql://normstat:s3cret@db/normstat"}}
    (given / "moved.yml").write_text(yaml.safe_dump({"normstat_server_local_database": False, **secrets}))
    (tmp_path / "scratch").mkdir()
    places = {"BASE": str(base), "SCRATCH": str(tmp_path / "scratch"), "ROLES": str(ROLES), "INPUT": str(given)}
    words = ["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "sh", "-c", RUNS]
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **places}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr
    assert "s3cret" not in done.stdout + done.stderr
    return dict(re.findall(r"(?s)== ([\w-]+)\n(.*?)(?=== |\Z)", done.stdout))


def recap(output: str) -> dict[str, int]:
    """The numbers of the last line of a run."""
    (line,) = re.findall(r"^localhost +: (.*)$", output, re.MULTILINE)
    return {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", line)}


@pytest.mark.matrix
@pytest.mark.timeout(900)
def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    try:
        base = ANSIBLE_ROOT.require()
    except DatabaseUnavailable as error:
        skip_without(error)
    steps = run_roles(
        tmp_path,
        base,
        {
            "normstat_server_settings": {"public_url": "https://n.example", "workers": 2, "trusted_proxies": ["127.0.0.1"]},
            "normstat_server_secrets": {"metrics_token": "s3cret-token"},
            "normstat_server_port": 8099,
        },
        {
            "normstat_agent_server": "https://n.example",
            "normstat_agent_join_token": "s3cret-join",
            "normstat_agent_options": {"tags": "prod,rack-7"},
            "normstat_agent_stats": "vmstat_linux\tvmstat -t 1\n",
        },
    )
    checked, first, second = (recap(steps[name]) for name in ("check", "first", "second"))
    assert checked["failed"] == first["failed"] == second["failed"] == 0
    assert first["changed"] > 5
    assert second["changed"] == 0, steps["second"]
    assert recap(steps["then-check"])["changed"] == 0
    state = steps["state"]
    assert (
        "normstat|normstat\n640 root:normstat /etc/normstat/normstat.toml\n640 root:normstat /etc/normstat/secrets/metrics_token\n"
        in state
    )
    assert "600 normstat-agent:normstat-agent /var/lib/normstat-agent/join-token\n" in state
    assert 'trusted_proxies = ["127.0.0.1"]\nworkers = 2\nmetrics_token_file = "/etc/normstat/secrets/metrics_token"\n' in state
    assert "server=https://n.example\ntags=prod,rack-7\n" in state
    assert (
        f"vmstat_linux\tvmstat -t 1\nNORMSTAT_DATABASE_URL={LOCAL}\nNORMSTAT_HOST=127.0.0.1\nNORMSTAT_PORT=8099\nenabled\nenabled\n"
        in state
    )
    assert "Set normstat_server_local_database to false and database_url" in steps["refused"]
    first, second = re.findall(r"^localhost +: .*changed=(\d+)", steps["moved"], re.MULTILINE)
    assert (int(first) > 0, int(second)) == (True, 0)
    assert (
        "\nNORMSTAT_DATABASE_URL_FILE=/etc/normstat/secrets/database_url\nPOSTGRESQL://NORMSTAT:S3CRET@DB/NORMSTAT\n"
        in steps["moved"]
    )
    assert LOCAL not in steps["moved"]


def test_the_example_uses_variables_of_the_roles_and_settings_of_the_server() -> None:
    example = yaml.safe_load((ROLES / "inventory.example.yml").read_text())
    known = {
        name
        for role in ("normstat_agent", "normstat_server")
        for name in yaml.safe_load((ROLES / f"roles/{role}/defaults/main.yml").read_text())
    }
    given = {name: value for group in example.values() for name, value in group["vars"].items()}
    assert given.keys() <= known
    assert given["normstat_server_settings"].keys() <= Settings.model_fields.keys()
