# Where every command begins, and the commands help, start and stop.

main() {
    [ $# -gt 0 ] || die_usage "which command: run, start, stop, status, check, enrol, collect, ask or put?"
    main_command=$1
    shift
    set_defaults
    shell=${NORMSTAT_SHELL:-/bin/sh}
    case $main_command in
    run | start | stop | status | check | enrol | ask | put)
        read_options ${1+"$@"}
        [ -z "$user" ] || become_user ${1+"$@"}
        "command_$main_command" ${1+"$@"}
        ;;
    collect) command_collect ${1+"$@"} ;;
    version | --version) printf 'normstat-agent %s\n' "$VERSION" ;;
    help | --help | -h) print_help ;;
    *) die_usage "unknown command: $main_command" ;;
    esac
}

# The head of this file is the manual.
print_help() {
    while IFS= read -r ph_line; do
        case $ph_line in
        '#!'*) ;;
        '#'*)
            ph_line=${ph_line#?}
            printf '%s\n' "${ph_line# }"
            ;;
        *) return 0 ;;
        esac
    done <"$0"
}

command_start() {
    require_server
    # Nothing is sent with capabilities: `run` enrols after giving them up.
    hands_on_capabilities || require_token
    enter_spool
    cs_pid=''
    [ ! -f lock/pid ] || read -r cs_pid <lock/pid
    if is_agent "$cs_pid"; then
        printf 'normstat-agent: already runs on %s (pid %s)\n' "$spool" "$cs_pid" >&2
        exit 4
    fi
    set_script
    cd "$OLDPWD" || die "cannot go back to $OLDPWD"
    run_in_background ${1+"$@"} &
    cs_pid=$!
    cs_n=0
    # An agent is ready when it has tried to send, so that the status shows whether it could.
    until [ -f "$spool/lock/ready" ]; do
        cs_n=$((cs_n + 1))
        if ! kill -0 "$cs_pid" 2>/dev/null || [ "$cs_n" -gt 300 ]; then
            tail "$spool/agent.log" >&2
            die "could not start: the lines above are the end of $spool/agent.log"
        fi
        nap
    done
    command_status
}

# Becomes the agent, detached from the terminal, whose end could stop it.
run_in_background() {
    trap '' HUP
    exec </dev/null >>"$spool/agent.log" 2>&1
    export NORMSTAT_TZ
    exec "$shell" "$script" run ${1+"$@"}
}

command_stop() {
    enter_spool
    cp_pid=''
    [ ! -f lock/pid ] || read -r cp_pid <lock/pid
    if ! is_agent "$cp_pid"; then
        probe_scratch
        probe_reader
        end_orphans
        printf 'normstat-agent: does not run on %s\n' "$spool"
        return 0
    fi
    kill "$cp_pid" || die "cannot stop process $cp_pid: it belongs to another user"
    cp_n=0
    while is_alive_any "$cp_pid"; do
        cp_n=$((cp_n + 1))
        if [ "$cp_n" -gt 200 ] && is_agent "$cp_pid"; then
            log "process $cp_pid does not end: killing it"
            kill -9 "$cp_pid" 2>/dev/null
            probe_scratch
            probe_reader
            end_orphans
            break
        fi
        nap
        # Some shells lose a signal that comes while they start a process. An agent that is already ending ignores more of them.
        if [ $((cp_n % 50)) = 0 ]; then kill "$cp_pid" 2>/dev/null; fi
    done
    printf 'normstat-agent: stopped (was pid %s)\n' "$cp_pid"
}

# When sourced by a test, the file only defines functions.
[ -n "${NORMSTAT_SOURCED:-}" ] || main ${1+"$@"}
