#!/bin/sh
# The steps of installing and removing the packages of normstat-server. The account and the database always stay; purging a .deb
# removes settings and /var/lib/normstat.
home=/opt/normstat-server

has_systemd() {
    [ -d /run/systemd/system ] && command -v systemctl >/dev/null 2>&1
}

make_account() {
    getent group normstat >/dev/null || groupadd --system normstat
    getent passwd normstat >/dev/null ||
        useradd --system --gid normstat --home-dir /var/lib/normstat --no-create-home --shell /usr/sbin/nologin normstat
}

# $1: upgrade, or nothing. A server that runs goes on with the new version, which migrates the database first.
after_install() {
    make_account
    # They may hold a password: the server's account reads them for the commands, no other.
    chgrp normstat /etc/normstat/normstat.env /etc/normstat/normstat.toml
    chmod 640 /etc/normstat/normstat.env /etc/normstat/normstat.toml
    "$home/bin/python3" -m compileall -q "$home/lib" >/dev/null 2>&1 || :
    if has_systemd; then
        systemctl daemon-reload || :
        if [ "$1" = upgrade ]; then
            systemctl try-restart normstat || :
        fi
    fi
    if [ "$1" != upgrade ]; then
        echo "normstat-server: normstat-setup makes the database on this machine and starts the server;" \
            "for another database see /usr/share/doc/normstat-server/install.md, From packages"
    fi
}

before_remove() {
    if has_systemd; then
        systemctl --quiet disable --now normstat || :
    elif command -v systemctl >/dev/null 2>&1; then
        systemctl --quiet disable normstat || :
    fi
}

# Compiled modules, which no package manager knows of.
before_change() {
    if [ -d "$home/lib" ]; then
        find "$home/lib" -name __pycache__ -type d -prune -exec rm -rf {} +
    fi
}

# $1: remove or purge.
after_remove() {
    if has_systemd; then
        systemctl daemon-reload || :
    fi
    if [ "$1" = purge ]; then
        # Uploads that were not imported.
        rm -rf /var/lib/normstat
        echo "normstat-server: kept the database, and the account normstat"
    elif [ -d /var/lib/normstat ]; then
        echo "normstat-server: kept the database, the account normstat, /var/lib/normstat and changed settings"
    fi
}
