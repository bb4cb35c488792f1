#!/bin/sh
# The steps of installing and removing the packages of normstat-agent. The spool, the token and changed settings always stay.
home=/opt/normstat
agent=$home/normstat-agent
state=/var/lib/normstat-agent
user=normstat-agent

# The folder must not change its owner again: its contents are the account's.
make_account() {
    getent group $user >/dev/null || groupadd --system $user
    getent passwd $user >/dev/null ||
        useradd --system --gid $user --home-dir $state --no-create-home --shell /usr/sbin/nologin $user
    [ -d $state ] || install -d -o $user -g $user -m 700 $state
}

has_systemd() {
    [ -d /run/systemd/system ] && command -v systemctl >/dev/null 2>&1
}

# Returns whether an agent runs that systemd did not start.
is_started_by_hand() {
    [ -f "$state/spool/lock/pid" ] || return 1
    if has_systemd && systemctl is-active --quiet normstat-agent; then return 1; fi
    status=0
    "$agent" status >/dev/null 2>&1 || status=$?
    [ "$status" -lt 2 ]
}

# $1: upgrade, or nothing. A running agent is restarted with the new version.
after_install() {
    make_account
    by_hand=''
    if is_started_by_hand; then
        by_hand=1
        "$agent" stop >/dev/null || by_hand=''
    fi
    if has_systemd; then
        systemctl daemon-reload || :
        if [ "$1" = upgrade ]; then
            systemctl try-restart normstat-agent || :
        else
            systemctl --quiet enable normstat-agent || :
        fi
        if [ -n "$by_hand" ]; then
            systemctl start normstat-agent || :
        fi
    elif [ -n "$by_hand" ]; then
        # Ignore its status: the server may be away.
        "$agent" start </dev/null >/dev/null 2>&1 || :
    fi
    if [ ! -s "$state/token" ]; then
        echo "normstat-agent: write server=URL into $home/agent.conf and the token into $state/token (owner $user, mode 600)," \
            "then start it: systemctl start normstat-agent, or $agent start"
    fi
}

before_remove() {
    if has_systemd; then
        systemctl --quiet disable --now normstat-agent || :
    fi
    if [ -f "$state/spool/lock/pid" ]; then
        "$agent" stop >/dev/null || :
    fi
}

before_change() {
    :
}

after_remove() {
    if has_systemd; then
        systemctl daemon-reload || :
    fi
    if [ -d "$state" ]; then
        echo "normstat-agent: kept the spool and the token in $state, and the account $user"
    fi
}
