# The sampler of processes with capabilities, and the agent without them.
# The kernel shows /proc/PID/io of other users' processes to root, and to a process with two capabilities: CAP_DAC_READ_SEARCH opens
# the file, CAP_SYS_PTRACE reads it. Together they read every file and the memory of every process, so only the sampler of
# processes may have them: neither tools nor anything that talks to the server. An agent that is started with them (systemd's
# AmbientCapabilities, `normstat up` as root) starts this sampler first, then gives them up: it executes itself through setpriv, which
# keeps its pid.
# The sampler writes to a pipe, number 7 of the agent, whose tool for proc_pid_linux is a cat. It reads no file that the agent's user
# could change: its programs come from this script, by the environment, and its settings are a number and a word that were checked.

readonly IO_MISSING='not recorded: the I/O of processes of other users'

# Returns whether this process passes both capabilities on to everything it starts: bits 2 and 19 of the ambient set.
hands_on_capabilities() {
    [ -r /proc/self/io ] || return 1
    while read -r hc_name hc_bits; do
        case $hc_name$hc_bits in
        CapAmb:*[89abcdef][0-9a-f][0-9a-f][0-9a-f][4567cdef]) return 0 ;;
        esac
    done <"/proc/$$/status"
    return 1
}

# Returns whether the kernel shows this process the I/O of another user's process, or there is none.
sees_all_io() {
    sa_status=0
    for sa_folder in /proc/[0-9]*; do
        if [ ! -e "$sa_folder" ] || [ -O "$sa_folder" ]; then continue; fi
        # The first ones are kernel threads, whose file is not empty either.
        { read -r _a <"$sa_folder/io"; } 2>/dev/null && return 0
        sa_status=1
    done
    return $sa_status
}

# Starts the sampler of processes with the capabilities of this process, then executes `run` again without them. Returns if there
# are none: sampler_pid is then that of a sampler started before, and io_note says what is not recorded.
part_sampler() {
    find_uid
    sampler_pid=${NORMSTAT_SAMPLER_PID:-} io_note=${NORMSTAT_IO_NOTE:-} ps_is_again=${NORMSTAT_SAMPLER_PID+x}
    unset NORMSTAT_SAMPLER_PID NORMSTAT_IO_NOTE
    is_count "$sampler_pid" || sampler_pid=''
    # Everything that root starts has all capabilities anyway.
    if [ "$my_uid" = 0 ] || ! hands_on_capabilities; then
        if [ ! -r /proc/self/io ] || [ -n "$sampler_pid$io_note" ] || sees_all_io; then return 0; fi
        io_note="$IO_MISSING: the kernel shows it only with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, which root has"
        return 0
    fi
    [ -z "$ps_is_again" ] || die "setpriv has not given up the capabilities"
    has setpriv || die "started with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, which only the sampler may have, but there is no setpriv" \
        "(package util-linux) to give them up: install it, or start the agent without them"
    set_script
    sampler_pid='' io_note=''
    if find_sample_line; then start_holder "$script"; fi
    [ -z "$io_note" ] || io_note="$IO_MISSING: $io_note"
    NORMSTAT_SAMPLER_PID=$sampler_pid NORMSTAT_IO_NOTE=$io_note
    export NORMSTAT_SAMPLER_PID NORMSTAT_IO_NOTE NORMSTAT_TZ
    # Some shells close the pipe when they execute a program without a redirection of it.
    [ -n "$sampler_pid" ] || exec 7</dev/null
    exec setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all "$shell" "$script" run ${1+"$@"} 7<&7
}

# Starts the sampler for sample_line and opens its pipe. Sets sampler_pid, or io_note if it must not start.
start_holder() {
    probe_clock
    if ! find_sample_reader; then
        io_note=$sample_error
    elif find_writable "$1"; then
        io_note="uid $my_uid could change $writable"
    elif ! sees_all_io; then
        io_note="the kernel does not show it in spite of the capabilities"
    fi
    [ -z "$io_note" ] || return 0
    sh_folder=$PWD
    enter_spool
    rm -f sampler.pipe
    if mkfifo sampler.pipe; then
        # shellcheck disable=SC2086  # its words
        hold_sampler $sample_line >sampler.pipe &
        sampler_pid=$!
        exec 7<sampler.pipe
        rm -f sampler.pipe
    else
        io_note="cannot create a pipe in $spool"
    fi
    cd -- "$sh_folder" || die "cannot go back to $sh_folder"
}

# As root, executes this command again as user. run and start pass on both capabilities if this host grants them.
become_user() {
    find_uid
    [ "$my_uid" = 0 ] || return 0
    bu_group=$(id -g "$user" 2>/dev/null) || die "there is no user '$user' (--user)"
    bu_uid=$(id -u "$user")
    if [ "$bu_group" = 0 ] || [ "$bu_uid" = 0 ]; then die "the user '$user' (--user) is root, or in root's group"; fi
    has setpriv || die "--user $user needs setpriv (package util-linux)"
    set_script
    bu_kept=-all
    set -- "$shell" "$script" "$main_command" ${1+"$@"}
    case $main_command in
    run | start)
        bu_kept=-all,+sys_ptrace,+dac_read_search
        (exec_as_user true) 2>/dev/null || bu_kept=-all
        ;;
    esac
    export NORMSTAT_TZ
    exec_as_user "$@"
}

# Becomes the program as user, with the capabilities bu_kept.
exec_as_user() {
    exec setpriv --reuid="$user" --regid="$bu_group" --init-groups --no-new-privs --inh-caps="$bu_kept" --ambient-caps="$bu_kept" \
        --bounding-set="$bu_kept" "$@"
}

# Sets sample_line to what follows the name in the line of stats.conf that records processes. Returns 1 if there is no valid one.
find_sample_line() {
    sample_line=''
    follow_path "$stats" && [ -r "$stats" ] || return 1
    while IFS= read -r fs_line || [ -n "$fs_line" ]; do
        case $fs_line in
        "proc_pid_linux$TAB"*) sample_line=${fs_line#*"$TAB"} && break ;;
        esac
    done <"$stats"
    [ -n "$sample_line" ] && check_sample proc_pid_linux "$sample_line"
}

# Sets writable to the first of SCRIPT, its folder, the shell and the folders of PATH that this user could change. Returns 1 if
# there is none.
find_writable() {
    fw_ifs=$IFS
    IFS=:
    set -f
    # shellcheck disable=SC2086  # its folders
    set -- "$1" "${1%/*}" "$shell" $PATH
    set +f
    IFS=$fw_ifs
    # In yash a loop's own variable is unset after the loop.
    for fw_path in "$@"; do
        writable=$fw_path
        if [ -e "$writable" ] && { [ -w "$writable" ] || [ -O "$writable" ]; }; then return 0; fi
    done
    return 1
}

# Becomes the sampler of processes: sample SECONDS [arguments]. These words are all its input.
hold_sampler() {
    exec </dev/null
    hs_every=$2 hs_words=${3:-}
    hs_shell=$sample_shell hs_options=-c
    [ "$sample_shell" != bash ] || hs_options=-pc
    hs_program=/proc/self/fd/7
    [ "$sample_reader" != head ] || hs_program=''
    # shellcheck disable=SC2016,SC2086  # the variable is the other shell's; nothing or one word
    exec env -i PATH="$PATH" LC_ALL=C TZ=UTC NORMSTAT_CLOCK="$SAMPLER_CLOCK" NORMSTAT_SOURCE="$SAMPLER_PROCESSES" \
        "$hs_shell" $hs_options 'eval "$NORMSTAT_CLOCK"' normstat-sampler "$hs_every" pids "$sample_reader" "$hs_program" "$hs_every" $hs_words
}

# Returns whether the sampler with capabilities records SPEC.
has_sampler() {
    [ "$1" = proc_pid_linux ] && [ -n "$sampler_pid" ]
}

# The sampler with capabilities has ended: the agent goes on with one of its own, which does not see the I/O of others.
lose_sampler() {
    if is_sampler; then end_processes "$sampler_pid"; fi
    exec 7<&-
    sampler_pid='' io_note="$IO_MISSING: the sampler that may see it has ended; start the agent again"
    log "$io_note"
    say_event tool proc_pid_linux "proc_pid_linux: $io_note"
    write_state
}

# Returns whether sampler_pid is still the sampler.
is_sampler() {
    kill -0 "$sampler_pid" 2>/dev/null || return 1
    read_args "$sampler_pid"
    case $args in
    *normstat-sampler*) return 0 ;;
    *) return 1 ;;
    esac
}
