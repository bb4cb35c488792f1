# Evidence: what lines `when` of stats.conf run once as an episode of a rule begins.
# The server's answer names the episodes of this host that began a moment ago, Normstat-Begun: NUMBER/RULE ... What follows from that is
# stats.conf's: the server sends no command and cannot make one run that is not in the file, nor more often than the limits below.
# The text is an artefact of the episode, and waits in artefacts/ as those of ask do. artefacts/begun has the numbers of the last episodes.

# One command at a time, each for EVIDENCE_S at most; a line's again after EVIDENCE_PAUSE_S; all lines together EVIDENCE_AN_HOUR in an hour.
EVIDENCE_S=120
EVIDENCE_PAUSE_S=600
EVIDENCE_AN_HOUR=6

# Returns whether a line `when` may have TEXT, RULES and a command; if not, sets when_error.
check_when() {
    when_error=''
    cw_rules=${1%%' '*}
    case $cw_rules in
    '' | *[!a-z0-9_,*-]* | ,* | *, | *,,*) when_error='when must be followed by a tab, rules (RULE,RULE or *) and a command' ;;
    '*') ;;
    *\**) when_error='a * stands for all rules, alone' ;;
    esac
    [ -n "$when_error" ] || check_allowed "${1#"$cw_rules"?}" || when_error=$allowed_error
    [ "$1" != "$cw_rules" ] || when_error='no command'
    # Its artefact names it in an address.
    [ "${#1}" -le 2000 ] || when_error='longer than 2000 characters'
    [ -z "$when_error" ]
}

# Sets evidence_seen to the numbers of the episodes that are dealt with, newest first.
read_seen_episodes() {
    evidence_seen=' '
    if read_first artefacts/begun; then evidence_seen=$first_line; fi
}

# In the running agent: queues the commands of the lines for the episodes that began, and runs them one after another.
supervise_evidence() {
    [ -s "$work/evidence" ] || return 0
    [ -z "$begun" ] || note_begun
    if [ -n "$evidence_pid" ]; then
        if kill -0 "$evidence_pid" 2>/dev/null && [ "$up_s" -lt "$evidence_end" ]; then return 0; fi
        end_evidence
    fi
    while [ -n "$evidence_queue" ] && [ -z "$evidence_pid" ]; do
        se_item=${evidence_queue%%"$NL"*}
        evidence_queue=${evidence_queue#"$se_item$NL"}
        # NUMBER RULE LINE COMMAND
        evidence_episode=${se_item%%' '*} se_item=${se_item#* }
        evidence_rule=${se_item%%' '*} se_item=${se_item#* }
        may_run_evidence "${se_item%%' '*}" || continue
        text_command=${se_item#* }
        begin_evidence
    done
}

# Queues what the lines run for the episodes in begun that are new.
note_begun() {
    case $begun in
    *[!a-z0-9_/\ -]*) begun='' ;;
    esac
    for nb_item in $begun; do
        nb_number=${nb_item%%/*} nb_rule=${nb_item#*/}
        if ! is_count "$nb_number" || is_in "$evidence_seen" "$nb_number"; then continue; fi
        evidence_seen=" $nb_number$evidence_seen"
        # As many as the server may name, ten times over.
        [ "${#evidence_seen}" -le 1000 ] || evidence_seen="${evidence_seen% * } "
        mkdir -p artefacts && printf '%s\n' "$evidence_seen" >artefacts/begun
        nb_n=0
        while IFS="$TAB" read -r nb_rules nb_command; do
            nb_n=$((nb_n + 1))
            case ",$nb_rules," in
            ',*,' | *",$nb_rule,"*) evidence_queue="$evidence_queue$nb_number $nb_rule $nb_n $nb_command$NL" ;;
            esac
        done <"$work/evidence"
    done
    begun=''
}

# Returns whether LINE may run now, and notes that it does.
may_run_evidence() {
    me_recent=' ' me_n=0
    for me_item in $evidence_times; do
        me_age=$((up_s - ${me_item%%/*}))
        [ "$me_age" -lt 3600 ] || continue
        me_recent="$me_recent$me_item " me_n=$((me_n + 1))
        [ "${me_item#*/}" != "$1" ] || [ "$me_age" -ge "$EVIDENCE_PAUSE_S" ] || return 1
    done
    evidence_times=$me_recent
    if [ "$me_n" -ge "$EVIDENCE_AN_HOUR" ]; then
        log "episode $evidence_episode of $evidence_rule began: no evidence is taken, since $me_n commands ran within the last hour"
        return 1
    fi
    evidence_times="$evidence_times$up_s/$1 "
}

# Starts text_command.
begin_evidence() {
    measure_texts
    if [ "$texts_kb" -gt $((spool_limit_kb / 2)) ]; then
        log "episode $evidence_episode of $evidence_rule began: no evidence is taken, since $texts_kb KiB of texts wait for the server or were refused"
        return 0
    fi
    set_now
    evidence_n=$((evidence_n + 1))
    evidence_key=$now.$$-$evidence_n
    text_taken=$(date -u '+%Y-%m-%dT%H:%M:%SZ')
    text_name='' text_start=$text_taken text_end='' text_status='' title="When $evidence_rule began"
    describe_evidence || return 0
    mkdir -p "$work/evidence-folder"
    log "episode $evidence_episode of $evidence_rule began: running $text_command"
    run_evidence "$evidence_key" "$text_command" </dev/null 7<&- >/dev/null 2>&1 &
    evidence_pid=$! evidence_end=$((up_s + EVIDENCE_S))
}

# Writes the description of the text. In a process of its own: the agent does not end for want of room.
describe_evidence() {
    (
        trap - 0
        write_query "$evidence_key"
    )
}

run_evidence() {
    trap - 0 HUP INT TERM
    run_text_tool "$1" "$2" "$work/evidence-folder" >"artefacts/$1.part" 2>"artefacts/$1.err"
}

# Takes what the command printed, which has ended or ends now.
end_evidence() {
    if kill -0 "$evidence_pid" 2>/dev/null; then
        log "$text_command runs for more than $EVIDENCE_S s: ending it"
        end_processes "$evidence_pid"
        text_status=143
    else
        wait "$evidence_pid"
        text_status=$?
    fi
    evidence_pid=''
    text_end=$(date -u '+%Y-%m-%dT%H:%M:%SZ')
    pick_text "$evidence_key" "$text_command" "$text_status"
    read_size "artefacts/$evidence_key.part"
    if [ "$size" -eq 0 ] || [ "$size" -gt "$max_text" ]; then
        read_last_line "artefacts/$evidence_key.err"
        log "$text_command printed $size bytes and ended with status $text_status: nothing is kept${last_line:+; $last_line}"
        rm -f "artefacts/$evidence_key".*
        return 0
    fi
    [ "$text_status" != 143 ] || printf '%s\n' "$CUT_OFF" >>"artefacts/$evidence_key.part"
    describe_evidence
    rm -f "artefacts/$evidence_key.err" "artefacts/$evidence_key.pid"
    # It is sent in this turn.
    mv "artefacts/$evidence_key.part" "artefacts/$evidence_key.out" && texts_due=$up_s
}

# Prints for `check` what the lines would run.
check_evidence() {
    while IFS="$TAB" read -r ce_rules ce_command; do
        if ce_path=$(command -v "${ce_command%% *}" 2>/dev/null); then
            printf 'when     %s: %s (%s)\n' "$ce_rules" "$ce_command" "$ce_path"
        else
            printf 'when     %s: MISSING: no program %s in %s\n' "$ce_rules" "${ce_command%% *}" "$PATH"
            ck_status=1
        fi
    done <"$work/evidence"
}
