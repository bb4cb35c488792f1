# Processes: find children, end them, and recognise a process by its command line.

# Ends the processes of a list of pids and all their children, and waits until they are gone.
end_processes() {
    find_children "$1"
    ep_all="$1 $children" ep_n=0
    # shellcheck disable=SC2086  # a list of pids
    kill $ep_all 2>/dev/null
    while is_alive_any "$ep_all"; do
        ep_n=$((ep_n + 1))
        # shellcheck disable=SC2086
        [ "$ep_n" -ne 50 ] || kill -9 $ep_all 2>/dev/null
        [ "$ep_n" -lt 60 ] || break
        nap
    done
    for ep_pid in $1; do
        wait "$ep_pid" 2>/dev/null
    done
}

# Zombies (Z) count as gone.
is_alive_any() {
    for ia_pid in $1; do
        kill -0 "$ia_pid" 2>/dev/null || continue
        case $(ps -o s= -p "$ia_pid" 2>/dev/null) in
        Z*) ;;
        *) return 0 ;;
        esac
    done
    return 1
}

# Sleeps a tenth of a second if sleep can, else a second; sets nap_tenths accordingly.
nap() {
    nap_tenths=1
    sleep 0.1 2>/dev/null || { nap_tenths=10 && sleep 1; }
}

# Sets children to the descendants of a list of pids.
find_children() {
    children='' fc_parents=" $1 "
    # POSIX ps; busybox ps knows -o without -e only.
    fc_list=$(ps -e -o pid= -o ppid= 2>/dev/null || ps -o pid,ppid 2>/dev/null)
    fc_more=1
    while [ "$fc_more" = 1 ]; do
        fc_more=0
        while read -r fc_pid fc_ppid; do
            if is_in "$fc_parents" "$fc_ppid" && ! is_in "$fc_parents" "$fc_pid"; then
                fc_parents="$fc_parents$fc_pid " children="$children$fc_pid " fc_more=1
            fi
        done <<END
$fc_list
END
    done
}

# Sets args to the command line of process PID, or to nothing.
read_args() {
    args=$(ps -o args= -p "$1" 2>/dev/null) && [ -n "$args" ] && return 0
    if [ -r "/proc/$1/cmdline" ]; then
        # A Linux without ps, as in small containers.
        args=$(tr '\000' ' ' <"/proc/$1/cmdline")
        return 0
    fi
    args='' rg_list=$(ps -o pid,args 2>/dev/null)
    while read -r rg_pid rg_args; do
        [ "$rg_pid" != "$1" ] || args=$rg_args
    done <<END
$rg_list
END
}

# Returns whether PID is the agent of this spool, and not a process that got the pid later, or the agent of another spool: its
# working directory is the spool, as /proc shows on Linux and Solaris, and it has this name. Without /proc the name must do. In a
# container every agent may have the same pid, so our own pid in an old lock means that the lock is stale.
is_agent() {
    is_count "$1" && [ "$1" -gt 0 ] && [ "$1" != $$ ] && kill -0 "$1" 2>/dev/null || return 1
    read_args "$1"
    case $args in
    *normstat-agent*) ;;
    *) return 1 ;;
    esac
    # The numbers of the two directories and their names. Not every host has stat.
    # shellcheck disable=SC2012
    ia_pair=$(ls -di "/proc/$1/cwd/." . 2>/dev/null)
    # shellcheck disable=SC2086
    set -- "$1" $ia_pair
    if [ $# -eq 5 ]; then
        [ "$2" = "$4" ]
    elif read_entry "/proc/$1"; then
        # It exists but cannot be read, so it is ours only if it belongs to this user.
        [ "$e_uid" = "$my_uid" ]
    fi
}
