#!/bin/sh
# The steps of installing and removing the packages of normstat-server. Settings, the account and the data always stay.
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
    # It may hold a password: the server's account reads it for the commands, nobody else.
    chgrp normstat /etc/normstat/normstat.env
    chmod 640 /etc/normstat/normstat.env
    "$home/bin/python3" -m compileall -q "$home/lib" >/dev/null 2>&1 || :
    if has_systemd; then
        systemctl daemon-reload || :
        if [ "$1" = upgrade ]; then
            systemctl try-restart normstat || :
        fi
    fi
    if [ "$1" != upgrade ]; then
        echo "normstat-server: create the database, then start the server:" \
            "see /usr/share/doc/normstat-server/operations.md, From packages"
    fi
}

before_remove() {
    if has_systemd; then
        systemctl --quiet disable --now normstat || :
    fi
}

# Compiled modules, which no package manager knows of. $1: upgrade, or nothing.
before_change() {
    if [ -d "$home/lib" ]; then
        find "$home/lib" -name __pycache__ -type d -prune -exec rm -rf {} +
    fi
}

after_remove() {
    if has_systemd; then
        systemctl daemon-reload || :
    fi
    if [ -d /var/lib/normstat ]; then
        echo "normstat-server: kept /var/lib/normstat, the account normstat and the database"
    fi
}
