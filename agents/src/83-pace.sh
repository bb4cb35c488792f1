# Pace: how long the agent rests between requests. Where the CPU is so slow that a turn every five seconds would take much of it, the
# rests grow until the agent itself takes about a hundredth of the CPU. The tools go on as they are. An --interval is kept as it is.

# Seconds of rest at most: the server calls a host late after 30 s without data.
readonly MAX_PACE=25
# Turns that are measured together, since some systems count CPU time in hundredths of a second, as much as a turn takes elsewhere.
readonly PACE_TURNS=6

# Sets used_cs to the CPU time of the agent and of what it has waited for, in hundredths of a second.
read_used() {
    times 2>/dev/null >"$work/times" && add_times <"$work/times"
}

# Sets used_cs to the sum of what `times` prints. Returns 1 where that is not what POSIX says: 0m0.01s 0m0.02s, and the same of the
# children.
add_times() {
    at_total=0 at_n=0
    while read -r at_user at_system _a; do
        for at_time in "$at_user" "$at_system"; do
            at_minutes=${at_time%%m*} at_seconds=${at_time#*m}
            at_seconds=${at_seconds%s}.
            at_part=${at_seconds#*[.,]}
            at_part=${at_part%.}00
            at_seconds=${at_seconds%%[.,]*}
            at_part=${at_part%"${at_part#??}"}
            case $at_seconds in
            0?) at_seconds=${at_seconds#0} ;;
            esac
            case $at_part in
            0?) at_part=${at_part#0} ;;
            esac
            is_count "$at_minutes" && is_count "$at_seconds" && is_count "$at_part" || return 1
            at_total=$((at_total + (at_minutes * 60 + at_seconds) * 100 + at_part)) at_n=$((at_n + 1))
        done
    done
    [ "$at_n" -eq 4 ] || return 1
    used_cs=$at_total
}

# Adds the turn before to what is measured, and sets pace after every PACE_TURNS of them. A turn that sent more than one request, or in
# which a tool began or ended (whose time would count), is not like the others.
keep_pace() {
    kp_before=$used_cs
    if [ -n "$interval_wanted" ] || ! read_used; then return 0; fi
    if [ "$1" -gt 0 ] || [ "$live" != "$pace_live" ]; then
        pace_live=$live
        return 0
    fi
    pace_cs=$((pace_cs + used_cs - kp_before)) pace_n=$((pace_n + 1))
    [ "$pace_n" -ge "$PACE_TURNS" ] || return 0
    # A turn that takes N hundredths of a second takes a hundredth of the CPU every N seconds.
    kp_turn=$(((pace_cs + pace_n - 1) / pace_n)) pace_cs=0 pace_n=0
    kp_pace=$kp_turn
    [ "$kp_pace" -ge "$interval" ] || kp_pace=$interval
    [ "$kp_pace" -le "$MAX_PACE" ] || kp_pace=$MAX_PACE
    # A small change is not worth a line in the log. At the ends it is taken, or they would never be reached.
    case $kp_pace in
    "$pace") return 0 ;;
    "$interval" | "$MAX_PACE") ;;
    *) [ $((kp_pace * 4)) -gt $((pace * 5)) ] || [ $((kp_pace * 5)) -lt $((pace * 4)) ] || return 0 ;;
    esac
    pace=$kp_pace
    # Read by the watcher and the guard.
    printf '%s\n' "$pace" >"$work/pace"
    kp_text="The agent sends every $pace s: a request takes $((kp_turn * 10)) ms of this CPU"
    log "$kp_text"
    say_event tool agent "$kp_text"
    write_state
}

# Sets rest to SECONDS, or to the agent's pace where that is longer: what is found earlier would only wait to be sent.
rest_at_pace() {
    rest=$1 rp_pace=''
    if [ -r "$work/pace" ]; then read -r rp_pace <"$work/pace"; fi 2>/dev/null
    if is_count "$rp_pace" && [ "$rp_pace" -gt "$rest" ]; then rest=$rp_pace; fi
}

# Sets rest to the seconds until the next turn: the pace, or longer where the last answer asked for it, up to MAX_PACE.
set_rest() {
    rest=$pace
    if [ -z "$interval_wanted" ] && is_count "$asked_s" && [ "${#asked_s}" -le 2 ] && [ "$asked_s" -gt "$rest" ]; then
        rest=$asked_s
        [ "$rest" -le "$MAX_PACE" ] || rest=$MAX_PACE
    fi
    if [ "$up_s" -lt 15 ] || [ "$is_behind" = 1 ]; then rest=1; fi
}
