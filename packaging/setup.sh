#!/bin/sh
# normstat-setup - makes the server's database in the PostgreSQL of this machine, starts the server and prints a link that logs in.
# Run as root after the package is installed; running it again changes nothing. A database elsewhere: docs/install.md, From packages.
set -eu
settings=/etc/normstat/normstat.env
socket=/var/run/postgresql

die() {
    printf 'normstat-setup: %s\n' "$1" >&2
    exit 1
}

[ "$(id -u)" = 0 ] || die "run it as root"
# The accounts below cannot enter root's folder.
cd /
url=$(sed -n 's/^NORMSTAT_DATABASE_URL=//p' "$settings")
[ "$url" = "postgresql://normstat@/normstat?host=$socket" ] ||
    die "$settings names another database than the one on this machine: create it there, then run: systemctl enable --now normstat"
# Red Hat's package leaves this to the administrator.
if command -v postgresql-setup >/dev/null 2>&1 && [ ! -e /var/lib/pgsql/data/PG_VERSION ]; then
    postgresql-setup --initdb
fi
if [ -d /run/systemd/system ]; then
    systemctl enable --now postgresql
fi
[ -S "$socket/.s.PGSQL.5432" ] || die "no PostgreSQL answers in $socket: install the package postgresql (Red Hat: postgresql-server)"
runuser -u postgres -- env NORMSTAT_ENV_FILE= NORMSTAT_DATABASE_URL="$url" \
    NORMSTAT_ADMIN_URL="postgresql://postgres@/postgres?host=$socket" /opt/normstat-server/bin/normstat own-database
if [ ! -d /run/systemd/system ]; then
    echo "There is no systemd here. Start the server, then make a link that logs in:"
    echo "    runuser -u normstat -- sh -c 'normstat migrate && exec normstat serve'"
    echo "    runuser -u normstat -- normstat login-link"
    exit 0
fi
systemctl enable --now normstat
exec runuser -u normstat -- normstat login-link
