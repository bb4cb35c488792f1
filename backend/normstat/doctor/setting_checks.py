"""Checks of the settings: address, TLS, proxies, secrets, page. Pure."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from normstat.auth.client_address import is_this_machine, parse_networks
from normstat.doctor.address_probe import AddressFacts
from normstat.doctor.check_result import CheckResult, error, not_checked, ok, warning
from normstat.errors import BadRequest
from normstat.settings import Settings

CERTIFICATE_SOON: Final = timedelta(days=21)
# The networks that every address is in, or half of them.
WIDE_PREFIX: Final = 1
MIN_SECRET: Final = 12


def check_address(facts: AddressFacts, own_version: str, now: datetime) -> Iterator[CheckResult]:
    """Yield the checks of what answers at the public URL."""
    advice = "start the server, or correct NORMSTAT_PUBLIC_URL; agents and links use that URL"
    if facts.status is None:
        yield error("address", f"{facts.url}: {facts.failure}", "a normstat server answers there", advice)
        yield (
            not_checked("certificate", "nothing answers at the public URL")
            if facts.url.startswith("https:")
            else _no_tls(facts.url)
        )
        return
    if facts.version is None:
        found = f"{facts.url} answers with status {facts.status}, but is not a healthy normstat"
        yield error("address", found, "status 200 of /api/v1/health", "look at the server's log, and at the proxy's")
    elif facts.version != own_version:
        found = f"the server at {facts.url} is version {facts.version}, this command {own_version}"
        yield warning("address", found, "one version", "restart the server, or run the server's own normstat")
    else:
        yield ok("address", f"normstat {facts.version} answers at {facts.url}")
    if facts.certificate_ends is None:
        yield _no_tls(facts.url)
        return
    left = facts.certificate_ends - now
    found = f"valid until {facts.certificate_ends:%Y-%m-%d} ({left.days} days)"
    if left < CERTIFICATE_SOON:
        yield warning("certificate", found, f"at least {CERTIFICATE_SOON.days} days", "renew it")
    else:
        yield ok("certificate", found)


def _no_tls(url: str) -> CheckResult:
    if is_this_machine(_host_of(url)):
        return ok("certificate", "none needed: the public URL is this machine only")
    advice = "put a TLS proxy in front, set NORMSTAT_PUBLIC_URL=https://... and NORMSTAT_COOKIE_SECURE=true"
    return warning("certificate", f"{url}: passwords and tokens travel unencrypted", "https", advice)


def check_settings(settings: Settings, n_hosts: int | None, *, speaks_tls: bool) -> Iterator[CheckResult]:
    """Yield the checks of cookies, proxies and secrets. `n_hosts`: hosts that send, None when unknown."""
    yield _check_cookies(settings, speaks_tls=speaks_tls)
    yield _check_proxies(settings, speaks_tls=speaks_tls)
    if n_hosts is not None and n_hosts > 1 and is_this_machine(_host_of(settings.public_url)):
        found = f"{settings.public_url}, but {n_hosts} hosts send"
        advice = "set NORMSTAT_PUBLIC_URL to the URL that browsers and agents use"
        yield warning("public_url", found, "a URL that other hosts reach: commands to add a host name it", advice)
    else:
        yield ok("public_url", settings.public_url)
    weak = _weak_secrets(settings)
    if weak:
        yield warning(
            "secrets", "; ".join(weak), f"random ones of {MIN_SECRET} characters or more", "head -c 24 /dev/urandom | base64"
        )
    else:
        yield ok("secrets", "no password in the database's URL, or token of /metrics, is short")


def _check_cookies(settings: Settings, *, speaks_tls: bool) -> CheckResult:
    is_https = settings.public_url.lower().startswith("https:")
    if settings.cookie_secure and not is_https and not speaks_tls:
        found = f"NORMSTAT_COOKIE_SECURE is set, and the public URL is {settings.public_url}"
        return error(
            "cookies", found, "an https URL: browsers keep such cookies over TLS only", "set NORMSTAT_PUBLIC_URL=https://..."
        )
    if is_https and not settings.cookie_secure and not settings.trusted_proxies and not speaks_tls:
        found = "the public URL is https, and cookies are also sent without TLS"
        return warning("cookies", found, "cookies over TLS only", "set NORMSTAT_COOKIE_SECURE=true")
    return ok("cookies", "sent over TLS only" if is_https or speaks_tls else "sent without TLS, as the public URL is")


def _check_proxies(settings: Settings, *, speaks_tls: bool) -> CheckResult:
    advice = "list the proxy's address in NORMSTAT_TRUSTED_PROXIES"
    try:
        networks = parse_networks(settings.trusted_proxies)
    except BadRequest as refused:
        return error("proxies", refused.message, "addresses or networks, separated by commas", advice)
    wide = [str(network) for network in networks if network.prefixlen <= WIDE_PREFIX]
    if wide:
        return error(
            "proxies", f"NORMSTAT_TRUSTED_PROXIES has {', '.join(wide)}: anyone can claim any address", "the proxy's", advice
        )
    if not networks and settings.public_url.lower().startswith("https:") and not speaks_tls:
        found = "the public URL is https, this server does not speak TLS, and no proxy is trusted"
        return warning("proxies", found, "the proxy in the settings; else all clients have its address", advice)
    if "*" in settings.allowed_hosts:
        found = "NORMSTAT_ALLOWED_HOSTS has *: no defence against DNS rebinding"
        return warning("proxies", found, "host names", "list the names of this server")
    return ok("proxies", f"trusted: {', '.join(map(str, networks))}" if networks else "none, clients connect directly")


def _weak_secrets(settings: Settings) -> list[str]:
    found = []
    try:
        password = urlsplit(settings.database_url).password
    except ValueError:
        password = None
    if password is not None and (len(password) < MIN_SECRET or "normstat" in password.lower()):
        found.append("the database's password is short, or contains the product's name")
    token = settings.metrics_token.get_secret_value() if settings.metrics_token is not None else None
    if token is not None and len(token) < MIN_SECRET:
        found.append("NORMSTAT_METRICS_TOKEN is short")
    return found


def check_page(page_dir: Path | None, agents_dir: Path | None) -> CheckResult:
    """Check that there is a built page, and files for agents to download."""
    if page_dir is None or not (page_dir / "index.html").is_file():
        where = "no built page" if page_dir is None else f"no built page in {page_dir}"
        return error("page", where, "index.html", "install the wheel (make wheel), run make page, or set NORMSTAT_PAGE_DIR")
    if agents_dir is None or not (agents_dir / "normstat-agent").is_file():
        found = f"page in {page_dir}, but no agent script: hosts cannot download it"
        return warning("page", found, "normstat-agent", "install the wheel (make wheel), or set NORMSTAT_AGENTS_DIR")
    return ok("page", f"page in {page_dir}, agent's files in {agents_dir}")


def _host_of(url: str) -> str:
    return urlsplit(url).hostname or ""
