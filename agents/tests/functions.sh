#!/bin/sh
# Calls the functions of normstat-agent with known input and compares what they set, print and write.
#
# Usage: cd EMPTY_FOLDER && SHELL functions.sh
# All cases run in one process, so that every shell can run them in every test run; backend/tests/agent/test_functions.py does that.
# Prints each case that failed and, as its last line, how many cases there were. Exit: 0 all cases passed, 1 some failed.

# The agent's variables are set and read on both sides of the dot; words in single quotes are meant as they stand.
# shellcheck disable=SC1003,SC1090,SC2016,SC2030,SC2031,SC2034,SC2123,SC2154,SC2218,SC2317

set -u
tests=$(cd -- "${0%/*}" && pwd)
agents=${tests%/*}
agent=$agents/normstat-agent
here=$PWD
export NORMSTAT_SOURCED=1
. "$agent"

n_cases=0
set_defaults
spool=$here work=$here/lock shell=${NORMSTAT_SHELL:-/bin/sh}
mkdir lock
exec 2>"$here/stderr"

# --- how a case is written --------------------------------------------------------------------------------------------

# same CASE FOUND WANTED
same() {
    n_cases=$((n_cases + 1))
    [ "$2" = "$3" ] || printf '%s:\n  found  <%s>\n  wanted <%s>\n' "$1" "$2" "$3" >>"$here/failed"
}

# holds COMMAND..., fails COMMAND...: its exit status says whether the case passed.
holds() {
    n_cases=$((n_cases + 1))
    "$@" || printf 'returned %s: %s\n' "$?" "$*" >>"$here/failed"
}

fails() {
    n_cases=$((n_cases + 1))
    ! "$@" || printf 'returned 0: %s\n' "$*" >>"$here/failed"
}

# dies STATUS WORDS COMMAND...: ends the shell with STATUS and a message that contains WORDS.
dies() {
    n_cases=$((n_cases + 1))
    di_status=$1 di_words=$2
    shift 2
    ("$@") >"$here/said" 2>&1
    di_found=$?
    di_said=$(cat "$here/said")
    case $di_found:$di_said in
    "$di_status:"*"$di_words"*) ;;
    *) printf '%s:\n  ended with %s <%s>\n  wanted %s <%s>\n' "$*" "$di_found" "$di_said" "$di_status" "$di_words" >>"$here/failed" ;;
    esac
}

# same_bytes CASE FILE WANTED: compares byte for byte; WANTED is a format of printf.
same_bytes() {
    # shellcheck disable=SC2059  # a format on purpose
    printf "$3" >"$here/wanted"
    n_cases=$((n_cases + 1))
    cmp -s "$2" "$here/wanted" || { printf '%s: the bytes of %s differ:\n' "$1" "$2" && od -c "$2"; } >>"$here/failed"
}

# with_files SED_COMMANDS PART: defines the functions of a part of the agent again, with other paths of the system's files.
with_files() {
    eval "$(sed "/^readonly /d; $1" "$agents/src/$2")"
}

# --- messages and options ---------------------------------------------------------------------------------------------

(log 'two  words' '%s \n *') 2>said
read -r found <said
same 'log' "${found#*Z }" 'normstat-agent: two  words %s \n *'
dies 1 'normstat-agent: no %s \n *' die 'no %s \n *'
dies 2 '(normstat-agent help says more)' die_usage 'x'

printf '# comment\n\nserver=http://file.example/a=b\nhost=from-file\ninterval=7\ntags=' >agent.conf
printf 'file-tag\n' >>agent.conf
found=$(
    NORMSTAT_HOST=from-environment NORMSTAT_SPOOL_LIMIT=3M NORMSTAT_TAGS=''
    read_options --config "$here/agent.conf" --max-file=2k --spool 'two  words/*'
    printf '%s\n' "$server" "$host" "$interval" "$tags" "$spool_limit_kb" "$max_file" "$spool"
)
same 'options: line, environment, file' "$found" "http://file.example/a=b
from-environment
7
file-tag
3072
2048
$here/two  words/*"
found=$(main_command=ask && read_options --question 'a  b?' --stderr -- --x y && printf '%s\n' "$question" "$is_stderr" "$n_options")
same 'options of ask' "$found" 'a  b?
1
4'
printf 'speed=9\n' >agent.conf
dies 1 'unknown option: speed' read_options --config "$here/agent.conf"
rm agent.conf
dies 2 'unknown option: --speed' read_options --speed 9
dies 2 '--host needs a value' read_options --host
dies 2 'unexpected argument: extra' read_options extra
dies 2 "the tags 'two words' may contain only" read_options --tags 'two words'
dies 2 'is longer than 50 characters' read_options --tags "prod,xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
dies 1 "the host name 'a b' may contain only" read_options --host 'a b'
dies 2 'must be at least 1' read_options --interval 0

same 'a relative path' "$(to_absolute 'a  b/*')" "$here/a  b/*"
same 'an absolute path' "$(to_absolute '/a  *')" '/a  *'

for found in http://a.example https://a.example:8443/x 'http://[::1]:8080' 'https://a-b_c.example/~x/%20+y'; do
    holds eval 'server=$found require_server'
    same 'the address of requests' "$url" "$found/api/v1/ingest"
done
for found in 'http://x/$(id)' 'http://x/`id`' 'http://x y' 'http://x;id' "http://x'" 'http://x"' 'http://x\'; do
    server=$found
    dies 2 'invalid characters in the address' require_server
done
server='' && dies 2 'no server given' require_server
server=ftp://x && dies 2 'must begin with http' require_server
server=http://me:secret@x && dies 2 'must not contain a user name' require_server
server=http://x proxy=socks://x && dies 2 'the proxy must begin with http' require_server
proxy=''

# --- numbers ----------------------------------------------------------------------------------------------------------

for found in 0 1 9 10 2147483648 999999999999999; do holds is_count "$found"; done
for found in '' 00 08 010 -1 +1 1.0 1e3 0x10 ' 1' '1 ' '1 2' x '*' '?' '[0-9]' 1000000000000000 'a[$(touch pwned)]' '$(touch pwned)'; do
    fails is_count "$found"
done
require_number x 0
dies 2 "--x must be a number, not '1e3'" require_number x 1e3
dies 2 "--x must be a number, not ''" require_number x ''
dies 2 'must be a number' require_number x 1000000000
dies 2 'must be a number' require_number x 'a[$(touch pwned)]'

for found in '1 1 1' '1024 1024 1' '1025 1025 2' '3k 3072 3' '64M 67108864 65536' '1G 1073741824 1048576'; do
    to_bytes x "${found%% *}"
    same "the size ${found%% *}" "${found%% *} $bytes $kbytes" "$found"
done
# More than 32 bits, with which some shells calculate: only kbytes count for a spool, and others are right or refused.
to_bytes spool-limit 4G
same 'the size of a large spool' "$kbytes" 4194304
for found in 2G 4G 5G; do
    case $(to_bytes max-file $found 2>/dev/null && echo "$bytes") in
    2147483648 | 4294967296 | 5368709120 | '') holds true ;;
    *) fails true ;;
    esac
done
dies 2 '--x is too small or too large' to_bytes x 0
dies 2 '--x is too small or too large' to_bytes x 0G
dies 2 '--x must be a number' to_bytes x 12T
dies 2 '--x must be a number' to_bytes x M

probe_clock
same 'the clock of this host' "$clock" seconds
set_now
holds is_count "$now"
# The epoch from the fields of an old date: days around leap years and new years, and fields with leading zeros.
date() { printf '%s\n' "$fields"; }
fields=%s
probe_clock
same 'the clock of an old host' "$clock" fields
for found in '951782400 2000 060 00 00 00' '951868799 2000 060 23 59 59' '1078099199 2004 060 23 59 59' \
    '1735689599 2024 366 23 59 59' '1735689600 2025 001 00 00 00' '1795252208 2026 325 09 10 08' \
    '1772323208 2026 060 00 00 08' '2147483646 2038 019 03 14 06'; do
    fields=${found#* }
    set_now
    same "the epoch of $fields" "$now" "${found%% *}"
done
unset -f date
probe_clock

for found in '0 0' '9 9' '10 A' '15 F'; do
    to_hex "${found% *}"
    same 'a hexadecimal digit' "$hex" "${found#* }"
done

# --- words and lists --------------------------------------------------------------------------------------------------

list=' a=1 bb=2 c.1=x '
get_value "$list" bb 0
same 'a value' "$value" 2
get_value "$list" c.1 0
same 'the last value' "$value" x
get_value "$list" b 7
same 'a default' "$value" 7
get_value "$list" '*' 7
same 'a pattern is no key' "$value" 7
drop_value "$list" bb
same 'without a value' "$list" ' a=1 c.1=x '
drop_value "$list" c.1
same 'without the last value' "$list" ' a=1 '
drop_value "$list" '[a]'
same 'a pattern drops nothing' "$list" ' a=1 '
holds is_in ' a b ' b
fails is_in ' ab ' a
fails is_in ' a b ' '*'
fails is_in ' a b ' '[a]'

for found in 'vmstat 1:vmstat' '?mpstat -P ALL 1:mpstat' '@60 df -k:df' '?@5 kstat -p:kstat' '/usr/bin/x:/usr/bin/x'; do
    find_program "${found%:*}"
    same "the program of ${found%:*}" "$program" "${found#*:}"
done

split_item stream/emit_linux.1795252208.77-1/4096/500
same 'an item of the plan' "$kind $key $offset $length" 'stream emit_linux.1795252208.77-1 4096 500'
for found in 'http://a/api a 80 /api' 'https://a.b:8443/x/y?q=1 a.b 8443 /x/y?q=1' 'https://a/x a 443 /x' \
    'http://[::1]:8080/x [::1] 8080 /x' 'http://[::1]/x [::1] 80 /x'; do
    url=${found%% *}
    split_url
    same "the parts of $url" "$peer_host $peer_port $peer_path" "${found#* }"
done

matches() {
    if matches_words "$1" "$2"; then found=yes; else found=no; fi
    same "allowed: $1, asked: $2" "$found" "$3"
}
matches 'a * c' 'a b c' yes
matches 'a *' 'a b c' no
matches 'a * *' 'a b c' yes
matches '*' x yes
matches 'a *' 'a ' no
matches 'a  b' 'a  b' yes
matches 'a  b' 'a b' no
matches 'a * b' 'a  b' no
matches 'a [b]' 'a b' no
matches 'a ?' 'a b' no
matches 'x *' 'x 12,cpu_0:1.5+2' yes
matches 'x *' 'x a=b' no
matches 'x *' 'x -o' no
matches 'x *' 'x $(id)' no
matches 'x *' "x 1${NL}id" no

join_words only 'one word'
same 'several words' "$command" "only 'one word'"
join_words 'a whole | command'
same 'a single word' "$command" 'a whole | command'
join_words dtrace -n 'it'\''s { @["x"] = count(); }' '' '*' '$x' 'a\b'
same 'quoted words' "$command" 'dtrace -n '\''it'\''\'\'\''s { @["x"] = count(); }'\'' '\'\'' '\''*'\'' '\''$x'\'' '\''a\b'\'
same 'a shell undoes the quotes' "$(eval "printf '%s|' $command")" 'dtrace|-n|it'\''s { @["x"] = count(); }||*|$x|a\b|'
join_words
same 'no words' "$command" ''

for found in 'strace -c ls' 'sudo truss -p 1' 'timeout 10 ltrace x' '/usr/bin/time ls' 'perf stat ls' 'sudo perf trace x'; do
    holds tells_on_stderr "$found"
done
for found in 'perf record x' 'lockstat sleep 1' 'stracer' 'sudo ls' 'timeout 10 ls'; do fails tells_on_stderr "$found"; done

percent_encode 'AZaz09-._~ %/+&=?"'\''\$(id)`*[]{}'
same 'percent-encoded' "$encoded" 'AZaz09-._~%20%25%2F%2B%26%3D%3F%22%27%5C%24%28id%29%60%2A%5B%5D%7B%7D'
percent_encode "a${NL}b${TAB}c${CR}"
same 'control characters' "$encoded" 'a%0Ab%09c%0D'
percent_encode "$(printf '\303\274 \342\202\254')"
same 'bytes of UTF-8' "$encoded" '%C3%BC%20%E2%82%AC'
percent_encode ''
same 'nothing' "$encoded" ''
query=''
add_parameter a ''
add_parameter b 'x y'
add_parameter c '&'
same 'a query' "$query" 'b=x%20y&c=%26'

to_plain 'plain  text $x \n'
same 'a plain text' "$plain" 'plain  text $x \n'
to_plain "$(printf 'a\033[31m')"
same 'a text for no terminal' "$plain" ''
to_plain "$(printf '%300s' x)"
same 'a long text' "${#plain}" 200
printf '{"error": {"code": "x", "message": "no \\ such $(touch pwned) host"}}\n' >lock/answer
read_answer_line
same 'the message of an answer' "$answer_line" 'no \ such $(touch pwned) host'
printf 'no newline' >lock/answer
read_answer_line
same 'an answer without a newline' "$answer_line" 'no newline'
: >lock/answer
read_answer_line
same 'an empty answer' "$answer_line" ''

read_last_line lock/none
same 'the last line of no file' "$last_line" ''
printf 'one\n  two \\ words  ' >last
read_last_line last
same 'a last line without a newline' "$last_line" '  two \ words  '

# --- the files of the spool -------------------------------------------------------------------------------------------

key=emit_linux.1.1-1
get_ack $key
same 'no acknowledgement yet' "$ack $acked_at" '0 0'
set_ack $key 123456 1795252208
set_ack $key 7 1795252209
get_ack $key
same 'an acknowledgement' "$ack $acked_at" '7 1795252209'
read_size $key.ack
same 'its length is fixed' "$size" 28
for found in '' '  1x' '08 1' '1' '-1 1' 'a[$(touch pwned)] a[$(touch pwned)]' '1 $(touch pwned)'; do
    printf '%s\n' "$found" >$key.ack
    get_ack $key
    same "the acknowledgement <$found>" "$ack $acked_at" '0 0'
done
printf '123 full  disk \\ here\n' >$key.gap
get_gap $key
same 'a gap' "$gap_end $gap_reason" '123 full  disk \ here'
printf 'a[$(touch pwned)] reason\n' >$key.gap
get_gap $key
same 'an odd gap' "$gap_end" 0
rm -f $key.*

mkdir tool
t_state=running t_pid=77 t_key=$key t_until=1 t_delay=2 t_since=3 t_reason='ended  with * and \ x'
write_tool emit_linux
t_state='' t_pid='' t_key='' t_until='' t_delay='' t_since='' t_reason=''
read_tool emit_linux
same 'the state of a tool' "$t_state $t_pid $t_key $t_until $t_delay $t_since $t_reason" "running 77 $key 1 2 3 ended  with * and \\ x"
for found in '' 'running' 'running 08 k 0 1 0' "running -77 $key 0 1 0" 'running a[$(touch pwned)] k 0 1 0' 'running 1 k 0 1'; do
    printf '%s\n' "$found" >tool/odd
    read_tool odd
    same "the state <$found>" "$t_state $t_pid $t_key $t_until $t_delay $t_since $t_reason" 'waiting 0 - 0 1 0 '
done
rm -rf tool

while read -r found wanted; do
    # The lines of the shell and of its children.
    printf '%s\n' "${found%%/*}" "${found#*/}" | tr '_' ' ' >printed
    add_times <printed || used_cs=odd
    same "the times $found" "$used_cs" "$wanted"
done <<'END'
0m0.00s_0m0.00s/0m0.01s_0m0.02s 3
0m00.003s_0m00.010s/0m08.090s_1m09.999s 7809
0m0.000000s_0m0.500000s/12m30,250000s_0m1s 75175
0m0.00s/0m0.00s odd
user_0m0.00s/sys_0m0.00s odd
a[$(touch,pwned)]m0.00s_0m0.00s/0m0.00s_0m0.00s odd
END
rm -f printed
holds read_used

# Six turns that take so many hundredths of a second each: then the agent has its pace, between the interval and 25 s.
live=' ' interval=5 interval_wanted='' pace=5 pace_live=' ' pace_cs=0 pace_n=0 used_cs=0 specs=' '
last_ok=0 last_error='' full_text='' n_dropped_bytes=0 n_refused_bytes=0 n_refused_chunks=0 n_bad_lines=0
read_used() {
    used_cs=$((used_cs + turn_cs))
}
turns() {
    turn_cs=$1
    for _a in 1 2 3 4 5 6; do keep_pace 0 2>/dev/null; done
}
turns 1
same 'the pace of a fast CPU' "$pace" 5
fails [ -e lock/pace ]
rest_at_pace 5
same 'a rest without a pace' "$rest" 5
turns 17
read -r found <lock/pace
same 'the pace of a slow CPU' "$pace $found" '17 17'
turns 18
same 'a small change of the pace' "$pace" 17
turns 40
rest_at_pace 5
same 'the slowest pace' "$pace $rest" '25 25'
rest_at_pace 60
same 'a longer rest' "$rest" 60
read_state
same 'the pace in the state' "$said_pace" 25
keep_pace 1
live=' other '
turns 3
same 'a turn that sent twice, or had a new tool, does not count' "$pace $pace_n" '25 5'
turns 3
same 'the pace of a CPU that became fast' "$pace" 5
interval_wanted=2
turns 40
turns 40
same 'an interval that was asked for' "$pace" 5
rm -f lock/pace agent.state

read_state
same 'no state yet' "$last_ok $n_dropped_bytes $last_error" '0 0 '
last_ok=5 n_dropped_bytes=1 n_refused_bytes=2 n_refused_chunks=3 n_bad_lines=4 last_error='a = b \ $x *'
count dropped_bytes 10
last_ok=0 n_dropped_bytes=0 n_refused_bytes=0 n_refused_chunks=0 n_bad_lines=0 last_error=''
read_state
same 'a state' "$last_ok $n_dropped_bytes $n_refused_bytes $n_refused_chunks $n_bad_lines $last_error" '5 11 2 3 4 a = b \ $x *'
printf 'last_ok=a[$(touch pwned)]\ndropped_bytes=08\nrefused_bytes=7\nunknown=1\nbad_lines' >agent.state
read_state
same 'an odd state' "$last_ok $n_dropped_bytes $n_refused_bytes" '0 0 7'
rm agent.state

mkdir empty && cd empty || exit 1
live=' a_linux.1.1-1 ' refused_kb=0
printf '%1500s' x >a_linux.1.1-1.raw
printf '%10s' x >b_linux.1.1-1.raw
: >b_linux.1.1-1.gap
: >c_linux.1.1-1.gap
printf 'trouble' >a_linux.1.1-1.err
printf 'x' >agent.log
printf 'x' >other
take_stock
same 'the stock of the spool' "$spool_kb $log_size|$live_sizes|$err_sizes" '5 1| a_linux.1.1-1=1500 | a_linux.1.1-1=7 '
same_bytes 'the streams of the spool' "$work/streams" 'a_linux.1.1-1 1500\nb_linux.1.1-1 10\nc_linux.1.1-1 0\n'
cd "$here" && rm -rf empty

# stats.conf: what is wrong with a line is said with its number, and the others count.
log() { printf '%s\n' "$*" >>"$here/logged"; }
stats=$here/stats.conf my_uid=1000
{
    printf '# comment\n\nvmstat_linux\tvmstat 1\n'
    printf 'sh_linux\t@2 sh -c '\''echo "$1 and * \\n stay"'\'' sh '\''two  blanks'\''\n'
    printf 'Bad-Name\techo x\nvmstat_linux\tvmstat 2\nloop_linux\t@x echo x\nnotab\nx_linux\t?\ny_linux\t ls\n'
    printf 'ask\ttruss -p *\nask\t* -x\nevent\t%s/app.log a(b|c)$\nevent\tapp.log x\n' "$here"
    printf 'proc_linux\tsample 1 cpu net\nx_linux\tsample 1\nhost_facts\tfacts 0\nhost_events\twatch 5 5\n'
    printf 'z_linux\techo \303\274\nwhen\tdisk-slow,mutex lockstat sleep 10\nwhen\tDisk ls\nwhen\t* *\nwhen\tdisk\nwhen\t* ls\n'
    printf 'last_linux\techo last'
} >stats.conf
read_stats
same 'the tools of stats.conf' "$specs" ' vmstat_linux sh_linux proc_linux last_linux host_events '
same_bytes 'their commands' lock/tools 'vmstat_linux\tvmstat 1
sh_linux\t@2 sh -c '\''echo "$1 and * \\n stay"'\'' sh '\''two  blanks'\''
proc_linux\tsample 1 cpu net
last_linux\techo last
host_events\twatch 5\n'
same_bytes 'what is watched' lock/watched "$here/app.log\\ta(b|c)\$\\n"
same 'what is wrong' "$n_bad_lines $(cat logged)" "15 $stats line 5: the name 'Bad-Name' may contain only a-z, 0-9 and _
$stats line 6: vmstat_linux is listed twice
$stats line 7: write a loop as @SECONDS command
$stats line 8: no tab between name and command
$stats line 9: no command
$stats line 10: no command
$stats line 12: a * cannot stand for the program
$stats line 14: event must be followed by the path of a file, a blank and a pattern
$stats line 16: sample records proc_linux and proc_pid_linux, not 'x_linux'
$stats line 17: facts must be followed by a number of seconds
$stats line 18: watch must be followed by a number of seconds
$stats line 19: a command may contain only printable ASCII
$stats line 21: when must be followed by a tab, rules (RULE,RULE or *) and a command
$stats line 22: a * cannot stand for the program
$stats line 23: no command"
same_bytes 'what is run as episodes begin' lock/evidence 'disk-slow,mutex\tlockstat sleep 10\n*\tls\n'

# The pause between two posts: the server may ask for a longer one where nobody set it, within bounds.
pace=5 is_behind=0 up_s=100
found=$(for asked_s in '' 3 10 61 100 1x; do
    for interval_wanted in 5 ''; do
        set_rest
        printf '%s ' "$rest"
    done
done)
same 'the pause asked for' "$found" '5 5 5 5 5 10 5 25 5 5 5 5 '
asked_s=20 interval_wanted='' up_s=14
set_rest
same 'the pause of an agent that has just started' "$rest" 1
pace=25 up_s=100
set_rest
same 'the pause of a slow agent' "$rest" 25
is_behind=1
set_rest
same 'the pause of an agent that is behind' "$rest" 1

# Episodes that began: each is dealt with once, by the lines for its rule, and a line may not run again at once.
evidence_seen=' ' evidence_queue='' evidence_times='' up_s=100
begun=' 17/mutex 18/swap 17/mutex x/mutex 19/a.b 020/mutex'
note_begun
same 'a name that no rule has' "$evidence_queue|$begun" '|'
begun=' 17/mutex 18/swap 17/mutex x/mutex 020/mutex'
note_begun
same 'what is run' "$evidence_queue" "17 mutex 1 lockstat sleep 10
17 mutex 2 ls
18 swap 2 ls
"
read -r found <artefacts/begun
same 'what is remembered' "$found|$begun" '18 17|'
found=$(for up_s in 100 200 699 700 701 1300 1901 2502 3103 3704 3705 4305; do
    if may_run_evidence 2; then printf '%s ' "$up_s"; fi
done)
same 'a line again after ten minutes, six in an hour' "$found" '100 700 1300 1901 2502 3103 3704 4305 '
rm -rf artefacts
find_command sh_linux
same 'a command keeps its quotes' "$command" '@2 sh -c '\''echo "$1 and * \n stay"'\'' sh '\''two  blanks'\'
fails find_command gone_linux
holds is_allowed 'truss -p 4711'
fails is_allowed 'truss -p 4711;id'
fails is_allowed 'id -x'
same 'what is allowed' "$(print_allowed)" '    truss -p *
    * -x'
rm logged stats.conf

printf 'proc_linux\tsample 1\nproc_pid_linux\tsample 7 arguments\n' >stats.conf
holds find_sample_line
same 'the line of processes' "$sample_line" 'sample 7 arguments'
printf 'proc_pid_linux\tsample 7 *\n' >stats.conf
fails find_sample_line
printf 'proc_linux\tsample 1\n' >stats.conf
fails find_sample_line
holds find_writable "$here/stats.conf"
same 'what this user could change' "$writable" "$here/stats.conf"
rm stats.conf

check_sample proc_linux 'sample 1 cpu cpu'
same 'a section twice' "$sample_error" 'the section cpu is there twice'
check_sample proc_pid_linux 'sample 5 auto'
same 'processes have no sections' "$sample_error" "sample of proc_pid_linux may be followed by arguments, not 'auto'"
fails check_sample proc_pid_linux 'sample 5 arguments arguments'
holds check_sample proc_pid_linux 'sample 5 arguments'
holds check_sample proc_linux 'sample 1 auto'
fails check_sample proc_linux 'sample 1 auto net'
fails check_sample proc_linux 'sample 0'
fails check_sample proc_linux 'sample 1 *'

holds check_query postgresql 'query 10 psql service=normstat'
holds check_query postgresql '?query 10 psql -h /run/postgresql -p 5433 -d orders'
holds check_query mysql 'query 10 mysql --defaults-file=/etc/normstat/my.cnf -P 3307'
holds check_query oracle 'query 60 sqlplus -S -L /@normstat'
fails check_query postgresql 'query 0 psql'
fails check_query postgresql 'query 10'
fails check_query postgresql 'query x psql'
fails check_query redis_info 'query 10 redis-cli'
for password in 'postgresql:query 10 psql "host=db password=x"' 'postgresql:query 10 psql postgresql://me:x@db/orders' \
    'mysql:query 10 mysql -u me -px' 'mysql:query 10 mysql --password=x' 'oracle:query 60 sqlplus -S me/x@db'; do
    fails check_query "${password%%:*}" "${password#*:}"
    same 'a password' "$query_error" 'no password here: it belongs to the file of the client (PGPASSFILE, --defaults-file, a wallet)'
done
find_program '?query 10 /opt/pg/bin/psql service=x'
same 'the program of a query' "$program" /opt/pg/bin/psql

# wrong NAME COMMAND WANTED: what is said of a line of stats.conf that counts for nothing.
wrong() {
    printf 'a_linux\techo a\n%s\t%s\n' "$1" "$2" >stats.conf
    : >logged
    read_stats
    found=$(cat logged)
    same "the line $1 $2" "$n_bad_lines ${found#*line 2: }" "1 $3"
}
wrong proc_linux sample 'sample must be followed by a number of seconds'
wrong proc_linux 'sample soon' 'sample must be followed by a number of seconds'
wrong proc_linux '?sample 1' 'sample needs no program, so no ? before it'
wrong proc_linux 'sample 1 cpu gpu' "unknown section 'gpu': use cpu kernel memory disk net tcp pressure or auto"
wrong proc_linux 'sample 1 auto net' 'auto stands alone, without other sections'
wrong proc_pid_linux 'sample 5 cpu' "sample of proc_pid_linux may be followed by arguments, not 'cpu'"
wrong x_linux 'facts 60' "facts records host_facts, not 'x_linux'"
wrong host_facts '?facts 60' 'facts needs no program, so no ? before it'
wrong event '/var/log/app.log a(' "the pattern 'a(' is no extended regular expression"
wrong event "/var/log/app.log St$(printf '\303\266')rung" 'an event may contain only printable ASCII'
wrong x_linux "echo $(printf '%04000d' 1)" 'longer than 4000 characters'
wrong x_linux '@123456 echo x' '@ must be followed by a number of seconds'
wrong other_events 'watch 5' "watch records host_events, not 'other_events'"
rm logged stats.conf
find_sample_files 1 cpu kernel tcp
same 'the files of sections' "$fast_files|$slow_files" ' /proc/stat /proc/loadavg|/proc/net/snmp /proc/net/netstat /proc/net/sockstat'

# Within a minute after a tool was installed or removed the sampler starts again with the sections that nothing else records.
checked() {
    (
        up_s=60 t_key=proc_linux.1.1-1
        PATH=$here/tools
        write_tool() { printf 'written %s\n' "$t_until"; }
        stop_tool() { printf 'stopped\n'; }
        start_tool() { printf 'started with%s\n' "$rv_sections"; }
        check_sections proc_linux
    )
}
mkdir tools
# printf is a program in mksh.
ln -s /usr/bin/date /usr/bin/printf tools
printf 'mpstat_linux\t?mpstat -P ALL 1\nproc_linux\tsample 1 auto\n' >lock/tools
printf 'sample 1 kernel memory disk net tcp pressure\n' >proc_linux.1.1-1.cmd
printf '#!/bin/sh\n' >tools/mpstat
chmod 755 tools/mpstat
same 'the tools are the same' "$(checked)" 'written 120'
rm tools/mpstat
same 'a tool was removed' "$(checked)" 'stopped
started with cpu kernel memory disk net tcp pressure'
rm -r tools proc_linux.1.1-1.cmd logged

# --- bytes ------------------------------------------------------------------------------------------------------------

probe_reader
same 'the reader of this host' "$reader" bytes
printf 'a\000\n\377 b\\n%%s\r\n$(x) `y`\n' >bytes
for reader in bytes skip; do
    read_bytes bytes 1 5 >part
    same_bytes "bytes in the middle, by $reader" part '\000\n\377 b'
    read_bytes bytes 0 1 >part
    same_bytes "the first byte, by $reader" part a
    read_bytes bytes 10 13 >part
    same_bytes "the last bytes, by $reader" part '\r\n$(x) `y`\n'
done
reader=bytes

printf 'a whole line\n' >$key.raw
close_stream $key
same_bytes 'a whole line stays as it is' $key.raw 'a whole line\n'
printf 'half \\ a \000 line %%s' >$key.raw
close_stream $key
same_bytes 'half a line is marked' $key.raw 'half \\ a \000 line %%s <normstat-agent: line cut off here>\n'
: >$key.raw
close_stream $key
same_bytes 'an empty file stays empty' $key.raw ''
rm $key.raw

# --- a request and its answer -----------------------------------------------------------------------------------------

rm -f ./*.raw
live=' b_linux.2.1-1 ' refused_kb=0 stalls=' ' alone='' max_body=1000 is_tried=0 packer=none token_file=$here/token trouble=''
printf '%900s\n' x >a_linux.1.1-1.raw
printf 'emit  1 \\ * $x\n' >a_linux.1.1-1.cmd
printf 'b\000\377\n' >b_linux.2.1-1.raw
printf 'emit 2\n' >b_linux.2.1-1.cmd
printf '77 lost  in \\ * $x\n' >c_linux.3.1-1.gap
printf 'x\n' >d_linux.4.1-1.raw
set_ack d_linux.4.1-1 2 1
printf 'token\n' >token
take_stock
plan_request
same 'a plan with fair shares' "$plan|$plan_full" ' stream/a_linux.1.1-1/0/333 stream/b_linux.2.1-1/0/4 gap/c_linux.3.1-1/0/77|1'
fails [ -e d_linux.4.1-1.raw ]
fails [ -e d_linux.4.1-1.ack ]
plan=' stream/a_linux.1.1-1/897/4 stream/b_linux.2.1-1/0/4 gap/c_linux.3.1-1/0/77'
holds write_request
same_bytes 'the body of a request' lock/body 'stream a_linux a_linux.1.1-1 897 4 emit  1 \\ * $x
  x
stream b_linux b_linux.2.1-1 0 4 emit 2
b\000\377\ngap c_linux c_linux.3.1-1 0 77 lost  in \\ * $x\n'
list_frames
same_bytes 'the frames for perl' lock/frames 'stream a_linux a_linux.1.1-1 897 4 emit  1 \\ * $x
stream b_linux b_linux.2.1-1 0 4 emit 2
gap c_linux c_linux.3.1-1 0 77 lost  in \\ * $x\n'

# The lines that count stand among what a server must not be able to do anything with.
{
    printf '%s\n' '' ' ' 'nobody_linux.1.1-1 5' '../../etc/passwd 5' '* 1' '? 1' '[a-z]* 1' '$(touch pwned) 1' '`touch pwned` 1' '- -' 'stream 1'
    for found in '' -1 +1 0x10 0010 1e3 99999999999999999999999999999999 9223372036854775808 18446744073709551617 \
        'a[$(touch pwned)]' '$(touch pwned)' '`touch pwned`' '1;touch pwned' '*'; do
        printf '%s %s\n' b_linux.2.1-1 "$found"
    done
    printf '\033[31m 1\nb_linux.2.1-1\t\177\n\\ \\\n'
    printf 'c_linux.3.1-1 77\r\nb_linux.2.1-1 3 more words\na_linux.1.1-1 901'
} >lock/answer
now=1795252208 n_dropped_bytes=0 last_ok_written=0 max_body_wanted=1000 token_real=$here/token
up_s=0 interval=5 backoff=4 retry_after='' http_code=200
take_acks
for found in 'a_linux.1.1-1 0' 'b_linux.2.1-1 3' 'c_linux.3.1-1 77'; do
    get_ack "${found% *}"
    same 'the last line has no newline, so it is none' "${found% *} $ack" "$found"
done
same 'after a good answer' "$backoff $trouble$last_error" '0 '
printf 'a_linux.1.1-1 901\n' >lock/answer
take_acks
get_ack a_linux.1.1-1
same 'acknowledged' "$ack $acked_at" '901 1795252208'

# yash reads no further where bytes are no text.
printf '\377\376 1\n' >lock/answer
fails eval 'take_acks 2>/dev/null'
last_error='' trouble='' backoff=0
rm logged

# An answer that names nothing that was sent, and what follows from failures.
printf 'x 1\n' >lock/answer
fails take_acks
same 'a failure' "$last_error $backoff $next_try" 'the answer from http://x names no stream: is it a normstat server? 5 5'
fail_request again
same 'pauses grow' "$backoff $next_try" '10 10'
for found in 40:40 9999:300 31536000:10 0099:10 08:10 -1:10 9999999999999999999999:10 'a[$(touch pwned)]:10' '1;touch pwned:10'; do
    backoff=5 retry_after=${found%:*}
    fail_request again
    same "Retry-After: $retry_after" "$backoff" "${found#*:}"
done
retry_after=''
read -r found <logged
same 'what is said' "$found" 'cannot ship: the answer from http://x names no stream: is it a normstat server?; everything is kept and sent later'
rm -f ./*_linux.* agent.state logged

# heads FILE CODE RETRY ROTATION: what read_head makes of lock/head.
head_is() {
    printf '%b' "$2" >lock/head
    http_code=000 retry_after='' is_rotation_asked='' transport=$1
    read_head
    same "the head <$2>" "$http_code|$retry_after|$is_rotation_asked" "$3"
}
head_is curl 'HTTP/1.1 200 OK\r\nNormstat-Token: rotate\r\n\r\n' '200||1'
asked_s=''
head_is wget '  HTTP/1.1 200 OK\n  normstat-interval: 20\n' '200||'
same 'the interval asked for' "$asked_s" 20
head_is curl 'HTTP/1.1 100 Continue\r\n\r\nHTTP/2 503 \r\nretry-after: 7\r\n\r\n' '503|7|'
head_is wget '  HTTP/1.1 429 Too many\n  Retry-After: 12\n' '429|12|'
head_is curl 'HTTP/1.1 2000 Odd\r\n' '000||'
head_is curl 'HTTP/1.1 200a[$(touch pwned)] Odd\r\n' '000||'
head_is curl 'HTTP/1.1 99 Odd\r\n' '000||'
head_is curl '200 OK\n' '000||'
head_is curl 'HTTP/1.1 503 \\ * No\r\nRetry-After: a[$(touch pwned)]\r\n\r\n' '503|a[$(touch pwned)]|'
head_is perl '1795252209\nHTTP/1.1 200 OK\r\n' '200||'
same 'perl tells the time' "$now" 1795252209
head_is openssl 'HTTP/1.0 201 Made\r\nX: y\r\n\r\nbody \\ line\r\nrest' '201||'
same_bytes 'openssl leaves the answer behind the head' lock/answer 'body \\ line\r\nrest'
head_is wget '\nconnection refused\n' '000||'
same 'what wget says' "$hd_said" 'connection refused'

for found in '200 {"token":"nsa_0123456789abcdef~x","host":"web1"} nsa_0123456789abcdef~x' '200 {"token":"x; rm -rf /","host":"w"} ' \
    '200 {"token":"short"} ' '200 {} ' '200 {"token":"$(touch${IFS}pwned)____________"} '; do
    wanted=${found##* } found=${found#200 }
    printf '%s' "${found% *}" >lock/answer
    read_new_token
    same "the token in ${found% *}" "$new_token" "$wanted"
done

# A full spool: the oldest streams that no tool writes to go first, and the server is told how much is lost.
for found in 'a_linux.20.1-1 3000' 'b_linux.3.1-1 2000' 'c_linux.100.1-1 2000'; do
    printf "%${found#* }s" x >"${found% *}.raw"
done
live=' c_linux.100.1-1 ' spool_limit_kb=4 refused_kb=0 n_dropped_bytes=0
set_ack b_linux.3.1-1 500 1
take_stock
same 'too much' "$spool_kb" 7
# What was written after the listing is lost too.
printf '123456789\n' >>b_linux.3.1-1.raw
keep_limit
same 'what goes first' "$spool_kb $n_dropped_bytes $(echo ./*.raw)" '2 4510 ./c_linux.100.1-1.raw'
same_bytes 'the gap' b_linux.3.1-1.gap '2010 spool limit of 4 KiB reached\n'
same_bytes 'the next gap' a_linux.20.1-1.gap '3000 spool limit of 4 KiB reached\n'
mkdir refused
for found in x_linux.2.1-1.0 x_linux.1.1-1.0 x_linux.10.1-1.0; do printf '%1000s' x >refused/$found; done
measure_refused
take_stock
same 'refused bytes count' "$spool_kb" 5
keep_limit
same 'refused bytes go before that' "$refused_kb $(echo refused/*)" '2 refused/x_linux.10.1-1.0 refused/x_linux.2.1-1.0'
n_refused_chunks=0 n_refused_bytes=0
refuse_chunk c_linux.100.1-1 1996 4 'no \ * reason'
same_bytes 'bytes that are set aside' refused/c_linux.100.1-1.1996 '   x'
same_bytes 'their gap' c_linux.100.1-1.gap '2000 no \\ * reason\n'
same 'their count' "$n_refused_chunks $n_refused_bytes" '1 4'
rm -rf ./*_linux.* refused agent.state logged

# --- who owns what, and secrets ---------------------------------------------------------------------------------------

my_uid='' && find_uid
holds is_count "$my_uid"
mkdir -p 'way/two  words' && ln -s '../two  words/.' way/link && ln -s link way/link2 && ln -s b way/a && ln -s a way/b
mv 'way/two  words' . && ln -s "$here/two  words" way/absolute
follow_path "$here"
root=$real
for found in way/link way/link2/. way/absolute .//way/../way/./link2//; do
    holds follow_path "$found"
    same "the real path of $found" "$real" "$root/two  words"
done
fails follow_path way/link/gone/x
same 'a path that does not exist' "$real" "$root/two  words/gone/x"
holds follow_path /
same 'the root' "$real" /
dies 1 'too many symbolic links' follow_path way/a/x
chmod 777 way
dies 1 "everybody can write to $root/way, on the way to way/link" follow_path way/link
rm -rf way 'two  words'

# entry MODE OWNER GROUP UID: whether a user may trust it.
entry() {
    e_mode=$1 e_uid=$2 e_gid=$3 my_uid=$4
    check_entry /x /x/y
}
holds entry drwxr-xr-x 5 5 1000
holds entry drwxrwxrwt 0 0 1000
holds entry drwxrwxr-x 5 5 1000
holds entry lrwxrwxrwx 0 0 1000
holds entry lrwxrwxrwx 1000 5 1000
holds entry drwxrwxr-x 0 0 0
dies 1 'is a symbolic link of uid 5' entry lrwxrwxrwx 5 5 1000
dies 1 'everybody can write to' entry drwxrwxrwx 1000 5 1000
dies 1 'the group 5 can write to' entry drwxrwxr-x 0 5 0
dies 1 'belongs to uid 5 but this is root' entry drwxr-xr-x 5 0 0
my_uid=1000
printf '.:\ntotal 4\n-rw------- 1 1000 5 1 x\ndrwx------ 2 0 0 1 y\n\n./y:\n' >listing
holds eval 'check_listing <listing'
printf 'lrwxrwxrwx 1 1000 5 1 x -> y\n' >listing
dies 1 'something that is not a regular file' eval 'check_listing <listing'
printf 'prw------- 1 1000 5 1 x\n' >listing
dies 1 'something that is not a regular file' eval 'check_listing <listing'
printf -- '-rw------- 1 5 5 1 x\n' >listing
dies 1 'something that belongs to uid 5' eval 'check_listing <listing'
my_uid='' && find_uid

# A token that others can read is noticed within a minute, and a new one at once.
token_after() {
    up_s=$1
    if read_token; then found=$token; else found=${token_trouble%%:*}; fi
    same "the token after $1 seconds" "$found" "$2"
}
trouble="the token file $token_file can be read by others"
printf 'first-token~\r\n' >token
token_after 0 first-token~
chmod 640 token
token_after 59 first-token~
token_after 60 "$trouble"
token_after 61 "$trouble"
chmod 600 token
token_after 62 first-token~
chmod 640 token
printf 'other\n' >token
token_after 63 "$trouble"
chmod 600 token
token_after 64 other
printf '' >token
token_after 65 "the token file $token_file is empty"
printf 'two words\n' >token
token_after 66 "the token file $token_file contains characters that are not valid in a token"
rm token
token_after 67 "cannot read the token file $token_file"

new_token='nsa_new-token~'
printf 'old\n' >token
printf 'precious\n' >victim
ln -s victim token.new
holds put_new_token "$here/token"
same_bytes 'a new token' token 'nsa_new-token~\n'
same_bytes 'no link is followed' victim 'precious\n'
fails [ -e token.new ]
# Something is put there between rm and cat.
holds eval '(rm() { command rm "$@" && ln -s victim token.new; } && ! put_new_token "$here/token") 2>/dev/null'
same_bytes 'nothing is written over' victim 'precious\n'
read_entry token
same 'the mode of a new token' "$e_mode" -rw-------

ask_token() { new_token=nsa_rotated~; }
token_real=$(find_token_file)
rotate_token
same_bytes 'a rotated token' token 'nsa_rotated~\n'
same_bytes 'the token before' token.old 'nsa_new-token~\n'
try_other_token
same 'the other token is tried' "$token_file" "$token_real.old"
try_other_token
same 'and then this one again' "$token_file" "$token_real"
token_file=$token_real.old
keep_other_token
same_bytes 'a server knows only the token before' token 'nsa_new-token~\n'
rm -f token* victim logged

# --- processes and signals --------------------------------------------------------------------------------------------

# Shells differ in what they say about a process that a signal ended.
exec 3>&2 2>/dev/null

# A loop prints the epoch before each run, keeps quotes, and ends with its command when it is told to: that of the shell, and that
# of perl for systems whose date has no %s.
printf '%s' "$PERL_LOOP" >"$work/normstat-agent-loop.pl"
for loop in shell perl; do
    clock=seconds perl=''
    [ "$loop" = shell ] || clock=fields perl=1
    run_loop '@1 sh -c '\''echo "$1 and *"; exec sleep 60'\'' sh '\''two  words'\' loop &
    pid=$!
    until [ -f loop.raw ] && grep 'two  words and \*' loop.raw >/dev/null; do nap; done
    find_children "$pid"
    case $children in
    *' '?*) found=several ;;
    *' ') found=one ;;
    esac
    same "children of the loop in $loop: the command" "$found" one
    read_args "$pid"
    case $args in
    perl*normstat-agent*) found=perl ;;
    *) found=shell ;;
    esac
    same "what runs the loop in $loop" "$found" "$loop"
    kill "$pid"
    wait "$pid"
    same "the status of a loop in $loop" "$?" 143
    # It told its command to end, and did not wait for that.
    n=0
    while is_alive_any "$children" && [ "$n" -lt 100 ]; do
        nap
        n=$((n + 1))
    done
    holds eval '! is_alive_any "$children"'
    read -r found <loop.raw
    holds is_count "$found"
    rm loop.*
done
# Plain words need no shell, and a program that is gone is said at each run.
run_loop '@1 no-such-program -x' loop &
pid=$!
until [ -f loop.raw ] && [ "$(grep -c . loop.raw)" -ge 2 ]; do nap; done
kill "$pid"
wait "$pid" 2>/dev/null
IFS= read -r found <loop.err
same 'a program that is gone' "$found" 'cannot run no-such-program: No such file or directory'
clock=seconds perl=''
rm loop.*

# Every process below is ended, one that ignores TERM too.
sh -c 'sh -c "trap \"\" TERM; echo >ready; while :; do sleep 60; done" & exec sleep 60' &
pid=$!
until [ -f ready ]; do nap; done
find_children "$pid"
holds is_alive_any "$pid $children"
nap() { sleep 0.02; }
end_processes "$pid"
fails is_alive_any "$pid $children"

# The agent waits for a transfer, and ends one that takes too long. `wait` gives its status.
transport=curl
(exit 7) &
transfer_pid=$!
await_transfer
same 'the status of a transfer' "$transfer_status$transfer_pid" 7
transport=wget time_limit=1 nap_tenths=10
sleep 60 &
transfer_pid=$!
await_transfer
holds [ "$transfer_status" -gt 128 ]

# A transfer cannot write more than it may.
if (trap '' XFSZ) 2>/dev/null; then xfsz=XFSZ; else xfsz=''; fi
(limit_transfer 65536 && exec dd if=/dev/zero bs=200000 count=1) >large
holds [ $? -ne 0 ]
read_size large
holds [ "$size" -le 65536 ]
holds [ "$size" -gt 0 ]
same 'the home of a transfer' "$( (limit_transfer 65536 && echo "$HOME"))" "$work"

# A tool that ended by a signal is named by it.
up_s=100 live=" $key " t_key=$key t_since=0 t_delay=8 specs=' '
mkdir tool
sh -c 'kill -TERM $$' &
wait $!
tool_ended emit_linux $?
same 'ended by a signal' "$t_state $t_delay $t_until|$t_reason|$live" 'waiting 2 101|ended by signal TERM| '
printf 'first\nlast  words\n' >$key.err
live=" a $key b " t_key=$key t_since=90
tool_ended emit_linux 3
same 'ended with a status' "$t_delay $t_until|$t_reason|$live" '4 102|ended with status 3: last  words| a b '
rm -rf tool logged $key.err
exec 2>&3 3>&-

# --- events -----------------------------------------------------------------------------------------------------------

find_matcher
my_uid=1000 rw_trouble=''
# look WANTED: one look at app.log.
look() {
    set_now
    watch_file "$here/app.log" 'ERROR|FATAL' lock/watch.1 >looked
    same 'a look at a log' "$(cut -f5- looked)" "$1"
}
for way in 'bytes grep -E' 'skip egrep'; do
    reader=${way%% *} matcher=${way#* } rw_seen=-
    [ "$matcher" != egrep ] || egrep() { grep -E "$@"; }
    printf 'ERROR before the start\n' >app.log
    look ''
    printf 'ERROR one\nfine\nFATAL two \\ *\nERR' >>app.log
    look "ERROR one${NL}FATAL two \\ *"
    printf 'OR three\n' >>app.log
    look 'ERROR three'
    look ''
    printf 'ERROR nul \000 here\n' >>app.log
    look 'ERROR nul  here'
    printf 'ERROR last of the old one\n' >>app.log
    mv app.log app.log.1
    printf 'ERROR first\n' >app.log
    look "ERROR last of the old one${NL}ERROR first"
    cp app.log app.log.1
    printf 'FATAL\n' >app.log
    look FATAL
    mv app.log app.log.1
    look ''
    printf 'ERROR again\n' >app.log
    look 'ERROR again'
    rm -f app.log app.log.1 lock/watch.1
done
reader=bytes
look ''
printf 'ERROR one\n' >app.log
look 'ERROR one'
# A flood is counted, and what grows too fast is not searched.
rm -f app.log lock/watch.1
: >app.log
look ''
n=0 flood='' && while [ $n -lt 25 ]; do n=$((n + 1)) && echo "ERROR $n"; done >app.log
n=0 && while [ $n -lt 20 ]; do n=$((n + 1)) && flood="${flood}ERROR $n$NL"; done
look "${flood}5 more lines of $here/app.log match"
dd if=/dev/zero bs=1048576 count=17 2>/dev/null | tr '\000' '\012' >>app.log
printf 'ERROR end\n' >>app.log
look "$here/app.log grew too fast: $((16 * 1048576 + 10)) bytes were not searched${NL}ERROR end"
# A link may lead to what only root can read: root follows none. Others follow it with their own rights.
rm -f app.log lock/watch.1
echo ERROR >secret && ln -s secret app.log
look ''
my_uid=0
echo 'ERROR 2' >>secret
look '' 2>/dev/null
my_uid=1000
look 'ERROR 2'
rm -f app.log secret lock/watch.1

# jump NOW UP WANTED: a look 5 seconds after one at 1000; the host had been up for UP seconds then, or does not tell.
jump() {
    rw_seen=1000 now=$1 rw_up=$2
    found=$([ -n "$rw_up" ] || is_count() { return 1; } && find_jump 5)
    same "a look at $1, up ${2:-unknown}" "$found" "$3"
}
with_files "s,/proc/uptime,$here/uptime,g" 55-events.sh
printf '5000.25 9999.99\n' >uptime
up=4995
jump 1005 $up ''
jump 4605 $up "4605${TAB}1000${TAB}clock${TAB}${TAB}The clock was set forward by 3600 s"
jump 900 $up "900${TAB}-${TAB}clock${TAB}${TAB}The clock was set back by 105 s"
jump 1600 $((up - 595)) ''
jump 1006 '' ''
jump 1040 '' "1040${TAB}1000${TAB}clock${TAB}${TAB}The clock was set forward by 35 s, or the host stood still"
jump 900 '' "900${TAB}-${TAB}clock${TAB}${TAB}The clock was set back by 105 s"

# --- facts ------------------------------------------------------------------------------------------------------------

printf 'always [madvise] never\n' >choice
printf 'none\n' >alone
same 'a choice in brackets' "$(print_choice a choice; print_choice b alone; print_choice c gone)" "a${TAB}madvise${NL}b${TAB}none"
for found in 2400000 3100000 unknown; do printf '%s\n' $found >speed$found; done
same 'distinct values' "$(print_distinct d 1000 speed2* speed2* gone speed3* speedu*; print_distinct e 1 speedu*)" \
    "d${TAB}2400${NL}d${TAB}3100${NL}e${TAB}unknown"

with_files "s,/proc/cmdline,$here/cmdline," 62-facts-linux.sh
printf '%s\n' 'ro root=/dev/sda1 password=secret mitigations=off isolcpus=2-3 luks.key=/k nospectre_v2 x.token=abc * -- psi=1 audit=0' >cmdline
same 'only parameters of speed leave the host' "$(print_kernel_parameters)" "kernel_parameters${TAB}mitigations=off isolcpus=2-3 nospectre_v2"

with_files "s,/sys/fs/cgroup/cpu/,$here/cgroup/,; s,/sys/fs/cgroup/memory/,$here/cgroup/,; s,/sys/fs/cgroup,$here/cgroup," 62-facts-linux.sh
# limits WANTED FILE TEXT...
limits() {
    li_wanted=$1
    shift
    rm -rf cgroup
    mkdir cgroup
    while [ $# -gt 0 ]; do
        printf '%s\n' "$2" >"cgroup/$1"
        shift 2
    done
    same "the limits of a container with $(echo cgroup/*)" "$(print_limits | tr '\t\n' '= ')" "$li_wanted"
}
limits 'cpu_limit=1.50 memory_limit_kb=1048576 ' cgroup.controllers 'cpu memory' cpu.max '150000 100000' memory.max 1073741824
limits 'cpu_limit=0.05 ' cgroup.controllers 'cpu memory' cpu.max '5000 100000' memory.max max
limits '' cgroup.controllers 'cpu memory' cpu.max 'max 100000'
limits '' cgroup.controllers 'cpu memory'
limits 'cpu_limit=2.00 ' cpu.cfs_quota_us 200000 cpu.cfs_period_us 100000 memory.limit_in_bytes 9223372036854771712
limits 'memory_limit_kb=524288 ' cpu.cfs_quota_us -1 cpu.cfs_period_us 100000 memory.limit_in_bytes 536870912

move_zones() {
    with_files "s,/proc/meminfo,$1,; s,/etc/,$here/etc/,g; s,/usr/share/,$here/share/,g" 66-time-zone.sh
}
zone() {
    NORMSTAT_TZ=$1
    same "the time zone with TZ=$1" "$(print_time_zone)" "${2:+time_zone$TAB$2}"
}
move_zones /proc/meminfo
mkdir -p share/zoneinfo/Europe etc/sysconfig etc/default
printf Europe/Berlin >share/zoneinfo/Europe/Berlin
printf MET >share/zoneinfo/MET
zone Asia/Kolkata Asia/Kolkata
zone :/usr/share/zoneinfo/Pacific/Chatham Pacific/Chatham
zone MET MET
# No name, but an offset: rules of one's own, in which summer never begins.
zone XXX-05:30 +0530
NORMSTAT_TZ='X;touch pwned'
print_time_zone >zone
printf '# the clock\nZONE="America/New_York"\nUTC=true\n' >etc/sysconfig/clock
zone '' America/New_York
printf 'Europe/Berlin\n' >etc/timezone
zone '' Europe/Berlin
printf Europe/Berlin >etc/localtime
zone :/etc/localtime Europe/Berlin
# A file that somebody forgot to change: the system uses the other one, whose name nothing tells.
printf Asia/Tokyo >etc/localtime
zone_name='' && find_linux_zone
same 'another zone than its name' "$zone_name" ''
rm etc/localtime
ln -s ../usr/share/zoneinfo/America/Argentina/Ushuaia etc/localtime
zone '' America/Argentina/Ushuaia
move_zones /gone
printf '# TZ=GMT\nTZ=US/Pacific\nCMASK=022\n' >etc/default/init
zone '' US/Pacific
printf 'TZ=localtime\n' >etc/default/init
svcprop() { [ "$*" = '-p timezone/localtime svc:/system/timezone:default' ] && echo Europe/Berlin; }
zone '' Europe/Berlin
# The date of an old userland prints what it does not know.
rm etc/default/init
date() { printf '%s\n' "${1#+}"; }
zone '' ''
unset -f date

# What runs here: the flags of a JVM, without what may be a secret; what is loaded before its libraries; settings and tools.
printf '%s\n' -server -Xmx2g -Dpassword=x -cp lib.jar -XX:ParallelGCThreads=3 com.example.Main -Xnot >words
same 'flags of a JVM' "$(print_jvm <words)" "jvm_flags com.example.Main$TAB-server -Xmx2g -XX:ParallelGCThreads=3"
printf '%s\n' -Xss1m -jar /opt/app/app.jar run >words
same 'flags of an archive' "$(print_jvm <words)" "jvm_flags app.jar$TAB-Xss1m"
mkdir -p proc/7 proc/8 proc/9
printf '700.50 900.00\n' >proc/uptime
for pid in 7 8 9; do
    printf 'java\n' >proc/$pid/comm
    printf '%s (java (x)) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 31 0 5000 0\n' $pid >proc/$pid/stat
    printf 'java\000-Xmx1g\000Main\000' >proc/$pid/cmdline
    printf 'HOME=/\000LD_PRELOAD=libumem.so\000' >proc/$pid/environ
done
# Started a minute ago.
printf '9 (java) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 31 0 64000 0\n' >proc/9/stat
printf 'java\000-Xmx9g\000Young\000' >proc/9/cmdline
with_files "s,/proc/,$here/proc/,g" 62-facts-linux.sh
same 'programs of a Linux' "$(print_linux_programs)" "jvm_flags Main$TAB-Xmx1g
ld_preload java${TAB}libumem.so"
printf '* set no=1\nset ufs:ufs_HW = 0x10000\nset maxusers=40\nforceload: drv/x\n' >etc/system
with_files "s,/etc/,$here/etc/,g" 64-facts-solaris.sh
same 'settings of /etc/system' "$(print_etc_system)" "etc_system ufs:ufs_HW${TAB}0x10000
etc_system maxusers${TAB}40"
rm etc/system
ps() { printf '  7 12-00:00:01 /usr/java/bin/java\n  8 09:59 java\n  9 10:00 java\n 10 01:00:00 init\n'; }
pargs() {
    case $* in
    '-e '*) printf '%s:\tjava\nenvp[0]: HOME=/\nenvp[1]: LD_PRELOAD=libumem.so\n' "$2" ;;
    *) printf '%s:\tjava\nargv[0]: java\nargv[1]: -Xmx%sg\nargv[2]: Main\n' "$1" "$1" ;;
    esac
}
same 'programs of a Solaris' "$(print_solaris_programs)" "jvm_flags Main$TAB-Xmx7g
jvm_flags Main$TAB-Xmx9g
ld_preload java${TAB}libumem.so"
unset -f ps pargs
# dtrace -l is called once.
dtrace() { printf 'call\n' >>calls && printf '   ID   PROVIDER\n    1 dtrace\n    2 syscall\n'; }
mkdir -p "$work" && rm -f "$work/probes"
print_tool_facts >/dev/null
same 'probes' "$(print_tool_facts | grep '^probes'; cat calls)" "probes${TAB}2
call"
unset -f dtrace
same 'no tool' "$(has() { return 1; } && print_tool_facts | grep '^tools')" "tools${TAB}none"

# Facts are printed again when one has changed, after those of the look before: here at the fourth look, one a second.
print_facts() {
    printf 'look\n' >>looks
    read_size looks
    if [ "$size" -lt 20 ]; then print_fact container docker; else print_fact container lxc; fi
}
set_now() { now=$((now + 1)); }
sleep() { command sleep 0.01; }
now=100000
run_facts 3600 facts &
pid=$!
until [ -f facts.raw ] && grep lxc facts.raw >/dev/null; do command sleep 0.02; done
kill "$pid"
wait "$pid" 2>/dev/null
same 'facts that change' "$(cat facts.raw)" "100001${NL}container${TAB}docker${NL}100003${NL}container${TAB}docker${NL}100004${NL}container${TAB}lxc"
unset -f sleep

# What Solaris prints, by stand-ins.
export REPLAY_CAPTURES="$tests/captures"
PATH=$tests/fakebin/sunos:$PATH
same 'the facts of a Solaris host' "$(print_solaris_facts | grep -v '^mount \|^system')" "hardware${TAB}SUNW,SPARC-Enterprise-T5220
kernel_isa${TAB}sparcv9
cpus${TAB}3
cpu_chips${TAB}1
cpu_model${TAB}UltraSPARC-T2
cpu_mhz${TAB}1415
cpu_mhz${TAB}1165
boot_time${TAB}1795300011
memory_pages${TAB}4149504
processor_set 1${TAB}1 2
processor_set 2${TAB}3
processor_set 3${TAB}empty
memory_kb${TAB}33423360
swap_kb${TAB}4718576
zone${TAB}global
zone_state web01${TAB}running as 3, native, /zones/web01
zone_state batch${TAB}installed, solaris8, /zones/ba:tch"

# --- the end ----------------------------------------------------------------------------------------------------------

fails [ -e pwned ]
same 'nothing went to standard error' "$(cat "$here/stderr")" ''
[ ! -s failed ] || cat failed
printf '%s cases\n' "$n_cases"
[ ! -s failed ]
