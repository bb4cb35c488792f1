#!/bin/sh
# normstat-agent - collects the output of this host's stat tools and ships it, byte for byte, to a normstat server.
#
# Usage:
#   normstat-agent run      [options]      collect and ship in the foreground until stopped by a signal
#   normstat-agent start    [options]      the same in the background
#   normstat-agent stop     [options]      end the agent of this spool directory and every tool it started
#   normstat-agent status   [options]      show what runs, what is waiting, and what went wrong
#   normstat-agent check    [options]      check for the programs, the server and the token
#   normstat-agent enrol    [options]      exchange a join token for this host's own token; a valid token is kept
#   normstat-agent collect DIR [SECONDS]   the same files without a network (to import later)
#   normstat-agent ask [options] COMMAND   run a command that a line `ask` of stats.conf allows, and send what it prints as an artefact;
#                                          without COMMAND: list what is allowed
#   COMMAND | normstat-agent put [options] [FILE]   send standard input, or a file, as an artefact
#   normstat-agent help | version
# Options (or NORMSTAT_<OPTION> in the environment, or <option>=value lines in agent.conf beside this file):
#   --server URL          the server, e.g. https://normstat.example.com
#   --token-file FILE     file with the agent token, mode 600; the agent writes it when it enrols or the server wants a new token
#   --join-token-file FILE   file with a join token, mode 600; run and start enrol with it if there is no token yet
#   --spool DIR           where output waits until the server has it          (default: spool beside this file)
#   --stats FILE          what to record, one name<TAB>command per line       (default: stats.conf beside this file)
#   --host NAME           name of this host                                   (default: uname -n)
#   --tags LIST           tags of this host on the server, e.g. prod,db
#   --interval SECONDS    between shipments; the default is 5, or longer where the CPU is slow or the server asks for it
#   --spool-limit SIZE    largest size of the spool, in K, M or G             (default 512M)
#   --max-file SIZE       a tool is restarted when its file is this long      (default 64M)
#   --max-age SECONDS     ... or this old                                     (default 86400)
#   --max-body SIZE       largest request before gzip                         (default 4M)
#   --ca-file FILE        certificates to trust for https
#   --client-cert FILE, --client-key FILE   this host's own certificate, where the server wants one, and its key, mode 600
#   --proxy URL           a proxy on the way to the server (curl and wget only); none is taken from the environment
#   --transport NAME      perl, curl, wget or openssl           (default: the first that can; perl only for http:// without a proxy)
#   --user NAME           started by root on Linux: run as this user, other commands too (setpriv, package util-linux). Only the
#                         process sampler keeps two capabilities, to see the I/O of all users
#   --config FILE         another agent.conf
#   --max-text SIZE       largest text of ask and put                         (default 64M)
# Options of ask and put, before the command or file:
#   --question TEXT       what is asked       --title TEXT   its name in lists     --spec NAME   the spec to read it with
#   --command TEXT, --start TIME, --end TIME  of put: the command that printed it, and when (2026-11-21T10:00:00Z)
#   --stderr              of ask: the report is on standard error (assumed for strace, truss, ltrace, time and perf stat)
#   NORMSTAT_PATH replaces the fixed search path, NORMSTAT_SHELL the shell that start and the tools use.
# Needs: a POSIX shell (on Solaris 10 it finds one by itself), ls, dd, mv, rm, mkdir, date, sleep, cat, od, id; one of
#   curl, GNU wget, perl, openssl; gzip if installed. No compiler, no root. The sampler of Linux needs awk or head. Cheapest with
#   perl, bash and mawk.
# Overhead: docs/performance.md of the server has the figures. It is lower while the server is away.
# Exit: 0 success, 1 trouble (reported on standard error; status: something needs attention), 2 wrong usage,
#   3 not running, 4 already running.

# Changes are made in the parts of this script, agents/src of the repository; `make agent` joins them.

# Solaris 10's /bin/sh is the old Bourne shell. Down to the fi only its syntax is used; it hands over to a POSIX shell.
if (eval 'x=a.b; test "$(echo "${x%.b}")" = a && test $((1 + 1)) -eq 2') >/dev/null 2>&1; then
    :
else
    for NORMSTAT_SHELL in /usr/xpg4/bin/sh /usr/bin/ksh /bin/ksh /usr/bin/ksh93 /bin/bash; do
        if test -x $NORMSTAT_SHELL; then
            export NORMSTAT_SHELL
            exec $NORMSTAT_SHELL "$0" ${1+"$@"}
        fi
    done
    echo "normstat-agent: needs a POSIX shell: neither /usr/xpg4/bin/sh nor ksh is here" >&2
    exit 1
fi

# ${1+"$@"} below is "$@" for shells that treat an empty one as unset.
# Every return gives its status: in some shells a bare return in a trap gives the status from before the trap.
umask 077
set -u
# Only options decide how a request is sent. A `token` in the environment would still be exported after it is set here.
env_proxy=${http_proxy:-}${https_proxy:-}${HTTPS_PROXY:-}${all_proxy:-}${ALL_PROXY:-}
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY
unset WGETRC SYSTEM_WGETRC SSLKEYLOGFILE token token_known rt_token rh_old new_token nt_line NORMSTAT_TOKEN BASH_ENV ENV
unset PERL5OPT PERL5LIB PERLLIB PERL5DB PERL_UNICODE
readonly VERSION=0.1.0
# The time zone of the host's own programs; `start` passes it to the agent in the background, where TZ is UTC.
NORMSTAT_TZ=${NORMSTAT_TZ-${TZ:-}}
PATH=${NORMSTAT_PATH:-/usr/xpg4/bin:/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin:/usr/sfw/bin:/opt/csw/bin}
LC_ALL=C TZ=UTC S_TIME_FORMAT=ISO
export PATH LC_ALL TZ S_TIME_FORMAT
TAB=$(printf '\t')
NL='
'
CR=$(printf '\r')
IFS=" $TAB$NL"
readonly TAB NL CR
readonly CUT_OFF=' <normstat-agent: line cut off here>'
# More than any answer needs: 200 streams take about 25 KB. The limit on lines is for the head and for the body.
readonly MAX_ANSWER_BYTES=65536 MAX_ANSWER_LINES=1000
# CPU time limit of a transfer; a request of 4 MB takes a hundredth of it.
readonly MAX_TRANSFER_CPU_S=30
# After this many requests the tools are checked again, even if data is still waiting.
readonly MAX_REQUESTS=100
# Fewer acknowledged bytes at the beginning of a file are not worth a copy of the rest.
readonly MIN_FREED=16384

# In the code of `run`, $( ) is used only in assignments (and after case), never in the words of a command or in a here-document:
# there ksh93 (u+m 1.0.4) loses a signal that arrives while it waits for the substitution, such as a TERM to the agent.

log() {
    lg_time=$(date -u '+%Y-%m-%dT%H:%M:%SZ')
    printf '%s normstat-agent: %s\n' "$lg_time" "$*" >&2
}

die() {
    printf 'normstat-agent: %s\n' "$*" >&2
    exit 1
}

die_usage() {
    printf 'normstat-agent: %s (normstat-agent help says more)\n' "$*" >&2
    exit 2
}
