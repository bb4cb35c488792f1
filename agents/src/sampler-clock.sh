# The clock of the sampler: every $1 seconds it writes a line "<epoch or -> [/proc/PID...]" to the awk $3, which runs the program file
# $4 with the words from $5 on. $2 is pids or files. If $3 is head, there is no awk: head reads the files itself, those in $4 only
# every 5 seconds. Ticks keep their distance to the beginning of a second by the kernel's clock, so that no second is skipped. After
# sixty ticks a new awk takes over, with the last word "again", since mawk keeps the name of each file that it ever opened. Standard
# output stays the file of the stream, by which the agent recognises its tools. A program in NORMSTAT_SOURCE is passed to awk through
# a pipe, number 7, or as a word where the shell is not bash. After SIGUSR1 the next awk describes all processes again.
every=$1 what=$2 reader=$3 program=$4
shift 4
source=${NORMSTAT_SOURCE:-} is_new=""
unset NORMSTAT_SOURCE NORMSTAT_CLOCK
trap "is_new=1 n_left=0" USR1
is_bash="" phase="" last="" n_steady=0 n_ticks=0 again=""
if [ -n "${BASH_VERSION:-}" ] && eval "exec 9<> <(:)" 2>/dev/null; then is_bash=1; fi
# shellcheck disable=SC3028,SC3045  # of bash
if [ -n "$is_bash" ]; then
    pause() {
        read -r -t "$1" -u 9 _a
        [ $? -gt 128 ] || sleep "$1"
    }
    find_epoch() {
        epoch=${EPOCHSECONDS:-}
        [ -n "$epoch" ] || printf -v epoch "%(%s)T" -1 2>/dev/null
    }
else
    pause() { sleep "$1"; }
    find_epoch() { epoch=""; }
fi
find_second() {
    find_epoch
    second=${epoch:-$(date +%s)}
}
find_hundredths() {
    read -r up _a </proc/uptime || up=0.00
    up=${up#*.}
    case $up in
    [0-9][0-9]) up=$((1$up - 100)) ;;
    *) up=0 ;;
    esac
}
# Sets phase to the hundredths that the kernel shows a moment after a second begins.
find_phase() {
    find_second
    first=$second n=0
    until [ "$second" != "$first" ] || [ "$n" -ge 15 ]; do
        n=$((n + 1))
        pause 0.1 2>/dev/null || return 1
        find_second
    done
    find_hundredths
    phase=$(((up + 5) % 100)) n_steady=0 last=""
}
pause_until_tick() {
    if [ -z "$phase" ]; then
        sleep "$every"
        return
    fi
    find_hundredths
    rest=$(((phase - up + 100) % 100))
    [ "$rest" -ge 20 ] || rest=$((rest + 100))
    whole=$((every - 1 + rest / 100)) rest=$((100 + rest % 100))
    pause "$whole.${rest#1}"
}
tick() {
    find_epoch
    n_steady=$((n_steady + 1))
    if [ -n "$last" ] && [ -n "$epoch" ] && [ $((epoch - last)) -ne "$every" ] && [ "$n_steady" -ge 60 ]; then
        find_phase
        find_epoch
    fi
    last=$epoch
    if [ "$reader" = head ]; then
        date +%s
        if [ "$what" = pids ]; then
            head -n 99999 /proc/uptime /proc/[0-9]*/stat /proc/[0-9]*/io /proc/[0-9]*/statm 2>/dev/null
        elif [ $((n_ticks * every % 5)) -lt "$every" ]; then
            # shellcheck disable=SC2086  # a list of files
            head -n 99999 /proc/uptime "$@" $program 2>/dev/null
        else
            head -n 99999 /proc/uptime "$@" 2>/dev/null
        fi
        n_ticks=$((n_ticks + 1))
        return 0
    fi
    if [ "$what" = pids ]; then
        echo "${epoch:--}" /proc/[0-9]* >&8
    else
        echo "${epoch:--}" >&8
    fi
}
run_sixty() {
    n_left=60
    while [ "$n_left" -gt 0 ] && tick; do
        pause_until_tick
        n_left=$((n_left - 1))
    done
}
find_next() {
    again=again
    [ -z "$is_new" ] || again=""
    is_new=""
}
run_reader() {
    if [ -n "$source" ]; then
        $reader "$source" "$@" $again
    else
        $reader -f "$program" "$@" $again
    fi
}
find_phase
if [ "$reader" = head ]; then
    while tick "$@"; do pause_until_tick; done
elif [ -n "$is_bash" ]; then
    while :; do
        # The new awk must not hold the pipe of the old one open.
        exec 8>&-
        [ -z "$source" ] || eval "exec 7< <(printf %s \"\$source\")"
        eval "exec 8> >(exec $reader -f \"\$program\" \"\$@\" $again)"
        exec 7<&-
        run_sixty
        find_next
    done
else
    while run_sixty 8>&1 | run_reader "$@"; do find_next; done
    exit 1
fi
