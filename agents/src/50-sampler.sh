# The sampler of Linux.
# `sample SECONDS [SECTION...]` in stats.conf records the counters of /proc. The output is what `date +%s` and `head -n 99999
# FILE...` would print, with lines left out. A fork costs more than reading all the files, so one awk reads them again and again,
# and a shell tells it when: bash waits without a fork, other shells run a sleep each time.

# All sections. `auto` stands for those that no tool of stats.conf covers.
readonly SYSTEM_SECTIONS='cpu kernel memory disk net tcp pressure'

readonly SAMPLER_CLOCK='@sampler-clock.sh@'

readonly SAMPLER_SYSTEM='@sampler-system.awk@'

# The sampler of processes is one program in two parts.
readonly SAMPLER_OF_PROCESSES='@sampler-processes.awk@'
readonly SAMPLER_OF_CGROUPS='@sampler-cgroups.awk@'
readonly SAMPLER_PROCESSES="$SAMPLER_OF_PROCESSES$SAMPLER_OF_CGROUPS"

# Sets sample_error and returns 1 if stats.conf may not have the line NAME COMMAND.
check_sample() {
    sample_error=''
    case $1 in
    proc_linux | proc_pid_linux) ;;
    *) sample_error="sample records proc_linux and proc_pid_linux, not '$1'" ;;
    esac
    # shellcheck disable=SC2086  # its words
    set -- "$1" $2
    case $2 in
    '?'*) sample_error="sample needs no program, so no ? before it" ;;
    esac
    case ${3:-} in
    [1-9] | [1-9][0-9] | [1-9][0-9][0-9] | [1-9][0-9][0-9][0-9]) ;;
    *) sample_error="sample must be followed by a number of seconds" ;;
    esac
    cs_name=$1 cs_words=''
    if [ $# -lt 3 ]; then set --; else shift 3; fi
    for cs_word in ${1+"$@"}; do
        if [ "$cs_name" = proc_pid_linux ]; then
            [ "$cs_words$cs_word" = arguments ] || sample_error="sample of proc_pid_linux may be followed by arguments, not '$cs_word'"
        elif [ "$cs_word" = auto ]; then
            [ $# -eq 1 ] || sample_error="auto stands alone, without other sections"
        elif is_in " $cs_words" "$cs_word"; then
            sample_error="the section $cs_word is there twice"
        elif ! is_in " $SYSTEM_SECTIONS " "$cs_word"; then
            sample_error="unknown section '$cs_word': use $SYSTEM_SECTIONS or auto"
        fi
        cs_words="$cs_words$cs_word "
    done
    [ -z "$sample_error" ]
}

# Sets covered to the sections that installed tools of stats.conf record.
find_covered() {
    covered=' '
    while IFS="$TAB" read -r fv_name fv_command; do
        find_program "$fv_command"
        has "$program" || continue
        case $fv_name:$fv_command in
        mpstat_linux:*' -P '*) covered="${covered}cpu " ;;
        iostat_linux:*' -x'*) covered="${covered}disk " ;;
        esac
    done <"$work/tools"
}

# Sets command to the line COMMAND of SPEC with its sections. Returns 1, with sample_error, if it cannot run.
resolve_sample() {
    sample_error=''
    if [ ! -r /proc/uptime ]; then
        sample_error="no /proc/uptime on this system"
        return 1
    fi
    rv_spec=$1
    # shellcheck disable=SC2086  # its words
    set -- $2
    rv_every=$2 rv_sections=''
    shift 2
    case $rv_spec:${1:-} in
    proc_pid_linux:) ;;
    proc_linux:auto)
        find_covered
        for rv_section in $SYSTEM_SECTIONS; do
            is_in "$covered" "$rv_section" || rv_sections="$rv_sections $rv_section"
        done
        ;;
    proc_linux:) rv_sections=" $SYSTEM_SECTIONS" ;;
    *) rv_sections=" $*" ;;
    esac
    command="sample $rv_every$rv_sections"
}

# Restarts the sampler SPEC if a tool that records some of its sections was installed or removed since it started.
check_sections() {
    t_until=$((up_s + 60))
    find_command "$1" || return 0
    IFS= read -r ci_running <"$t_key.cmd" || return 0
    if resolve_sample "$1" "$command" && [ "$command" = "$ci_running" ]; then
        write_tool "$1"
        return 0
    fi
    log "$1: the tools of this host have changed; starting the sampler again"
    stop_tool
    start_tool "$1"
}

# Sets sample_shell, which keeps the time, and sample_reader, which reads the files. An awk must know the epoch. Returns 1, with
# sample_error, if there is no reader.
find_sample_reader() {
    sample_shell=$shell
    if has bash; then
        sample_shell=bash
    elif has ksh93; then
        sample_shell=ksh93
    fi
    # In yash a loop's own variable is unset after the loop.
    for fd_name in mawk gawk awk busybox head; do
        has "$fd_name" || continue
        sample_reader=$fd_name
        case $fd_name in
        mawk) sample_reader='mawk -W interactive' ;;
        awk) case $(awk -W version 2>/dev/null </dev/null) in mawk*) sample_reader='awk -W interactive' ;; esac ;;
        busybox) sample_reader='busybox awk' ;;
        head) return 0 ;;
        esac
        # shellcheck disable=SC2086  # its words
        fd_epoch=$($sample_reader 'BEGIN { srand(); print srand() }' 2>/dev/null </dev/null)
        set_now
        if is_count "$fd_epoch" && [ $((now - fd_epoch)) -ge -2 ] && [ $((now - fd_epoch)) -le 2 ]; then
            return 0
        fi
    done
    sample_error="neither awk nor head in $PATH"
    return 1
}

# Sets fast_files and slow_files to the files of sections for head, which leaves out no lines.
find_sample_files() {
    fast_files='' slow_files=''
    shift
    for ff_section in "$@"; do
        case $ff_section in
        cpu) fast_files="$fast_files /proc/stat" ;;
        kernel)
            is_in " $* " cpu || fast_files="$fast_files /proc/stat"
            fast_files="$fast_files /proc/loadavg"
            ;;
        memory) fast_files="$fast_files /proc/meminfo /proc/vmstat" ;;
        disk) fast_files="$fast_files /proc/diskstats" ;;
        net) fast_files="$fast_files /proc/net/dev" ;;
        tcp) slow_files='/proc/net/snmp /proc/net/netstat /proc/net/sockstat' ;;
        pressure) fast_files="$fast_files /proc/pressure/cpu /proc/pressure/io /proc/pressure/memory" ;;
        esac
    done
}

# Becomes the sampler that COMMAND describes, for stream KEY.
run_sampler() {
    exec </dev/null 7<&- >>"$2.raw" 2>>"$2.err"
    # shellcheck disable=SC2086  # its words
    set -- $1
    rp_every=$2 rp_words=''
    shift
    [ "${2:-}" != arguments ] || rp_words=1
    case $sample_reader:${rp_words:-$#} in
    head:1) set -- "$rp_every" pids head '' ;;
    head:*)
        find_sample_files "$@"
        # shellcheck disable=SC2086  # a list of files
        set -- "$rp_every" files head "$slow_files" $fast_files
        ;;
    *:1)
        printf '%s' "$SAMPLER_PROCESSES" >"$work/sampler.processes" || exit 1
        set -- "$rp_every" pids "$sample_reader" "$work/sampler.processes" "$@"
        ;;
    *)
        printf '%s' "$SAMPLER_SYSTEM" >"$work/sampler.system" || exit 1
        set -- "$rp_every" files "$sample_reader" "$work/sampler.system" "$@"
        ;;
    esac
    # In files, so that a list of processes does not show whole programs. -p: without functions and settings of the environment.
    printf '%s' "$SAMPLER_CLOCK" >"$work/sampler.$2" || exit 1
    if [ "$sample_shell" = bash ]; then
        exec bash -p "$work/sampler.$2" "$@"
    fi
    exec "$sample_shell" "$work/sampler.$2" "$@"
}
