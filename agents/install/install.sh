#!/bin/sh
# install.sh - puts normstat-agent on this host, or renews it, and starts it. No root needed.
#
# Usage:  curl -fsS URL/api/v1/agent/install.sh | sh -s -- --server URL --token TOKEN
#         wget -q -O - URL/api/v1/agent/install.sh | sh -s -- --server URL --token TOKEN        (Solaris 10)
# Options:
#   --server URL       the normstat server
#   --token TOKEN      the agent token; it goes to a file of mode 600 and is in no argv after this line
#   --token-file FILE  ... or a file that holds it; or NORMSTAT_TOKEN in the environment
#   --host NAME        name of this host on the server      (default: uname -n)
#   --dir DIR          where to put it                      (default: /opt/normstat for root, else ~/.normstat)
#   --ca-file FILE     certificates to trust for https
#   --no-start         only put the files there
# Puts there: normstat-agent, stats.conf (yours is kept if you have changed it), token, agent.conf, spool/.
# Needs: curl, wget or perl (perl: http only). Exit: 0 well, 1 trouble, 2 wrong usage.
#
# Written for the old Bourne shell throughout, since `sh -s` on Solaris 10 is one: hence the backquotes.
# shellcheck disable=SC2006,SC2003,SC2268

umask 077
PATH=${NORMSTAT_PATH-/usr/xpg4/bin:/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin:/usr/sfw/bin:/opt/csw/bin}
export PATH

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

# Fetches one file of the agent from the server; a half one never takes the place of a whole one.
fetch() {
    from=$server/api/v1/agent/$1
    rm -f "$2.new"
    if has curl; then
        if test -n "$ca_file"; then
            curl -q -fsS --cacert "$ca_file" -o "$2.new" "$from"
        else
            curl -q -fsS -o "$2.new" "$from"
        fi
    elif has wget; then
        if test -n "$ca_file"; then
            wget -q --ca-certificate="$ca_file" -O "$2.new" "$from"
        else
            wget -q -O "$2.new" "$from"
        fi
    elif has perl; then
        fetch_perl "$from" >"$2.new"
    else
        die "no curl, wget or perl in $PATH"
    fi || die "cannot fetch $from"
    test -s "$2.new" || die "$from is empty"
}

fetch_perl() {
    # shellcheck disable=SC2016  # perl's variables
    perl -MIO::Socket::INET -e '
        $ARGV[0] =~ m{^http://([^/:]+)(?::(\d+))?(/.*)$} or die "perl fetches http:// only\n";
        my ($host, $port, $path) = ($1, $2 || 80, $3);
        my $s = IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port, Timeout => 20) or die "cannot connect to $host: $!\n";
        print $s "GET $path HTTP/1.0\r\nHost: $host:$port\r\n\r\n";
        local $/;
        my ($head, $body) = split /\r\n\r\n/, <$s>, 2;
        $head =~ m{^HTTP/\S+ 200} or die "$head\n";
        print $body;
    ' "$1"
}

# By cat: in some shells echo and printf are programs, and the token would be in their argv.
write_token() {
    # shellcheck disable=SC2094  # file and variable only share their name
    cat >token <<END || die "cannot write $dir/token"
$token
END
}

write_config() {
    cat >agent.conf <<END || die "cannot write $dir/agent.conf"
# Written by install.sh; normstat-agent help lists what can stand here.
server=$server
token-file=$dir/token
host=$host
END
}

read_options() {
    server='' token=${NORMSTAT_TOKEN-} token_file='' host=`uname -n` dir='' ca_file='' is_start=yes
    while test $# -gt 0; do
        case $1 in
        --)
            # The old shell hands the -- of `sh -s --` on.
            shift
            continue
            ;;
        --no-start)
            is_start=no
            shift
            continue
            ;;
        --server | --token | --token-file | --host | --dir | --ca-file) ;;
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
        --host) host=$2 ;;
        --dir) dir=$2 ;;
        --ca-file) ca_file=$2 ;;
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
    case `id` in
    'uid=0('*) home=/opt/normstat ;;
    *) home=${HOME-.}/.normstat ;;
    esac
    dir=${dir:-$home}
    case $token_file in
    '' | /*) ;;
    *) token_file=`pwd`/$token_file ;;
    esac
    case $ca_file in
    '' | /*) ;;
    *) ca_file=`pwd`/$ca_file ;;
    esac
    case `uname -s` in
    Linux) system=linux ;;
    SunOS) system=sunos ;;
    *) die "there is no list of tools for `uname -s` yet; put the agent there by hand, see its README" ;;
    esac
}

put_files() {
    mkdir -p "$dir" || die "cannot make $dir"
    cd "$dir" || die "cannot enter $dir"
    dir=`pwd`
    fetch normstat-agent normstat-agent
    fetch "stats.conf.$system" stats.conf

    # stats.conf.orig is what came last time: a stats.conf that still is the same may be renewed, a changed one is its owner's.
    if test ! -f stats.conf || cmp -s stats.conf stats.conf.orig; then
        cp stats.conf.new stats.conf || die "cannot write $dir/stats.conf"
    elif cmp -s stats.conf stats.conf.new; then
        :
    else
        echo "kept your stats.conf; the list of this version is $dir/stats.conf.orig"
    fi
    mv stats.conf.new stats.conf.orig || die "cannot write $dir/stats.conf.orig"

    if test -n "$token"; then
        write_token
    elif test -n "$token_file"; then
        # By way of another name: the file named may be the very one that is there.
        cat "$token_file" >token.new || die "cannot read $token_file"
        mv token.new token || die "cannot write $dir/token"
    fi
    test -s token || die "no token: --token TOKEN, --token-file FILE or NORMSTAT_TOKEN"
    chmod 600 token || die "cannot protect $dir/token"
    write_config
    test -z "$ca_file" || echo "ca-file=$ca_file" >>agent.conf
}

start_agent() {
    # The old agent ends before the new one takes its place: a shell reads its script while it runs it.
    if test -x normstat-agent; then
        ./normstat-agent stop </dev/null >/dev/null || die "cannot stop the agent that runs"
    fi
    chmod 700 normstat-agent.new || die "cannot make $dir/normstat-agent executable"
    mv normstat-agent.new normstat-agent || die "cannot write $dir/normstat-agent"
    if test "$is_start" = no; then
        echo "installed in $dir; start it with $dir/normstat-agent start"
        exit 0
    fi
    ./normstat-agent start </dev/null || die "the agent is in $dir but did not start"
    echo
    echo "installed in $dir; later: $dir/normstat-agent status | stop | start"
}

# All in functions, called in the last line: a script that arrives only in part does nothing.
read_options "$@"
check_options
put_files
start_agent
