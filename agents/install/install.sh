#!/bin/sh
# install.sh - installs or updates normstat-agent on this host and starts it. No root needed.
#
# Usage:  curl -fsS URL/api/v1/agent/install.sh | NORMSTAT_JOIN_TOKEN=TOKEN sh -s -- --server URL
#         wget -q -O - URL/api/v1/agent/install.sh | NORMSTAT_JOIN_TOKEN=TOKEN sh -s -- --server URL        (Solaris 10)
# Options:
#   --server URL       the normstat server
#   --token TOKEN      the agent token; it is written to a file of mode 600 and appears in no later command line
#   --token-file FILE  ... or a file that holds it; or NORMSTAT_TOKEN in the environment
#   --join-token-file FILE   a file with a join token, which is exchanged for the host's own token; or NORMSTAT_JOIN_TOKEN.
#                      A valid token in place is kept
#   --host NAME        name of this host on the server      (default: uname -n)
#   --dir DIR          where to install it                  (default: /opt/normstat for root, else ~/.normstat)
#   --user NAME        for root on Linux: the agent runs as this user, created if missing; token and spool are in
#                      /var/lib/normstat-agent (with --dir: DIR/state). Only the sampler of processes keeps two capabilities, to
#                      see the I/O of all users. Default in /opt/normstat: normstat-agent; root: the agent and all its tools run as root
#   --ca-file FILE     certificates to trust for https
#   --client-cert FILE, --client-key FILE   this host's own certificate, where the server wants one, and its key
#   --proxy URL        a proxy on the way to the server; none is taken from the environment
#   --no-start         only install the files
# Installs: normstat-agent, stats.conf (yours is kept if you have changed it), token, agent.conf, spool/.
# Needs: curl, wget or perl (perl: http only). Exit: 0 success, 1 error, 2 wrong usage.
#
# Written for the old Bourne shell, since `sh -s` on Solaris 10 is one: hence the backquotes.
# shellcheck disable=SC2006,SC2003,SC2268

umask 077
PATH=${NORMSTAT_PATH-/usr/xpg4/bin:/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin:/usr/sfw/bin:/opt/csw/bin}
export PATH

# Only options decide how to connect. The token must reach no program's environment: an inherited variable would stay exported.
NORMSTAT_TOKEN=${NORMSTAT_TOKEN-}
given_token=$NORMSTAT_TOKEN
NORMSTAT_JOIN_TOKEN=${NORMSTAT_JOIN_TOKEN-}
given_join_token=$NORMSTAT_JOIN_TOKEN
env_proxy=${http_proxy-}${https_proxy-}${HTTPS_PROXY-}${all_proxy-}${ALL_PROXY-}
unset NORMSTAT_TOKEN NORMSTAT_JOIN_TOKEN token join_token secret http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY
WGETRC=/dev/null
export WGETRC
# Largest size of a file of the agent, in blocks of 512 bytes (some shells: 1024), and the time limit of its download in seconds.
max_blocks=4096
max_seconds=300

die() {
    echo "install.sh: $1" >&2
    exit 1
}

has() {
    for folder in `echo "$PATH" | tr : ' '`; do
        test -x "$folder/$1" && return 0
    done
    return 1
}

# Fetches one file of the agent from the server. Only a complete file replaces the old one: a truncated or endless file, or the body
# of a redirect, never does.
fetch() {
    from=$server/api/v1/agent/$1
    rm -f "$2.new"
    if has curl; then
        code=`run_limited fetch_curl "$from" "$2.new"` && test "$code" = 200
    elif has wget; then
        run_limited fetch_wget "$from" "$2.new"
    elif has perl; then
        run_limited fetch_perl "$from" >"$2.new"
    else
        die "no curl, wget or perl in $PATH"
    fi || die "cannot fetch $from${env_proxy:+ (the proxy from the environment is ignored: use --proxy URL)}"
    test -s "$2.new" || die "$from is empty"
}

# In a subshell, since a limit cannot be raised again.
run_limited() {
    (
        ulimit -f $max_blocks 2>/dev/null
        # shellcheck disable=SC3045
        ulimit -c 0 2>/dev/null
        if test -n "$proxy"; then
            http_proxy=$proxy
            https_proxy=$proxy
            export http_proxy https_proxy
        fi
        "$@"
    )
}

fetch_curl() {
    if test -n "$ca_file"; then
        curl -q -fsS --connect-timeout 20 --max-time $max_seconds -w '%{http_code}' --cacert "$ca_file" -o "$2" "$1"
    else
        curl -q -fsS --connect-timeout 20 --max-time $max_seconds -w '%{http_code}' -o "$2" "$1"
    fi
}

# Not every wget can be told to follow no redirect. The files are not secret, and their content is checked.
fetch_wget() {
    stay=''
    if wget --max-redirect=0 --version >/dev/null 2>&1; then
        stay=--max-redirect=0
    fi
    if test -n "$ca_file"; then
        # shellcheck disable=SC2086  # nothing or one word
        wget -q -T 60 $stay --ca-certificate="$ca_file" -O "$2" "$1"
    else
        # shellcheck disable=SC2086
        wget -q -T 60 $stay -O "$2" "$1"
    fi
}

fetch_perl() {
    test -z "$proxy" || die "perl cannot use a proxy: install curl or wget"
    # shellcheck disable=SC2016  # perl's variables
    perl -MIO::Socket::INET -e '
        alarm shift;
        $ARGV[0] =~ m{^http://([^/:]+)(?::(\d+))?(/.*)$} or die "perl fetches http:// only\n";
        my ($host, $port, $path) = ($1, $2 || 80, $3);
        my $s = IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port, Timeout => 20) or die "cannot connect to $host: $!\n";
        print $s "GET $path HTTP/1.0\r\nHost: $host:$port\r\n\r\n";
        my $answer = "";
        while (length $answer <= 2 << 20) { sysread($s, $answer, 65536, length $answer) or last }
        my ($head, $body) = split /\r\n\r\n/, $answer, 2;
        my ($said) = split /\r?\n/, $head;
        $said =~ s/[^ -~]/?/g;
        $said =~ m{^HTTP/\S+ 200} or die substr($said, 0, 200), "\n";
        length $answer <= 2 << 20 or die "too long\n";
        $head =~ /^content-length: *(\d+)/im && $1 != length $body and die "broke off\n";
        print $body;
    ' $max_seconds "$1"
}

# --- who owns the folder: as in normstat-agent, no other user may be able to put a program or a link there ---

# Sets entry_mode, entry_owner and entry_group of a file, or of a link itself.
read_entry() {
    # shellcheck disable=SC2046,SC2012,SC2121  # the words; not every host has stat; an old set knows no --
    set x `ls -ldn "$1" 2>/dev/null`
    test $# -ge 5 || return 1
    entry_mode=$2 entry_owner=$4 entry_group=$5
}

check_entry() {
    case $entry_mode in
    l*)
        test "$entry_owner" = 0 || test "$entry_owner" = "$uid" ||
            die "the symbolic link $1 belongs to uid $entry_owner, who could redirect it: use another folder (--dir)"
        return 0
        ;;
    d????????[tT]*) ;;
    ????????w*) die "everybody can write to $1: chmod o-w $1, or use another folder (--dir)" ;;
    ?????w*)
        test "$uid" != 0 || test "$entry_group" = 0 ||
            die "the group $entry_group can write to $1, but this is root: chmod g-w $1, or use another folder (--dir)"
        ;;
    esac
    test "$uid" != 0 || test "$entry_owner" = 0 ||
        die "$1 belongs to uid $entry_owner, but this is root: use another folder (--dir)"
}

# Checks the path as it was given, as far as it exists, including its links.
check_way() {
    way=''
    old_ifs=$IFS
    IFS=/
    set -f
    for part in $dir; do
        IFS=$old_ifs
        test -n "$part" || continue
        way=$way/$part
        read_entry "$way" || break
        check_entry "$way"
    done
    IFS=$old_ifs
    set +f
}

# Checks the current folder and all its parents, whichever links led here.
check_here() {
    up=.
    level=0
    while test "$level" -lt 20; do
        read_entry "$up" || die "cannot list $dir/$up"
        check_entry "$dir/$up"
        test "$level" -gt 0 || case $entry_owner:$entry_mode in
        "$uid":d????-??-*) ;;
        "$uid":*) die "others can write to $dir: check its contents, then chmod 700 $dir" ;;
        *) die "$dir belongs to uid $entry_owner, but this is uid $uid: use another folder (--dir)" ;;
        esac
        up=$up/..
        level=`expr "$level" + 1`
    done
}

# Written by cat: in some shells echo and printf are programs, and the token would appear in their argv.
write_secret() {
    secret=$2
    put_state "$1" <<END || die "cannot write $state/$1"
$secret
END
}

write_config() {
    rm -f agent.conf.new
    cat >agent.conf.new <<END || die "cannot write $dir/agent.conf"
# Written by install.sh; normstat-agent help lists the options.
server=$server
token-file=$state/token
host=$host
END
    test -z "$user" || cat >>agent.conf.new <<END || die "cannot write $dir/agent.conf"
user=$user
spool=$state/spool
END
    test -z "$ca_file" || echo "ca-file=$ca_file" >>agent.conf.new
    test -z "$client_cert" || echo "client-cert=$client_cert" >>agent.conf.new
    test -z "$client_key" || echo "client-key=$client_key" >>agent.conf.new
    test -z "$proxy" || cat >>agent.conf.new <<END || die "cannot write $dir/agent.conf"
proxy=$proxy
END
    mv agent.conf.new agent.conf || die "cannot write $dir/agent.conf"
    test -z "$user" || open_to_user
}

# --- another user than root for the agent ---

choose_user() {
    state=$dir
    if test "$uid" != 0 || test "$system" != linux; then
        test -z "$user" || die "--user is for root on Linux"
        return 0
    fi
    if test -z "$user"; then
        # An existing user stays as it is.
        test "$dir" = /opt/normstat || return 0
        test ! -f "$dir/agent.conf" || return 0
        user=normstat-agent
        if has setpriv && has useradd; then
            :
        else
            echo "the agent will run as root: there is no setpriv (util-linux) or no useradd in $PATH"
            user=''
        fi
    fi
    case $user in
    root)
        user=''
        return 0
        ;;
    *[!a-zA-Z0-9._-]* | -*) die "not a valid user name: $user" ;;
    esac
    test -n "$user" || return 0
    has setpriv || die "to run as a user other than root, the agent needs setpriv (package util-linux)"
    case $dir in
    /opt/normstat) state=/var/lib/normstat-agent ;;
    *) state=$dir/state ;;
    esac
}

# An agent that is already installed keeps its user.
keep_user() {
    test -z "$user" && test "$uid" = 0 && test -f "$dir/agent.conf" || return 0
    kept=`sed -n 's/^user=//p' "$dir/agent.conf" | tail -1`
    test -z "$kept" || user=$kept
}

make_user() {
    if id "$user" >/dev/null 2>&1; then
        :
    else
        useradd --system --user-group --home-dir "$state" --no-create-home --shell /usr/sbin/nologin "$user" || die "cannot create the user $user"
    fi
    user_id=`id -u "$user"`
    group=`id -gn "$user"`
    test "$user_id" != 0 || die "$user is root"
    test ! -d spool || die "root's agent has its spool in $dir/spool: let it send everything, stop it, and remove $dir/spool and $dir/agent.conf"
    chmod 755 . || die "cannot let $user read $dir"
    # Only this user may have put anything there, and the folder never changes its owner again.
    if test ! -d "$state"; then
        mkdir -p "$state" || die "cannot create $state"
        chown "$user:$group" "$state" || die "cannot give $state to $user"
    fi
    read_entry "$state" || die "cannot list $state"
    case $entry_owner:$entry_mode in
    "$user_id":d????-??-*) ;;
    *) die "$state must belong to $user, and no one else may write to it" ;;
    esac
}

# The user reads the agent and its settings, and changes neither.
open_to_user() {
    chmod 644 stats.conf stats.conf.orig || die "cannot let $user read $dir/stats.conf"
    chgrp "$group" agent.conf || die "cannot let $user read $dir/agent.conf"
    chmod 640 agent.conf || die "cannot let $user read $dir/agent.conf"
    for file in "$ca_file" "$client_cert" "$client_key"; do
        test -z "$file" || as_user test -r "$file" || die "$user cannot read $file, and the agent runs as that user: let it, or use --user root"
    done
}

as_user() {
    setpriv --reuid="$user" --regid="$group" --init-groups --no-new-privs "$@"
}

# Puts standard input into a new file in the folder of token and spool, which no other user can read at any time. Its owner
# writes it: root would follow a link in its place. An empty input replaces nothing.
put_state() {
    # shellcheck disable=SC2016
    ${user:+as_user} sh -c 'umask 077; cd "$1" && rm -f "$2.new" && cat >"$2.new" && test -s "$2.new" && mv "$2.new" "$2"' sh "$state" "$1"
}

# Prints a file that an option names. One in the user's own folder is read as that user: it may be a link by now.
read_secret() {
    case $1 in
    "$state"/*) ${user:+as_user} cat "$1" ;;
    *) cat "$1" ;;
    esac
}

read_options() {
    server='' token=$given_token token_file='' join_token=$given_join_token join_token_file='' host=`uname -n` dir='' ca_file='' client_cert='' client_key='' proxy='' user='' is_start=yes
    while test $# -gt 0; do
        case $1 in
        --)
            # The old shell passes the -- of `sh -s --` on.
            shift
            continue
            ;;
        --no-start)
            is_start=no
            shift
            continue
            ;;
        --server | --token | --token-file | --join-token-file | --host | --dir | --ca-file | --client-cert | --client-key | --proxy | --user) ;;
        *)
            echo "install.sh: unknown option: $1" >&2
            exit 2
            ;;
        esac
        if test $# -lt 2; then
            echo "install.sh: $1 needs a value" >&2
            exit 2
        fi
        case $1 in
        --server) server=$2 ;;
        --token) token=$2 ;;
        --token-file) token_file=$2 ;;
        --join-token-file) join_token_file=$2 ;;
        --host) host=$2 ;;
        --dir) dir=$2 ;;
        --ca-file) ca_file=$2 ;;
        --client-cert) client_cert=$2 ;;
        --client-key) client_key=$2 ;;
        --proxy) proxy=$2 ;;
        --user) user=$2 ;;
        esac
        shift
        shift
    done
}

check_options() {
    server=`echo "$server" | sed 's,/*$,,'`
    case $server in
    http://?* | https://?*) ;;
    *)
        echo "install.sh: --server URL must begin with http:// or https://" >&2
        exit 2
        ;;
    esac
    uid=`id | sed 's/^uid=\([0-9]*\).*/\1/'`
    case $uid in
    0) home=/opt/normstat ;;
    *) home=${HOME-.}/.normstat ;;
    esac
    dir=${dir:-$home}
    case $dir in
    /*) ;;
    *) dir=`pwd`/$dir ;;
    esac
    case $token_file in
    '' | /*) ;;
    *) token_file=`pwd`/$token_file ;;
    esac
    case $join_token_file in
    '' | /*) ;;
    *) join_token_file=`pwd`/$join_token_file ;;
    esac
    case $ca_file in
    '' | /*) ;;
    *) ca_file=`pwd`/$ca_file ;;
    esac
    case $client_cert in
    '' | /*) ;;
    *) client_cert=`pwd`/$client_cert ;;
    esac
    case $client_key in
    '' | /*) ;;
    *) client_key=`pwd`/$client_key ;;
    esac
    case `uname -s` in
    Linux) system=linux ;;
    SunOS) system=sunos ;;
    *) die "there is no list of tools for `uname -s` yet; install the agent by hand, see its README" ;;
    esac
    keep_user
    choose_user
}

put_files() {
    check_way
    mkdir -p "$dir" || die "cannot create $dir"
    cd "$dir" || die "cannot enter $dir"
    check_here
    dir=`pwd`
    fetch normstat-agent normstat-agent
    # A page from a proxy or a portal is not the agent, whatever its status.
    case `sed -n 2p normstat-agent.new` in
    '# normstat-agent - '*) ;;
    *) die "$server/api/v1/agent/normstat-agent is not the agent: is $server a normstat server?" ;;
    esac
    fetch "stats.conf.$system" stats.conf

    # stats.conf.orig is the version installed last time: a stats.conf equal to it may be updated, a changed one belongs to the user.
    if test ! -f stats.conf || cmp -s stats.conf stats.conf.orig; then
        cp stats.conf.new stats.conf || die "cannot write $dir/stats.conf"
    elif cmp -s stats.conf stats.conf.new; then
        :
    else
        echo "kept your stats.conf; this version's list is in $dir/stats.conf.orig"
    fi
    mv stats.conf.new stats.conf.orig || die "cannot write $dir/stats.conf.orig"

    # The given file may also be the one already in place.
    test -z "$user" || make_user
    rm -f "$state/join-token"
    if test -n "$token"; then
        write_secret token "$token"
    elif test -n "$token_file"; then
        test -r "$token_file" || die "cannot read $token_file"
        read_secret "$token_file" | put_state token || die "cannot copy $token_file to $state/token"
    elif test -n "$join_token"; then
        write_secret join-token "$join_token"
    elif test -n "$join_token_file"; then
        test -r "$join_token_file" || die "cannot read $join_token_file"
        read_secret "$join_token_file" | put_state join-token || die "cannot copy $join_token_file to $state/join-token"
    fi
    test -s "$state/token" || test -s "$state/join-token" ||
        die "no token: NORMSTAT_JOIN_TOKEN, --join-token-file FILE, --token-file FILE or NORMSTAT_TOKEN"
    test -n "$user" || test ! -f token || chmod 600 token || die "cannot protect $dir/token"
    write_config
}

start_agent() {
    # The old agent must end before the new one replaces it: a shell reads its script while it runs.
    if test -x normstat-agent; then
        ./normstat-agent stop </dev/null >/dev/null || die "cannot stop the running agent"
    fi
    if test -n "$user"; then
        chmod 755 normstat-agent.new
    else
        chmod 700 normstat-agent.new
    fi || die "cannot make $dir/normstat-agent executable"
    mv normstat-agent.new normstat-agent || die "cannot write $dir/normstat-agent"
    if test -f "$state/join-token"; then
        ./normstat-agent enrol --join-token-file "$state/join-token" </dev/null
        status=$?
        rm -f "$state/join-token"
        test "$status" = 0 || die "the agent is in $dir but has no token: run this again with a valid join token"
    fi
    if test "$is_start" = no; then
        echo "installed in $dir; start it with $dir/normstat-agent start"
        exit 0
    fi
    ./normstat-agent start </dev/null || die "the agent is installed in $dir but did not start"
    echo
    echo "installed in $dir; later: $dir/normstat-agent status | stop | start"
}

# Everything is in functions, called in the last lines: a script that arrives only in part does nothing.
read_options "$@"
check_options
put_files
start_agent
